"""Read office files with docling, and render its document tree block by block."""

import io
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import dropwhile, takewhile
from typing import TYPE_CHECKING, Any

from pipelines.errors import LoadError
from pipelines.headings import MAX_TITLE, is_mostly_capitals
from pipelines.ingestion.loaders.base import damaged_file
from pipelines.ingestion.loaders.rendering import (
    Cell,
    RenderedPart,
    Rendering,
    line_parts,
    pipe_table,
    table_parts,
    tidy_lines,
)

if TYPE_CHECKING:
    from docling.document_converter import DocumentConverter


PARAGRAPH_END = "\f"

_WINDOW = 100_000
_CONTEXT = 40
_SPACES = re.compile(r"\s+")
_PLAIN = str.maketrans("\f\n\t", "   ")
_CLOSES, _OPENS = tuple(".,;:!?…%)]}”’»"), tuple("([{“‘«#$/")
_CHECKED = {"checkbox_selected": "[x] ", "checkbox_unselected": "[ ] "}
_DRAWN = ("body", "invisible")  # docling marks tiny pictures invisible
_UNREAD_GROUPS = frozenset({"comment_section"})


class SourceText:
    """The bare text of a file, followed along with its rendering to find the spaces that docling drops.

    Tabs and line breaks in it are kept, and a form feed ends a paragraph.
    """

    def __init__(self, words: str) -> None:
        # One character for a run of white space: end of paragraph, else line break, else tab, else space.
        self._marked = _SPACES.sub(
            lambda spaces: next((mark for mark in "\f\n\t" if mark in spaces[0]), " "), words.strip()
        )
        self._words = self._marked.translate(_PLAIN)
        self._at = 0

    def pass_by(self, text: str) -> None:
        """Advance to where this text is."""
        start = " ".join(text[: 2 * _CONTEXT].split())[:_CONTEXT]
        self._at = max(self._at, self._words.find(start, self._at, self._at + _WINDOW))

    def join(self, runs: Sequence[str]) -> str:
        """The runs as one text, spaced as in the file; by punctuation where the file does not tell."""
        return " ".join(self.paragraphs(runs))

    def paragraphs(self, runs: Sequence[str]) -> list[str]:
        """The runs joined into the paragraphs that they are in the file."""
        joined: list[str] = []
        for run in [text for run in runs if (text := run.strip())]:
            gap = self._between(joined[-1], run) if joined else PARAGRAPH_END
            if gap == PARAGRAPH_END:
                joined.append(run)
            else:
                joined[-1] += gap + run
        return joined

    def _between(self, before: str, after: str) -> str:
        tail = " ".join(before[-_CONTEXT:].split())
        head = " ".join(after[:_CONTEXT].split())
        end = self._at + _WINDOW
        places = {gap: self._words.find(tail + gap + head, self._at, end) for gap in ("", " ")}
        found = {gap: place for gap, place in places.items() if place >= 0}
        if not found:
            return "" if after.startswith(_CLOSES) or before.endswith(_OPENS) else " "
        gap = min(found, key=lambda gap: found[gap])
        self._at = found[gap]
        return gap and self._marked[self._at + len(tail)]


