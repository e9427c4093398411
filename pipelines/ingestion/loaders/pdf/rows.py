"""The rows of one column of a PDF page as a stream of lines, each with the hints that stand beside it."""

import re
from collections.abc import Sequence
from dataclasses import replace

from pipelines.ingestion.loaders.pdf.lines import Line, rows_of, together, usual_size

BULLET = re.compile(r"(?:[•‣◦▪▫●○∙■□➢➤►▶✓✔❖]|[-–*·](?=\s)|\(?\d{1,2}[.)](?=\s+\D))\s*")
DATED = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}/\d{2,4}\b")

_LABEL = 1.12
_NAME = 1.3
_CLOSE = 1.75
_HINT_WORDS = 7
_SENTENCE_WORDS = 5
_SENTENCE_GAP = 4
_GOES_ON = re.compile(r"(?:[-–—,&/]|\b(?:and|to|bis|und|à|au|et|a|y|e|al)) *$", re.IGNORECASE)
_CONTINUES = re.compile(r"[-–—&/]|[^\W\d_A-Z]|(?:and|to|present|current)\b", re.IGNORECASE)


def read_rows(lines: Sequence[Line], column: int, known: Sequence[float] = ()) -> list[Line]:
    """The lines of a column from the top; what stands left or right of one on its row is its hint.

    Args:
        lines: The lines of one column.
        column: Its place in the reading order of its page.
        known: Where text stands beside hints in other columns of the document.
    """
    rows = rows_of(lines)
    x = body_edge(rows, known)
    stream: list[Line] = []
    for row in rows:
        hints = [line for line in row if x is not None and _is_left_hint(line, row, x, stream)]
        rest = [line for line in row if not any(line is hint for hint in hints)]
        rest = _sentences_joined(rest)
        main = replace(rest[0], column=column, right=tuple(rest[1:])) if rest else None
        _add(stream, main, hints, x)
    return _lift_labels(_pull_up(_limited(stream)), usual_size(lines))


def body_edge(rows: Sequence[Sequence[Line]], known: Sequence[float] = ()) -> float | None:
    """Where the text begins beside a column of hints; None if there is none."""
    pairs: dict[int, list[Line]] = {}
    for row in rows:
        if len(row) > 1 and len(row[0].text.split()) <= _HINT_WORDS:
            pairs.setdefault(round(row[1].x0), []).append(row[0])
    best: tuple[int, float] | None = None
    for edge in pairs:
        hints = [hint for near in (edge - 1, edge, edge + 1) for hint in pairs.get(near, [])]
        least = 1 if any(abs(edge - other) < 3 for other in known) else 2
        if len(hints) < least or max(hint.x1 for hint in hints) > edge:
            continue
        text = [line for row in rows for line in row if line.x0 >= edge - 3]
        alone = [row for row in rows if row[0].x0 >= edge - 3]
        enough = sum(len(line.text) for line in text) > 2 * sum(len(hint.text) for hint in hints)
        if alone and enough and (best is None or len(hints) > best[0]):
            best = len(hints), float(edge)
    return best[1] if best else None


def _is_left_hint(line: Line, row: Sequence[Line], x: float, stream: Sequence[Line]) -> bool:
    """Whether the line stands in the column of hints: beside some text, or right below another hint."""
    if line.x1 > x or line.x0 >= x - 3 or line is not row[0]:
        return False
    if len(row) > 1:
        return -3 <= row[1].x0 - x <= 2 * row[1].size
    above = next((hint for before in reversed(stream[-4:]) for hint in before.left[-1:]), None)
    return above is not None and above.bottom - line.top < 0.5 * line.size and abs(above.size - line.size) < 0.5


def _sentences_joined(row: Sequence[Line]) -> list[Line]:
    """The row, with sentences put together that have a wide space between them."""
    done: list[Line] = []
    for line in row:
        last = done[-1] if done else None
        if (
            last
            and len(last.text.split()) >= _SENTENCE_WORDS
            and last.text[-1] in ".!?"
            and line.x0 - last.x1 < _SENTENCE_GAP * line.size
            and not DATED.search(line.text)
        ):
            done[-1] = together(last, line)
        else:
            done.append(line)
    return done


