"""The blocks of an article: trafilatura's body, which is TEI, rendered one by one."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from pipelines.ingestion.loaders.docling_tables import Cell, table_parts
from pipelines.ingestion.loaders.paragraphs import lines_of
from pipelines.ingestion.loaders.rendering import Part, Rendering
from pipelines.ingestion.structure import MAX_TITLE

_LEVEL = re.compile(r"h([1-6])")
_BLOCKS = frozenset({"p", "div", "quote", "head", "list", "item", "table", "row", "cell", "code", "body"})

Emit = Callable[[str], None]


def rendering_of(body: Any) -> Rendering:
    """Headings with their levels, lists, tables, code and paragraphs, in order."""
    walk = _Walk()
    walk.inside(body, walk.paragraph)
    return walk.rendering


class _Walk:
    def __init__(self) -> None:
        self.rendering = Rendering()

    def paragraph(self, text: str) -> None:
        self.rendering.extend(lines_of(text))

    def inside(self, element: Any, emit: Emit, depth: int = 0) -> None:
        """Emit each run of words in an element, and render the blocks between them; lists in it stand so deep."""
        run = _spaced(element.text)
        for child in element:
            if _is_block(child):
                _emit(run, emit)
                self._block(child, emit, depth)
                run = ""
            else:
                run += _inline(child)
            run += _spaced(child.tail)
        _emit(run, emit)

    def _block(self, element: Any, emit: Emit, depth: int) -> None:
        match element.tag:
            case "head":
                self._heading(element)
            case "list":
                for number, item in enumerate(element.iterchildren("item"), start=1):
                    self._item(item, f"{number}." if element.get("rend") == "ol" else "-", depth)
            case "table":
                self.rendering.extend(_table(element))
            case "code":
                self._code("".join(element.itertext()))
            case _:
                self.inside(element, emit, depth)

    def _heading(self, element: Any) -> None:
        text = " ".join(_inline(element).split())
        level = _LEVEL.search(element.get("rend") or "")
        if len(text) > MAX_TITLE:
            self.paragraph(text)
        else:
            self.rendering.add(text, "heading", int(level[1]) if level else 2)

    def _item(self, item: Any, marker: str, depth: int) -> None:
        """The item's first words after its marker, what else it says below, lists in it one step deeper."""
        marks = [marker]

        def emit(text: str) -> None:
            self.rendering.add(" ".join([*marks, *text.split()]), "list", indent="  " * depth)
            marks.clear()

        self.inside(item, emit, depth + 1)

    def _code(self, text: str) -> None:
        fence = "~~~" if "```" in text else "```"
        if text.strip():
            self.rendering.add(f"{fence}\n{text.strip(chr(10)).rstrip()}\n{fence}", "code")


def _emit(run: str, emit: Emit) -> None:
    if run.strip():
        emit(run)


def _is_block(element: Any) -> bool:
    inline_code = element.tag == "code" and "\n" not in "".join(element.itertext())
    return element.tag in _BLOCKS and not inline_code


def _inline(element: Any) -> str:
    """The words of an element on the line; a line break for `lb`."""
    if element.tag == "lb":
        return "\n"
    if not isinstance(element.tag, str):  # a comment or an instruction
        return ""
    inner = (_inline(child) + _spaced(child.tail) for child in element)
    return _spaced(element.text) + "".join(inner)


def _spaced(text: str | None) -> str:
    """The text without the line breaks of the source, which mean nothing."""
    return re.sub(r"[\n\r\t]+", " ", text) if text else ""


def _table(element: Any) -> list[Part]:
    rows = list(element.iter("row"))
    cells = [cell for number, row in enumerate(rows) for cell in _cells(row, number)]
    return table_parts(cells, len(rows), max((cell.column for cell in cells), default=0) + 1)


def _cells(row: Any, number: int) -> Iterator[Cell]:
    for column, cell in enumerate(row.iterchildren("cell")):
        parts = rendering_of(cell).as_parts()
        yield Cell(number, column, 1, tuple(parts), cell.get("role") == "head")
