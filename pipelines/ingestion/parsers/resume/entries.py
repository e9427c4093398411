"""The entries of a resume's section (jobs, studies, projects), told apart by their dates and by what precedes these."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipelines.ingestion.parsers.career.dates import DateRange
from pipelines.ingestion.parsers.career.job_words import company_score, has_title, title_score
from pipelines.ingestion.parsers.career.places import is_place
from pipelines.ingestion.parsers.resume.job_labels import label_role, labelled
from pipelines.ingestion.parsers.resume.marks import Marked

MAX_HEAD_LINES = 4

_MAX_AFTER = 7

Names = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: the lines that name it, those right after it that may still do, the rest, and its dates."""

    head: tuple[Marked, ...]
    after: tuple[Marked, ...]
    body: tuple[Marked, ...]
    dated: DateRange | None = None

    @property
    def start(self) -> int:
        """Where its first line begins."""
        return min(marked.line.start for marked in (*self.head, *self.after, *self.body))

    @property
    def end(self) -> int:
        """Where its last line ends."""
        return max(marked.line.end for marked in (*self.head, *self.after, *self.body))


@dataclass(frozen=True, slots=True)
class Split:
    """What a section falls into: lines before its first entry, and the entries."""

    leading: tuple[Marked, ...]
    entries: tuple[Entry, ...] = ()


def split_entries(marked: Sequence[Marked], reach: int | None = None, names: Names = has_title) -> Split:
    """The entries of a section, in order.

    An entry begins so many lines before its dates as the first entry does, at most; fewer where other text comes
    before (a further position in the same company). Without dates, headings begin entries, else lines with `names`.

    Args:
        marked: The lines of the section, without its heading.
        reach: How many lines stand before the dates; None = as many as in this section's first entry.
        names: Whether words name an entry that has no dates: a position, or a school.
    """
    anchors = _anchors(marked)
    if not anchors:
        return _undated(marked, names)
    if _is_dates_last(marked, anchors):
        return _dates_last(marked, anchors)
    known = frozenset(anchors)
    remarks = _remarks(marked, anchors[0])
    above = [_above(marked, anchor, known, remarks) for anchor in anchors]
    beside = [marked[anchor].anchor == "beside" for anchor in anchors]
    most = len(above[0]) - beside[0] if reach is None else reach
    starts = [
        [anchor, *lines][: most + aside + 1][-1] for anchor, lines, aside in zip(anchors, above, beside, strict=True)
    ]
    named = _headed(marked, starts, anchors)
    entries = []
    for number, (start, anchor) in enumerate(named):
        end = named[number + 1][0] if number + 1 < len(named) else len(marked)
        one = marked[anchor]
        below = max(start, _listed(marked, anchor)) if one.anchor == "beside" else anchor + 1
        entries.append(_entry(marked, start, below, end, one.dated if one.anchor else None))
    return Split(tuple(marked[: starts[0]]), tuple(entries))


def _headed(marked: Sequence[Marked], starts: Sequence[int], anchors: Sequence[int]) -> list[tuple[int, int]]:
    """Where each entry starts and where its dates are; headings like those of dated entries begin undated ones."""
    levels = {marked[start].line.level for start in starts if marked[start].line.kind == "heading"}
    found = list(zip(starts, anchors, strict=True))
    held = {number for start, anchor in found for number in range(start, anchor + 1)}
    found += [
        (number, number)
        for number, one in enumerate(marked)
        if number > anchors[0] and number not in held and one.line.level in levels and _is_job(one)
    ]
    return sorted(found)


def _is_job(one: Marked) -> bool:
    """Whether a heading names a position or a company."""
    return one.line.kind == "heading" and any(title_score(p.words) or company_score(p.words) for p in one.parts)


def _anchors(marked: Sequence[Marked]) -> list[int]:
    """The lines whose dates are those of an entry: ranges, and single dates that stand where ranges do."""
    places = {one.anchor for one in marked if one.anchor and one.has_range}
    any_range = bool(places)
    places.discard("last space")
    return [
        number
        for number, one in enumerate(marked)
        if one.anchor and (one.has_range or not any_range or one.anchor in places)
    ]


def _remarks(marked: Sequence[Marked], anchor: int) -> frozenset[int]:
    """How far before its dates the first entry has a line that says more of its company, below one that names it."""
    head = marked[:anchor]
    plain = all(one.line.kind == "text" and one.parts and len(one.parts) < 3 for one in head)
    if not 1 < len(head) < MAX_HEAD_LINES or not plain or not head[0].named:
        return frozenset()
    return frozenset(anchor - number for number, one in enumerate(head) if not one.named)


