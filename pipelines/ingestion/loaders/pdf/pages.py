"""The pages of a PDF or a scan as one text: running lines removed, columns in order, hyphenation undone."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from pipelines.ingestion.loaders.base import Content, first_heading
from pipelines.ingestion.loaders.pdf.blocks import LineGroup, document_style, group_lines
from pipelines.ingestion.loaders.pdf.columns import read_pages
from pipelines.ingestion.loaders.pdf.lines import PdfLine, breaks_address, usual_size
from pipelines.ingestion.loaders.pdf.linkedin_export import read_linkedin_export
from pipelines.ingestion.loaders.pdf.words import rotate
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.observe import log
from pipelines.text import count_tokens, fold, is_page_number, pages_in
from pipelines.types import Furniture, LineBox

_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class PdfPage:
    """The lines of a page; `confidence` (0 to 100) if they were recognised in its image."""

    lines: Sequence[PdfLine]
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class DocumentSpelling:
    """A document's words in lower case, and whether it breaks words at line ends.

    Used to tell `exam-ple` from `well-known`.
    """

    words: frozenset[str] = frozenset()
    breaks_words: bool = True


def compose_pages(pages: Sequence[PdfPage]) -> Content:
    """The pages as one text in reading order; the confidences of recognised pages are in `metadata["ocr"]`.

    `metadata["typeset"]` is "linkedin" for a profile that LinkedIn saved as PDF: the levels of its headings are those
    of `linkedin_export`.
    """
    export = read_linkedin_export([page.lines for page in pages])
    groups, furniture = (export.groups, export.furniture) if export else _read_layout(pages)
    rendering, starts, boxes = render(groups, len(pages))
    numbered = list(enumerate(pages, start=1))
    confidences = {str(number): page.confidence for number, page in numbered if page.confidence is not None}
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        furniture=tuple(Furniture(line.page, line.text) for line in furniture),
        pages=starts,
        pages_without_text=tuple(number for number, page in numbered if not page.lines),
        boxes=boxes,
        metadata=({"ocr": confidences} if confidences else {}) | ({"typeset": "linkedin"} if export else {}),
    )


def _read_layout(pages: Sequence[PdfPage]) -> tuple[list[LineGroup], list[PdfLine]]:
    """(the blocks, the furniture) of pages in any layout."""
    kept, furniture = split_furniture([page.lines for page in pages])
    lines = read_pages(kept)
    return group_lines(lines, document_style(lines)), furniture


def main_heading(content: Content) -> str:
    """The words of the first heading of the highest level, or an empty string."""
    headings = [block for block in content.blocks if block.kind == "heading"]
    largest = min(headings, key=lambda block: block.level, default=None)
    return first_heading(content.text, (largest,)) if largest else ""


def unread_pages(content: Content, name: str, problem: str) -> dict[str, str]:
    """The reason that pages have no text, as metadata and a warning; empty if all have some or no reason is known."""
    if not (content.pages_without_text and problem):
        return {}
    log("warning", "pages without text", document=name, pages=len(content.pages_without_text), reason=problem)
    return {"unread": problem}


def render(groups: Sequence[LineGroup], page_count: int) -> tuple[Rendering, tuple[int, ...], tuple[LineBox, ...]]:
    """(the text, the start of each page, the place of each line); a page without text starts where the next does.

    A page starts below the last line of the pages before it: what a column has on later pages stands before the next
    column.
    """
    spelling = spelling_of(groups)
    rendering = Rendering()
    starts: dict[int, int] = {}
    boxes: list[LineBox] = []
    for group in groups:
        text, spans = _block_text(group, spelling)
        start = rendering.add(text, group.kind, group.level)
        if start is not None:
            for line, first, last in spans:
                starts = {page: at for page, at in starts.items() if page <= line.page}
                starts.setdefault(line.page, start + first)
                boxes.append(_box(line, start + first, start + last))
    following = len(rendering.text)
    filled: list[int] = []
    for page in range(page_count, 0, -1):
        following = min(starts.get(page, following), following)
        filled.append(following)
    return rendering, (0, *filled[::-1][1:]), tuple(boxes)


def _block_text(group: LineGroup, spelling: DocumentSpelling) -> tuple[str, list[tuple[PdfLine, int, int]]]:
    """(the block's text with tabs around its side notes, the span of each line in it)."""
    text = "".join(f"{note.text}\t" for note in group.lines[0].left)
    spans = list(_tabbed_spans(group.lines[0].left, 0))
    joined, offsets = join_lines(group.lines, spelling)
    ends = [*offsets[1:], len(joined)]
    for line, start, end in zip(group.lines, offsets, ends, strict=True):
        spans.append((line, len(text) + start, len(text) + start + len(joined[start:end].rstrip())))
    text += joined
    notes = [note for line in group.lines for note in line.right]
    spans += _tabbed_spans(notes, len(text) + 1)
    return text + "".join(f"\t{note.text}" for note in notes), spans


def _tabbed_spans(notes: Sequence[PdfLine], start: int) -> Iterator[tuple[PdfLine, int, int]]:
    for note in notes:
        yield note, start, start + len(note.text)
        start += len(note.text) + 1


def _box(line: PdfLine, start: int, end: int) -> LineBox:
    one, other = rotate(line.x0, line.bottom, line.turn), rotate(line.x1, line.top, line.turn)
    (x0, x1), (y0, y1) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    breaks = tuple(start + at for at in line.breaks)
    return LineBox(start, end, line.page, round(x0, 1), round(y0, 1), round(x1, 1), round(y1, 1), breaks)


def join_lines(lines: Sequence[PdfLine], spelling: DocumentSpelling = DocumentSpelling()) -> tuple[str, list[int]]:
    """(one paragraph, the start of each line in it); words broken at line ends are rejoined."""
    text, offsets = "", []
    for line in lines:
        if text and not breaks_address(text, line.text):
            if not _breaks_word(text, line.text):
                text += " "
            elif line.text[0].islower() and not _is_compound(text, line.text, spelling):
                text = text[:-1]
        offsets.append(len(text))
        text += line.text
    return text, offsets


def spelling_of(groups: Iterable[LineGroup]) -> DocumentSpelling:
    """The spelling of a document, from its lines."""
    words: set[str] = set()
    breaks_words = False
    for group in groups:
        for line in group.lines:
            words.update(word.lower() for word in _WORDS.findall(line.text))
        for above, below in pairwise(group.lines):
            if _breaks_word(above.text, below.text) and below.text[0].islower() and not breaks_words:
                left, right = _halves(above.text, below.text)
                breaks_words = "-" not in left and count_tokens(f" {left}{right}") == 1
    return DocumentSpelling(frozenset(words), breaks_words)


def _breaks_word(text: str, following: str) -> bool:
    return text.endswith("-") and len(text) > 1 and text[-2].isalpha() and following[0].isalpha()


def _halves(text: str, following: str) -> tuple[str, str]:
    return _WORDS.findall(text[-60:-1])[-1].lower(), _WORDS.match(following)[0].lower()  # type: ignore[index]


def _is_compound(text: str, following: str, spelling: DocumentSpelling) -> bool:
    """True if the hyphen belongs to the word: spelt so elsewhere, or its halves are commoner than the whole."""
    left, right = _halves(text, following)
    if f"{left}{right}" in spelling.words:
        return False
    if f"{left}-{right}" in spelling.words or "-" in left:
        return True
    whole, halves = count_tokens(f" {left}{right}"), count_tokens(f" {left}") + count_tokens(f" {right}")
    return whole > halves or (whole == halves == 2 and not spelling.breaks_words)


MIN_PAGES = 3

_OUTER_ROWS = 2
_SAME_ROW = 3.0
_BAND = 8.0
_GAP = 1.7
_WATERMARK = 2.0  # least size, as a multiple of the usual one
_NUMBER = re.compile(r"\d{1,6}")
Key = tuple[str, int]


def split_furniture(pages: Sequence[Sequence[PdfLine]]) -> tuple[list[list[PdfLine]], list[PdfLine]]:
    """(the lines of each page without furniture, the furniture in order).

    Furniture is in the two outermost rows of its page, set apart by a gap, and either states its page number, or
    repeats the same words at the same height on at least three pages (two if it is in small type or beside a page
    number). In the outermost row, in type no larger than the body's, numbers in it may count with the pages. A
    watermark (much larger than the body, and faint) is furniture wherever it stands. A page that would lose all its
    lines keeps them.
    """
    size = usual_size(list(chain.from_iterable(pages)))
    edges = [list(_edge(lines, size)) for lines in pages]
    places: dict[Key, set[int]] = {}
    for line, keys in chain.from_iterable(edges):
        for key in keys:
            places.setdefault(key, set()).add(line.page)
    kept: list[list[PdfLine]] = []
    furniture: list[PdfLine] = []
    for lines, edge in zip(pages, edges, strict=True):
        numbered = [
            line for line, _ in edge if pages_in(line.text) == (line.page, len(pages)) or is_page_number(line.text)
        ]
        removed = [line for line, keys in edge if line in numbered or _repeats(line, keys, places, numbered, size)]
        removed += [line for line in lines if line.faint and line.size > _WATERMARK * size and line not in removed]
        removed = numbered if len(removed) == len(lines) else removed
        kept.append([line for line in lines if not any(line is other for other in removed)])
        furniture += removed
    return kept, furniture


def _repeats(
    line: PdfLine, keys: Sequence[Key], places: dict[Key, set[int]], numbered: Sequence[PdfLine], size: float
) -> bool:
    """True if the line is on enough pages: two if it is small or beside a page number, else three."""
    beside = any(abs(line.y - number.y) <= _SAME_ROW for number in numbered)
    least = 2 if beside or line.size < 0.95 * size else MIN_PAGES
    return any(len(places[key]) >= least for key in keys)


def _edge(lines: Sequence[PdfLine], size: float) -> Iterator[tuple[PdfLine, list[Key]]]:
    """The lines at the top and bottom that a gap sets apart, each with the keys that identify repeats."""
    rows: list[list[PdfLine]] = []
    for line in sorted(lines, key=lambda line: -line.y):
        if rows and rows[-1][0].y - line.y <= _SAME_ROW:
            rows[-1].append(line)
        else:
            rows.append([line])
    head = _apart(rows)
    foot = min(_apart(rows[::-1]), len(rows) - head)
    for number, row in enumerate(rows):
        if number < head or number >= len(rows) - foot:
            counts = number in (0, len(rows) - 1)
            for line in row:
                yield line, list(_keys(line, counts and line.size <= size))


def _apart(rows: Sequence[Sequence[PdfLine]]) -> int:
    """The number of the first two rows that come before a gap; a lone row counts."""
    for count in range(min(_OUTER_ROWS, len(rows) - 1), 0, -1):
        inner, outer = rows[count][0], rows[count - 1][0]
        if abs(outer.y - inner.y) > _GAP * max(outer.size, inner.size):
            return count
    return len(rows) if len(rows) == 1 else 0


def _keys(line: PdfLine, counts: bool) -> Iterator[Key]:
    """The wording, also with its first or last number relative to the page, in its height band and the next."""
    wording = fold(line.text)
    numbers = list(_NUMBER.finditer(wording)) if counts else []
    counted = {
        f"{wording[: found.start()]}\x00{int(found[0]) - line.page}\x00{wording[found.end() :]}"
        for found in [*numbers[:1], *numbers[-1:]]
    }
    band = int(line.y // _BAND)  # the next band too, so that band edges do not matter
    for words in {wording, *counted}:
        yield words, band
        yield words, band + 1