def _add(stream: list[Line], main: Line | None, hints: Sequence[Line], x: float | None) -> None:
    """Put a row at the end of the stream; a hint that goes on from the row above is put where it began."""
    for hint in hints:
        holder = _holder(stream, hint)
        if holder is not None:
            above = stream[holder].left[-1]
            if _wraps(above, hint, x or 0.0):
                both = _merged(above, hint)
                stream[holder] = replace(stream[holder], left=(*stream[holder].left[:-1], both))
                continue
            if main is None:
                stream[holder] = replace(stream[holder], left=(*stream[holder].left, hint))
                continue
        main = hint if main is None else replace(main, left=(*main.left, hint))
    if main is not None:
        stream.append(main)


def _holder(stream: Sequence[Line], hint: Line) -> int | None:
    """Which line of the stream has the hint right above this one."""
    for index in range(len(stream) - 1, max(len(stream) - 5, -1), -1):
        for above in stream[index].left[-1:]:
            close = 0 < above.y - hint.y < _CLOSE * hint.size or 0 <= above.bottom - hint.bottom < _CLOSE * hint.size
            return index if close and above.y > hint.y else None
    return None


def _wraps(above: Line, hint: Line, x: float) -> bool:
    if above.size != hint.size or above.bold != hint.bold:
        return False
    if _GOES_ON.search(above.text) or _CONTINUES.match(hint.text):
        return True
    if DATED.search(above.text):
        return False
    return above.x1 + 0.5 * hint.size * (len(hint.text.split()[0]) + 1) > x


def _merged(above: Line, below: Line) -> Line:
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


def _limited(stream: Sequence[Line]) -> list[Line]:
    """The stream, each line beside a hint with how far it may reach: the widest hint of that margin tells."""
    edges: dict[int, float] = {}
    for line in stream:
        for hint in line.right[:1]:
            margin = round(hint.x1 / 6)
            edges[margin] = min(edges.get(margin, hint.x0), hint.x0)
    return [
        replace(line, limit=edges[round(line.right[0].x1 / 6)] - 0.5 * line.size) if line.right else line
        for line in stream
    ]


def _lift_labels(stream: Sequence[Line], size: float) -> list[Line]:
    """The stream, with every heading on a line of its own: a label left of its section, a name left of its contacts."""
    done: list[Line] = []
    for line in stream:
        labels = tuple(hint for hint in line.left if hint.size >= _LABEL * size and not DATED.search(hint.text))
        done += [replace(label, column=line.column, apart=True) for label in labels]
        smaller = all(line.size >= _NAME * hint.size and not DATED.search(hint.text) for hint in line.right)
        aside = line.right if smaller and line.size >= _NAME * size else ()
        left = tuple(hint for hint in line.left if hint not in labels)
        done.append(replace(line, left=left, right=() if aside else line.right))
        done += [replace(hint, column=line.column, apart=True) for hint in aside]
    return done


def _pull_up(stream: Sequence[Line]) -> list[Line]:
    """The stream, with hints that go on beside a list, below the row where they began, put before that list.

    They do so where the file draws them one after the other; a date drawn after its own list item stays there.
    """
    done: list[Line] = []
    head: tuple[Line, int] | None = None  # the last hint of a run, and where its next one belongs
    listed = False
    for line in stream:
        listed = bool(BULLET.match(line.text)) or (listed and not line.left and _is_inside(line, done))
        hint = line.right[-1] if len(line.right) == 1 else None
        if hint and head and listed and _follows(head[0], hint):
            done.insert(head[1], replace(hint, column=line.column, apart=True))
            head = hint, head[1] + 1
            done.append(replace(line, right=()))
            continue
        done.append(line)
        if hint and not listed:
            head = hint, len(done)
        elif head and not listed and line.right:
            head = None
        elif head and not listed:
            head = head[0], len(done)
    return done


def _is_inside(line: Line, done: Sequence[Line]) -> bool:
    """Whether the line goes on with the list item above it."""
    item = next((above for above in reversed(done) if BULLET.match(above.text)), None)
    return item is not None and (line.x0 > item.x0 + 0.3 * line.size or line.text[0].islower())


def _follows(above: Line, hint: Line) -> bool:
    aligned = abs(above.x1 - hint.x1) < 4 or abs(above.x0 - hint.x0) < 4
    return aligned and hint.order == above.order + 1 and 0 < above.y - hint.y < _CLOSE * hint.size
