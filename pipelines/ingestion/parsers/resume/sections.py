"""The sections of a resume by its headings, across columns and pages."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from pipelines.blocks import title_of
from pipelines.contacts import email_in, is_link
from pipelines.ingestion.parsers.careers.dates import date_ranges
from pipelines.ingestion.parsers.careers.people import phone_in
from pipelines.ingestion.parsers.careers.places import is_place, place_score
from pipelines.ingestion.parsers.careers.section_names import MAX_HEADING, MODIFIER_WORDS, section_of
from pipelines.ingestion.parsers.careers.vocabulary import (
    company_score,
    degree_score,
    has_title,
    institution_score,
    is_level,
    language_names,
)
from pipelines.ingestion.parsers.resume.lines import ResumeLine, lines_of, unspaced
from pipelines.ingestion.words import word_lists
from pipelines.text import word_parts
from pipelines.types import Block, LineBox

_SHARED = 0.5
ENTRY_SECTIONS = frozenset(
    {"experience", "education", "projects", "volunteering", "certifications", "publications", "talks"}
)
_LISTED = ENTRY_SECTIONS | frozenset(("skills", "top_skills", "languages"))
# Names that also occur inside a job or above a group of skills: they open one only in the style of other headings.
WEAK_NAMES = frozenset(word_lists("section_words")["weak"])
_LABELS = frozenset(("skills", "languages"))  # names of sections and of groups of skills
_BREAK = 3
_IS_PLACE = 2
_MAX_BESIDE = 12  # letters beside a mail address or a telephone number
_HEADED = 2  # sections
_MAX_FOOT, _FAR = 3, 3.0  # lines of a footer; their distance from the text in heights of a line
_JUMP = 0.8  # heights of a line that a column begins above the end of the one before, at least
_NEAR_DATES = 4


@dataclass(frozen=True, slots=True)
class ColumnRun:
    """A column of one page; `before` is the index of the column run that it continues, or -1."""

    start: int
    end: int
    page: int
    x0: float
    x1: float
    before: int = -1


def column_runs(boxes: Sequence[LineBox]) -> list[ColumnRun]:
    """The column runs in reading order; one begins at each page, and where the text jumps up beside its last lines.

    The edges of a run are those of its lines beside the next one: above them a line may go across both.
    """
    runs: list[list[LineBox]] = []
    edges: list[list[LineBox]] = []
    for box in boxes:
        if box.end <= box.start:
            continue
        last = runs[-1][-1] if runs else None
        is_far = last is not None and box.y0 - last.y1 > _JUMP * (box.y1 - box.y0)
        beside = [one for one in runs[-1] if one.y0 < box.y1] if is_far else []
        is_side = box.x0 >= max((one.x1 for one in beside), default=box.x1)
        is_side = is_side or box.x1 <= min((one.x0 for one in beside), default=box.x0)
        if last is None or box.page != last.page or is_side:
            edges[-1:] = [beside] if last and box.page == last.page else edges[-1:]
            runs.append([])
            edges.append(runs[-1])
        runs[-1].append(box)
    found = [_run(lines, sides) for lines, sides in zip(runs, edges, strict=True)]
    pages: dict[int, list[int]] = defaultdict(list)
    for number, one in enumerate(found):
        pages[one.page].append(number)
    return [replace(one, before=_continued_run(found, one, pages.get(one.page - 1, []))) for one in found]


def _run(lines: Sequence[LineBox], edges: Sequence[LineBox]) -> ColumnRun:
    x0, x1 = min(one.x0 for one in edges), max(one.x1 for one in edges)
    return ColumnRun(lines[0].start, lines[-1].end, lines[0].page, x0, x1)


def _continued_run(found: Sequence[ColumnRun], one: ColumnRun, earlier: Sequence[int]) -> int:
    """The run of the page before that it is below: the one with the nearest left edge; -1 if there is none."""
    under = [place for place in earlier if _shared_width(one, found[place]) >= _SHARED]
    return min(under, key=lambda place: (abs(found[place].x0 - one.x0), -place), default=-1)


def _shared_width(one: ColumnRun, other: ColumnRun) -> float:
    """The shared width, as a fraction of the narrower run's width."""
    width = min(one.x1 - one.x0, other.x1 - other.x0)
    return max(0.0, min(one.x1, other.x1) - max(one.x0, other.x0)) / width if width > 0 else 0.0


