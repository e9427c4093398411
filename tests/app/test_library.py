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


def test_uploaded_files_are_ingested_and_the_box_is_empty_again(engine: FakeEngine, library: Open) -> None:
    engine.intake = [IngestItem("kiln.md", "added", nodes=1)]
    at = library()
    at.file_uploader(key="upload_0").set_value(("kiln.md", b"# Kiln", "text/markdown")).run()
    assert engine.taken == [("kiln.md", b"# Kiln")]
    assert "<strong>kiln.md</strong> added, 1 node<" in html(at)
    assert list(at.dataframe[0].value["Document"]) == ["resume.md", "reeds.md", "kiln.md"]
    assert at.file_uploader(key="upload_1").value == []
    assert not at.exception


def test_an_upload_that_cannot_be_ingested_says_why(engine: FakeEngine, library: Open) -> None:
    engine.intake = ServiceUnavailable("The database is gone.", hint="Start it.")
    at = library()
    at.file_uploader(key="upload_0").set_value(("kiln.md", b"# Kiln", "text/markdown")).run()
    assert "<strong>The database is gone.</strong><div>Start it.</div>" in html(at)
    assert not at.exception


def test_documents_are_removed_only_after_a_second_yes(engine: FakeEngine, library: Open) -> None:
    at = library()
    assert at.button(key="remove").disabled
    at.multiselect(key="removal_0").select("reeds.md").run()
    at.button(key="remove").click().run()
    assert engine.removed == []
    assert "<li>reeds.md</li>" in html(at)
    at.button(key="confirm_removal").click().run()
    assert engine.removed == ["reeds.md"]
    assert list(at.dataframe[0].value["Document"]) == ["resume.md"]
    assert at.multiselect(key="removal_1").value == []
    assert not at.exception


def test_documents_stay_after_a_no(engine: FakeEngine, library: Open) -> None:
    at = library()
    at.multiselect(key="removal_0").select("reeds.md").run()
    at.button(key="remove").click().run()
    at.button(key="cancel_removal").click().run()
    assert engine.removed == []
    assert not at.exception


def test_an_empty_library_says_so(engine: FakeEngine, library: Open) -> None:
    engine.documents = []
    at = library()
    assert at.caption[0].value == "No documents yet."
    assert not at.exception
