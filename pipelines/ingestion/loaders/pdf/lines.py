"""The lines of a PDF page: words side by side, up to the next wide gap."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pipelines.bullets import mark_end
from pipelines.contacts import begins_address, is_host
from pipelines.ingestion.loaders.pdf.words import Word
from pipelines.ingestion.loaders.rendering import DATED
from pipelines.text import fold

HEADING_SIZE = 1.12  # least size of a heading, as a multiple of the usual one

_WIDE_GAP = 1.15
_LETTERS_GAP = 1.7
_WORDS_GAP = 2.5
_RECENT = 20
_LATE_GAP = 0.6
_ITEM_GAP, _NARROW_GAP = 0.7, 0.45
_BULLET_GAP = 4.0
_COMMON_START = 3
_COLUMN_GAP = 0.7
_RESTYLED_GAP = 0.35
_OVERLAP = 0.6
_PAIR = 2  # words of a month and its year
_SAME_BASELINE = 0.25
_RAISED = 0.5


@dataclass(frozen=True, slots=True)
class PdfLine:
    """A line of text up to the next wide gap; lengths in points, `y` its baseline, as in `Word`.

    Attributes:
        hyphen: True if the word at its end continues in the next line.
        order: Its place in the order in which the file draws the page.
        column: Its column on the page, in reading order.
        left: Side notes before it on its row.
        right: Side notes after it on its row, e.g. a date at the right margin.
        limit: How far right it may reach beside its right side notes.
        apart: True if it belongs with neither neighbour.
        chip: The small box that it is drawn in; 0 without one.
        drawn: Its size as drawn, where `size` is in half points.
        faint: True if all of it is drawn as watermarks are, as in `Word`.
        title: True if it heads a section by where it stands, whatever its type.
        font, end_font: The fonts, with their colours, of its first and its last word with letters.
        breaks: Where its words go on in another font, as offsets in its text.
    """

    text: str
    page: int
    x0: float
    x1: float
    y: float
    size: float
    bold: bool
    hyphen: bool = False
    bottom: float = 0.0
    top: float = 0.0
    order: int = 0
    turn: int = 0
    column: int = 0
    left: tuple["PdfLine", ...] = ()
    right: tuple["PdfLine", ...] = ()
    limit: float = 0.0
    apart: bool = False
    chip: int = 0
    drawn: float = 0.0
    faint: bool = False
    title: bool = False
    font: str = ""
    end_font: str = ""
    breaks: tuple[int, ...] = ()


def page_lines(words: Sequence[Word], page: int) -> list[PdfLine]:
    """The lines of a page in drawing order; text drawn twice in place counts once."""
    runs: list[list[Word]] = []
    for word in _without_repeats(words):
        if runs and _goes_on(runs[-1], word):
            runs[-1].append(word)
        else:
            runs.append([word])
    runs = [piece for run in runs for piece in _cut_at_wide_gaps(run)]
    counts = Counter(
        round(word.x0)
        for run in runs
        for before, word in zip([None, *run], run, strict=False)
        if before is None or (_restyled(before, word) and word.x0 - before.x1 > _COLUMN_GAP * word.size)
    )
    starts = frozenset(x for x in counts if sum(counts.get(near, 0) for near in (x - 1, x, x + 1)) >= _COMMON_START)
    pieces = [piece for run in runs for piece in _cut_at(run, starts)]
    lines = [_line(run, page, order) for order, run in enumerate(pieces)]
    drawn = sorted(_join_pieces(lines), key=lambda line: line.order)
    return [line if line.order == order else replace(line, order=order) for order, line in enumerate(drawn)]


def is_lone_mark(text: str) -> bool:
    """True for a bullet or a number that opens a list item, alone."""
    return len(text) < 5 and text not in ("*", "+") and 0 < len(text) == mark_end(text)


def _without_repeats(words: Iterable[Word]) -> list[Word]:
    """The words without those drawn again in place, as a shadow or to look bold."""
    seen: set[tuple[str, int, int, int]] = set()
    kept: list[Word] = []
    for word in words:
        x, y = int(word.x0), int(word.y)
        if not any((word.text, word.turn, x + dx, y + dy) in seen for dx in (-1, 0, 1) for dy in (-1, 0, 1)):
            kept.append(word)
        seen.add((word.text, word.turn, x, y))
    return kept


def _goes_on(run: Sequence[Word], word: Word) -> bool:
    """True if the word is next on the line."""
    last = run[-1]
    if last.turn != word.turn or last.hyphen or (last.chip and word.chip and last.chip != word.chip):
        return False
    large, small = max(last.size, word.size), min(last.size, word.size)
    off = abs(word.y - last.y)
    if off > _SAME_BASELINE * large and (off > _RAISED * large or small > 0.85 * large):
        return False
    leftwards = _is_leftwards(last.text) and _is_leftwards(word.text)
    gap = last.x0 - word.x1 if leftwards else word.x0 - last.x1
    return -_OVERLAP * large <= gap <= _max_word_gap(run, word)


def _is_leftwards(text: str) -> bool:
    """True if a word is written from right to left."""
    return text[0] >= "\u0590" and unicodedata.bidirectional(text[0]) in ("R", "AL")


def _max_word_gap(run: Sequence[Word], word: Word) -> float:
    """The widest gap between words of this line: wider in justified lines and spaced-out letters."""
    last = run[-1]
    longer = max(last, word, key=lambda word: len(word.text))
    advance = (longer.x1 - longer.x0) / len(longer.text) if len(longer.text) > 2 else 0.0
    widest = max(_WIDE_GAP * max(last.size, word.size), _LETTERS_GAP * advance)
    if len(run) > 3:
        gaps = sorted(after.x0 - before.x1 for before, after in pairwise(run[-_RECENT:]))
        widest = max(widest, min(_WORDS_GAP * gaps[len(gaps) // 4], 2.5 * last.size))
    return widest


def _cut_at_wide_gaps(run: list[Word]) -> list[list[Word]]:
    """The line, cut at its wide gaps if it has several among narrow ones: items side by side, not justified text."""
    gaps = [(word.x0 - before.x1) / max(word.size, 1) for before, word in pairwise(run)]
    wide = [number for number, gap in enumerate(gaps, start=1) if gap > _ITEM_GAP]
    if len(wide) < 2 or len(wide) == len(gaps) or any(_NARROW_GAP < gap <= _ITEM_GAP for gap in gaps):
        return [run]
    return [run[start:end] for start, end in pairwise([0, *wide, len(run)])]


def _restyled(before: Word, word: Word) -> bool:
    return word.size != before.size or word.bold != before.bold


def _cut_at(run: list[Word], starts: frozenset[int]) -> list[list[Word]]:
    """The line, cut where a word after a gap, or in another style, begins where other lines do."""
    pieces = [run[:1]]
    for before, word in pairwise(run):
        gap = (_RESTYLED_GAP if _restyled(before, word) else _COLUMN_GAP) * word.size
        lone = len(pieces[-1]) == 1 and is_lone_mark(before.text)
        if round(word.x0) in starts and word.x0 - before.x1 > gap and not lone:
            pieces.append([word])
        else:
            pieces[-1].append(word)
    return pieces


def is_bare_date(text: str) -> bool:
    """True for a year or a month and nothing else, and for the word for today."""
    from pipelines.ingestion.parsers.careers.dates import PRESENT  # the parsers load what sources do without

    words = text.split()
    is_year = len(words) <= _PAIR and words[-1].isdecimal() and bool(DATED.search(text))
    return is_year or bool(DATED.fullmatch(text)) or (len(words) == 1 and fold(text) in PRESENT)


def _line(words: Sequence[Word], page: int, order: int) -> PdfLine:
    lettered = [word for word in words if any(map(str.isalnum, word.text))] or list(words)
    sizes: dict[float, int] = {}
    for word in lettered:
        sizes[word.size] = sizes.get(word.size, 0) + len(word.text)
    size = max(sizes, key=lambda size: (sizes[size], size))
    base = next(word for word in lettered if word.size == size)
    return PdfLine(
        text=" ".join(word.text for word in words),
        page=page,
        x0=min(word.x0 for word in words),
        x1=max(word.x1 for word in words),
        y=base.y,
        size=size,
        bold=all(word.bold for word in lettered),
        hyphen=words[-1].hyphen,
        bottom=min(word.bottom for word in words),
        top=max(word.top for word in words),
        order=order,
        turn=base.turn,
        chip=words[0].chip if words[0].chip == words[-1].chip else 0,
        drawn=base.drawn,
        faint=all(word.faint for word in words),
        font=lettered[0].font,
        end_font=lettered[-1].font,
        breaks=tuple(_breaks(words)),
    )


def _breaks(words: Sequence[Word]) -> Iterator[int]:
    """The offsets of the words in another font than the word with letters before them."""
    offset, font = 0, ""
    for word in words:
        if any(map(str.isalnum, word.text)):
            if font not in ("", word.font):
                yield offset
            font = word.font
        offset += len(word.text) + 1


def _join_pieces(lines: list[PdfLine]) -> list[PdfLine]:
    """The lines, with pieces joined that are side by side but were drawn apart.

    The word for today where other lines begin with a year is in a column of its own.
    """
    dated = {round(line.x0) for line in lines if DATED.fullmatch(line.text)}
    done: list[PdfLine] = []
    for row in group_rows(lines):
        for line in row:
            last = done[-1] if done else None
            is_note = last is not None and round(last.x0) in dated and is_bare_date(last.text)
            if last and not is_note and same_row(last, line) and _stands_next(last, line):
                done[-1] = merge_lines(last, line)
            else:
                done.append(line)
    return done


def _stands_next(last: PdfLine, line: PdfLine) -> bool:
    """True if both are one line: the first is only a bullet, or the second was drawn later, right beside it."""
    gap = (line.x0 - last.x1) / max(line.size, 1)
    if last.chip and line.chip and last.chip != line.chip:
        return False
    if is_lone_mark(last.text):
        return 0 <= gap <= _BULLET_GAP
    return -0.2 <= gap <= _LATE_GAP and line.order != last.order + 1


def group_rows(lines: Iterable[PdfLine]) -> list[list[PdfLine]]:
    """The lines grouped by row, from the top, each row from the left."""
    rows: list[list[PdfLine]] = []
    for line in sorted(lines, key=lambda line: -line.y):
        if rows and same_row(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.x0) for row in rows]


def same_row(one: PdfLine, other: PdfLine) -> bool:
    """True if both lines are on one row of a page."""
    within = (0.3 if one.size == other.size else 0.42) * max(one.size, other.size, 1)
    return one.page == other.page and one.turn == other.turn and abs(one.y - other.y) < within


def merge_lines(one: PdfLine, other: PdfLine) -> PdfLine:
    """Two lines of one row as one."""
    longer = max(one, other, key=lambda line: len(line.text))
    joint = len(one.text) + 1
    return replace(
        longer,
        text=f"{one.text} {other.text}",
        x0=one.x0,
        x1=max(one.x1, other.x1),
        bold=one.bold and other.bold,
        hyphen=other.hyphen,
        bottom=min(one.bottom, other.bottom),
        top=max(one.top, other.top),
        order=min(one.order, other.order),
        font=one.font,
        end_font=other.end_font,
        breaks=(*one.breaks, *[joint] * (one.end_font != other.font), *(joint + at for at in other.breaks)),
    )


def usual_size(lines: Sequence[PdfLine]) -> float:
    """The size of most characters; 0 without lines."""
    weights: dict[float, int] = {}
    for line in lines:
        weights[line.size] = weights.get(line.size, 0) + len(line.text)
    return max(weights, key=lambda size: (weights[size], -size), default=0.0)


def breaks_address(text: str, following: str) -> bool:
    """True if a web or mail address continues in the next line."""
    last, first = text.rsplit(" ", 1)[-1], following.split(" ", 1)[0]
    if not begins_address(last) or not (first[0].islower() or first[0].isdigit()) or begins_address(first):
        return False
    if last.endswith(("-", "/", "_", ".", "@")):
        return True
    return last == text and first == following and "@" not in last and not is_host(first)
