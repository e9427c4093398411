"""Plain text, reStructuredText, encodings, and everything that is refused before a loader sees it."""

import io
import tracemalloc
import zipfile
from itertools import pairwise

import pytest

from config.settings import Limits
from pipelines.errors import LoadError
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders import LOADERS, SUFFIXES
from pipelines.ingestion.loaders.sniff import JSON_RESUME, LINKEDIN, MIME_OF_SUFFIX, RENDERCV
from pipelines.ingestion.loaders.text import restructured_blocks
from pipelines.ingestion.parsers import parse


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Grüße aus Köln".encode(), "Grüße aus Köln"),
        ("Grüße aus Köln".encode("utf-8-sig"), "Grüße aus Köln"),
        ("Grüße aus Köln".encode("utf-16"), "Grüße aus Köln"),
        ("Grüße aus Köln".encode("cp1252"), "Grüße aus Köln"),
        ("He message “yes” – naïve café".encode("cp1252"), "He message “yes” – naïve café"),
        (b"one\r\ntwo\rthree", "one\ntwo\nthree"),
    ],
)
def test_text_is_read_in_its_encoding(load_bytes, data: bytes, text: str) -> None:
    assert load_bytes(data, "a.txt").text == text


def test_an_encoding_other_than_utf8_is_noted(load_bytes) -> None:
    assert load_bytes("Köln".encode(), "a.txt").metadata == {}
    assert load_bytes("In Köln".encode("cp1252"), "a.txt").metadata == {"encoding": "cp1252"}


_OTHERS = {
    "图书馆每天上午九点开门，晚上八点关门。星期一闭馆，节日期间开放时间另行通知。": (
        "gb18030",
        "utf-16-le",
        "utf-16-be",
    ),
    "圖書館每天上午九點開門，晚上八點關門。星期一閉館，節日期間開放時間另行通知。": ("big5",),
    "図書館は毎日午前九時に開きます。月曜日は休館です。貸出は二階の窓口でお願いします。": (
        "shift_jis",
        "euc_jp",
        "iso2022_jp",
    ),
    "도서관은 매일 오전 아홉 시에 문을 열고 저녁 여덟 시에 닫습니다.": ("euc_kr", "utf-16-le"),
    "Библиотека открывается каждый день в девять часов утра.": ("cp1251", "koi8_r", "utf-16-be"),
    "The library's hours are posted at the door.": ("utf-16-le", "utf-16-be", "utf-32-le"),
}


@pytest.mark.parametrize(("text", "encoding"), [(text, each) for text, each_of in _OTHERS.items() for each in each_of])
def test_text_in_another_encoding_is_read(load_bytes, text: str, encoding: str) -> None:
    document = load_bytes(f"{text}\n".encode(encoding), "a.txt")
    assert document.text == f"{text}\n"
    assert document.metadata["encoding"]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Biblioteka otwiera się codziennie o dziewiątej rano. Łódź żyje.", "cp1250"),
        ("Biblioteka otwiera się codziennie o dziewiątej rano. Łódź żyje.", "iso8859_2"),
        ("Kütüphane her gün sabah dokuzda açılır ve akşam sekizde kapanır. Şişli'de.", "cp1254"),
    ],
)
def test_an_encoding_that_is_not_sure_is_named_in_the_advice(load_bytes, text: str, encoding: str) -> None:
    with pytest.raises(LoadError, match=f"it may be in {encoding}") as caught:
        load_bytes(text.encode(encoding), "a.txt")
    assert f"iconv -f {encoding} -t utf-8" in caught.value.hint


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("The tide rises.".encode("utf-16"), "tide.bin"),
        (b'{"name": "tidegate"}', "package.json"),
        (b'[{"name": "tidegate"}]\n', "export"),
        (b"\\documentclass{article}", "cv.tex"),
        (b"\\documentclass{article}", "cv"),
        (b"<?xml version='1.0'?><a>b</a>", "feed.xml"),
        (b"<?xml version='1.0'?><a>b</a>", "feed"),
        (b"import sys\n", "run.py"),
        (b"a: 1\n", "site.yml"),
    ],
)
def test_text_that_is_no_prose_is_refused_with_advice(load_bytes, data: bytes, name: str) -> None:
    _, dot, suffix = name.partition(".")
    kind = f"a {dot}{suffix} file, " if dot else ""
    with pytest.raises(LoadError, match=f"{name} is {kind}source code, data or markup, which is not read") as caught:
        load_bytes(data, name)
    assert ("the PDF that it makes" if suffix == "tex" else "in sentences") in caught.value.hint


