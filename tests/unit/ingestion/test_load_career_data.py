"""JSON Resume, rendercv's YAML and LinkedIn's archive give career facts; notebooks and e-books are read."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import LoadError
from pipelines.ingestion.classify import classify
from pipelines.ingestion.parsers import PARSERS, parser_for
from pipelines.ingestion.parsers.nodes import CarriedDocument
from pipelines.ingestion.sources.files import list_files

RESUME = {
    "basics": {
        "name": "Ines Varga", "label": "Engineer", "email": "ines@varga.example", "summary": "Builds bridges.",
        "location": {"city": "Leith", "countryCode": "GB"}, "profiles": [{"url": "https://github.com/ines"}],
    },
    "work": [
        {"name": "Northmere", "position": "Senior Engineer", "startDate": "2018-03-01", "location": "Leith",
         "highlights": ["Inspected forty bridges"]},
        {"name": "Tidewright", "position": "Engineer", "startDate": "2015-01", "endDate": "2018-02"},
    ],
    "education": [{"institution": "Leith College", "area": "Civil Engineering", "studyType": "MSc", "endDate": "2014"}],
    "skills": [{"name": "Code", "keywords": ["Python", "Rust"]}],
    "languages": [{"language": "Hungarian", "fluency": "Native"}, {"language": "English", "fluency": "Fluent"}],
}  # fmt: skip
RENDERCV = """
cv:
  name: Ines Varga
  location: Leith
  email: ines@varga.example
  sections:
    summary: [Builds bridges.]
    work history:
      - {company: Northmere, position: Senior Engineer, start_date: 2018-03, end_date: present, location: Leith,
         highlights: [Inspected forty bridges]}
      - {company: Tidewright, position: Engineer, start_date: 2015-01, end_date: 2018-02}
    schools:
      - {institution: Leith College, area: Civil Engineering, degree: MSc, end_date: 2014}
    tools:
      - {label: Code, details: "Python, Rust"}
    languages:
      - {label: Hungarian, details: Native}
      - {label: English, details: Fluent}
