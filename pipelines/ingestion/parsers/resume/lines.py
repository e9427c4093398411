"""The lines of a resume: their layout, segments, dates and labels, and whether they could name an entry."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from pipelines.blocks import fill_gaps
from pipelines.bullets import item_body
from pipelines.headings import trim_span
from pipelines.ingestion.parsers.careers.dates import DateRange, date_ranges, durations, leading_range, stacked_range
from pipelines.ingestion.parsers.careers.places import is_place
from pipelines.ingestion.parsers.careers.vocabulary import (
    cached_for_short_text,
    degree_score,
    has_school,
    has_title,
    is_break,
    looks_named,
)
from pipelines.ingestion.words import word_lists
from pipelines.structure import sentences
from pipelines.text import plain, word_parts
from pipelines.types import Block, LineBox

LineKind = Literal["heading", "bullet", "row", "text", "more"]

# A list may be in a column of its own, beside its heading.
_BREAK = re.compile(r"\n|\t(?=[•◦▪●○‣∙] )")
_MARKS = re.compile(r"#{1,6}[ \t]+|>[ \t]?|\|")
_RULE = " \t\n\xa0|:=_*~.-–—"
_TABS = str.maketrans(dict.fromkeys("|•·", "\t"))
_LEADER = r"(?:[.…·_] ?){4,}"
_STRONG = re.compile(
    rf"[ \t]*{_LEADER}[ \t]*|"
    r"\t[\t ]*|[ \xa0]{2,}|[ \xa0]+[|•·∙●⋅◦▪‖¦◆■][ \xa0]+|[ \xa0]*\|[ \xa0]*|<br\s?/?>|"
    r"(?<! and)(?<! und)(?<! et)(?<! &)\n"
)
_EDGES = " \t\n\xa0|•·∙●⋅◦▪,;:–—-/"
_EMPHASIS = "*_`~"
_LONG_LINE = 60
_NEAR = 2
_SIGNS = tuple(",;:–—-|/(·•")
_MAX_STYLED = 6  # words of a name in a font of its own
_FEW_LETTERS = 4
_LISTS = word_lists("resume_labels")
# The roles of labels, the weakest first; "" is a label that is irrelevant to the job.
_ROLES = {"": _LISTS["other"]} | {role: _LISTS[role] for role in ("company", "client", "position", "location")}
_LABEL_FILLERS = frozenset(_LISTS["fillers"])
_MAX_LABEL, _MAX_LABEL_WORDS = 60, 9
_ROLE_OF = {name: role for role, names in _ROLES.items() for name in names}
_MAX_NAME_WORDS = 16
_FEW_WORDS = 10
_MIN_NAME_WORDS, _MIN_REMARK = 2, 3
_MIN_LETTERS = 5  # of the last word of a sentence that is no abbreviation
_STYLED, _OTHERS = 2, 5
_OPEN_BEFORE = re.compile(r"[\t|(\[•·∙●⋅,;:–—*_]\s*[*_(\[]{0,3}$|\s{2,}$|\s[-/]\s*$|^\W*$" rf"|{_LEADER}$")
_SENTENCE_ENDS = tuple(".!?;:…")
_SENTENCE = re.compile(r"(?<=\S{4})\.(?= [^\W\d_])")
_ABBREVIATION = re.compile(
    r"\b(?:inc|ltd|co|corp|bros|llc|sr|jr|s\.a|s\.l|s\.p\.a|s\.r\.l|e\.v|u\.s|u\.k|d\.c|(?:[a-z]{1,2}\.)+[a-z]{1,3}|[a-z])\.$",
    re.IGNORECASE,
)
_JOINTS = (" and", " und", " et", " &")
_NAMING, _ITEMS = ("text", "heading"), ("bullet", "more")
_MAX_PRESENT = 12  # letters of a word for today
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ResumeLine:
    """A trimmed line `text[start:end]`; its words begin at `body`, after a bullet, a `#` or a pipe.

    A `more` line continues the list item above it. `level` is that of a heading, `indent` that of a list item in
    characters; at `breaks` it goes on in another font.
    """

    start: int
    end: int
    body: int
    kind: LineKind
    level: int = 0
    indent: int = 0
    breaks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LineSegment:
    """A part of a line between strong separators (tab, pipe, dot, line end): its span and its words without marks.

    `aligned` is True if a tab separates it from words before it.
    """

    start: int
    end: int
    words: str
    aligned: bool = False


def lines_of(text: str, blocks: Sequence[Block], boxes: Sequence[LineBox] = ()) -> list[ResumeLine]:
    """The lines of the whole text in order; only white space is left out."""
    breaks = sorted(at for box in boxes for at in box.breaks)
    lines = _lines_of(text, blocks)
    if not breaks:
        return lines
    spans = ((bisect_right(breaks, line.body), bisect_left(breaks, line.end)) for line in lines)
    within = (tuple(breaks[slice(*span)]) for span in spans)
    return [replace(line, breaks=found) if found else line for line, found in zip(lines, within, strict=True)]


def _lines_of(text: str, blocks: Sequence[Block]) -> list[ResumeLine]:
    found: list[ResumeLine] = []
    for block in fill_gaps(text, blocks):
        if block.kind == "heading":
            found.append(
                ResumeLine(block.start, block.end, _body(text, block.start, block.end), "heading", block.level)
            )
            continue
        begin = block.start
        for raw in _BREAK.split(text[block.start : block.end]):
            start, end = trim_span(text, begin, begin + len(raw))
            begin += len(raw) + 1
            if start < end:
                found.append(_line(text, block, start, end, found[-1] if found else None))
    return found


def _line(text: str, block: Block, start: int, end: int, before: ResumeLine | None) -> ResumeLine:
    indent = start - text.rfind("\n", 0, start) - 1
    body = item_body(text, start, end)
    if block.kind == "table" or (text[start] == "|" and text.count("|", start, end) > 2):
        return ResumeLine(start, end, _body(text, start, end), "row")
    if body > start:
        return ResumeLine(start, end, body, "bullet", indent=indent)
    if start > block.start and before and before.kind in ("bullet", "more"):
        wrapped = indent > 0 or text[start].islower() or before.end - before.start > _LONG_LINE
        if wrapped and "\t" not in text[start:end] and " | " not in text[start:end]:
            return ResumeLine(start, end, start, "more")
    return ResumeLine(start, end, _body(text, start, end), "text")


def _body(text: str, start: int, end: int) -> int:
    while (mark := _MARKS.match(text, start, end)) and mark.end() < end:
        start = mark.end()
        while start < end and text[start].isspace():
            start += 1
    return start


def is_rule(text: str, line: ResumeLine) -> bool:
    """True if the line is only a rule, such as the one under a table head."""
    return not text[line.start : line.end].strip(_RULE)


def words_of(raw: str) -> str:
    """The words of a passage on one line, without markup and without separators at the ends."""
    words = " ".join(plain(raw).split()) if any(mark in raw for mark in "*_`[]<>\\&~|#") else " ".join(raw.split())
    words = words.strip(_EDGES)
    while words and words[0] == "(" and words[-1] == ")" and ")" not in words[:-1]:
        words = words[1:-1].strip(_EDGES)
    if words.count("(") > words.count(")"):
        words = words.rstrip("(").rstrip(_EDGES)
    if words.count(")") > words.count("("):
        words = words.lstrip(")").lstrip(_EDGES)
    if words.count("[") != words.count("]"):
        words = words.strip("[]").strip(_EDGES)
    return words.strip(_EMPHASIS)


def unspaced(words: str) -> str:
    """The words with letter spacing removed: "W O R K   L I F E" is "WORK LIFE"."""
    letters = words.split()
    if len(letters) < _FEW_LETTERS or any(len(letter) > 1 for letter in letters):
        return words
    return " ".join("".join(word.split()) for word in words.strip().replace("\t", "  ").split("  ") if word.strip())


def segments(
    text: str, start: int, end: int, holes: Sequence[tuple[int, int]] = (), breaks: Sequence[int] = ()
) -> list[LineSegment]:
    """The segments of `text[start:end]` with words, in order; holes (dates) separate segments and are left out.

    So do breaks, where a name in one font ends and another begins.
    """
    found: list[LineSegment] = []
    whole = unspaced(text[start:end])
    if whole != text[start:end]:
        return [LineSegment(start, end, whole)]
    cuts = [(match.start(), match.end()) for match in _STRONG.finditer(text, start, end)]
    inside = [hole for hole in holes if start <= hole[0] and hole[1] <= end]
    inside += [(at, at) for at in breaks if start < at < end and _parts_names(text, start, at)]
    opened = start
    for begin, finish in [*sorted([*cuts, *inside]), (end, end)]:
        if begin > opened:
            words = words_of(text[opened:begin])
            if any(map(str.isalnum, words)):
                first, last = _trim(text, opened, begin)
                found.append(LineSegment(first, last, words, bool(found) and "\t" in text[first - _NEAR : first]))
        opened = max(opened, finish)
    return found


def _parts_names(text: str, start: int, at: int) -> bool:
    """True if a sign stands before the place, or a name before it and a capital behind."""
    before = text[start:at].split()
    is_name = 0 < len(before) <= _MAX_STYLED and not before[-1].islower() and text[at].isupper()
    return is_name or text[start:at].rstrip().endswith(_SIGNS)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    raw = text[start:end]
    start += len(raw) - len(raw.lstrip(_EDGES + "("))
    return start, max(start + 1, start + len(raw.strip(_EDGES + "(")))


def split_label(words: str) -> tuple[str, str] | None:
    """The role of the label before the words, and the words: ("company", "Acme"); None without a label.

    Roles are `company`, `client`, `position` and `location`; "" is a label that is irrelevant to the job.
    """
    label, colon, value = words.partition(":")
    role = label_role(label) if colon and len(label) <= _MAX_LABEL and value[:1].isspace() else None
    return None if role is None or not value.strip() else (role, value.lstrip())


@cached_for_short_text
def label_role(words: str) -> str | None:
    """The role of words that are only a label ("Employer", "Name and address of employer"); None for other words."""
    found = word_parts(words)
    if not found or len(found) > _MAX_LABEL_WORDS:
        return None
    roles = {_ROLE_OF[word] for word in found if word in _ROLE_OF}
    if not roles or any(word not in _ROLE_OF and word not in _LABEL_FILLERS for word in found):
        return None
    return next(role for role in _ROLES if role in roles)


@dataclass(frozen=True, slots=True)
class DatedLine:
    """A line with its dates and the segments around them.

    `anchor` is the position of the date in the line, "" if the date does not date an entry; `named` is True if the line
    may name an entry.
    """

    line: ResumeLine
    dates: tuple[DateRange, ...] = ()
    parts: tuple[LineSegment, ...] = ()
    anchor: str = ""
    named: bool = False

    @property
    def dated(self) -> DateRange | None:
        """The first range, else the first single date."""
        return next((date for date in self.dates if date.is_range), next(iter(self.dates), None))

    @property
    def has_range(self) -> bool:
        """True if one of its dates is a range."""
        return any(date.is_range for date in self.dates)


def dated_lines(text: str, lines: Sequence[ResumeLine]) -> list[DatedLine]:
    """The lines with their dates and segments; kept for the readers of the same lines.

    If the section begins with a list item that names an entry, so do others of its mark. If only list items have dates,
    those with the least indent name the entries.
    """
    return list(_known_dated_lines(text, tuple(lines)))


@lru_cache(maxsize=32)
def _known_dated_lines(text: str, given: tuple[ResumeLine, ...]) -> Sequence[DatedLine]:
    lines = [piece for line in given for piece in _without_run_in_text(text, line)]
    lines = _with_stacked_lines(text, lines)
    marked = [_dated_line(text, line) for line in lines]
    marked = _with_named_items(text, _with_described_items(text, marked))
    items = [one.line.indent for one in marked if one.line.kind == "bullet"]
    if not items or any(one.anchor for one in marked):
        return marked
    least = min(items)
    named = [_dated_line(text, _as_text(line, least)) for line in lines]
    return named if any(one.has_range for one in named if one.anchor) else marked


def _with_stacked_lines(text: str, lines: Sequence[ResumeLine]) -> list[ResumeLine]:
    """The lines; two are one where a range or a list goes on from the one to the other, or the lower one is dates.

    So are two that hold nothing but the ends of a range.
    """
    found: list[ResumeLine] = []
    for line in lines:
        above = found[-1] if found and found[-1].kind in _NAMING and line.kind in _NAMING else None
        is_close = above is not None and line.end - above.start < _LONG_LINE
        inside = text[line.start + 1 : line.end - 1] if text[line.start] == "(" and text[line.end - 1] == ")" else ""
        is_aside = any((one.start, one.end) == (0, len(inside)) for one in date_ranges(inside))
        is_whole = is_aside or (above and text[above.start : above.end].endswith(_JOINTS))
        if above and (
            is_whole or _is_in_range(text, above, line) or (is_close and stacked_range(text, above.body, line.end))
        ):
            found[-1] = replace(above, end=line.end)
        else:
            found.append(line)
    return found


def _is_in_range(text: str, above: ResumeLine, line: ResumeLine) -> bool:
    """True if a range begins in the first line and ends in the second."""
    start, cut = max(above.start, above.end - _LONG_LINE), above.end
    return any(start + one.start < cut < start + one.end for one in date_ranges(text[start : line.end]))


def _without_run_in_text(text: str, line: ResumeLine) -> list[ResumeLine]:
    """The line; a name with its dates, or a study with its school, and a description that goes on behind are two."""
    ranges = date_ranges(text[line.start : line.end])
    if line.kind not in ("text", "bullet"):
        return [line]
    if len(ranges) != 1 or not ranges[0].start:
        return _without_remarks(text, line)
    end, after = line.start + ranges[0].end, text[line.start + ranges[0].end : line.end].lstrip(" .:)–—-")
    name = text[line.body : line.start + ranges[0].start].rstrip(" (,:–—-")
    is_sentence = len(after.split()) > _FEW_WORDS and after.endswith(_SENTENCE_ENDS)
    is_labelled = after.partition(" ")[0].endswith(":") and len(after.split()) > _MIN_REMARK
    if not after[:1].isupper() or not (is_sentence or is_labelled):
        return _without_remarks(text, line)
    if line.kind == "bullet" and not _is_study(name):
        return [line]
    is_named = looks_named(name) if ranges[0].is_range else has_title(name)
    if len(name.split()) > _FEW_WORDS + 2 * _is_study(name) or not is_named:
        return [line]
    return _in_two(line, end, len(after))


def _without_remarks(text: str, line: ResumeLine) -> list[ResumeLine]:
    """The line; a study or a school, and sentences behind it ("MSc, Leith University. Thesis: Maps"), are two."""
    end = text.find(". ", line.body, line.end)
    name, after = text[line.body : end], text[end + 2 : line.end].lstrip()
    last = name.split()[-1] if end > 0 and name.split() else ""
    is_word = len(last) >= _MIN_LETTERS and last.isalpha() and name.count("(") == name.count(")")
    is_short = is_word and _MIN_NAME_WORDS <= len(name.split()) <= _FEW_WORDS
    if not is_short or not after[:1].isupper() or len(after.split()) <= _MIN_REMARK or not _is_study(name):
        return [line]
    return _in_two(line, end, len(after))


def _in_two(line: ResumeLine, end: int, rest: int) -> list[ResumeLine]:
    kind: LineKind = "more" if line.kind == "bullet" else "text"
    return [replace(line, end=end), ResumeLine(line.end - rest, line.end, line.end - rest, kind)]


def _is_study(words: str) -> bool:
    return has_school(words) or degree_score(words) > 0


def _with_named_items(text: str, marked: list[DatedLine]) -> list[DatedLine]:
    """The lines; list items with dates, or right above a dated line, as text if the first line is one of them."""
    found: dict[int, DatedLine] = {}
    for number, one in enumerate(marked):
        if one.line.kind != "bullet" or text[one.line.start] != text[marked[0].line.start]:
            continue
        named = _dated_line(text, replace(one.line, kind="text"))
        below = marked[number + 1] if number + 1 < len(marked) else named
        own = named.anchor.startswith(("first", "last")) and (
            named.has_range
            or (one.line.indent == marked[0].line.indent and any(_is_study(p.words) for p in named.parts))
        )
        if named.named and (own or (not named.anchor and below.anchor not in ("", "beside"))):
            found[number] = named
    return [found.get(number, one) for number, one in enumerate(marked)] if 0 in found else marked


def _with_described_items(text: str, marked: list[DatedLine]) -> list[DatedLine]:
    """The lines; where dates have no name but a list item, the first sentence of each such item names an entry.

    The item holds the dates, or is next to them, on the side where the first one is.
    """
    first = next((number for number in range(len(marked)) if _is_bare_date(marked, number)), 0)
    is_above = first > 0 and marked[first - 1].line.kind in _ITEMS
    bare = [number for number in range(len(marked)) if _is_bare_date(marked, number, -1 if is_above else 1)]
    others = [one for number, one in enumerate(marked) if one.anchor and number not in bare]
    ended = [] if others else [number for number, one in enumerate(marked) if _ends_in_range(text, one)]
    items = {number: number for number in ended}
    for number in bare:
        beside = marked[number].anchor == "beside"
        items[number if beside else _item_beside(marked, number, -1 if is_above else 1)] = number
    is_partial = bool(ended) and len(items) < sum(one.line.kind == "bullet" for one in marked)
    if not items or is_partial or min(items) < 0:
        return marked
    lines = [marked[at].line for at in items]
    if not _name_entries([words_of(text[line.body : _first_sentence(text, line)]) for line in lines]):
        return marked
    found: list[DatedLine] = []
    for number, one in enumerate(marked):
        dated = marked[items[number]] if number in items else None
        if dated:
            is_apart = items[number] < number  # the dates stand above
            found += _in_sentences(text, one.line, () if is_apart else dated.dates)
        else:
            found.append(replace(one, anchor="") if is_above and number in bare else one)
    return found


def _is_bare_date(marked: Sequence[DatedLine], number: int, step: int = 0) -> bool:
    """True for dates alone or beside a list item, with no line above or below that names what they date.

    A break on the side away from the item, which is `step` lines away, has dates of its own.
    """
    one = marked[number]
    if one.anchor not in ("alone", "beside"):
        return False
    sides = (-1,) if one.anchor == "beside" else (-1, 1)
    near = [(side, marked[number + side]) for side in sides if 0 <= number + side < len(marked)]
    return not any(
        other.named
        and not other.anchor
        and other.line.kind not in _ITEMS
        and (side != -step or not any(is_break(part.words) for part in other.parts))
        for side, other in near
    )


def _ends_in_range(text: str, one: DatedLine) -> bool:
    """True for a list item that ends in a range."""
    last = one.dates[-1] if one.line.kind == "bullet" and not one.anchor and one.dates else None
    is_last = last is not None and not any(map(str.isalnum, text[last.end : one.line.end]))
    return bool(last and is_last and last.is_range)


def _item_beside(marked: Sequence[DatedLine], number: int, step: int) -> int:
    """The list item that is next to a line in a direction; -1 if there is none."""
    at = number + step
    while 0 <= at < len(marked) and marked[at].line.kind == "more":
        at += step
    return at if 0 <= at < len(marked) and marked[at].line.kind == "bullet" else -1


def _first_sentence(text: str, line: ResumeLine) -> int:
    """The end of the first sentence of a line: also behind a legal form, as in "Cook, Acme GmbH. Ran a kitchen"."""
    words = text[line.body : line.end]
    ends = (match.end() for match in _SENTENCE.finditer(words) if looks_named(words[: match.start()]))
    return line.body + min(next((last for _, last in sentences(words)), 0), next(ends, len(words)))


def _name_entries(items: Sequence[str]) -> bool:
    """True if half of the items name a position or a study, and the others have names as well."""
    named = [any(map(_names, words.split(","))) for words in items]
    return 2 * sum(named) >= len(items) and all(
        is_named or looks_named(words) for is_named, words in zip(named, items, strict=True)
    )


def _in_sentences(text: str, line: ResumeLine, dates: Sequence[DateRange]) -> list[DatedLine]:
    """A list item in two: its first sentence, which names an entry with these dates, and the rest."""
    end = _first_sentence(text, line)
    rest = len(text[end : line.end].lstrip())
    named = line.start + len(text[line.start : end].rstrip(". "))
    first = _dated_line(text, replace(line, end=named, kind="text"))
    found = [first]
    if rest:
        found.append(_dated_line(text, replace(line, start=line.end - rest, body=line.end - rest, kind="more")))
    if dates and not any(one.anchor for one in found):
        found[0] = replace(first, dates=tuple(dates[-1:]), anchor="last")
    return found


def _names(words: str) -> bool:
    return has_title(words) or _is_study(words)


def list_items_as_text(lines: Sequence[ResumeLine]) -> Sequence[ResumeLine]:
    """The lines; if all are list items, the items with the least indent as text."""
    if any(line.kind not in ("bullet", "more") for line in lines):
        return lines
    least = min((line.indent for line in lines if line.kind == "bullet"), default=0)
    return [_as_text(line, least) for line in lines]


def _as_text(line: ResumeLine, indent: int) -> ResumeLine:
    return replace(line, kind="text") if line.kind == "bullet" and line.indent == indent else line


def _dated_line(text: str, line: ResumeLine) -> DatedLine:
    raw = text[line.start : line.end]
    if is_rule(text, line):
        return DatedLine(line)
    dates = tuple(
        replace(found, start=found.start + line.start, end=found.end + line.start) for found in date_ranges(raw)
    )
    dates = _with_stacked(text, line, dates)
    lengths = [(start + line.start, end + line.start) for start, end in durations(raw)]
    ranges = [date for date in dates if date.is_range]
    holes = [(date.start, date.end) for date in ranges or dates] + lengths  # "Cook, from 2010 head chef" is one name
    if line.kind in ("bullet", "more"):  # dates and places after a tab are beside it, in a column of their own
        tab = text.rfind("\t", line.body, line.end)
        after_tab = tuple(date for date in dates if date.start > tab > 0)
        if tab < 0 or line.end - tab > 60:
            return DatedLine(line, dates)
        parts = tuple(part for part in segments(text, tab, line.end, holes) if is_place(part.words))
        return DatedLine(line, after_tab or dates, parts, "beside" if after_tab else "")
    parts = tuple(segments(text, line.body, line.end, holes, line.breaks))
    if len(parts) > 1 and not dates and all(label_role(part.words) is not None for part in parts):
        return DatedLine(line)
    named = _is_named(text, line, parts, bool(ranges))
    anchor = _date_position(text, line, dates, parts) if dates and (named or not parts) else ""
    if dates and not anchor and len(raw.split()) > _FEW_WORDS:
        named = False  # a sentence with a date
    return DatedLine(line, dates, parts, anchor, named and bool(parts))


def _with_stacked(text: str, line: ResumeLine, dates: tuple[DateRange, ...]) -> tuple[DateRange, ...]:
    """The dates; two ends in columns of their own at the start of the line are one range: "2019\t2022\tCook"."""
    if not dates or dates[0].is_range or dates[0].start > line.body + _MAX_PRESENT:
        return dates
    found = leading_range(text, line.body, line.end)
    return (found, *(date for date in dates if date.start >= found.end)) if found else dates


def _is_named(text: str, line: ResumeLine, parts: Sequence[LineSegment], dated: bool) -> bool:
    """True if the line may name a job or a study: short, not a sentence, with names in it."""
    words = sum(len(part.words.split()) for part in parts)
    if line.kind == "heading" or not parts:
        return words <= 2 * _MAX_NAME_WORDS
    last = text[line.start : line.end].rstrip("*_ ")
    ends = last.endswith(_SENTENCE_ENDS) and not _ABBREVIATION.search(last) and not _ends_in_place(last)
    ends = ends and not (words == 1 and last[-1] in "!?")  # of the name itself
    if dated and words <= _FEW_WORDS and all(looks_named(part.words) or len(part.words.split()) < 3 for part in parts):
        return True
    is_prose = len(parts) == 1 or (line.breaks and len(parts[-1].words.split()) > _FEW_WORDS)  # behind a run-in title
    if words > (_MAX_NAME_WORDS if is_prose else 2 * _MAX_NAME_WORDS) or (ends and not (len(parts) > 1 and words < 8)):
        return False
    return words == 1 or any(looks_named(part.words) or is_break(part.words) for part in parts)


def _ends_in_place(words: str) -> bool:
    """True if the words end with a place and a full stop: "University of Porto, Porto, Portugal."."""
    first, *place = words.removesuffix(".").rsplit(", ", 2)
    return len(place) == 2 and looks_named(first) and is_place(", ".join(place))


def _date_position(text: str, line: ResumeLine, dates: tuple[DateRange, ...], parts: Sequence[LineSegment]) -> str:
    """The date's position in its line: alone, first, inside, or last and after what; "" if it is part of a sentence."""
    if not parts:
        return "alone"
    first, last = dates[0], dates[-1]
    before, after = text[line.body : first.start], text[last.end : line.end]
    if not before.strip("|*_([ \t"):
        return "first"
    if all(not piece.strip(" \t*_)]|•·,") or _is_aside(piece) for piece in after.translate(_TABS).split("\t")):
        gap = _OPEN_BEFORE.search(before)
        return f"last{gap[0].strip()[:1] or 'tab'}" if gap else "last space"
    words = after.lstrip(" )]").split()
    is_sentence = len(words) > _FEW_WORDS // 2 and words[0].islower()  # "the archive (1996–2012) into one store"
    marks = "\t|•·([", ",:;/–—-"
    around = before[-3:], after[:3]
    is_apart = line.kind == "row" or any(mark in "".join(around) for mark in marks[0])
    is_apart = is_apart or all(any(mark in side for mark in marks[1]) for side in around)
    return "inside" if is_apart and not is_sentence else ""


def _is_aside(piece: str) -> bool:
    words = piece.strip(" ()[]*_,.")
    return is_place(words) or not any(map(str.isalpha, words)) or bool(durations(words))
