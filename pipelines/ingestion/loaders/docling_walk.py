"""One pass over docling's tree of a document, in reading order."""

from collections.abc import Callable, Iterable, Sequence
from itertools import dropwhile, takewhile
from typing import Any

from pipelines.ingestion.loaders.docling_tables import Cell, pipe_table, table_parts
from pipelines.ingestion.loaders.paragraphs import is_shouting, lines_of, tidy
from pipelines.ingestion.loaders.rendering import Part, Rendering
from pipelines.ingestion.loaders.runs import Source
from pipelines.ingestion.structure import MAX_TITLE

_CHECKED = {"checkbox_selected": "[x] ", "checkbox_unselected": "[ ] "}
_DRAWN = ("body", "invisible")  # tiny pictures count as invisible
_UNREAD_GROUPS = frozenset({"comment_section"})


class Walk:
    """Renders a docling document; `is_page` tells a web page, whose menus are no text and whose tables name heads."""

    def __init__(self, document: Any, source: Source, pictured: Sequence[str] = (), *, is_page: bool = False) -> None:
        self._document = document
        self._source = source
        self._is_page = is_page
        self._rendering = Rendering()
        self._done: set[str] = set()
        self._pictured = list(pictured)
        drawn = [item for item in document.pictures if item.content_layer in _DRAWN and _chart_of(item) is None]
        in_order = len(pictured) == len(drawn)
        self._alternatives = iter(pictured if in_order else ())
        has_headings = any(item.label in ("title", "section_header") for item in document.texts)
        self._headed = not has_headings
        self._title_level = int(any(item.label == "title" and item.content_layer == "body" for item in document.texts))
        lines = [item.text for item in document.texts if item.content_layer == "body"]
        self._finds_headings = not (has_headings or is_shouting(lines))
        self._leaves: dict[str, Callable[[Any], None]] = {
            "table": self._table,
            "document_index": self._table,
            "picture": self._picture,
            "chart": self._picture,
            "inline": lambda item: self._paragraph(self._runs(item)),
            "field_item": lambda item: self._paragraph(self._field(item)),
        }

    def render(self) -> Rendering:
        """Everything in the body, footnotes and speaker notes; running headers, footers and comments are left out."""
        self._children(self._document.body)
        for text in [text for text in self._pictured if text not in self._rendering.text]:
            self._add(text, "caption")
        return self._rendering

    def _children(self, node: Any, depth: int = 0, *, in_cell: bool = False) -> None:
        items = [reference.resolve(self._document) for reference in node.children]
        number = 0
        for at, item in enumerate(items):
            number += item.label == "list_item"
            if item.self_ref not in self._done and self._is_read(item):
                self._done.add(item.self_ref)
                loose = self._loose(items[at:]) if in_cell else []
                for paragraph in self._source.paragraphs(loose):
                    self._paragraph(paragraph)
                if not loose:
                    self._item(item, depth, number)

    def _loose(self, items: Sequence[Any]) -> list[str]:
        """The texts that stand next to each other in a cell, where docling does not tell runs from paragraphs."""
        loose = list(takewhile(lambda item: item.label == "text" and item.text and not item.children, items))
        self._done.update(item.self_ref for item in loose)
        return [item.text for item in loose]

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
                self._list_item(item, depth, number)
                return
            case "list" | "ordered_list" if not self._headed and self._is_menu(item):
                return
            case "title" | "section_header":
                self._heading(item)
            case "code":
                self._code(item.text)
            case "caption":
                self._add(tidy(self._text(item)), "caption")
            case "chapter":
                self._open_slide(item)
            case _:
                note = "Notes: " if item.content_layer == "notes" else ""
                self._paragraph(_CHECKED.get(label, note) + self._text(item))
        self._children(item, depth)

    def _open_slide(self, slide: Any) -> None:
        """A page that begins with the slide's title, wherever on the slide it stands."""
        self._rendering.open_page()
        items = [reference.resolve(self._document) for reference in slide.children]
        title = next((item for item in items if item.label == "title" and self._is_read(item)), None)
        if title is not None:
            self._done.add(title.self_ref)
            self._item(title, 0, 0)

    def _text(self, item: Any) -> str:
        """The item's own words; formatted runs are its first child."""
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
        for reference in group.children:
            run = reference.resolve(self._document)
            self._done.add(run.self_ref)
            runs.append(getattr(run, "text", "") or self._runs(run))
        return self._source.join(runs)

    def _heading(self, item: Any) -> None:
        level = 1 if item.label == "title" else min(item.level + self._title_level, 6)
        text = tidy(" ".join(self._text(line) for line in self._title_lines(item)))
        if len(text) > MAX_TITLE:
            self._paragraph(text)
        elif text:
            self._headed = True
            self._add(text, "heading", level)

    def _title_lines(self, item: Any) -> list[Any]:
        """The paragraphs of a slide's title, which docling takes for titles each."""
        slide = item.parent.resolve(self._document) if item.label == "title" and item.parent else None
        if slide is None or slide.label != "chapter":
            return [item]
        items = [reference.resolve(self._document) for reference in slide.children]
        rest = dropwhile(lambda other: other.self_ref != item.self_ref, items)
        lines = list(takewhile(lambda other: other.label == "title", rest))
        self._done.update(line.self_ref for line in lines)
        return lines

    def _paragraph(self, text: str) -> None:
        self._rendering.extend(lines_of(text, self._finds_headings))

    def _add(self, text: str, kind: Any, level: int = 0) -> None:
        self._rendering.add(text, kind, level)

    def _list_item(self, item: Any, depth: int, number: int) -> None:
        text = tidy(self._text(item))
        marker = (item.marker.strip() or f"{number}.") if item.enumerated else "-"
        if text:
            self._rendering.add(f"{marker} {text}", "list", indent="  " * depth)
        self._children(item, depth + 1)

    def _is_menu(self, group: Any) -> bool:
        """Whether a list of a page holds nothing but links: before the first heading that is navigation."""
        items = [reference.resolve(self._document) for reference in group.children]
        return self._is_page and len(items) > 1 and all(getattr(item, "hyperlink", None) for item in items)

    def _code(self, text: str) -> None:
        fence = "~~~" if "```" in text else "```"
        if text.strip():
            self._add(f"{fence}\n{text.rstrip()}\n{fence}", "code")

    def _captions(self, item: Any) -> None:
        for reference in item.captions:
            caption = reference.resolve(self._document)
            if caption.self_ref not in self._done:
                self._done.add(caption.self_ref)
                self._add(tidy(self._text(caption)), "caption")

    def _picture(self, item: Any) -> None:
        """Its captions and alternative text, a chart's numbers, and what is written in it."""
        self._captions(item)
        chart = _chart_of(item)
        if chart is None:
            self._add(tidy(next(self._alternatives, "")), "caption")
        elif chart.grid:
            self._add(pipe_table([[cell.text for cell in row] for row in chart.grid]), "table")
        self._children(item)

    def _field(self, item: Any) -> str:
        parts = [reference.resolve(self._document) for reference in item.children]
        self._done.update(part.self_ref for part in parts)
        texts = [f"{part.text}:" if part.label == "field_key" else part.text for part in parts if part.text]
        return " ".join(texts)

    def _table(self, item: Any) -> None:
        self._captions(item)
        cells = [
            Cell(
                cell.start_row_offset_idx,
                cell.start_col_offset_idx,
                cell.row_span,
                tuple(self._cell(cell)),
                self._is_page and (cell.column_header or cell.row_header),
            )
            for cell in item.data.table_cells
        ]
        self._rendering.extend(table_parts(cells, item.data.num_rows, item.data.num_cols))

    def _cell(self, cell: Any) -> Iterable[Part]:
        reference = getattr(cell, "ref", None)
        if reference is None:
            return lines_of(cell.text, self._finds_headings)
        return self._apart(reference.resolve(self._document)) or lines_of(cell.text, self._finds_headings)

    def _apart(self, group: Any) -> list[Part]:
        """What stands in a group, rendered by itself."""
        outer, self._rendering = self._rendering, Rendering()
        headed, self._headed = self._headed, True
        self._children(group, in_cell=not self._is_page)
        inner, self._rendering, self._headed = self._rendering, outer, headed
        return inner.as_parts()


def _chart_of(picture: Any) -> Any:
    """The numbers of a chart; None for any other picture."""
    chart = getattr(getattr(picture, "meta", None), "tabular_chart", None)
    return chart.chart_data if chart else None
