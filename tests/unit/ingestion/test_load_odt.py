"""ODT through docling."""

import io
import zipfile

import pytest
from odfdo import Document as Odf
from odfdo import Element, Frame, Header, List, ListItem, Note, Paragraph, Span, Table

from pipelines.errors import LoadError


def saved(document: Odf) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


@pytest.fixture
def log() -> Odf:
    document = Odf("odt")
    document.meta.title, document.meta.creator = "Stated title", "Ann Lee"
    body = document.body
    body.clear()
    body.append(Header(1, "Oven log"))
    body.append(Paragraph("We rebuilt it."))
    body.append(Header(2, "Parts"))
    door = ListItem("door")
    door.append(List(["hinge"]))
    listed = List()
    listed.append(door)
    body.append(listed)
    table = Table("Heat", width=2, height=2)
    for row, cells in enumerate((("Day", "Heat"), ("Mon", "230"))):
        for column, text in enumerate(cells):
            table.set_value((column, row), text)
    body.append(table)
    return document


def shown(document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def test_a_text_is_rendered_with_exact_blocks(load_bytes, log: Odf) -> None:
    document = load_bytes(saved(log), "log.odt")
    assert shown(document) == [
        ("heading", "Oven log"),
        ("paragraph", "We rebuilt it."),
        ("heading", "Parts"),
        ("list", "- door"),
        ("list", "- hinge"),
        ("table", "| Day | Heat |\n| --- | --- |\n| Mon | 230 |"),
    ]
    assert "- door\n  - hinge" in document.text
    assert (document.title, document.author) == ("Oven log", "Ann Lee")


def test_tabs_line_breaks_and_formatted_runs_stay_as_they_are(load_bytes, log: Odf) -> None:
    log.body.clear()
    line = Paragraph("Acme ")
    line.append(Span("Ltd", style="T1"))
    line.append(Element.from_tag("<text:tab/>"))
    line.append(Span("2020"))
    line.append(Element.from_tag("<text:line-break/>"))
    line.append(Span("Engineer"))
    log.body.append(line)
    assert load_bytes(saved(log), "log.odt").text == "Acme Ltd\t2020\nEngineer"


def test_footnotes_and_what_pictures_show_are_read(load_bytes, log: Odf, tmp_path) -> None:
    from PIL import Image

    Image.new("RGB", (20, 20), "red").save(tmp_path / "door.png")
    log.body.clear()
    noted = Paragraph("Stone")
    noted.append(Note(note_id="n1", citation="1", body="From Otta."))
    frame = Frame.image_frame(log.add_file(str(tmp_path / "door.png")), size=("3cm", "3cm"))
    frame.append(Element.from_tag("<svg:title>A red door</svg:title>"))
    pictured = Paragraph("")
    pictured.append(frame)
    for paragraph in (noted, pictured, Paragraph("End.")):
        log.body.append(paragraph)
    assert load_bytes(saved(log), "log.odt").text == "Stone\n\nA red door\n\nEnd.\n\nFrom Otta."


def test_an_encrypted_text_says_that_it_has_a_password(load_bytes) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", "\x00\x01")
        archive.writestr("META-INF/manifest.xml", "<manifest:encryption-data manifest:checksum='x'/>")
    with pytest.raises(LoadError, match="has a password"):
        load_bytes(buffer.getvalue(), "a.odt")


def test_a_text_without_its_content_is_broken(load_bytes) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
    with pytest.raises(LoadError, match="is broken"):
        load_bytes(buffer.getvalue(), "a.odt")
