"""Whether every heading and every table cell of a file stands in its nodes, under the right section path.

A heading's path is that of the headings above it in the file (each of a lower level than the next), and itself. A
cell's is that of the last heading before it. A node is under such a path if

- its section path is that one, title for title, or
- its section path goes on below that one, and the node itself holds the words of that heading and of each one further
  down: it begins at the heading (which has next to nothing of its own) and goes on into what lies below it.

Titles are the same but for case, marks, a number before them and the `(2)` of a repeated one. Those that the file does
not say are headings (they were found by their look) are passed over in section paths.

A heading or cell is in the nodes if its words stand there, all of them in a row, once for each time that the file has
them. It is under its path if they so stand in nodes that are. So what was put under the heading of a neighbour, or only
under the one above, is not. The nodes of resumes and profiles stand under the sections that their parsers name, not
under the person's name or the line of an entry, so those headings are not under their paths.
"""

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from pipelines.errors import FootnoteError, SourceError
from pipelines.evaluation.parsing import read_document
from pipelines.headings import MAX_TITLE
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders.sniff import MARKDOWN
from pipelines.ingestion.loaders.tables import is_default_sheet_name
from pipelines.ingestion.parsers import parse
from pipelines.markup import INLINE_TAGS, plain, without_comments
from pipelines.text import canonical, fold
from tests.bench import arguments, show

IN_CELL = "inside a table cell, whose words it is"

_NEW_SHEET = "the name that every new sheet is given"

_WORD = re.compile(r"[^\W_]+")
_NUMBERING = re.compile(r"^(?:\d+ )+(?=.)")
_REPEATED = re.compile(r" \(\d+\)$")


@dataclass(frozen=True, slots=True)
class Stated:
    """A heading or a table cell of a file.

    Attributes:
        text: Its words.
        level: A heading's, from 1; 0 for a cell.
        why: Why it need not divide the text, or need not be read at all; empty for most.
        also: Other ways in which a cell's value may be shown.
    """

    text: str
    level: int = 0
    why: str = ""
    also: tuple[str, ...] = ()


def sheet(title: str, *, alone: bool) -> Stated:
    """The name of a sheet, which says nothing if it is the only one and was never named."""
    return Stated(title, 1, _NEW_SHEET if alone and is_default_sheet_name(title) else "")


def words(text: str) -> str:
    """The words without case, accents, marks and punctuation, one space between them; without any, the marks."""
    folded = fold(canonical(text))
    return " ".join(_WORD.findall(folded)) or _marks(folded)


def _marks(folded: str) -> str:
    """What stands between spaces, without the stops after it."""
    return " ".join(mark.rstrip(".;") or mark for mark in folded.split())


def title_words(title: str) -> str:
    """The words of a heading without the number before it or, in a section path, the `(2)` of a repeated one."""
    return _NUMBERING.sub("", words(_REPEATED.sub("", title)))


class Said:
    """Texts in which words are counted."""

    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self._words = "\n".join(_apart(words(text)) for text in texts)
        self._marks = "\n".join(_apart(_marks(fold(canonical(text)))) for text in texts)

    def count(self, text: str) -> int:
        """How often the text stands in them, word for word, whatever is between the words."""
        sought = words(text)
        return (self._words if _WORD.search(sought) else self._marks).count(_apart(sought)) if sought else 0


def _apart(sought: str) -> str:
    return f" {sought.replace(' ', '  ')} "


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


_WORD_XML = _Names("t", frozenset({"tab", "br", "cr"}), frozenset({"p", "txbxContent", "Fallback", "del"}))
_SLIDE = _Names("t", frozenset({"tab", "br"}), frozenset({"p"}))
_ODF = _Names("", frozenset({"s", "tab", "line-break"}), frozenset({"p", "h", "note", "annotation"}))


