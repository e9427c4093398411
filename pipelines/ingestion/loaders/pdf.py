"""LOAD PDF: its text layer, with pages, paragraphs, headings and list items."""

import re
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, Limits, first_heading
from pipelines.ingestion.loaders.pdf_furniture import split_furniture
from pipelines.ingestion.loaders.pdf_layout import Group, group_lines, style_of
from pipelines.ingestion.loaders.pdf_lines import Line, page_lines, readable
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.types import Furniture, SourceItem

# PDFium keeps global state and is not made for threads.
_PDFIUM = threading.Lock()
_PASSWORD, _SECURITY = 4, 5
_OBJECT = re.compile(rb"\d+ \d+ obj\b")
_NO_TITLE = re.compile(
    r"untitled|\(?anonymous\)?|microsoft word.*|.*\.(?:docx?|indd|pdf|tex|rtf|odt|dvi)|\W*", re.IGNORECASE
)
_NO_AUTHOR = re.compile(r"\(?anonymous\)?|unknown|\W*", re.IGNORECASE)
_MOMENT = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?)?")
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def load_pdf(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The text layer: words broken at line ends joined, running headers and page numbers lifted into `furniture`."""
    with _PDFIUM:
        pages, facts = _read(data, item.name, limits.max_pages)
    if not any(pages):
        raise LoadError(
            f"{item.name} has no text layer on its {len(pages)} page(s).",
            hint="If it is a scan, run it through text recognition first, e.g. ocrmypdf.",
        )
    bare = tuple(number for number, lines in enumerate(pages, start=1) if not lines)
    kept, lifted = split_furniture(pages)
    lines = [line for page in kept for line in page]
    rendering, starts = _render(group_lines(lines, style_of(lines)), len(pages))
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        title=_title(facts, rendering),
        author=_stated(facts, "Author", _NO_AUTHOR),
        modified_at=_moment(facts.get("ModDate", "")) or _moment(facts.get("CreationDate", "")),
        furniture=tuple(Furniture(line.page, line.text) for line in lifted),
        pages=starts,
        pages_without_text=bare,
        metadata={"pdf": {key.lower(): readable(value) for key, value in facts.items() if readable(value)}},
    )


def _read(data: bytes, name: str, max_pages: int) -> tuple[list[list[Line]], dict[str, str]]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise _refused(data, name, error.err_code) from error
    try:
        if _is_cut_off(data):
            raise LoadError(f"{name} is truncated: its end is missing.", hint="Copy or download it again.")
        if len(document) > max_pages:
            raise LoadError(
                f"{name} has {len(document):,} pages, over the limit of {max_pages:,}.",
                hint="Split it, or raise FOOTNOTE_INGESTION__MAX_PAGES.",
            )
        pages = [_lines_of(document, number, name) for number in range(len(document))]
        return pages, document.get_metadata_dict()
    finally:
        document.close()


def _lines_of(document: Any, index: int, name: str) -> list[Line]:
    import pypdfium2

    try:
        page = document[index]
        textpage = page.get_textpage()
    except pypdfium2.PdfiumError as error:
        raise LoadError(f"{name} is broken: page {index + 1} cannot be read.", hint="Save it again as PDF.") from error
    try:
        return page_lines(textpage, index + 1)
    finally:
        textpage.close()
        page.close()


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


def _render(groups: Sequence[Group], page_count: int) -> tuple[Rendering, tuple[int, ...]]:
    """The text, and where each page starts; a page without text starts where the next one does."""
    words = {word.lower() for group in groups for line in group.lines for word in _WORDS.findall(line.text)}
    rendering = Rendering()
    starts: dict[int, int] = {}
    for group in groups:
        text, offsets = join_lines(group.lines, words)
        start = rendering.add(text, group.kind, group.level)
        if start is not None:
            for line, offset in zip(group.lines, offsets, strict=True):
                starts.setdefault(line.page, start + offset)
    following = len(rendering.text)
    filled: list[int] = []
    for page in range(page_count, 0, -1):
        following = min(starts.get(page, following), following)
        filled.append(following)
    return rendering, (0, *filled[::-1][1:])


def join_lines(lines: Sequence[Line], words: frozenset[str] | set[str] = frozenset()) -> tuple[str, list[int]]:
    """(one paragraph, where each line begins in it); a word broken at a line end is made whole.

    Args:
        lines: The lines of one block.
        words: The document's words in lower case; they tell `well-known` from `exam-ple`.
    """
    text, offsets = "", []
    for line in lines:
        if text.endswith("-") and len(text) > 1 and text[-2].isalpha() and line.text[0].isalpha():
            if line.text[0].islower() and not _is_compound(text, line.text, words):
                text = text[:-1]
        elif text:
            text += " "
        offsets.append(len(text))
        text += line.text
    return text, offsets


def _is_compound(text: str, following: str, words: frozenset[str] | set[str]) -> bool:
    """Whether the hyphen belongs to the word."""
    left, right = _WORDS.findall(text[-60:-1])[-1].lower(), _WORDS.match(following)[0].lower()  # type: ignore[index]
    if f"{left}{right}" in words:
        return False
    return f"{left}-{right}" in words or "-" in left


def _title(facts: dict[str, str], rendering: Rendering) -> str:
    stated = _stated(facts, "Title", _NO_TITLE)
    if stated:
        return stated
    largest = min((block for block in rendering.blocks if block.kind == "heading"), key=lambda b: b.level, default=None)
    return first_heading(rendering.text, (largest,)) if largest else ""


def _stated(facts: dict[str, str], key: str, nothing: re.Pattern[str]) -> str:
    value = " ".join(readable(facts.get(key, "")).split())
    return "" if nothing.fullmatch(value) else value[:300]


def _moment(value: str) -> datetime | None:
    match = _MOMENT.match(value)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in match.groups()[:6])
    offset = timedelta(hours=int(match[8] or 0), minutes=int(match[9] or 0)) * (-1 if match[7] == "-" else 1)
    try:
        zone = timezone(offset) if match[7] else UTC
        return datetime(year or 1, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=zone)
    except ValueError:
        return None
