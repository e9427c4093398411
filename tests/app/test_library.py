"""The library, as a person keeps it."""

from collections.abc import Callable
from dataclasses import replace

from streamlit.testing.v1 import AppTest

from app.chat_engine import ShelfFailure
from pipelines.errors import ServiceUnavailable
from pipelines.types import IngestItem
from tests.app.conftest import html
from tests.app.fakes import FakeEngine, shelved

Open = Callable[[], AppTest]


def test_it_lists_every_document_with_its_coverage(library: Open) -> None:
    at = library()
    table = at.dataframe[0].value
    assert list(table["Document"]) == ["resume.md", "reeds.md"]
    assert list(table["Category"]) == ["resume", "blog"]
    assert list(table["Nodes"]) == [3, 3]
    assert list(table["Coverage"]) == [1.0, 1.0]
    assert table["Last success"].notna().all()
    assert [heading.value for heading in at.subheader] == ["2 documents, 6 nodes", "Remove documents"]
    assert not at.exception


def test_a_remote_document_has_its_link_and_what_is_wrong_with_one_stands_beside_it(
    engine: FakeEngine, library: Open
) -> None:
    page = replace(shelved("Handbook"), uri="https://www.notion.so/0f1e", remark="in part: 4 of its 6 blocks")
    engine.documents = [shelved("resume.md"), page]
    table = library().dataframe[0].value
    assert list(table["Link"]) == ["", "https://www.notion.so/0f1e"]
    assert list(table["Remark"]) == ["", "in part: 4 of its 6 blocks"]


def test_a_failure_is_listed_with_its_reason_and_what_to_do(engine: FakeEngine, library: Open) -> None:
    engine.failures = (ShelfFailure("old.pdf", "old.pdf is encrypted.", "Remove the password.", stored=True),)
    at = library()
    assert "<strong>old.pdf could not be taken in</strong>" in html(at)
    assert "old.pdf is encrypted. Remove the password. An earlier version of it still answers." in html(at)
    assert not at.exception


def test_uploaded_files_become_a_job_whose_progress_every_page_shows(engine: FakeEngine, library: Open) -> None:
    at = library()
    files = [(f"{n}.md", b"# Kiln", "text/markdown") for n in range(60)]
    at.file_uploader(key="upload_0").set_value(files).run()
    assert len(engine.desk.taken) == 60
    assert at.file_uploader(key="upload_1").value == []
    engine.desk.progress(1, 12)
    for name in ("chat", "library"):
        at.switch_page(f"app_pages/{name}.py").run()
        assert "Taking in 60 files: 12 of 60" in at.get("progress")[0].proto.text
    at.button(key="cancel_1").click().run()
    assert "stopping after the document under way" in at.get("progress")[0].proto.text
    assert not at.exception


def test_a_job_that_ended_says_what_failed_and_can_be_retried_undone_and_closed(
    engine: FakeEngine, library: Open
) -> None:
    engine.desk.upload([(f"{n}.md", b"") for n in range(6)])
    bad = IngestItem("5.md", "failed", message="5.md is empty.", hint="Fill it.")
    engine.desk.finish(1, *(IngestItem(f"{n}.md", "added", nodes=1) for n in range(5)), bad)
    at = library()
    assert "6 files: 6 of 6 done, 1 of them failed" in [caption.value for caption in at.caption]
    assert "5.md is empty. Fill it." in html(at)
    assert "<strong>0.md</strong>" not in html(at), "of many files only what failed is listed"
    at.button(key="retry_1").click().run()
    assert engine.desk.known[1].state == "waiting"
    engine.desk.finish(1, *(IngestItem(f"{n}.md", "added", nodes=1) for n in range(6)))
    at.run().button(key="undo_1").click().run()
    engine.desk.finish(1, IngestItem("0.md", "removed"))
    at.run().button(key="dismiss_1").click().run()
    assert not at.get("progress")
    assert not at.exception


def test_an_upload_that_cannot_be_kept_says_why(engine: FakeEngine, library: Open) -> None:
    engine.desk.fault = ServiceUnavailable("The disk is full.", hint="Make room.")
    at = library()
    at.file_uploader(key="upload_0").set_value(("kiln.md", b"# Kiln", "text/markdown")).run()
    assert "<strong>The disk is full.</strong><div>Make room.</div>" in html(at)
    assert not at.exception


def test_links_and_refreshes_become_jobs(engine: FakeEngine, library: Open) -> None:
    at = library()
    at.text_input(key="link").set_value("github:ann").run()
    at.button(key="refresh").click().run()
    assert [(job.kind, job.title) for job in engine.desk.recent()] == [
        ("refresh", "All sources"), ("ingest", "github:ann")
    ]  # fmt: skip
    assert at.text_input(key="link").value == ""
    assert not at.exception


def test_a_removal_can_be_undone(engine: FakeEngine, library: Open) -> None:
    at = library()
    assert at.button(key="remove").disabled
    at.multiselect(key="removal_0").select("reeds.md").run()
    at.button(key="remove").click().run()
    assert engine.removed == ["reeds.md"]
    assert list(at.dataframe[0].value["Document"]) == ["resume.md"]
    assert at.multiselect(key="removal_1").value == []
    at.button(key="restore_documents").click().run()
    assert list(at.dataframe[0].value["Document"]) == ["resume.md", "reeds.md"]
    assert not [button for button in at.button if button.key == "restore_documents"]
    assert not at.exception


def test_an_empty_library_says_so(engine: FakeEngine, library: Open) -> None:
    engine.documents = []
    at = library()
    assert at.caption[0].value == "No documents yet."
    assert not at.exception