def read_with_docling(data: bytes, name: str, suffix: str, words: str, pictured: Sequence[str] = ()) -> Rendering:
    """Convert a file with docling and render it.

    `words` are its bare text in order, from which the spaces between runs are taken, and `pictured` the alternative
    texts of its pictures in order, empty for none, where docling does not read them.

    Raises:
        LoadError: If docling cannot read it.
    """
    from docling.datamodel.base_models import ConversionStatus, DocumentStream

    stream = DocumentStream(name=f"document{suffix}", stream=io.BytesIO(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about pictures
        result = _converter().convert(stream, raises_on_error=False)
    if result.status != ConversionStatus.SUCCESS:
        reason = " ".join(str(result.errors[0].error_message).split())[:300] if result.errors else ""
        if not reason or "with hash" in reason:  # a message without a reason
            raise damaged_file(name)
        raise LoadError(f"{name} is broken: {reason.rstrip('.')}.", hint="Open it and save it again.")
    try:
        return DoclingWalk(result.document, SourceText(words), pictured).render()
    except RecursionError as error:
        raise LoadError(f"{name} nests its lists or tables too deeply.", hint="Save it in a simpler form.") from error


@lru_cache(maxsize=1)
def _converter() -> "DocumentConverter":
    from docling.datamodel.base_models import InputFormat
    from docling.document_converter import DocumentConverter

    return DocumentConverter(allowed_formats=[InputFormat.DOCX, InputFormat.PPTX, InputFormat.ODT, InputFormat.ODP])


class DoclingWalk:
    """Renders a docling document."""

    def __init__(self, document: Any, source: SourceText, pictured: Sequence[str] = ()) -> None:
        self._document = document
        self._source = source
        self._rendering = Rendering()
        self._done: set[str] = set()
        self._pictured = list(pictured)
        drawn = [item for item in document.pictures if item.content_layer in _DRAWN and _chart_of(item) is None]
        in_order = len(pictured) == len(drawn)
        self._alternatives = iter(pictured if in_order else ())
        has_headings = any(item.label in ("title", "section_header") for item in document.texts)
        self._title_level = int(any(item.label == "title" and item.content_layer == "body" for item in document.texts))
        lines = [item.text for item in document.texts if item.content_layer == "body"]
        self._finds_headings = not (has_headings or is_mostly_capitals(lines, least=1))
        self._leaves: dict[str, Callable[[Any], None]] = {
            "table": self._table,
            "document_index": self._table,
            "picture": self._picture,
            "chart": self._picture,
            "inline": lambda item: self._paragraph(self._runs(item)),
        }

    def render(self) -> Rendering:
        """Render the body, footnotes and speaker notes; running headers, footers and comments are left out."""
        self._children(self._document.body)
        for text in [text for text in self._pictured if text not in self._rendering.text]:
            self._rendering.add(text, "caption")
        return self._rendering

    def _children(self, node: Any, depth: int = 0, *, in_cell: bool = False) -> None:
        items = self._resolve(node.children)
        number = 0
        for at, item in enumerate(items):
            number += item.label == "list_item"
            if item.self_ref not in self._done and self._is_read(item):
                self._done.add(item.self_ref)
                adjacent = self._adjacent_texts(items[at:]) if in_cell else []
                for paragraph in self._source.paragraphs(adjacent):
                    self._paragraph(paragraph)
                if not adjacent:
                    self._item(item, depth, number)

    def _resolve(self, references: Iterable[Any]) -> list[Any]:
        return [reference.resolve(self._document) for reference in references]

    def _adjacent_texts(self, items: Sequence[Any]) -> list[str]:
        """The adjacent texts in a cell, where docling does not distinguish runs from paragraphs."""
        adjacent = list(takewhile(lambda item: item.label == "text" and item.text and not item.children, items))
        self._done.update(item.self_ref for item in adjacent)
        return [item.text for item in adjacent]

    def _is_read(self, item: Any) -> bool:
        layer = str(item.content_layer.value)
        if item.label == "picture" and layer in _DRAWN:
            return True
        notes = layer == "notes" and str(item.label.value) not in _UNREAD_GROUPS
        return layer == "body" or notes or item.label == "footnote"

    def _item(self, item: Any, depth: int, number: int) -> None:
        label = str(item.label.value)
        leaf = self._leaves.get(label)
        if leaf:
            leaf(item)
            return
        match label:
            case "list_item":
                text = tidy_lines(self._text(item))
                marker = (item.marker.strip() or f"{number}.") if item.enumerated else "-"
                if text:
                    self._rendering.add(f"{marker} {text}", "list", indent="  " * depth)
                self._children(item, depth + 1)
                return
            case "title" | "section_header":
                level = 1 if item.label == "title" else min(item.level + self._title_level, 6)
                text = tidy_lines(" ".join(self._text(line) for line in self._title_lines(item)))
                if len(text) > MAX_TITLE:
                    self._paragraph(text)
                elif text:
                    self._rendering.add(text, "heading", level)
            case "code":
                self._rendering.add_code(item.text)
            case "caption":
                self._rendering.add(tidy_lines(self._text(item)), "caption")
            case "chapter":
                self._open_slide(item)
            case _:
                note = "Notes: " if item.content_layer == "notes" else ""
                self._paragraph(_CHECKED.get(label, note) + self._text(item))
        self._children(item, depth)

    def _open_slide(self, slide: Any) -> None:
        """Open a page that begins with the slide's title, wherever it is on the slide."""
        self._rendering.open_page()
        items = self._resolve(slide.children)
        title = next((item for item in items if item.label == "title" and self._is_read(item)), None)
        if title is not None:
            self._done.add(title.self_ref)
            self._item(title, 0, 0)

    def _text(self, item: Any) -> str:
        """The item's own text; formatted runs are its first child."""
        text = getattr(item, "text", "")
        if text:
            self._source.pass_by(text)
            return str(text)
        if item.children:
            first = item.children[0].resolve(self._document)
            if first.label == "inline" and first.self_ref not in self._done:
                self._done.add(first.self_ref)
                return self._runs(first)
        return ""

    def _runs(self, group: Any) -> str:
        runs = []
        for run in self._resolve(group.children):
            self._done.add(run.self_ref)
            runs.append(getattr(run, "text", "") or self._runs(run))
        return self._source.join(runs)

    def _title_lines(self, item: Any) -> list[Any]:
        """The paragraphs of a slide's title, each of which docling takes for a title."""
        slide = item.parent.resolve(self._document) if item.label == "title" and item.parent else None
        if slide is None or slide.label != "chapter":
            return [item]
        items = self._resolve(slide.children)
        rest = dropwhile(lambda other: other.self_ref != item.self_ref, items)
        lines = list(takewhile(lambda other: other.label == "title", rest))
        self._done.update(line.self_ref for line in lines)
        return lines

    def _paragraph(self, text: str) -> None:
        self._rendering.extend(line_parts(text, self._finds_headings))

    def _captions(self, item: Any) -> None:
        for caption in self._resolve(item.captions):
            if caption.self_ref not in self._done:
                self._done.add(caption.self_ref)
                self._rendering.add(tidy_lines(self._text(caption)), "caption")

    def _picture(self, item: Any) -> None:
        """Add its captions and alternative text, a chart's numbers, and the text in it."""
        self._captions(item)
        chart = _chart_of(item)
        if chart is None:
            self._rendering.add(tidy_lines(next(self._alternatives, "")), "caption")
        elif chart.grid:
            self._rendering.add(pipe_table([[cell.text for cell in row] for row in chart.grid]), "table")
        self._children(item)

    def _table(self, item: Any) -> None:
        self._captions(item)
        cells = [
            Cell(
                cell.start_row_offset_idx,
                cell.start_col_offset_idx,
                cell.row_span,
                tuple(self._cell(cell)),
            )
            for cell in item.data.table_cells
        ]
        self._rendering.extend(table_parts(cells, item.data.num_rows, item.data.num_cols))

    def _cell(self, cell: Any) -> Iterable[RenderedPart]:
        reference = getattr(cell, "ref", None)
        if reference is None:
            return line_parts(cell.text, self._finds_headings)
        return self._render_apart(reference.resolve(self._document)) or line_parts(cell.text, self._finds_headings)

    def _render_apart(self, group: Any) -> list[RenderedPart]:
        """Render a group by itself."""
        outer, self._rendering = self._rendering, Rendering()
        self._children(group, in_cell=True)
        inner, self._rendering = self._rendering, outer
        return inner.as_parts()


def _chart_of(picture: Any) -> Any:
    """The data of a chart; None for any other picture."""
    chart = getattr(getattr(picture, "meta", None), "tabular_chart", None)
    return chart.chart_data if chart else None