def read_docx(path: Path) -> Iterator[Stated]:
    """Paragraphs in the styles of headings and of the title, and the paragraphs of table cells."""
    parts = _parts(path, r"word/(?:document\d*|styles)\.xml")
    levels = _style_levels(parts.pop("word/styles.xml", None))
    for paragraph in (found for root in parts.values() for found in _elements(root, "p")):
        around = {_name(above) for above in paragraph.iterancestors()}
        text = _text(paragraph, _WORD_XML)
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


_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_CELLS = ("td", "th")
_UNREAD = ("script", "style", "template", "noscript")
_IN_BLOCK = "inside a list or a quotation, which it does not divide"
_IN_NAVIGATION = "in the page's navigation, which is left out"
_ON_HIDDEN_SHEET = "on a hidden sheet"


def read_markdown(path: Path) -> Iterator[Stated]:
    """CommonMark headings, and the cells of tables."""
    from markdown_it import MarkdownIt

    text = _FRONT_MATTER.sub("", path.read_text(encoding="utf-8-sig"))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for token, inline in pairwise(tokens):
        said = plain(inline.content) or without_comments(inline.content).strip()
        if token.type == "heading_open" and said:
            yield Stated(said, int(token.tag[1]), _IN_BLOCK if token.level else "")
        elif token.type in ("th_open", "td_open") and said:
            yield Stated(said)


def read_html(path: Path) -> Iterator[Stated]:
    """`<h1>` to `<h6>`, and the blocks of text in table cells."""
    from lxml.html import HTMLParser, document_fromstring

    page, encoding = path.read_bytes(), "utf-8"
    try:
        page.decode()
    except UnicodeDecodeError:
        encoding = ""
    root = document_fromstring(page, parser=HTMLParser(encoding=encoding or None))
    for element in root.iter(*_HEADINGS, *_CELLS):
        around = {above.tag for above in element.iterancestors()}
        why = _IN_NAVIGATION if "nav" in around else ""
        if element.tag in _CELLS:
            yield from (Stated(text, why=why) for text in _blocks(element))
        elif text := " ".join(element.text_content().split()):
            yield Stated(text, int(element.tag[1]), why or IN_CELL * bool({*_CELLS} & around))


def _blocks(cell: Any) -> list[str]:
    """The blocks of text in a cell, without those of the cells and the headings inside of it."""
    found = [""]

    def walk(element: Any) -> None:
        found[-1] += element.text or ""
        for child in element:
            inline = child.tag in INLINE_TAGS
            found.extend([""] * (not inline))
            if isinstance(child.tag, str) and child.tag not in (*_UNREAD, *_HEADINGS, *_CELLS):
                walk(child)
            found.extend([""] * (not inline))
            found[-1] += child.tail or ""

    walk(cell)
    return [text for block in found if (text := " ".join(block.split()))]


def read_xlsx(path: Path) -> Iterator[Stated]:
    """The names of sheets, and their cells."""
    from openpyxl import load_workbook

    sheets = load_workbook(path, data_only=True).worksheets
    for each in sheets:
        why = _ON_HIDDEN_SHEET if each.sheet_state != "visible" else ""
        yield Stated(each.title, 1, why) if why else sheet(each.title, alone=len(sheets) == 1)
        for cell in (cell for row in each.iter_rows() for cell in row if cell.value is not None):
            text, *also = _shown(cell.value)
            yield Stated(text, why=why, also=tuple(also))


def _shown(value: object) -> list[str]:
    """The ways in which a value may be shown."""
    match value:
        case bool():
            return ["yes" if value else "no", str(value)]
        case int() | float():
            return [f"{value:.15g}", f"{100 * value:.10g}%"]
        case datetime():
            return [value.strftime("%Y-%m-%d %H:%M"), str(value.date())]
        case date():
            return [str(value)]
    return [str(value)]


def read_csv(path: Path) -> Iterator[Stated]:
    """The cells."""
    text = path.read_text(encoding="utf-8-sig")
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:10_000], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    for row in csv.reader(io.StringIO(text), dialect):
        yield from (Stated(cell.strip()) for cell in row if cell.strip())