class SectionStart(NamedTuple):
    """A section: its canonical name ("" = unknown) and its title."""

    section: str
    title: str


CONTACT = SectionStart("contact", "")


class _Style(NamedTuple):
    heading: bool
    level: int
    capitals: bool
    colon: bool = False
    apart: bool = False


@dataclass(frozen=True)
class Headings:
    """The lines of a resume, with the section that each one opens."""

    text: str
    lines: Sequence[ResumeLine]

    def opened(self, number: int, now: SectionStart) -> SectionStart | None:
        """The section that the line opens, if the current one is `now`; None for other lines."""
        line, name = self.lines[number], self._names[number]
        if name:
            return SectionStart(name, self._title(line)) if self._opens(number, name, now) else None
        if line.kind != "heading" or self._style is None or not self._style.heading:
            return None
        if self._is_group(number, now) or (not self._is_laid_out_like(number, now) and self._is_entry(number, now)):
            return None
        if line.level < self._style.level:
            return CONTACT if now != CONTACT else None
        styles = self._styles if now != CONTACT else (self._style,)  # a headline may look like a section
        if _style(self.text, line) not in styles or (now == CONTACT and number <= self._first_heading):
            return None
        return SectionStart("", self._title(line))

    def _title(self, line: ResumeLine) -> str:
        words = unspaced(self.text[line.body : line.end])
        title = words if words != self.text[line.body : line.end] else title_of(self.text, line.start, line.end)
        return title.rstrip(":：").rstrip()

    def _opens(self, number: int, name: str, now: SectionStart) -> bool:
        """True if a line with a section name opens that section, rather than a part of the current one."""
        line, style = self.lines[number], self._style
        if (now.section, name) == ("languages", "skills") and is_level(self.text[line.body : line.end]):
            return False
        if now.section == name == "skills" and self._is_label(number, now):
            return False
        if style is None or _style(self.text, line) in self._styles:
            return True
        if line.kind == "heading" and (not style.heading or line.level <= style.level):
            return True
        if _is_weak(self.text, line) and not (name == "languages" and self._speaks(number)):
            return False
        return now == CONTACT or name != now.section

    @cached_property
    def _names(self) -> list[str]:
        return [_section_name(self.text, line) for line in self.lines]

    @cached_property
    def _style(self) -> _Style | None:
        """The style of most headings of known sections."""
        return max(self._named_styles, key=lambda style: (len(self._named_styles[style]), style.heading), default=None)

    @cached_property
    def _styles(self) -> frozenset[_Style | None]:
        """That style, and those of marked headings that several known sections share, as in a column of its own.

        Weak names count beside another one, except those of groups of skills.
        """
        named = {style: set(names) for style, names in self._named_styles.items() if style.heading}
        for line, name in zip(self.lines, self._names, strict=True):
            if name and name not in _LABELS and _style(self.text, line) in named:
                named[_style(self.text, line)].add(name)
        shared = (style for style, names in named.items() if len(names) > 1)
        return frozenset((self._style, *shared))

    @cached_property
    def _named_styles(self) -> dict[_Style, list[str]]:
        """The known sections by the style of their headings; those of weak names only where there are no others."""
        named = [(line, name) for line, name in zip(self.lines, self._names, strict=True) if name]
        found: dict[_Style, list[str]] = defaultdict(list)
        for line, name in [each for each in named if not _is_weak(self.text, each[0])] or named[:1]:
            found[_style(self.text, line)].append(name)
        return found

    @cached_property
    def _first_heading(self) -> int:
        return next((number for number, line in enumerate(self.lines) if line.kind == "heading"), len(self.lines))

    def _speaks(self, number: int) -> bool:
        """True if the lines below name spoken languages."""
        return any(language_names(self.text[line.start : line.end]) for line in self.lines[number + 1 : number + 3])

    def _is_laid_out_like(self, number: int, now: SectionStart) -> bool:
        """True if a heading is to the dates below it what the heading of the current section is to its first dates.

        Both are in the style of sections, the first line below the section's heading is not, and the dates are no
        nearer than there: it heads another section of entries, not an entry of this one.
        """
        opening = self._opening(number, now)
        headed = [_style(self.text, self.lines[at]) in self._styles for at in (number, opening, opening + 1)]
        dated = date_ranges(self.text[self.lines[number].start : self.lines[number].end])
        if opening < 0 or headed != [True, True, False] or dated:
            return False
        if self._is_only_of_sections(self.lines[number]):
            return True
        return self._lines_to_dates(opening) <= self._lines_to_dates(number) < _NEAR_DATES

    def _opening(self, number: int, now: SectionStart) -> int:
        """The heading above a line that opened the current section; -1 if that has no known name."""
        before = range(number - 1, -1, -1)
        return next((at for at in before if self._names[at] and self._title(self.lines[at]) == now.title), -1)

    def _is_label(self, number: int, now: SectionStart) -> bool:
        """True for a title of skills inside them that names a group: right below theirs, or a heading unlike it."""
        line, opening = self.lines[number], self._opening(number, now)
        is_unlike = line.kind == "heading" and _style(self.text, line) != _style(self.text, self.lines[opening])
        return number == opening + 1 or is_unlike

    def _is_group(self, number: int, now: SectionStart) -> bool:
        """True for the label of a group of skills: such a heading is right below the section's, no dates are near."""
        first = self._opening(number, now) + 1
        if now.section != "skills" or not 0 < first <= number or self._lines_to_dates(number) < _NEAR_DATES:
            return False
        return _style(self.text, self.lines[first]) == _style(self.text, self.lines[number])

    def _is_only_of_sections(self, line: ResumeLine) -> bool:
        """True if most headings in the style of a heading are names of sections, and none a position or a school."""
        alike = [at for at, other in enumerate(self.lines) if _style(self.text, other) == _style(self.text, line)]
        words = [self.text[self.lines[at].body : self.lines[at].end] for at in alike if not self._names[at]]
        is_other = any(has_title(each) or degree_score(each) or institution_score(each) for each in words)
        return not is_other and 2 * len(words) < len(alike)

    def _lines_to_dates(self, number: int) -> int:
        """How many lines below a heading the first dates are; `_NEAR_DATES` if farther, or below a list item."""
        for below in range(number + 1, min(number + _NEAR_DATES, len(self.lines))):
            line = self.lines[below]
            if line.kind in ("bullet", "more") or self._names[below]:
                break
            if date_ranges(self.text[line.start : line.end]):
                return below - number
        return _NEAR_DATES

    def _is_entry(self, number: int, now: SectionStart) -> bool:
        """True if a heading in a section names an entry of it: a job, a school, a project with dates below."""
        words = self.text[self.lines[number].body : self.lines[number].end]
        if is_place(words) or (now != CONTACT and any(dates.text == words for dates in date_ranges(words))):
            return True
        named, near = has_title(words) or company_score(words) > 1, self._lines_to_dates(number) < _NEAR_DATES
        if not now.section:
            return named and near
        is_study = degree_score(words) > 0 or institution_score(words) > 0
        is_listed = now.section in ("projects", "publications", "talks")
        return now.section in ENTRY_SECTIONS and bool(named or is_study or near or is_listed or date_ranges(words))


