"""What docling reads out of HTML and DOCX, rendered as Markdown with the exact span of every block."""

import io
import re
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.ingestion.loaders.runs import Source
from pipelines.ingestion.structure import MAX_TITLE

if TYPE_CHECKING:
    from docling.document_converter import DocumentConverter

_SPACES = re.compile(r"[ \t\xa0]+")
_BLANK_LINES = re.compile(r"\s*\n\s*")
_CHECKED = {"checkbox_selected": "[x] ", "checkbox_unselected": "[ ] "}


def convert(data: bytes, name: str, suffix: str, words: str) -> Rendering:
    """The rendering of a file; `words` is its bare text, from which the spaces between runs are read.

    Raises:
        LoadError: If docling cannot read it.
    """
    from docling.datamodel.base_models import ConversionStatus, DocumentStream

    stream = DocumentStream(name=f"document{suffix}", stream=io.BytesIO(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about pictures, which are not read
        result = _converter().convert(stream, raises_on_error=False)
    if result.status != ConversionStatus.SUCCESS:
        reason = " ".join(str(result.errors[0].error_message).split())[:300] if result.errors else "no reason given"
        raise LoadError(f"{name} is broken: {reason.rstrip('.')}.", hint="Open it and save it again.")
    return _Walk(result.document, Source(words)).render()


@lru_cache(maxsize=1)
def _converter() -> "DocumentConverter":
    from docling.datamodel.backend_options import HTMLBackendOptions
    from docling.datamodel.base_models import InputFormat
    from docling.document_converter import DocumentConverter, HTMLFormatOption, WordFormatOption

    html = HTMLFormatOption(backend_options=HTMLBackendOptions(infer_furniture=False, add_title=False))
    return DocumentConverter(
        allowed_formats=[InputFormat.HTML, InputFormat.DOCX],
        format_options={InputFormat.HTML: html, InputFormat.DOCX: WordFormatOption()},
    )


class _Walk:
    """One pass over docling's tree, in reading order."""

    def __init__(self, document: Any, source: Source) -> None:
        self._document = document
        self._source = source
        self._rendering = Rendering()
        self._done: set[str] = set()
        self._headed = not any(item.label in ("title", "section_header") for item in document.texts)
        self._title_level = int(any(item.label == "title" for item in document.texts))

    def render(self) -> Rendering:
        """Everything in the body; running headers and footers are left out."""
        self._children(self._document.body)
        return self._rendering

    def _children(self, node: Any, depth: int = 0) -> None:
        number = 0
        for reference in node.children:
            item = reference.resolve(self._document)
            number += item.label == "list_item"
            if item.self_ref not in self._done and item.content_layer == "body":
                self._done.add(item.self_ref)
                self._item(item, depth, number)

    def _item(self, item: Any, depth: int, number: int) -> None:
        match str(item.label.value):
            case "title" | "section_header":
                self._heading(item)
            case "list_item":
                self._list_item(item, depth, number)
                return
            case "list" | "ordered_list":
                if self._headed or not self._is_menu(item):
                    self._children(item, depth)
                return
            case "table" | "document_index":
                self._table(item)
                return
            case "picture" | "chart":
                self._captions(item)
                return
            case "inline":
                self._paragraph(self._runs(item))
                return
            case "field_item":
                self._paragraph(self._field(item))
                return
            case "code":
                self._code(item.text)
            case label:
                self._paragraph(_CHECKED.get(label, "") + self._text(item), "caption" if label == "caption" else "")
        self._children(item, depth)

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
        text = " ".join(self._text(item).split())
        if len(text) > MAX_TITLE - 7:
            self._paragraph(text)
        elif text:
            self._headed = True
            self._rendering.add(f"{'#' * level} {text}", "heading", level)

    def _paragraph(self, text: str, kind: str = "") -> None:
        self._rendering.add(_tidy(text), "caption" if kind == "caption" else "paragraph")

    def _list_item(self, item: Any, depth: int, number: int) -> None:
        text = _tidy(self._text(item))
        marker = (item.marker.strip() or f"{number}.") if item.enumerated else "-"
        if text:
            self._rendering.add(f"{marker} {text}", "list", indent="  " * depth)
        self._children(item, depth + 1)

    def _is_menu(self, group: Any) -> bool:
        """Whether a list holds nothing but links: before the first heading that is navigation."""
        items = [reference.resolve(self._document) for reference in group.children]
        return len(items) > 1 and all(getattr(item, "hyperlink", None) for item in items)

    def _code(self, text: str) -> None:
        fence = "~~~" if "```" in text else "```"
        if text.strip():
            self._rendering.add(f"{fence}\n{text.rstrip()}\n{fence}", "code")

    def _captions(self, item: Any) -> None:
        for reference in item.captions:
            caption = reference.resolve(self._document)
            if caption.self_ref not in self._done:
                self._done.add(caption.self_ref)
                self._paragraph(self._text(caption), "caption")

    def _field(self, item: Any) -> str:
        parts = [reference.resolve(self._document) for reference in item.children]
        self._done.update(part.self_ref for part in parts)
        texts = [f"{part.text}:" if part.label == "field_key" else part.text for part in parts if part.text]
        return " ".join(texts)

    def _table(self, item: Any) -> None:
        """Pipe rows; a table of one cell is what it frames."""
        self._captions(item)
        data = item.data
        if data.num_rows * data.num_cols <= 1:
            self._paragraph("\n".join(self._cell(cell) for cell in data.table_cells))
            return
        rows = [[""] * data.num_cols for _ in range(data.num_rows)]
        for cell in data.table_cells:
            text = self._cell(cell).replace("|", "\\|")
            rows[cell.start_row_offset_idx][cell.start_col_offset_idx] = " ".join(text.split())
        if any(any(row) for row in rows):
            lines = [f"| {' | '.join(row)} |" for row in rows]
            lines.insert(1, "|" + " --- |" * data.num_cols)
            self._rendering.add("\n".join(lines), "table")

    def _cell(self, cell: Any) -> str:
        reference = getattr(cell, "ref", None)
        if reference is None:
            return str(cell.text)
        inner = _Walk(self._document, self._source)
        inner._headed = True
        inner._item(reference.resolve(self._document), 0, 0)
        return inner._rendering.text or str(cell.text)


def _tidy(text: str) -> str:
    return _BLANK_LINES.sub("\n", _SPACES.sub(" ", text)).strip()
