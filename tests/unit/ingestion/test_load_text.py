"""Plain text, encodings, and everything that is refused before a loader sees it."""

import io
import tracemalloc
import zipfile

import pytest

from pipelines.errors import LoadError
from pipelines.ingestion.loaders import LOADERS, SUFFIXES, Limits
from pipelines.ingestion.loaders.sniff import MIME_OF_SUFFIX


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Grüße aus Köln".encode(), "Grüße aus Köln"),
        ("Grüße aus Köln".encode("utf-8-sig"), "Grüße aus Köln"),
        ("Grüße aus Köln".encode("utf-16"), "Grüße aus Köln"),
        ("Grüße aus Köln".encode("cp1252"), "Grüße aus Köln"),
        ("He said “yes” – naïve café".encode("cp1252"), "He said “yes” – naïve café"),
        (b"one\r\ntwo\rthree", "one\ntwo\nthree"),
    ],
)
def test_text_is_read_in_its_encoding(load_bytes, data: bytes, text: str) -> None:
    assert load_bytes(data, "a.txt").text == text


def test_an_encoding_other_than_utf8_is_noted(load_bytes) -> None:
    assert load_bytes("Köln".encode(), "a.txt").metadata == {}
    assert load_bytes("In Köln".encode("cp1252"), "a.txt").metadata == {"encoding": "cp1252"}


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (b"", "a.txt", "is empty"),
        (b" \n\t ", "a.txt", "is empty"),
        (b"abc\x00def", "a.txt", "is binary, not text"),
        (bytes(range(1, 9)) * 40, "a.txt", "is binary, not text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a.txt", "is a broken image"),
        ("größer ".encode() * 9 + b"\xff\xfe", "a.txt", "not valid UTF-8"),
        (b"Hello \xc3\x28 world", "a.txt", "not valid UTF-8"),
        (b"\x81\x8d\x8f", "a.md", "not valid UTF-8"),
        (b"\xff\xfea", "a.txt", "UTF-16"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 99, "a.docx", "an old Office file"),
        (b"PK\x03\x04rubbish", "a.docx", "is broken"),
        (b"just words", "a.pdf", "is no PDF"),
    ],
)
def test_what_cannot_be_read_says_why_and_what_to_do(load_bytes, data: bytes, name: str, said: str) -> None:
    with pytest.raises(LoadError, match=said) as caught:
        load_bytes(data, name)
    assert caught.value.message.startswith(name)
    assert caught.value.hint


def test_a_zip_of_another_kind_is_refused(load_bytes) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("setup.py", "pass")
    with pytest.raises(LoadError, match="ZIP container"):
        load_bytes(buffer.getvalue(), "code.docx")


@pytest.mark.parametrize(
    ("name", "setting"),
    [("a.txt", "FOOTNOTE_INGESTION__MAX_TEXT_BYTES"), ("a.pdf", "FOOTNOTE_INGESTION__MAX_BINARY_BYTES")],
)
def test_a_file_over_its_limit_names_the_setting(load_bytes, name: str, setting: str) -> None:
    data = b"%PDF-1.7 and more" if name.endswith("pdf") else b"eleven bytes"
    with pytest.raises(LoadError, match="over the limit of 10") as caught:
        load_bytes(data, name, Limits(max_text_bytes=10, max_binary_bytes=10))
    assert setting in caught.value.hint


@pytest.mark.parametrize("name", ["a.docx", "a.txt"])
def test_a_file_that_was_not_read_to_its_end_is_too_large_and_not_broken(load_bytes, name: str) -> None:
    cut_off = b"PK\x03\x04" + bytes(8)
    with pytest.raises(LoadError, match=f"{name} is over the limit of 10 bytes"):
        load_bytes(cut_off, name, Limits(max_text_bytes=10, max_binary_bytes=10))


def test_a_mimetype_that_unpacks_to_gigabytes_is_not_unpacked(load_bytes) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", bytes(50_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(LoadError, match="ZIP container"):
            load_bytes(buffer.getvalue(), "a.odt")
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_the_content_tells_the_type_before_the_suffix(load_bytes, make_pdf) -> None:
    assert load_bytes(make_pdf([["Hello there"]]), "a.txt").mime == "application/pdf"
    assert load_bytes(b"<!DOCTYPE html><p>Hi</p>", "a.txt").mime == "text/html"
    assert load_bytes(b"no suffix at all", "NOTES").mime == "text/plain"
    assert load_bytes(b"about %PDF- files", "a.md").mime == "text/markdown"


def test_every_suffix_has_a_loader() -> None:
    assert {MIME_OF_SUFFIX[suffix] for suffix in SUFFIXES} == set(LOADERS)


def test_a_document_keeps_where_it_came_from(load_bytes) -> None:
    document = load_bytes(b"Hello", "notes/2024-05-01-my_first-note.txt")
    assert (document.id, document.source_uri) == (
        document.source_uri,
        "file:///files/notes/2024-05-01-my_first-note.txt",
    )
    assert document.title == "my first note"
    assert document.bytes == 5
    assert len(document.file_sha) == 64
    assert load_bytes(b"Hello", "garden/README.txt").title == "garden"


def test_blocks_of_plain_text(load_bytes) -> None:
    text = "Garden log\n==========\n\nFirst line\ngoes on.\n\nTOOLS\n- spade\n- rake\n\n# Later\nThe end."
    document = load_bytes(text.encode(), "garden.txt")
    found = [(block.kind, block.level, document.text[block.start : block.end]) for block in document.blocks]
    assert found == [
        ("heading", 1, "Garden log\n=========="),
        ("paragraph", 0, "First line\ngoes on."),
        ("heading", 2, "TOOLS"),
        ("list", 0, "- spade"),
        ("list", 0, "- rake"),
        ("heading", 1, "# Later"),
        ("paragraph", 0, "The end."),
    ]
    assert document.title == "Garden log"


def test_a_text_all_in_capitals_has_no_headings(load_bytes) -> None:
    document = load_bytes(b"ONE LINE\nTWO LINES\nTHREE LINES\nFOUR LINES\n", "a.txt")
    assert {block.kind for block in document.blocks} == {"paragraph"}