def _above(
    marked: Sequence[Marked], anchor: int, anchors: frozenset[int], remarks: frozenset[int] = frozenset()
) -> list[int]:
    """The lines in a row before the anchor that could name its entry, the nearest first; remarks among them."""
    found: list[int] = []
    anchor = _listed(marked, anchor)
    for before in range(anchor - 1, max(-1, anchor - 2 * MAX_HEAD_LINES), -1):
        one = marked[before]
        if not one.parts and not one.dates and one.line.kind in ("text", "row"):
            continue
        named = one.named or (anchor - before in remarks and one.line.kind == "text")
        if before in anchors or not named or one.line.kind in ("bullet", "more") or len(found) == MAX_HEAD_LINES:
            break
        found.append(before)
    return found


def _listed(marked: Sequence[Marked], anchor: int) -> int:
    """Where the list begins beside which the dates stand; the line of the dates itself where they stand beside none."""
    if marked[anchor].anchor != "beside":
        return anchor
    while anchor and marked[anchor - 1].line.kind in ("bullet", "more") and not marked[anchor - 1].anchor:
        anchor -= 1
    return anchor


def _entry(marked: Sequence[Marked], start: int, named: int, end: int, dated: DateRange | None = None) -> Entry:
    after = named
    while after < min(end, named + _MAX_AFTER) and _may_name(marked[after], after - named):
        after += 1
    return Entry(tuple(marked[start:named]), tuple(marked[named:after]), tuple(marked[after:end]), dated)


def _may_name(one: Marked, number: int) -> bool:
    """Whether a line after the dates may still name the entry: one of the first ones, or one with a label."""
    if one.line.kind not in ("text", "heading", "row"):
        return False
    if one.parts and (labelled(one.parts[0].words) or label_role(one.parts[0].words) is not None):
        return True
    return number < 3 and (one.named or not one.parts)


def _is_dates_last(marked: Sequence[Marked], anchors: Sequence[int]) -> bool:
    """Whether each entry ends with its dates: the first ones come after list items, not after a name."""
    first = anchors[0]
    one = marked[first]
    if first < 2 or one.anchor == "beside" or not all(is_place(part.words) for part in one.parts):
        return False
    return marked[0].named and not marked[first - 1].named and one.line.kind != "row"


def _dates_last(marked: Sequence[Marked], anchors: Sequence[int]) -> Split:
    entries, start = [], 0
    for anchor in anchors:
        end = anchor + 1
        while end < len(marked) and not marked[end].parts and not marked[end].dates and marked[end].line.kind == "text":
            end += 1
        named = start + 1
        while (
            named < anchor
            and named - start < MAX_HEAD_LINES
            and marked[named].named
            and marked[named].line.kind != "bullet"
        ):
            named += 1
        head = (*marked[start:named], marked[anchor])
        entries.append(Entry(head, (), (*marked[named:anchor], *marked[anchor + 1 : end]), marked[anchor].dated))
        start = end
    if start < len(marked):
        last = entries.pop()
        entries.append(Entry(last.head, last.after, (*last.body, *marked[start:]), last.dated))
    return Split((), tuple(entries))


def _undated(marked: Sequence[Marked], names: Names) -> Split:
    """Entries without dates: each begins with a heading, else with a line that names a position or a school."""
    starts = [number for number, one in enumerate(marked) if one.line.kind == "heading"]
    starts = starts or [number for number in range(len(marked)) if _begins(marked, number, names)]
    if not starts:
        return Split(tuple(marked))
    ends = [*starts[1:], len(marked)]
    entries = (_entry(marked, start, start + 1, end) for start, end in zip(starts, ends, strict=True))
    return Split(tuple(marked[: starts[0]]), tuple(entries))


def _begins(marked: Sequence[Marked], number: int, names: Names) -> bool:
    """Whether the line, the first after other text, or the one below it has a name; or it has one, as the first has."""
    one = marked[number]
    own = any(names(part.words) for part in one.parts)
    if not one.named or one.line.kind not in ("text", "row"):
        return False
    if number and marked[number - 1].named:
        return own and any(names(part.words) for part in marked[0].parts)
    below = marked[number + 1].parts if number + 1 < len(marked) else ()
    return own or any(names(part.words) for part in below)