"""
ARCHIVE = {
    "Profile.csv": "First Name,Last Name,Headline,Summary,Geo Location\nInes,Varga,Engineer,Builds bridges.,Leith\n",
    "Positions.csv": "Company Name,Title,Description,Location,Started On,Finished On\n"
    "Northmere,Senior Engineer,Inspected forty bridges,Leith,Mar 2018,\nTidewright,Engineer,,,Jan 2015,Feb 2018\n",
    "Education.csv": "School Name,Start Date,End Date,Notes,Degree Name,Activities\n"
    "Leith College,2012,2014,,MSc Civil Engineering,\n",
    "Skills.csv": "Name\nPython\nRust\n",
    "Languages.csv": "Name,Proficiency\nHungarian,Native\nEnglish,Fluent\n",
}


def zipped(files: dict[str, str], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


FILES = {"resume.json": json.dumps(RESUME).encode(), "ines_cv.yaml": RENDERCV.encode(), "data.zip": zipped(ARCHIVE)}


def records(document: Any) -> list[dict[str, Any]]:
    nodes = PARSERS[parser_for(document)]().get_nodes_from_documents([CarriedDocument.of(document)])
    assert all(document.text[node.start_char_idx : node.end_char_idx] == node.text for node in nodes)
    facts = [node.metadata["facts"] for node in nodes if node.metadata["facts"]]
    return [record for each in facts for record in each.get("records", [each])]


@pytest.mark.parametrize("name", FILES)
def test_career_data_give_the_facts_that_they_state(load_bytes, name: str) -> None:
    document = classify(load_bytes(FILES[name], name))
    found = records(document)
    assert (document.category, document.title, document.author) == ("resume", "Ines Varga", "Ines Varga")
    jobs = [(each["position"], each["company"], each["start_month"], each["end_month"], each["current"])
            for each in found if each["type"] == "job"]  # fmt: skip
    assert jobs == [
        ("Senior Engineer", "Northmere", "2018-03", None, True), ("Engineer", "Tidewright", "2015-01", "2018-02", False)
    ]  # fmt: skip
    (study,) = (each for each in found if each["type"] == "education")
    assert (study["institution"], study["degree"], study["area"]) == ("Leith College", "MSc", "Civil Engineering")
    skills = [skill for each in found if each["type"] == "skills" for skill in each["skills"]]
    assert {"Python", "Rust"} <= set(skills)
    assert {each["language"] for each in found if each["type"] == "language"} == {"Hungarian", "English"}
    assert "Inspected forty bridges" in document.text


def test_a_folder_lists_career_data_and_no_other_data(tmp_path: Path) -> None:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "resume-schema.json").write_text('{"type": "object"}')
    (tmp_path / "package.json").write_text(json.dumps(RESUME))
    (tmp_path / "other.zip").write_bytes(zipped({"a.txt": "a"}))
    assert [item.name for item in list_files(str(tmp_path)).items] == ["data.zip", "ines_cv.yaml", "resume.json"]


def test_a_notebook_is_its_cells(load_bytes) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Tides\n", "\n", "How high they rise."]},
        {"cell_type": "code", "source": "# no heading\nprint(4)", "outputs": [{"text": ["4\n"]}]},
    ]
    held = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}
    document = load_bytes(json.dumps(held).encode(), "tides.ipynb")
    assert document.text == "# Tides\n\nHow high they rise.\n\n```python\n# no heading\nprint(4)\n```\n\n```\n4\n```\n"
    assert [block.kind for block in document.blocks] == ["heading", "paragraph", "code", "code"]
    assert document.title == "Tides"
    with pytest.raises(LoadError, match="is not a notebook"):
        load_bytes(b'{"cells": [1]}', "tides.ipynb")


def test_an_epub_is_its_chapters_in_reading_order(load_bytes) -> None:
    book = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<metadata><dc:title>The Ferry</dc:title><dc:creator>Ann Bell</dc:creator></metadata><manifest>"
        '<item id="a" href="a%20b.xhtml"/><item id="b" href="b.xhtml"/></manifest>'
        '<spine><itemref idref="b"/><itemref idref="a"/></spine></package>',
        "OEBPS/a b.xhtml": "<html><body><h1>Second</h1><p>It came home.</p></body></html>",
        "OEBPS/b.xhtml": "<html><body><h1>First</h1><p>The ferry left at dawn.</p></body></html>",
    }
    document = load_bytes(zipped(book), "ferry.epub")
    assert (document.title, document.author) == ("The Ferry", "Ann Bell")
    assert document.text == "First\n\nThe ferry left at dawn.\n\nSecond\n\nIt came home."
    with pytest.raises(LoadError, match="broken"):
        load_bytes(zipped({"META-INF/container.xml": "<x/>"}), "ferry.epub")


def test_a_damaged_archive_or_book_is_named_as_such(load_bytes) -> None:
    data = bytearray(zipped({name: text * 40 for name, text in ARCHIVE.items()}, zipfile.ZIP_DEFLATED))
    first = data.index(b".csv") + len(b".csv")
    data[first : first + 2] = b"\xff\xff"  # no beginning of a compressed file
    container = '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>'
    books = {"META-INF/container.xml": ""}, {"META-INF/container.xml": container, "book.opf": ""}
    for broken in (bytes(data), *(zipped({"mimetype": "application/epub+zip", **book}) for book in books)):
        with pytest.raises(LoadError, match="is broken"):
            load_bytes(broken, "data.zip")


def test_values_of_another_type_than_a_format_has_are_read_as_far_as_they_go(load_bytes) -> None:
    resume = {**RESUME, "skills": [{"name": "Tools", "keywords": "Go"}, {"name": "Talk", "keywords": 5}]}
    assert "Tools: Go\nTalk: 5" in load_bytes(json.dumps(resume).encode(), "resume.json").text
    assert "None" not in load_bytes(f"{RENDERCV}    empty:\n".encode(), "ines_cv.yaml").text
