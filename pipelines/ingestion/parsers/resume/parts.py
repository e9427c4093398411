"""The sections of a resume, across columns and pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.ingestion.parsers.career.section_names import section_of
from pipelines.ingestion.parsers.resume.columns import Columns
from pipelines.ingestion.parsers.resume.headings import PERSON, Headings, Opened
from pipelines.ingestion.parsers.resume.lines import Line, lines_of
from pipelines.types import Block, LineBox


@dataclass(frozen=True, slots=True)
class Part:
    """Lines in a row of one section: its canonical name ("" = unknown), its title, its heading where it begins here."""

    section: str
    title: str
    heading: Line | None
    lines: tuple[Line, ...]


def parts_of(text: str, blocks: Sequence[Block], boxes: Sequence[LineBox] = ()) -> list[Part]:
    """The parts of a resume in order, covering all of its lines; what precedes the first section is `contact`.

    A column that goes on from the page before goes on with that column's section.
    """
    lines = _with_hints(text, lines_of(text, blocks))
    runs: list[tuple[Opened, Line | None, list[Line]]] = []
    for line, now, opens in _read(Headings(text, lines), Columns.of(boxes)):
        if opens:
            runs.append((now, line, []))
        elif runs and runs[-1][0] == now:
            runs[-1][2].append(line)
        else:
            runs.append((now, None, [line]))
    return [Part(*opened, heading, tuple(held)) for opened, heading, held in runs]


def _read(headings: Headings, columns: Columns) -> Iterator[tuple[Line, Opened, bool]]:
    """Each line with its section, and whether it opens that."""
    now, column = PERSON, -1
    left_in: dict[int, Opened] = {}
    for number, line in enumerate(headings.lines):
        at = columns.at(line.start)
        if at != column:
            left_in |= {column: now} if column >= 0 else {}
            now, column = left_in.get(columns.before(at), now), at
        opened = headings.opened(number, now)
        now = opened or now
        yield line, now, opened is not None


def _with_hints(text: str, lines: Sequence[Line]) -> list[Line]:
    """The lines, those that begin with a section's name in a column of its own cut behind it."""
    cuts = [_hint_end(text, line) for line in lines]
    found = {section_of(text[line.body : end]) for line, end in zip(lines, cuts, strict=True) if end}
    return list(_cut_hints(lines, cuts)) if len(found) > 1 else list(lines)


def _hint_end(text: str, line: Line) -> int:
    tab = text.find("\t", line.body, line.end)
    if tab < 0 or line.kind in ("bullet", "more"):
        return 0
    return tab if section_of(text[line.body : tab]) else 0


def _cut_hints(lines: Sequence[Line], cuts: Sequence[int]) -> Iterator[Line]:
    for line, end in zip(lines, cuts, strict=True):
        if end:
            yield Line(line.start, end, line.body, "heading", max(line.level, 1))
            yield Line(end + 1, line.end, end + 1, "text")
        else:
            yield line
