"""The rows of one column of a PDF page: what stands left or right of a line becomes its side note."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from pipelines.bullets import SIGNS, mark_end
from pipelines.ingestion.loaders.pdf.lines import (
    HEADING_SIZE,
    PdfLine,
    group_rows,
    is_bare_date,
    merge_lines,
    usual_size,
)
from pipelines.ingestion.loaders.rendering import DATED

_MAX_NUMBER = 4  # characters of an item's number: "(12)"
_NAME = 1.3
_CLOSE = 1.75
_LEVEL = 2.0
_MAX_NOTE_WORDS = 7
_SENTENCE_WORDS = 5
_SENTENCE_GAP = 4
_JOINTS = "-–—&/"
_JOINING = frozenset("and to bis und à au et a y e al".split())
_ANY_YEAR = 2000
_MAX_DATES = 60  # letters of dates in two lines
_NEAR_LINES = 4
_LETTER = 0.5  # width of a letter in sizes
_EVEN = 1.1  # of the least distance


def is_item(text: str) -> bool:
    """True if a line begins with a bullet, or with a sign or a number that a space follows; no date does."""
    mark, rest = text[: mark_end(text)], text[mark_end(text) :]
    if mark[-1:] in (".", ")"):
        return len(mark) <= _MAX_NUMBER and rest[:1].isspace() and not rest.lstrip()[:1].isdigit()
    return bool(mark) and (rest[:1].isspace() or mark not in SIGNS + "·")


def read_rows(lines: Sequence[PdfLine], column: int, known: Sequence[float] = ()) -> list[PdfLine]:
    """The lines of a column from the top; what is left or right of one on its row becomes its side note.

    `column` is its place in the reading order of its page, and `known` says where text begins beside side notes in
    other columns of the document.
    """
    stream: list[PdfLine] = []
    for rows, x in _with_edges(group_rows(lines), known):
        _read_part(stream, rows, x, column)
    return _separate_labels(_pull_up(_set_limits(stream)), usual_size(lines))


def _with_edges(rows: list[list[PdfLine]], known: Sequence[float]) -> list[tuple[list[list[PdfLine]], float | None]]:
    """The rows below each heading with the left edge of their text; that of the column where they show none."""
    size = HEADING_SIZE * usual_size([line for row in rows for line in row])
    parts: list[list[list[PdfLine]]] = [[]]
    for row in rows:
        if len(row) == 1 and row[0].size >= size:
            parts.append([])
        parts[-1].append(row)
    whole = body_edge(rows, known)
    if len(parts) == 1:
        return [(rows, whole)]
    first = [body_edge(part) for part in parts]
    seen = [*known, *(edge for edge in first if edge is not None)]
    edges = [body_edge(part, seen) if edge is None and seen else edge for part, edge in zip(parts, first, strict=True)]
    return [(part, whole if edge is None else edge) for part, edge in zip(parts, edges, strict=True)]


def _read_part(stream: list[PdfLine], rows: Sequence[list[PdfLine]], x: float | None, column: int) -> None:
    """Append the rows to the stream; what is left of `x` becomes side notes."""
    lower = _lower_dates([row[0] for row in rows if x is not None and row[0].x1 <= x])
    for row in rows:
        notes = [line for line in row if x is not None and _is_left_note(line, row, x, stream)]
        rest = [line for line in row if not any(line is note for note in notes)]
        if notes and id(notes[0]) in lower and (above := _line_above(stream, notes[0])) is not None:
            stream[above] = replace(stream[above], left=(*stream[above].left, notes[0]))
            notes = []
            if not rest:
                continue
        rest = _join_sentences(rest)
        rest = _join_wrapped_notes(stream, rest)
        main = rest[0] if rest else None
        if main and (column or len(rest) > 1):
            main = replace(main, column=column, right=tuple(rest[1:]))
        _add(stream, main, notes, x)


def body_edge(rows: Sequence[Sequence[PdfLine]], known: Sequence[float] = ()) -> float | None:
    """The left edge of the text beside a column of side notes; None if there is none."""
    pairs: dict[int, list[PdfLine]] = {}
    for row in rows:
        if len(row) > 1 and len(row[0].text.split()) <= _MAX_NOTE_WORDS:
            pairs.setdefault(round(row[1].x0), []).append(row[0])
    best: tuple[int, float] | None = None
    for edge in pairs:
        notes = [note for near in (edge - 1, edge, edge + 1) for note in pairs.get(near, [])]
        is_known = any(abs(edge - other) < 3 for other in known)
        if len(notes) < 2 - is_known or max(note.x1 for note in notes) > edge:
            continue
        text = [line for row in rows for line in row if line.x0 >= edge - 3]
        is_narrow = max(line.x1 for line in text) - edge < max(note.x1 - note.x0 for note in notes)
        if is_narrow or 2 * sum(bool(DATED.search(line.text)) for line in text) > len(text):
            continue  # dates at the right margin
        alone = [row for row in rows if row[0].x0 >= edge - 3]
        enough = sum(len(line.text) for line in text) > 2 * sum(len(note.text) for note in notes)
        if (alone or is_known) and enough and (best is None or len(notes) > best[0]):
            best = len(notes), float(edge)
    return best[1] if best else None


def _lower_dates(notes: Sequence[PdfLine]) -> set[int]:
    """The ids of dates that stand right below a date, where dates do so in twos: "2019" above "2022"."""
    dates = [note for note in notes if is_bare_date(note.text)]
    gaps = [(above.y - note.y) / note.size for above, note in pairwise(dates) if above.page == note.page]
    nearest = min((gap for gap in gaps if gap > 0), default=_CLOSE)
    close = [
        number
        for number, (above, note) in enumerate(pairwise(dates), start=1)
        if above.size == note.size and 0 < (above.y - note.y) / note.size <= min(_EVEN * nearest, _CLOSE)
    ]
    is_paired = all(after - before > 1 for before, after in pairwise(close))
    return {id(dates[number]) for number in close} if is_paired else set()


def _is_left_note(line: PdfLine, row: Sequence[PdfLine], x: float, stream: Sequence[PdfLine]) -> bool:
    """True if the line is in the column of side notes: beside some text, or right below another note."""
    if line.x1 > x or line.x0 >= x - 3 or line is not row[0]:
        return False
    if len(row) > 1:
        return -3 <= row[1].x0 - x <= 2 * row[1].size
    above = next((note for before in reversed(stream[-4:]) for note in before.left[-1:]), None)
    return above is not None and above.bottom - line.top < 0.5 * line.size and abs(above.size - line.size) < 0.5


def _join_sentences(row: Sequence[PdfLine]) -> list[PdfLine]:
    """The row, with sentences joined that have a wide space between them."""
    result: list[PdfLine] = []
    for line in row:
        last = result[-1] if result else None
        if (
            last
            and len(last.text.split()) >= _SENTENCE_WORDS
            and last.text[-1] in ".!?"
            and line.x0 - last.x1 < _SENTENCE_GAP * line.size
            and not DATED.search(line.text)
        ):
            result[-1] = merge_lines(last, line)
        else:
            result.append(line)
    return result


def _join_wrapped_notes(stream: list[PdfLine], row: list[PdfLine]) -> list[PdfLine]:
    """The row without the end of it that continues the note at the right of the line above, which gets it."""
    index = next(
        (at for at in range(len(stream) - 1, max(-1, len(stream) - _NEAR_LINES), -1) if stream[at].right), None
    )
    if index is None or not row:
        return row
    line, above = stream[index], stream[index].right[-1]
    alone = len(row) == 1 and index == len(stream) - 1
    if line.size >= _NAME * above.size or not _continues_note(above, row[-1], alone=alone):
        return row
    stream[index] = replace(line, right=(*line.right[:-1], replace(_merge_wrapped(above, row[-1]), y=row[-1].y)))
    return row[:-1]


def _continues_note(above: PdfLine, line: PdfLine, *, alone: bool) -> bool:
    """True if the line is right below the note, level with an edge of it, and goes on with what it breaks off."""
    level = abs(above.x1 - line.x1) < _LEVEL or abs(above.x0 - line.x0) < _LEVEL
    level = level or (is_item(above.text) and 0 < line.x0 - above.x0 < _CLOSE * line.size)
    if not level or above.size != line.size or not 0 < above.y - line.y < _CLOSE * line.size:
        return False
    if _breaks_off(above.text):
        return alone or bool(DATED.search(above.text) or DATED.search(line.text))
    is_word = alone and f"{above.text.split()[-1]}{line.text.split()[0]}".isalpha()
    return is_word or _is_broken_date(above.text, line.text)


def _is_broken_date(above: str, line: str) -> bool:
    """True if a date or a range goes on in the next line, perhaps up to a year in the one after."""
    from pipelines.ingestion.parsers.careers.dates import date_ranges

    ends = ("", f" {_ANY_YEAR}") if len(above) + len(line) < _MAX_DATES else ()
    found = (one for end in ends for one in date_ranges(f"{above} {line}{end}"))
    return any(one.start < len(above) < one.end for one in found)


def _breaks_off(text: str) -> bool:
    """True if a line ends in a joint or a joining word."""
    return text.rstrip()[-1] in f"{_JOINTS}," or text.rsplit(maxsplit=1)[-1].lower() in _JOINING


def _add(stream: list[PdfLine], main: PdfLine | None, notes: Sequence[PdfLine], x: float | None) -> None:
    """Append a row to the stream; a note that continues the one above is merged with it."""
    for note in notes:
        above_index = _line_above(stream, note)
        if above_index is not None:
            above = stream[above_index].left[-1]
            if _wraps(above, note, x or 0.0, main):
                both = _merge_wrapped(above, note)
                stream[above_index] = replace(stream[above_index], left=(*stream[above_index].left[:-1], both))
                continue
            if main is None:
                stream[above_index] = replace(stream[above_index], left=(*stream[above_index].left, note))
                continue
        main = note if main is None else replace(main, left=(*main.left, note))
    if main is not None:
        stream.append(main)


def _line_above(stream: Sequence[PdfLine], note: PdfLine) -> int | None:
    """The index of the line in the stream whose note is right above this one."""
    for index in range(len(stream) - 1, max(len(stream) - 5, -1), -1):
        for above in stream[index].left[-1:]:
            close = 0 < above.y - note.y < _CLOSE * note.size or 0 <= above.bottom - note.bottom < _CLOSE * note.size
            return index if close and above.y > note.y else None
    return None


def _wraps(above: PdfLine, note: PdfLine, x: float, beside: PdfLine | None) -> bool:
    """True if the note continues the one above; a full one, only where the text beside it does not begin anew."""
    if above.size != note.size or above.bold != note.bold:
        return False
    if _breaks_off(above.text) or _is_broken_date(above.text, note.text):
        return True
    if DATED.search(above.text) or (beside and not beside.text[0].islower()):
        return False
    return above.x1 + 0.5 * note.size * (len(note.text.split()[0]) + 1) > x


def _merge_wrapped(above: PdfLine, below: PdfLine) -> PdfLine:
    gap = "" if above.hyphen else " "
    text = above.text.removesuffix("-") if above.hyphen else above.text
    return replace(
        above,
        text=f"{text}{gap}{below.text}",
        x0=min(above.x0, below.x0),
        x1=max(above.x1, below.x1),
        bottom=min(above.bottom, below.bottom),
        top=max(above.top, below.top),
        hyphen=below.hyphen,
    )


def _set_limits(stream: Sequence[PdfLine]) -> list[PdfLine]:
    """The lines with how far they may reach beside their notes, from the widest note of each margin."""
    edges: dict[int, float] = {}
    for line in stream:
        for note in line.right[:1]:
            margin = round(note.x1 / 6)
            is_wrapped = note.top - note.bottom > _CLOSE * note.size
            begin = note.x1 - len(note.text) * note.size * _LETTER if is_wrapped else note.x0  # of its column, at least
            edges[margin] = min(edges.get(margin, begin), begin)
    return [
        replace(line, limit=edges[round(line.right[0].x1 / 6)] - 0.5 * line.size) if line.right else line
        for line in stream
    ]


def _pull_up(stream: Sequence[PdfLine]) -> list[PdfLine]:
    """The stream with notes that continue beside a list moved up, before the list, below the note they continue.

    Only if the file draws them in sequence; a date drawn after its own list item stays there.
    """
    result: list[PdfLine] = []
    head: tuple[PdfLine, int] | None = None  # (last note of a run, index for the next one)
    listed = False
    for line in stream:
        listed = is_item(line.text) or (listed and not line.left and _is_inside(line, result))
        note = line.right[-1] if len(line.right) == 1 else None
        if note and head and listed and _follows(head[0], note):
            result.insert(head[1], replace(note, column=line.column, apart=True))
            head = note, head[1] + 1
            result.append(replace(line, right=()))
            continue
        result.append(line)
        if note and not listed:
            head = note, len(result)
        elif head and not listed and line.right:
            head = None
        elif head and not listed:
            head = head[0], len(result)
    return result


def _is_inside(line: PdfLine, result: Sequence[PdfLine]) -> bool:
    """True if the line continues the list item above it."""
    item = next((above for above in reversed(result) if is_item(above.text)), None)
    return item is not None and (line.x0 > item.x0 + 0.3 * line.size or line.text[0].islower())


def _follows(above: PdfLine, note: PdfLine) -> bool:
    level = abs(above.x1 - note.x1) < 4 or abs(above.x0 - note.x0) < 4
    return level and note.order == above.order + 1 and 0 < above.y - note.y < _CLOSE * note.size


def _separate_labels(stream: Sequence[PdfLine], size: float) -> list[PdfLine]:
    """The stream with headings on their own lines: labels left of a section, names left of contact details."""
    result: list[PdfLine] = []
    for line in stream:
        labels = tuple(note for note in line.left if note.size >= HEADING_SIZE * size and not DATED.search(note.text))
        result += [replace(label, column=line.column, apart=True) for label in labels]
        smaller = all(line.size >= _NAME * note.size and not DATED.search(note.text) for note in line.right)
        aside = line.right if smaller and line.size >= _NAME * size else ()
        left = tuple(note for note in line.left if note not in labels)
        result.append(replace(line, left=left, right=() if aside else line.right) if labels or aside else line)
        result += [replace(note, column=line.column, apart=True) for note in aside]
    return result
