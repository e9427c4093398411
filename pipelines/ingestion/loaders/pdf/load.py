"""LOAD PDF: its text layer, with pages, paragraphs, headings and list items."""

import re
import threading
from dataclasses import replace
from typing import Any

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, Limits
from pipelines.ingestion.loaders.layout_model import Convert, read_layout, standard_converter
from pipelines.ingestion.loaders.ocr import Patience, trouble_of
from pipelines.ingestion.loaders.pdf.facts import author_of, moment, title_of
from pipelines.ingestion.loaders.pdf.lines import page_lines
from pipelines.ingestion.loaders.pdf.pages import Composed, Page, compose
from pipelines.ingestion.loaders.pdf.scan import read_scan
from pipelines.ingestion.loaders.pdf.words import page_words, readable
from pipelines.types import SourceItem

# PDFium keeps global state and is not made for threads.
_PDFIUM = threading.Lock()
_PASSWORD, _SECURITY = 4, 5
_NOTHING_READ = "no text is to be read in its images"
_OBJECT = re.compile(rb"\d+ \d+ obj\b")


def load_pdf(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The text of the pages in reading order, running headers and page numbers lifted into `furniture`.

    Pages that are only images are read by tesseract if it is installed, for `limits.ocr_seconds` in all; why others
    have no text stands in `metadata["unread"]`. With docling's layout models at hand, docling reads the whole document
    instead.
    """
    convert = standard_converter(ocr=not trouble_of(limits))
    composed, facts, trouble = _composed(data, item.name, limits, convert)
    stated = {"pdf": {key.lower(): readable(value) for key, value in facts.items() if readable(value)}}
    return composed.content(
        title=title_of(facts, composed.rendering.text, composed.heading),
        author=author_of(facts),
        modified_at=moment(facts.get("ModDate", "")) or moment(facts.get("CreationDate", "")),
        metadata={**stated, **composed.unread(item.name, trouble)},
    )


def _composed(data: bytes, name: str, limits: Limits, convert: Convert | None) -> tuple[Composed, dict[str, str], str]:
    """(the text, what the file states of itself, why images were not read)."""
    with _PDFIUM:
        pages, facts, trouble = _read(data, name, replace(limits, ocr="off") if convert else limits)
    if convert:
        composed = read_layout(convert, data, name)
        return (composed, facts, "") if composed else _composed(data, name, limits, None)
    if not any(page.lines for page in pages):
        raise _without_text(name, len(pages), trouble, limits)
    return compose(pages), facts, trouble


def _without_text(name: str, count: int, trouble: str, limits: Limits) -> LoadError:
    hint = {
        trouble_of(limits): "If it is a scan, install tesseract (apt install tesseract-ocr), and leave"
        " FOOTNOTE_INGESTION__OCR at auto.",
        _NOTHING_READ: "If it is a scan, scan it again: upright, sharp, at 300 dpi.",
        "": "Fill it or remove it.",
    }.get(trouble, "If it is a scan, run it through ocrmypdf first.")
    return LoadError(f"{name} has no text layer on its {count} page(s), and {trouble or 'they are empty'}.", hint=hint)


def _read(data: bytes, name: str, limits: Limits) -> tuple[list[Page], dict[str, str], str]:
    """(the pages, what the file states of itself, why images were not read)."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise _refused(data, name, error.err_code) from error
    try:
        if _is_cut_off(data):
            raise LoadError(f"{name} is truncated: its end is missing.", hint="Copy or download it again.")
        if len(document) > limits.max_pages:
            raise LoadError(
                f"{name} has {len(document):,} pages, over the limit of {limits.max_pages:,}.",
                hint="Split it, or raise FOOTNOTE_INGESTION__MAX_PAGES.",
            )
        patience = Patience(limits.ocr_seconds)
        read = [_page_of(document, index, name, limits, patience) for index in range(len(document))]
        troubles = sorted({said for _, said in read if said}, key=lambda said: said == _NOTHING_READ)
        return [page for page, _ in read], document.get_metadata_dict(), patience.trouble or next(iter(troubles), "")
    finally:
        document.close()


def _page_of(document: Any, index: int, name: str, limits: Limits, patience: Patience) -> tuple[Page, str]:
    """(a page, why its image was not read)."""
    import pypdfium2

    try:
        page = document[index]
        textpage = page.get_textpage()
    except pypdfium2.PdfiumError as error:
        raise LoadError(f"{name} is broken: page {index + 1} cannot be read.", hint="Save it again as PDF.") from error
    try:
        lines = page_lines(page_words(page, textpage), index + 1)
        if lines or not _shows_something(page):
            return Page(lines), ""
        read = read_scan(page, limits, patience)
        if not read.words:
            return Page(()), read.trouble or _NOTHING_READ
        return Page(page_lines(read.words, index + 1), read.confidence), ""
    finally:
        textpage.close()
        page.close()


def _shows_something(page: Any) -> bool:
    return next(iter(page.get_objects(max_depth=1)), None) is not None


def _refused(data: bytes, name: str, code: int | None) -> LoadError:
    # PDFium leaves the code of an earlier file where it has none of its own.
    if code in (_PASSWORD, _SECURITY) and b"/Encrypt" in data:
        return LoadError(f"{name} is encrypted and asks for a password.", hint="Save it without a password.")
    if b"%PDF-" not in data[:1024]:
        return LoadError(f"{name} is no PDF, whatever its suffix says.", hint="Give it its true suffix.")
    if _is_cut_off(data):
        return LoadError(f"{name} is truncated: its end is missing.", hint="Copy or download it again.")
    return LoadError(f"{name} is a broken PDF.", hint="Open it in a viewer and save it again.")


def _is_cut_off(data: bytes) -> bool:
    """Whether objects follow the last end mark: PDFium repairs such files and says nothing of what is lost."""
    mark = data.rfind(b"%%EOF")
    return mark < 0 or _OBJECT.search(data, mark) is not None