READERS: dict[str, Callable[[Path], Iterator[Stated]]] = {
    ".docx": read_docx,
    ".html": read_html,
    ".htm": read_html,
    ".md": read_markdown,
    ".pptx": read_pptx,
    ".xlsx": read_xlsx,
    ".csv": read_csv,
    ".odt": read_odt,
    ".ods": read_ods,
}


Progress = Callable[[str, int, int], None]
Titles = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What became of a heading or a cell: whether it is in the nodes, whether under its path, and if not, why."""

    stated: Stated
    path: Titles
    in_nodes: bool
    in_section: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a file's structure; `error` says why it could not be read or parsed, and is empty if it could."""

    name: str
    parser: str = ""
    found: tuple[Found, ...] = ()
    error: str = ""

    @property
    def headings(self) -> list[Found]:
        """Those that are headings."""
        return [each for each in self.found if each.stated.level]

    @property
    def cells(self) -> list[Found]:
        """Those that are table cells."""
        return [each for each in self.found if not each.stated.level]

    @property
    def exceptions(self) -> list[Found]:
        """Those that are not under their path."""
        return [each for each in self.found if not each.in_section]


class _Nodes:
    """The section path and the text of each node, and what the nodes under a path say."""

    def __init__(self, nodes: Iterable[tuple[Titles, str]]) -> None:
        self._nodes = [(titles, text, Said([text])) for titles, text in nodes]
        self._under: dict[Titles, Said] = {}
        self.all = Said(text for _, text, _ in self._nodes)

    def under(self, path: Titles) -> Said:
        """Those in the section of that path, and those that begin there and go on in one below."""
        if path not in self._under:
            self._under[path] = Said(text for titles, text, said in self._nodes if _is_under(titles, said, path))
        return self._under[path]

    def first_with(self, stated: Stated, text: str) -> Titles | None:
        """The path of the first node that says it."""
        return next((titles for titles, _, said in self._nodes if _times(stated, text, said)), None)


def _is_under(titles: Titles, said: Said, path: Titles) -> bool:
    if titles[: len(path)] != path:
        return False
    return titles == path or all(said.count(title) for title in titles[max(len(path) - 1, 0) :])


def structure_of(folder: Path, *, limit: int | None = None, on_progress: Progress | None = None) -> list[Kept]:
    """Load, classify and parse the files below a folder whose format is read here, by name; see the module.

    Raises:
        SourceError: If the folder holds no such file.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in READERS and path.is_file())[:limit]
    if not files:
        raise SourceError(
            f"{folder} holds no file of these formats: {', '.join(READERS)}.", hint="Name another folder."
        )
    done: list[Kept] = []
    for number, path in enumerate(files, start=1):
        done.append(kept(path, path.relative_to(folder).as_posix()))
        if on_progress:
            on_progress("parsing", number, len(files))
    return done


def kept(path: Path, name: str) -> Kept:
    """What becomes of one file's headings and cells."""
    try:
        document = classify(read_document(path))
        nodes = parse(document)
    except FootnoteError as error:
        return Kept(name, error=error.message)
    try:
        stated = list(READERS[path.suffix.lower()](path))
    except (ValueError, KeyError, SyntaxError, BadZipFile) as error:
        return Kept(name, error=f"{name} can be loaded but not checked: {error}")
    texts = [plain(node.text) if document.mime == MARKDOWN else node.text for node in nodes]
    paths = [node.metadata["section_path"] for node in nodes]
    return Kept(name, nodes[0].metadata["parser"], tuple(judged(stated, zip(paths, texts, strict=True))))


def judged(stated: Sequence[Stated], nodes: Iterable[tuple[Sequence[str], str]]) -> Iterator[Found]:
    """What became of each, in order, in nodes of these section paths and texts; see the module."""
    known = {title_words(each.text) for each in stated if each.level}
    own = [(tuple(title for title in map(title_words, path) if title in known), text) for path, text in nodes]
    yield from _found(stated, _Nodes(own))


