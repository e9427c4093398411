"""Load PDF: its text layer or its scanned pages, with pages, paragraphs, headings and list items."""

import ctypes
import re
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from config.settings import Limits
from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, check_page_count, stated_words
from pipelines.ingestion.loaders.pdf.lines import page_lines
from pipelines.ingestion.loaders.pdf.ocr import DPI, MAX_PIXELS, OcrBudget, OcrResult, ocr_unavailable, recognise_image
from pipelines.ingestion.loaders.pdf.pages import PdfPage, compose_pages, main_heading, unread_pages
from pipelines.ingestion.loaders.pdf.words import page_words, readable_text
from pipelines.text import digit_runs, fold
from pipelines.types import SourceItem

if TYPE_CHECKING:
    from PIL.Image import Image

# PDFium has global state and is not thread-safe.
_PDFIUM = threading.Lock()
_PASSWORD, _SECURITY = 4, 5
_NOTHING_READ = "no text is to be read in its images"
_OBJECT = re.compile(rb"\d+ \d+ obj\b")
_POINTS = 72.0


def load_pdf(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The text of the pages in reading order, running headers and page numbers moved to `furniture`.

    Pages that are only images are read by Tesseract if it is installed, within `limits.ocr_seconds` in all; why other
    pages have no text is in `metadata["unread"]`.
    """
    with _PDFIUM:
        pages, facts, problem = _read_pages(data, item.name, limits)
    if not any(page.lines for page in pages):
        raise _no_text_error(item.name, len(pages), problem, limits)
    content = compose_pages(pages)
    stated = {"pdf": {key.lower(): readable_text(value) for key, value in facts.items() if readable_text(value)}}
    return replace(
        content,
        title=pdf_title(facts, content.text, main_heading(content)),
        author=_stated(facts, "Author"),
        modified_at=parse_pdf_date(facts.get("ModDate", "")) or parse_pdf_date(facts.get("CreationDate", "")),
        metadata={**stated, **unread_pages(content, item.name, problem), **content.metadata},
    )


def _no_text_error(name: str, count: int, problem: str, limits: Limits) -> LoadError:
    hint = {
        ocr_unavailable(limits): "If it is a scan, install tesseract (apt install tesseract-ocr), and leave"
        " FOOTNOTE_INGESTION__OCR at auto.",
        _NOTHING_READ: "If it is a scan, scan it again: upright, sharp, at 300 dpi.",
        "": "Fill it or remove it.",
    }.get(problem, "If it is a scan, run it through ocrmypdf first.")
    return LoadError(f"{name} has no text layer on its {count} page(s), and {problem or 'they are empty'}.", hint=hint)


def _read_pages(data: bytes, name: str, limits: Limits) -> tuple[list[PdfPage], dict[str, str], str]:
    """(the pages, the file's properties, why images were not read)."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise _open_error(data, name, error.err_code) from error
    try:
        if _is_truncated(data):
            raise LoadError(f"{name} is truncated: its end is missing.", hint="Copy or download it again.")
        check_page_count(name, len(document), limits)
        budget = OcrBudget(limits.ocr_seconds)
        read = [_read_page(document, index, name, limits, budget) for index in range(len(document))]
        problems = sorted({problem for _, problem in read if problem}, key=lambda problem: problem == _NOTHING_READ)
        facts: dict[str, str] = {}
        for key in document.METADATA_KEYS:
            with suppress(UnicodeDecodeError):  # of a value that ends in half a character
                facts[key] = document.get_metadata_value(key)
        return [page for page, _ in read], facts, budget.problem or next(iter(problems), "")
    finally:
        document.close()


def _read_page(document: Any, index: int, name: str, limits: Limits, budget: OcrBudget) -> tuple[PdfPage, str]:
    """(a page, why its image was not read)."""
    import pypdfium2

    try:
        page = document[index]
        textpage = page.get_textpage()
    except pypdfium2.PdfiumError as error:
        raise LoadError(f"{name} is broken: page {index + 1} cannot be read.", hint="Save it again as PDF.") from error
    try:
        lines = page_lines(page_words(page, textpage), index + 1)
        if lines or next(iter(page.get_objects(max_depth=1)), None) is None:  # read, or an empty page
            return PdfPage(lines), ""
        read = read_scan(page, limits, budget)
        if not read.words:
            return PdfPage(()), read.problem or _NOTHING_READ
        return PdfPage(page_lines(read.words, index + 1), read.confidence), ""
    finally:
        textpage.close()
        page.close()


def read_scan(page: Any, limits: Limits, budget: OcrBudget) -> OcrResult:
    """The words that Tesseract reads on the rendered page; nothing is rendered if it is unavailable."""
    problem = ocr_unavailable(limits) or budget.problem
    if problem:
        return OcrResult(problem=problem)
    width, height = page.get_size()
    scale = min(DPI / _POINTS, (MAX_PIXELS / max(width * height, 1.0)) ** 0.5)
    with budget.page() as until:
        image = render_page(page, scale, until)
        if image is None:
            return OcrResult(problem="its drawings take too long to be drawn")
        return recognise_image(image, scale * _POINTS, limits, until)


def render_page(page: Any, scale: float, until: float) -> "Image | None":
    """The page in greyscale, `scale` pixels per point; None if that takes too long.

    `until` is the deadline, in `time.monotonic` seconds; PDFium checks it between two objects of the page.
    """
    from pypdfium2 import PdfBitmap, raw

    width, height = (max(1, round(side * scale)) for side in page.get_size())
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(raw.IFSDK_PAUSE))
    pause = raw.IFSDK_PAUSE(version=1, NeedToPauseNow=callback(lambda _: time.monotonic() > until))
    bitmap = PdfBitmap.new_native(width, height, raw.FPDFBitmap_Gray)
    try:
        bitmap.fill_rect((255, 255, 255, 255), 0, 0, width, height)
        flags = raw.FPDF_ANNOT | raw.FPDF_GRAYSCALE
        state = raw.FPDF_RenderPageBitmap_Start(bitmap, page, 0, 0, width, height, 0, flags, pause)
        raw.FPDF_RenderPage_Close(page)
        return bitmap.to_pil().copy() if state == raw.FPDF_RENDER_DONE else None
    finally:
        bitmap.close()


def _open_error(data: bytes, name: str, code: int | None) -> LoadError:
    # PDFium keeps the error code of an earlier file where it sets none.
    if code in (_PASSWORD, _SECURITY) and b"/Encrypt" in data:
        return LoadError(f"{name} is encrypted and asks for a password.", hint="Save it without a password.")
    if b"%PDF-" not in data[:1024]:
        return LoadError(f"{name} is not a PDF, despite its suffix.", hint="Correct its suffix.")
    if _is_truncated(data):
        return LoadError(f"{name} is truncated: its end is missing.", hint="Copy or download it again.")
    return LoadError(f"{name} is a broken PDF.", hint="Open it in a viewer and save it again.")


def _is_truncated(data: bytes) -> bool:
    """True if objects follow the last end mark: PDFium repairs such files without reporting the loss."""
    mark = data.rfind(b"%%EOF")
    return mark < 0 or _OBJECT.search(data, mark) is not None


def pdf_title(facts: Mapping[str, str], text: str, heading: str) -> str:
    """The stated title, unless it is a default or few of its words are in the text; else the heading."""
    stated = _stated(facts, "Title")
    named = _long_words(stated)
    if named and len(named & _long_words(text)) >= 0.5 * len(named):
        return stated
    return heading or stated


def _stated(facts: Mapping[str, str], key: str) -> str:
    return stated_words(" ".join(readable_text(facts.get(key, "")).split()))[:300]


def _long_words(text: str) -> set[str]:
    return {word for word in fold(text).split() if len(word) > 3}


def parse_pdf_date(value: str) -> datetime | None:
    """Parse a PDF date such as `D:20240203040506+02'00'` as `parse_datetime` does; None if it is none."""
    digits = "".join(digit_runs(value[2:16])[:1]) if value.startswith("D:") else ""
    year, *rest = digits[:4], *(digits[at : at + 2] for at in range(4, 14, 2))
    month, day, hour, minute, second = (int(part) if len(part) == 2 else 0 for part in rest)
    try:
        return datetime(int(year), month or 1, day or 1, hour, minute, second, tzinfo=UTC) if len(year) == 4 else None
    except ValueError:
        return None