def _section_name(text: str, line: ResumeLine) -> str:
    """The known section of which the line is the name; "" for other lines."""
    if line.kind in ("bullet", "more") or line.end - line.start > MAX_HEADING:
        return ""
    return section_of(text[line.body : line.end])


def _style(text: str, line: ResumeLine) -> _Style:
    words = text[line.body : line.end]
    if line.kind == "heading":
        return _Style(True, line.level, words.isupper())
    before = text[max(0, line.start - _BREAK) : line.start]
    apart = line.start < _BREAK or "\n\n" in before
    return _Style(False, line.level, words.isupper(), words.endswith((":", "：")), apart)


def _is_weak(text: str, line: ResumeLine) -> bool:
    found = word_parts(text[line.body : line.end])
    return "".join(found) in WEAK_NAMES or "".join(word for word in found if word not in MODIFIER_WORDS) in WEAK_NAMES


@dataclass(frozen=True, slots=True)
class SectionPart:
    """Consecutive lines of one section: its canonical name ("" = unknown), its title, its heading if it begins here."""

    section: str
    title: str
    heading: ResumeLine | None
    lines: tuple[ResumeLine, ...]

    @property
    def path(self) -> tuple[str, ...]:
        """The section path of its pieces."""
        return (self.title,) if self.title else ()