def _found(stated: Sequence[Stated], nodes: _Nodes) -> Iterator[Found]:
    everywhere: Counter[str] = Counter()
    within: Counter[tuple[Titles, str]] = Counter()
    for each, path in _with_paths(stated):
        text = path[-1] if each.level else each.text
        everywhere[text] += 1
        within[path, text] += 1
        in_nodes = _times(each, text, nodes.all) >= everywhere[text]
        in_section = in_nodes and _times(each, text, nodes.under(path)) >= within[path, text]
        yield Found(each, path, in_nodes, in_section, "" if in_section else _reason(each, text, nodes))


def _with_paths(stated: Iterable[Stated]) -> Iterator[tuple[Stated, Titles]]:
    """Each with its path in the file; a heading that need not divide the text is above nothing."""
    above: list[tuple[int, str]] = []
    for each in stated:
        if not each.level:
            yield each, tuple(title for _, title in above)
            continue
        path = [*(pair for pair in above if each.why or pair[0] < each.level), (each.level, title_words(each.text))]
        above = above if each.why else path
        yield each, tuple(title for _, title in path)


def _times(stated: Stated, text: str, said: Said) -> int:
    """How often a text is said, in whichever of its forms is said most often."""
    return max(said.count(form) for form in (text, *stated.also))


def _reason(stated: Stated, text: str, nodes: _Nodes) -> str:
    """Why a text is not under its path: what its reader says, else where it stands."""
    if stated.why or (stated.level and len(stated.text) > MAX_TITLE):
        return stated.why or f"longer than {MAX_TITLE} characters, and so a paragraph"
    path = nodes.first_with(stated, text)
    return "stands in no node" if path is None else f"stands under {' > '.join(path) or 'no heading'}"


def totals(done: Iterable[Kept]) -> dict[str, int]:
    """How many headings and cells these files have, how many are in the nodes, and how many under their path."""
    counts: Counter[str] = Counter()
    for each in done:
        for name, found in (("headings", each.headings), ("cells", each.cells)):
            counts[name] += len(found)
            counts[f"{name}_in_nodes"] += sum(one.in_nodes for one in found)
            counts[f"{name}_in_section"] += sum(one.in_section for one in found)
    names = [f"{name}{what}" for name in ("headings", "cells") for what in ("", "_in_nodes", "_in_section")]
    return {name: counts[name] for name in names}


def by_format(done: Iterable[Kept]) -> dict[str, list[Kept]]:
    """The files by the suffix of their name, in the order of that."""
    groups: dict[str, list[Kept]] = {}
    for each in done:
        groups.setdefault(each.name.rpartition(".")[2].lower(), []).append(each)
    return dict(sorted(groups.items()))


def structure_json(done: Sequence[Kept]) -> dict[str, Any]:
    """The totals, by format and of each file, with every heading and cell that is not under its path; plain data."""
    return {
        "files": len(done),
        "totals": totals(done),
        "formats": {name: totals(held) for name, held in by_format(done).items()},
        "documents": [
            {"name": each.name, "parser": each.parser, "error": each.error, **totals([each]),
             "exceptions": [exception_json(found) for found in each.exceptions]}
            for each in done
        ],
    }  # fmt: skip


def exception_json(found: Found) -> dict[str, Any]:
    """A heading or cell that is not under its path, and why; plain data."""
    return {
        "what": "heading" if found.stated.level else "cell",
        "text": found.stated.text,
        "path": list(found.path),
        "in_nodes": found.in_nodes,
        "reason": found.reason,
    }


if __name__ == "__main__":
    parser = arguments("structure", __doc__)
    parser.add_argument("folder", type=Path, help="files whose headings and table cells are looked for")
    show(structure_json(structure_of(parser.parse_args().folder)))
