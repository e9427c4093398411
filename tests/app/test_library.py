"""The library, as a person keeps it."""

from collections.abc import Callable
from dataclasses import replace

from streamlit.testing.v1 import AppTest

from app.shelf import ShelfFailure
from pipelines.errors import ServiceUnavailable
from pipelines.types import IngestItem
from tests.app.conftest import html
from tests.app.fakes import FakeEngine, shelved

Open = Callable[[], AppTest]


def rows(at: AppTest) -> list[tuple[str, str]]:
    """(title, what stands below it) of the rows."""
    titles = [
        button.label for button in at.button if (button.key or "").startswith("open_") and button.key != "open_c1"
    ]
    below = [caption.value for caption in at.main.caption if " · " in caption.value]
    return list(zip(titles, below, strict=True))


def test_rows_show_title_file_category_year_and_state(engine: FakeEngine, library: Open) -> None:
    page = replace(shelved("Handbook"), title="Our handbook", year=2024, remark="in part: 4 of its 6 blocks")
    engine.documents = [shelved("resume.md"), page, replace(shelved("scan.pdf"), coverage=0.6)]
    at = library()
    assert rows(at) == [
        ("Our handbook", "Handbook · resume · 2024 · in part: 4 of its 6 blocks"),
        (r"resume.md", "resume.md · resume · searched"),
        (r"scan.pdf", "scan.pdf · resume · 60% searched"),
    ]
    assert at.subheader[0].value == "3 documents"
    assert not at.exception


def test_rows_are_searched_and_sorted(engine: FakeEngine, library: Open) -> None:
    engine.documents = [shelved("a.md", nodes=1), shelved("b.md", category="blog", nodes=9), shelved("c.md", nodes=5)]
    at = library()
    at.selectbox(key="library_order_by").select("Largest").run()
    assert [title for title, _ in rows(at)] == ["b.md", "c.md", "a.md"]
    at.text_input(key="library_search").set_value("BLOG").run()
    assert [title for title, _ in rows(at)] == ["b.md"]
    at.text_input(key="library_search").set_value("kiln").run()
    assert "No document has these words." in [caption.value for caption in at.caption]
    assert not at.exception


def test_only_a_page_of_rows_is_shown_until_more_are_asked_for(engine: FakeEngine, library: Open) -> None:
    engine.documents = [shelved(f"{n:03}.md") for n in range(120)]
    at = library()
    assert len(rows(at)) == 50
    at.button(key="library_more").click().run()
    assert len(rows(at)) == 100


def test_a_row_opens_the_document_with_all_that_is_known_of_it(engine: FakeEngine, library: Open) -> None:
    at = library()
    at.button(key="open_resume.md").click().run()
    assert at.query_params["d"] == "resume.md"
    assert "<small>Ann Bell · page 2</small>" in html(at)
    assert "<small>Not searched</small>" in html(at)
    assert [tab.label for tab in at.tabs] == ["Text", "Facts (1)", "Alike (1)", "Versions (1)"]
    assert list(at.dataframe[0].value["What"]) == ["tuner"]
    assert at.button(key="save_document").disabled
    at.selectbox(key="category_resume.md").select("blog").run()
    at.button(key="save_document").click().run()
    at.button(key="reread").click().run()
    at.button(key="restore_0").click().run()
    assert engine.desk.asked == [
        ("reread", "resume.md", "blog", ""), ("reread", "resume.md", "", ""), ("restore", "resume.md", 5)
    ]  # fmt: skip
    at.button(key="remove_document").click().run()
    assert engine.removed == ["resume.md"]
    assert [title for title, _ in rows(at)] == ["reeds.md"]
    assert not at.exception


def test_a_document_that_is_gone_is_said_to_be(library: Open) -> None:
    at = library()
    at.query_params["d"] = "gone.md"
    at.run()
    assert "no longer there" in at.toast[0].value
    assert len(rows(at)) == 2
    assert not at.exception


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
    engine.failures = (ShelfFailure("5.md", "5.md is empty.", "Fill it.", stored=False),)
    at = library()
    assert "6 files: 6 of 6 done, 1 of them failed" in [caption.value for caption in at.caption]
    assert "5.md is empty. Fill it." in html(at)
    assert "<strong>0.md</strong>" not in html(at), "of many files only what failed is listed"
    assert "could not be taken in" not in html(at), "what the tray says is not said twice"
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
    assert [toast.value for toast in at.toast] == ["The disk is full. Make room."]
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
    at.button(key="remove_reeds.md").click().run()
    assert engine.removed == ["reeds.md"]
    assert [title for title, _ in rows(at)] == ["resume.md"]
    at.button(key="restore_removal").click().run()
    assert [title for title, _ in rows(at)] == ["reeds.md", "resume.md"]
    assert not [button for button in at.button if button.key == "restore_removal"]
    assert not at.exception


def test_several_rows_are_removed_at_once_and_come_back_with_one_undo(engine: FakeEngine, library: Open) -> None:
    engine.documents = [shelved(f"{n}.md") for n in range(4)]
    at = library()
    assert not [button for button in at.button if button.key == "remove_picked"]
    for n in (0, 1, 3):
        at.checkbox(key=f"pick_{n}.md").check()
    button = at.run().button(key="remove_picked")
    assert button.label == "Remove 3 documents"
    at = button.click().run()
    assert [title for title, _ in rows(at)] == ["2.md"]
    assert "Removed 3 documents." in [caption.value for caption in at.caption]
    at.button(key="restore_removal").click().run()
    assert len(rows(at)) == 4
    assert not at.exception


def test_an_empty_library_says_so(engine: FakeEngine, library: Open) -> None:
    engine.documents = []
    at = library()
    assert at.caption[0].value == "No documents yet."
    assert not at.exception
