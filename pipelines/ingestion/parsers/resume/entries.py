"""The entries of a resume section (jobs, studies, projects), separated by their dates and the lines above these."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pipelines.facts import CareerRecord, Facts
from pipelines.ingestion.parsers.careers.dates import DateRange
from pipelines.ingestion.parsers.careers.places import is_place
from pipelines.ingestion.parsers.careers.records import combined, supported_by
from pipelines.ingestion.parsers.careers.vocabulary import (
    company_score,
    degree_score,
    has_school,
    has_title,
    looks_named,
    title_score,
)
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.resume.lines import DatedLine, ResumeLine, dated_lines, label_role, split_label
from pipelines.ingestion.parsers.resume.sections import SectionPart

HEADING = "heading"

_MAX_HEAD_LINES = 4
_MAX_AFTER = 7
_MIN_LATER = 2  # entries that agree on the number of lines above their dates
_MAX_REMARK = 200

Names = Callable[[str], bool]
PiecesByPart = dict[int, list[Piece]]


@dataclass(frozen=True, slots=True)
class ResumeEntry:
    """One entry: the lines that name it, lines below its dates that may name it too, the other lines, and its dates."""

    head: tuple[DatedLine, ...]
    after: tuple[DatedLine, ...]
    body: tuple[DatedLine, ...]
    dated: DateRange | None = None

    @property
    def start(self) -> int:
        """The start of its first line."""
        return min(line.line.start for line in (*self.head, *self.after, *self.body))

    @property
    def end(self) -> int:
        """The end of its last line."""
        return max(line.line.end for line in (*self.head, *self.after, *self.body))


@dataclass(frozen=True, slots=True)
class SectionEntries:
    """A section: the lines before its first entry, and its entries."""

    leading: tuple[DatedLine, ...]
    entries: tuple[ResumeEntry, ...] = ()


def split_entries(lines: Sequence[DatedLine], reach: int | None = None, names: Names = has_title) -> SectionEntries:
    """The entries of a section, in order.

    At most as many lines name an entry, down to that of its dates, as the first entry or as all others have; fewer if
    other text comes before (a further position in the same company). Without dates, each heading begins an entry, else
    each line with `names`.

    `reach` is the number of naming lines; None = as in this section's first entry. `names` is true for words that name
    an entry without dates (a position, or a school).
    """
    anchors = _anchors(lines)
    if not anchors:
        return _undated(lines, names)
    if _is_dates_last(lines, anchors):
        return _dates_last(lines, anchors)
    known = frozenset(anchors)
    above = [_naming_lines_above(lines, anchor, known) for anchor in anchors]
    own = [lines[anchor].anchor != "beside" and _names_entry(lines[anchor]) for anchor in anchors]
    count = [len(named) + is_own for named, is_own in zip(above, own, strict=True)]
    first = [part.words for at in (*above[0], anchors[0]) for part in lines[at].parts]
    names_place = any(is_place(each) or is_place(each.rpartition(", ")[2]) for each in first)
    is_place_above = not names_place and all(named and _is_place_below(lines, named[-1], known) for named in above[1:])
    later = {each - is_place_above for each in count[1:]}
    is_joined = bool(above[0]) and len(above) > _MIN_LATER and len(later) == 1  # the first may read two lines as one
    usual = max(count[0], *later) if is_joined else count[0]
    most = usual if reach is None else reach
    starts = [
        [anchor, *named][min(max(most - is_own, _headed(lines, named, known)), len(named))]
        for anchor, named, is_own in zip(anchors, above, own, strict=True)
    ]
    named = _with_undated_headings(lines, starts, anchors)
    entries = []
    for number, (start, anchor) in enumerate(named):
        end = named[number + 1][0] if number + 1 < len(named) else len(lines)
        one = lines[anchor]
        below = max(start, _list_start(lines, anchor)) if one.anchor == "beside" else anchor + 1
        entries.append(_entry(lines, start, below, end, one.dated if one.anchor else None))
    return SectionEntries(tuple(lines[: starts[0]]), tuple(entries))


def _headed(lines: Sequence[DatedLine], named: Sequence[int], anchors: frozenset[int]) -> int:
    """How many naming lines there are up to the last heading among them; right below other dates it may be of those."""
    headings = (count for count, at in enumerate(named, start=1) if lines[at].line.kind == "heading")
    return max((count for count in headings if named[count - 1] - 1 not in anchors), default=0)


def _names_entry(one: DatedLine) -> bool:
    return any(looks_named(part.words) for part in one.parts)


def _with_undated_headings(
    lines: Sequence[DatedLine], starts: Sequence[int], anchors: Sequence[int]
) -> list[tuple[int, int]]:
    """The start and the date line of each entry; headings of the level of dated entries begin entries without dates."""
    levels = {lines[start].line.level for start in starts if lines[start].line.kind == "heading"}
    found = list(zip(starts, anchors, strict=True))
    taken = {number for start, anchor in found for number in range(start, anchor + 1)}
    found += [
        (number, number)
        for number, one in enumerate(lines)
        if number > anchors[0]
        and number not in taken
        and one.line.level in levels
        and _names_job(one)
        and not (number - 1 in anchors and not _has_title(lines, found, number - 1))
    ]
    return sorted(found)


def _has_title(lines: Sequence[DatedLine], found: Sequence[tuple[int, int]], anchor: int) -> bool:
    """True if a line of the entry with these dates, down to them, names a position."""
    start = next(start for start, at in found if at == anchor)
    return any(has_title(part.words) for one in lines[start : anchor + 1] for part in one.parts)


def _names_job(one: DatedLine) -> bool:
    """True for a heading with a position or a company."""
    return one.line.kind == "heading" and any(title_score(p.words) or company_score(p.words) for p in one.parts)


def _anchors(lines: Sequence[DatedLine]) -> list[int]:
    """The lines with the dates of an entry: ranges, and single dates in the same place of the line as ranges."""
    places = {one.anchor for one in lines if one.anchor and one.has_range}
    any_range = bool(places)
    places.discard("last space")
    return [
        number
        for number, one in enumerate(lines)
        if one.anchor and (one.has_range or not any_range or one.anchor in places)
    ]


def _naming_lines_above(lines: Sequence[DatedLine], anchor: int, anchors: frozenset[int]) -> list[int]:
    """The consecutive lines above the anchor that may name its entry, nearest first."""
    found: list[int] = []
    anchor = _list_start(lines, anchor)
    for before in range(anchor - 1, max(-1, anchor - 2 * _MAX_HEAD_LINES), -1):
        one = lines[before]
        if not one.parts and not one.dates and one.line.kind in ("text", "row"):
            continue
        if before in anchors or not one.named or one.line.kind in ("bullet", "more") or len(found) == _MAX_HEAD_LINES:
            break
        found.append(before)
    return found


def _is_place_below(lines: Sequence[DatedLine], number: int, anchors: frozenset[int]) -> bool:
    """True for a line of nothing but a place right below the dates of an entry."""
    return number - 1 in anchors and all(is_place(part.words) for part in lines[number].parts)


def _list_start(lines: Sequence[DatedLine], anchor: int) -> int:
    """The first line of the list that the dates are beside; the line of the dates itself without a list."""
    if lines[anchor].anchor != "beside":
        return anchor
    while anchor and lines[anchor - 1].line.kind in ("bullet", "more") and not lines[anchor - 1].anchor:
        anchor -= 1
    return anchor


def _entry(lines: Sequence[DatedLine], start: int, named: int, end: int, dated: DateRange | None = None) -> ResumeEntry:
    after = named
    while after < min(end, named + _MAX_AFTER) and _may_name(lines[after], after - named):
        after += 1
    return ResumeEntry(tuple(lines[start:named]), tuple(lines[named:after]), tuple(lines[after:end]), dated)


def _may_name(one: DatedLine, number: int) -> bool:
    """True if a line below the dates may name the entry: one of the first three, or one with a label."""
    if one.line.kind not in ("text", "heading", "row"):
        return False
    if one.parts and (split_label(one.parts[0].words) or label_role(one.parts[0].words) is not None):
        return True
    return number < 3 and (one.named or not one.parts)


def _is_dates_last(lines: Sequence[DatedLine], anchors: Sequence[int]) -> bool:
    """True if entries end with their dates: the first dates follow list items, not a name."""
    first = anchors[0]
    one = lines[first]
    if first < 2 or one.anchor == "beside" or not all(is_place(part.words) for part in one.parts):
        return False
    return lines[0].named and not lines[first - 1].named and one.line.kind != "row"


def _dates_last(lines: Sequence[DatedLine], anchors: Sequence[int]) -> SectionEntries:
    entries, start = [], 0
    for anchor in anchors:
        end = anchor + 1
        while end < len(lines) and not lines[end].parts and not lines[end].dates and lines[end].line.kind == "text":
            end += 1
        named, most = start + 1, min(anchor, start + _MAX_HEAD_LINES)
        while named < most and lines[named].named and lines[named].line.kind != "bullet":
            named += 1
        head = (*lines[start:named], lines[anchor])
        entries.append(ResumeEntry(head, (), (*lines[named:anchor], *lines[anchor + 1 : end]), lines[anchor].dated))
        start = end
    if start < len(lines):
        last = entries.pop()
        entries.append(ResumeEntry(last.head, last.after, (*last.body, *lines[start:]), last.dated))
    return SectionEntries((), tuple(entries))


def _undated(lines: Sequence[DatedLine], names: Names) -> SectionEntries:
    """Entries without dates: each begins with a heading, or with a line that names one if all headings do."""
    headed = [number for number, one in enumerate(lines) if one.line.kind == "heading"]
    named = [number for number in range(len(lines)) if _begins_entry(lines, number, names)]
    starts = named if set(headed) <= set(named) else headed
    if not starts:
        return SectionEntries(tuple(lines))
    ends = [*starts[1:], len(lines)]
    entries = (_entry(lines, start, start + 1, end) for start, end in zip(starts, ends, strict=True))
    return SectionEntries(tuple(lines[: starts[0]]), tuple(entries))


def _begins_entry(lines: Sequence[DatedLine], number: int, names: Names) -> bool:
    """True if the line or the one below has a name; below a named line, only if it has it where the first entry has."""
    if not lines[number].named or lines[number].line.kind not in ("text", "row", "heading"):
        return False

    def has_name(at: int) -> bool:
        return at < len(lines) and any(names(part.words) for part in lines[at].parts)

    if number and lines[number - 1].named:
        return has_name(number) if has_name(0) else has_name(1) and has_name(number + 1)
    return has_name(number) or has_name(number + 1)


def entries_by_part(text: str, parts: Sequence[SectionPart], section: str) -> dict[int, SectionEntries]:
    """The entries of each part of a section; a part without a heading continues the one before."""
    found: dict[int, SectionEntries] = {}
    reach: int | None = None
    for number, part in parts_of_section(parts, section):
        lines = dated_lines(text, part.lines)
        known = None if part.heading or reach is None else reach
        split = split_entries(lines, known, has_school if section == "education" else has_title)
        if section == "education":
            split = replace(split, entries=tuple(each for one in split.entries for each in _by_school(one)))
        if split.entries and (part.heading or reach is None):
            reach = sum(map(_names_entry, split.entries[0].head))
        found[number] = split
    return found


def _by_school(entry: ResumeEntry) -> Iterator[ResumeEntry]:
    """The entry; a line below its dates that names a further school begins one without dates."""
    named = any(has_school(part.words) for one in entry.head for part in one.parts)
    at = next((number for number, one in enumerate(entry.after) if named and _is_only_school(one)), None)
    if at is None:
        yield entry
    else:
        yield ResumeEntry(entry.head, entry.after[:at], (), entry.dated)
        yield from _by_school(ResumeEntry(entry.after[at : at + 1], entry.after[at + 1 :], entry.body))


def _is_only_school(one: DatedLine) -> bool:
    words = one.parts[0].words if len(one.parts) == 1 else ""
    is_name = one.line.kind == "heading" or (one.line.kind == "text" and not degree_score(words))
    return is_name and has_school(words)


def parts_of_section(parts: Sequence[SectionPart], section: str) -> Iterator[tuple[int, SectionPart]]:
    """The parts of a section that have lines, with their numbers."""
    return ((number, part) for number, part in enumerate(parts) if part.section == section and part.lines)


def leading_pieces(split: SectionEntries, part: SectionPart, lead: str, kind: str) -> list[Piece]:
    """The piece before the first entry: the rest of an entry of the page before, a table head, or a remark.

    A short remark is joined to the entry that follows it, like a heading.
    """
    if not split.leading:
        return []
    start, end = split.leading[0].line.start, split.leading[-1].line.end
    short = bool(split.entries) and not lead and end - start <= _MAX_REMARK
    return [Piece(start, end, part.path, HEADING if short else kind, lead=lead)]


def supported_facts(text: str, records: Sequence[CareerRecord], start: int, end: int, lead: str = "") -> Facts | None:
    """The records with only the values that occur in the lead or in their own spans, clipped to `start` and `end`."""
    spans = ((record, (max(start, record.span[0]), min(end, record.span[1]))) for record in records)
    found = (supported_by(record, f"{text[slice(*span)]}\n{lead}") for record, span in spans)
    return combined([checked for checked in found if checked])


def whole_piece(
    text: str, path: tuple[str, ...], lines: Sequence[ResumeLine], kind: str, records: Sequence[CareerRecord]
) -> Piece:
    """One piece for all of the lines, with the records that they state."""
    start, end = lines[0].start, lines[-1].end
    return Piece(start, end, path, kind, supported_facts(text, records, start, end))


def bullet_spans(text: str, entry: ResumeEntry) -> Iterator[tuple[int, int]]:
    """The list items of an entry, each with the lines that continue it; columns beside the list are left out."""
    opened: tuple[int, int] | None = None
    for marked in (*entry.head, *entry.after, *entry.body):
        line = marked.line
        if line.kind == "more" and opened:
            opened = opened[0], line.end
            continue
        if opened:
            yield opened
        end = text.rfind("\t", line.body, line.end) if marked.parts or marked.anchor else -1
        opened = (line.body, end if end > 0 else line.end) if line.kind == "bullet" else None
    if opened:
        yield opened
