"""The headings and table cells that the XML of office files states, read apart from the loaders."""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.evaluation.structure_words import IN_CELL, Stated, sheet

_HEADING_STYLE = re.compile(r"heading (\d)")
_EQUATION = "an equation, which is written as LaTeX"
_CONTENT = "content.xml"
_DEEPEST_STYLE = 20


@dataclass(frozen=True, slots=True)
class _Names:
    """What elements are called: text ("" = whatever a paragraph holds), spaces, and those that are no part of it."""

    text: str
    spaces: frozenset[str]
    apart: frozenset[str]


_WORD = _Names("t", frozenset({"tab", "br", "cr"}), frozenset({"p", "txbxContent", "Fallback", "del"}))
_SLIDE = _Names("t", frozenset({"tab", "br"}), frozenset({"p"}))
_ODF = _Names("", frozenset({"s", "tab", "line-break"}), frozenset({"p", "h", "note", "annotation"}))


def read_docx(path: Path) -> Iterator[Stated]:
    """Paragraphs in the styles of headings and of the title, and the paragraphs of table cells."""
    parts = _parts(path, r"word/(?:document\d*|styles)\.xml")
    levels = _style_levels(parts.pop("word/styles.xml", None))
    for paragraph in (found for root in parts.values() for found in _elements(root, "p")):
        around = {_name(above) for above in paragraph.iterancestors()}
        text = _text(paragraph, _WORD)
        level = levels.get(_attribute(next(_elements(paragraph, "pStyle"), None), "val"), 0)
        if not text or {"Fallback", "del"} & around:
            continue
        if level:
            yield Stated(text, level, IN_CELL * ("tc" in around))
        elif "tc" in around:
            yield Stated(text, why=_EQUATION * any(True for _ in _elements(paragraph, "oMath")))


def read_pptx(path: Path) -> Iterator[Stated]:
    """The titles of slides, and the paragraphs of table cells."""
    slides = _parts(path, r"ppt/slides/slide\d+\.xml")
    for _, slide in sorted(slides.items(), key=lambda part: int(re.sub(r"\D", "", part[0]))):
        for shape in _elements(slide, "sp"):
            kind = _attribute(next(_elements(shape, "ph"), None), "type")
            title = " ".join(_text(paragraph, _SLIDE) for paragraph in _elements(shape, "p")).strip()
            if kind in ("title", "ctrTitle") and title:
                yield Stated(title, 1)
        for cell in _elements(slide, "tc"):
            yield from (Stated(text) for paragraph in _elements(cell, "p") if (text := _text(paragraph, _SLIDE)))


def read_odt(path: Path) -> Iterator[Stated]:
    """Headings, and the paragraphs of table cells."""
    for element in _elements(_parts(path, _CONTENT)[_CONTENT], "h", "p"):
        around = {_name(above) for above in element.iterancestors()}
        text = _text(element, _ODF)
        if not text or {"tracked-changes", "annotation", "note"} & around:
            continue
        if _name(element) == "h":
            yield Stated(text, int(_attribute(element, "outline-level") or 1), IN_CELL * ("table-cell" in around))
        elif "table-cell" in around:
            yield Stated(text)


def read_ods(path: Path) -> Iterator[Stated]:
    """The names of sheets, and their cells."""
    tables = list(_elements(_parts(path, _CONTENT)[_CONTENT], "table"))
    for table in tables:
        yield sheet(_attribute(table, "name"), alone=len(tables) == 1)
        for cell in _elements(table, "table-cell"):
            text = " ".join(_text(paragraph, _ODF) for paragraph in _elements(cell, "p")).strip()
            if text:
                yield Stated(text, also=(_attribute(cell, "date-value"),))


def _parts(path: Path, wanted: str) -> dict[str, Any]:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False)
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if re.fullmatch(wanted, name)]
        return {name: etree.fromstring(archive.read(name), parser) for name in names}


def _name(element: Any) -> str:
    """Whatever its namespace, which differs between the two dialects of OOXML."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _elements(root: Any, *names: str) -> Iterator[Any]:
    return (element for element in root.iter() if _name(element) in names)


def _attribute(element: Any, name: str) -> str:
    known = {} if element is None else {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
    return str(known.get(name, ""))


def _text(element: Any, names: _Names) -> str:
    return " ".join("".join(_runs(element, names)).split())


def _runs(element: Any, names: _Names) -> Iterator[str]:
    """The words of a paragraph in pieces, without those of paragraphs that stand inside of it."""
    if not names.text:
        yield element.text or ""
    for child in element:
        name = _name(child)
        if name == names.text:
            yield child.text or ""
        elif name in names.spaces:
            yield " "
        elif name and name not in names.apart:
            yield from _runs(child, names)
        if not names.text:
            yield child.tail or ""


def _style_levels(styles: Any) -> dict[str, int]:
    """By style id, the level of the heading that it is or is based on: the title's 1, `heading 1`'s 2."""
    known = {}
    for style in _elements(styles, "style") if styles is not None else ():
        name, base = (_attribute(next(_elements(style, tag), None), "val") for tag in ("name", "basedOn"))
        known[_attribute(style, "styleId")] = (name.lower(), base)
    return {style: level for style in known if (level := _level(style, known))}


def _level(style: str, known: dict[str, tuple[str, str]]) -> int:
    for _ in range(_DEEPEST_STYLE):
        name, base = known.get(style, ("", ""))
        found = _HEADING_STYLE.match(name)
        if found or name == "title":
            return int(found[1]) + 1 if found else 1
        style = base
    return 0