@pytest.mark.parametrize("data", [b"[x] buy flour\n[ ] bake", b"{a draft}", b"[1] Lind, Tides. [2]"])
def test_text_without_a_suffix_is_read_unless_it_is_data(load_bytes, data: bytes) -> None:
    assert load_bytes(data, "NOTES").text == data.decode()


@pytest.mark.parametrize(
    ("data", "name", "message"),
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
        (b"just words", "a.pdf", "is not a PDF"),
    ],
)
def test_refused_files_give_a_reason_and_a_hint(load_bytes, data: bytes, name: str, message: str) -> None:
    with pytest.raises(LoadError, match=message) as caught:
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
def test_a_partly_read_file_is_too_large_rather_than_broken(load_bytes, name: str) -> None:
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


def test_content_decides_the_type_before_the_suffix(load_bytes, make_pdf) -> None:
    assert load_bytes(make_pdf([["Hello there"]]), "a.txt").mime == "application/pdf"
    assert load_bytes(b"<!DOCTYPE html><p>Hi</p>", "a.txt").mime == "text/html"
    assert load_bytes(b"no suffix at all", "NOTES").mime == "text/plain"
    assert load_bytes(b"about %PDF- files", "a.md").mime == "text/markdown"


def test_every_suffix_has_a_loader() -> None:
    assert {MIME_OF_SUFFIX[suffix] for suffix in SUFFIXES} == set(LOADERS) - {JSON_RESUME, RENDERCV, LINKEDIN}


def test_a_document_keeps_its_origin(load_bytes) -> None:
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


RST = """\
=====
Notes
=====

Overview
========

It checks::

    code = 1

Tables are no headings:

=====  =====
A      B
=====  =====
1      2
=====  =====

Usage
-----

* one
* two

Words of a paragraph
that ends in a dash
-------------------

LICENCE:
see COPYING
"""


def test_restructured_text_is_split_at_its_underlined_headings(load_bytes) -> None:
    blocks = restructured_blocks(RST)
    headings = [(RST[block.start : block.end].split("\n")[-2], block.level) for block in blocks if block.level]
    assert headings == [("Notes", 1), ("Overview", 2), ("Usage", 3)]
    assert [block.start for block in blocks] == sorted(block.start for block in blocks)
    assert all(one.end <= other.start for one, other in pairwise(blocks))
    document = classify(load_bytes(RST.encode(), "README.rst")).with_(id="d", content_sha="c")
    paths = [node.metadata["section_path"] for node in parse(document)]
    assert paths[-1] == ["Notes", "Overview", "Usage"]


@pytest.mark.parametrize(("underline", "kind"), [("===", "paragraph"), ("====", "heading")])
def test_a_short_underline_of_less_than_four_characters_makes_no_heading(underline: str, kind: str) -> None:
    blocks = restructured_blocks(f"Top\n===\n\nA long title\n{underline}\n\nWords.")
    assert [block.kind for block in blocks] == ["heading", kind, "paragraph"]


def test_indented_lines_below_a_paragraph_are_no_headings() -> None:
    blocks = restructured_blocks("Top\n===\n\nSo::\n\n    =====\n    Title\n    =====\n\n    Words\n    =====\n")
    assert [block.kind for block in blocks] == ["heading", "paragraph", "paragraph", "paragraph"]


@pytest.mark.parametrize("name", ["notes.rst", "NOTES.RST"])
def test_restructured_text_is_recognised_by_its_suffix(load_bytes, name: str) -> None:
    found = load_bytes(RST.encode(), name)
    assert (found.mime, found.title, found.blocks) == ("text/plain", "Notes", restructured_blocks(RST))


def test_restructured_text_without_a_heading_of_its_own_is_read_as_plain_text() -> None:
    kinds = [block.kind for block in restructured_blocks("EXPERIENCE\n\nWords of it.")]
    assert kinds == ["heading", "paragraph"]