def parts_of(text: str, blocks: Sequence[Block], boxes: Sequence[LineBox] = ()) -> list[SectionPart]:
    """The parts of a resume in order, covering all of its lines; lines before the first section are `contact`.

    A column that continues from the page before continues that column's section.
    """
    lines = lines_of(text, blocks, boxes)
    foot = _footer(text, lines, boxes)
    lines = _split_side_headings(text, lines[: len(lines) - len(foot)])
    runs: list[tuple[SectionStart, ResumeLine | None, list[ResumeLine]]] = []
    for line, now, opens in _with_sections(Headings(text, lines), column_runs(boxes)):
        if opens:
            runs.append((now, line, []))
        elif runs and runs[-1][0] == now:
            runs[-1][2].append(line)
        else:
            runs.append((now, None, [line]))
    parts = [SectionPart(*opened, heading, tuple(lines)) for opened, heading, lines in runs]
    return [*parts, SectionPart("contact", "", None, foot)] if foot else parts


def _footer(text: str, lines: Sequence[ResumeLine], boxes: Sequence[LineBox]) -> tuple[ResumeLine, ...]:
    """The last lines, as at the foot of a page: addresses, or short ones far below those above them."""
    at = len(lines)
    while at > 1 and lines[at - 1].kind == "text" and _is_address(text[lines[at - 1].body : lines[at - 1].end]):
        at -= 1
    if 1 < at < len(lines) and any(email_in(text[line.body : line.end]) for line in lines[at:]):
        return tuple(lines[at:])
    by_start, by_end = {box.start: box for box in boxes}, {box.end: box for box in boxes}
    for number in range(len(lines) - 1, max(0, len(lines) - 1 - _MAX_FOOT), -1):
        above, box = by_end.get(lines[number - 1].end), by_start.get(lines[number].start)
        if not above or not box or lines[number].kind == "heading" or section_of(text[lines[number].body : box.end]):
            break
        if above.page == box.page and above.y0 - box.y1 > _FAR * (box.y1 - box.y0):
            return tuple(lines[number:])
    return ()


def _is_address(words: str) -> bool:
    return bool(email_in(words) or phone_in(words) or is_link(words) or place_score(words) >= _IS_PLACE)


def with_addresses(text: str, parts: Sequence[SectionPart]) -> list[SectionPart]:
    """The parts; lines of nothing but addresses around the first one for mail are no part of a list: the person's.

    So they stand where a header runs into a column, with a telephone number or a link. Above list items they are of
    the entry there, and a place right below dates is of what they date.
    """
    for number, part in enumerate(parts):
        first = next((at for at, line in enumerate(part.lines) if email_in(text[line.body : line.end])), -1)
        if first >= 0:
            return [*parts[:number], *_without_addresses(text, part, first), *parts[number + 1 :]]
    return list(parts)


def _without_addresses(text: str, part: SectionPart, first: int) -> list[SectionPart]:
    """The part, parted from its addresses around one of its lines."""
    lines, end, begin = part.lines, first, first
    while end < len(lines) and _is_bare_address(text, lines[end]):
        end += 1
    while end > first and begin and _is_bare_address(text, lines[begin - 1]):
        begin -= 1
    if begin and begin < first and date_ranges(text[lines[begin - 1].start : lines[begin - 1].end]):
        begin += 1
    words = [text[line.body : line.end] for line in lines[begin:end]]
    is_person = part.section in _LISTED and any(phone_in(each) or _is_sure_link(each) for each in words)
    if not is_person or _is_in_entry(text, part, begin, end):
        return [part]
    found = [replace(part, lines=lines[:begin]), SectionPart("contact", "", None, lines[begin:end])]
    return [*found, replace(part, heading=None, lines=lines[end:])] if lines[end:] else found


def _is_in_entry(text: str, part: SectionPart, begin: int, end: int) -> bool:
    """True if addresses may be those of an entry: a list item follows, or the entry's line above goes on below them.

    The line above, or above a place, ends an entry of jobs or studies if it is dated or a list item.
    """
    lines = part.lines
    if end == len(lines) or part.section not in ENTRY_SECTIONS:
        return False
    if begin and is_place(text[lines[begin - 1].body : lines[begin - 1].end]):
        begin -= 1
    ends_above = any(line.kind == "bullet" or date_ranges(text[line.start : line.end]) for line in lines[:begin][-1:])
    return lines[end].kind == "bullet" or (part.section in ("experience", "education") and begin > 0 and not ends_above)


def _is_bare_address(text: str, line: ResumeLine) -> bool:
    """True for a line of text that is an address, with few words beside its mail or telephone number, and no dates."""
    words = text[line.body : line.end]
    found = email_in(words), phone_in(words)
    rest = words
    for each in filter(None, found):
        rest = rest.replace(each, "")
    is_bare = not any(found) or sum(map(str.isalpha, rest)) <= _MAX_BESIDE
    is_dated = any(dates.is_range for dates in date_ranges(rest))
    is_host = is_link(words) and not _is_sure_link(words)
    return line.kind == "text" and _is_address(words) and is_bare and not is_dated and not is_host


def _is_sure_link(words: str) -> bool:
    """True for a link that is not only a host: "Node.js" and "Booking.com" look like one."""
    return is_link(words) and ("/" in words or words.casefold().startswith("www."))


def _with_sections(headings: Headings, runs: Sequence[ColumnRun]) -> Iterator[tuple[ResumeLine, SectionStart, bool]]:
    """Yield (line, its section, True if the line opens it)."""
    now, current = CONTACT, -1
    last_of_run: dict[int, SectionStart] = {}
    for number, line in enumerate(headings.lines):
        at = bisect_right(runs, line.start, key=lambda run: run.start) - 1
        if at != current:
            last_of_run |= {current: now} if current >= 0 else {}
            now, current = last_of_run.get(runs[at].before if at >= 0 else -1, now), at
        opened = headings.opened(number, now)
        now = opened or now
        yield line, now, opened is not None


def _split_side_headings(text: str, lines: Sequence[ResumeLine]) -> list[ResumeLine]:
    """The lines; those with a section name in a column of its own are cut after it.

    Where sections have headings, rows of which some have other names are the rows of one section.
    """
    tabs = [text.find("\t", line.body, line.end) if line.kind not in ("bullet", "more") else -1 for line in lines]
    names = [section_of(text[line.body : tab]) if tab > 0 else "" for line, tab in zip(lines, tabs, strict=True)]
    spoken = [
        name != "languages" or language_names(text[line.start : line.end])
        for name, line in zip(names, lines, strict=True)
    ]
    names = [name if is_spoken else "" for name, is_spoken in zip(names, spoken, strict=True)]
    if sum(line.kind == "heading" and bool(section_of(text[line.body : line.end])) for line in lines) >= _HEADED:
        for at in range(1, len(lines)):
            if tabs[at - 1] > 0 < tabs[at] and not names[at - 1]:
                names[at] = ""
        for at in range(len(lines) - 1, 0, -1):
            if tabs[at - 1] > 0 < tabs[at] and not names[at]:
                names[at - 1] = ""
    cuts = [tab if name else 0 for tab, name in zip(tabs, names, strict=True)]
    return list(_cut_side_headings(lines, cuts)) if len(set(names)) > _HEADED else list(lines)


def _cut_side_headings(lines: Sequence[ResumeLine], cuts: Sequence[int]) -> Iterator[ResumeLine]:
    for line, end in zip(lines, cuts, strict=True):
        if end:
            yield ResumeLine(line.start, end, line.body, "heading", max(line.level, 1))
            yield ResumeLine(end + 1, line.end, end + 1, "text")
        else:
            yield line
