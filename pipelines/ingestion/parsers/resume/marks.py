"""The lines of a resume's section with their dates, and whether they could name an entry."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipelines.ingestion.parsers.career.dates import DateRange, date_ranges, durations
from pipelines.ingestion.parsers.career.job_words import looks_named
from pipelines.ingestion.parsers.career.places import is_place
from pipelines.ingestion.parsers.resume.job_labels import label_role
from pipelines.ingestion.parsers.resume.lines import Line, Segment, is_rule, segments

_MAX_WORDS = 16
_FEW_WORDS = 10
_STYLED, _OTHERS = 2, 5
_APART = re.compile(r",\s+|\s+[–—/@-]\s+|\s+\(")
_OPEN_BEFORE = re.compile(r"[\t|(\[•·∙●⋅,;:–—*_]\s*[*_(\[]{0,3}$|\s{2,}$|\s[-/]\s*$|^\W*$")
_SENTENCE_END = re.compile(r"[.!?;:…]$")
_ABBREVIATION = re.compile(
    r"\b(?:inc|ltd|co|corp|bros|llc|sr|jr|s\.a|s\.l|s\.p\.a|s\.r\.l|e\.v|u\.s|u\.k|d\.c|[a-z])\.$", re.IGNORECASE
)

# A running header that stands between a job's lines where a page ends.
_RUNNING = re.compile(
    r"(?:[^\n]*\W)?(?:resume|résumé|cv|curriculum vitae|lebenslauf|currículo|page|seite|página|pagina)"
    r"\W*(?:(?:page|seite|página|pagina)\W*)?(?:\d+\W*)?(?:(?:of|von|de|di|sur)\W*)?(?:\d+\W*)?",
    re.IGNORECASE,
)
_MAX_RUNNING = 80

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Marked:
    """A line with its dates and the segments that they leave; `anchor` = the date's place, "" = in no job line."""

    line: Line
    dates: tuple[DateRange, ...] = ()
    parts: tuple[Segment, ...] = ()
    anchor: str = ""
    named: bool = False

    @property
    def dated(self) -> DateRange | None:
        """The first range, else the first date."""
        return next((date for date in self.dates if date.end_month or date.current), next(iter(self.dates), None))

    @property
    def has_range(self) -> bool:
        """Whether its dates say from when to when."""
        return bool(self.dated and (self.dated.end_month or self.dated.current))


def marked_lines(text: str, lines: Sequence[Line]) -> list[Marked]:
    """The lines with their dates and what else they hold.

    Where no other line has dates, those list items that have some, and are indented least, name the entries.
    """
    marked = [_marked(text, _labelled_as_text(text, line)) for line in lines]
    items = [one.line.indent for one in marked if one.line.kind == "bullet"]
    if not items or any(one.anchor for one in marked):
        return marked
    least = min(items)
    named = [_marked(text, _as_text(line, least)) for line in lines]
    return named if any(one.has_range for one in named if one.anchor) else marked


def listed_as_text(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines; of a mere list, in which nothing stands but its items and what hangs from them, the items as text."""
    if any(line.kind not in ("bullet", "more") for line in lines):
        return lines
    least = min((line.indent for line in lines if line.kind == "bullet"), default=0)
    return [_as_text(line, least) for line in lines]


def _labelled_as_text(text: str, line: Line) -> Line:
    """The line; a list item in two columns, a label and what it tells, as text."""
    tab = text.find("\t", line.body, line.end) if line.kind == "bullet" else -1
    is_label = tab > 0 and label_role(text[line.body : tab]) is not None
    return replace(line, kind="text") if is_label else line


def _as_text(line: Line, indent: int) -> Line:
    return replace(line, kind="text") if line.kind == "bullet" and line.indent == indent else line


def _marked(text: str, line: Line) -> Marked:
    raw = text[line.start : line.end]
    if is_rule(text, line) or (len(raw) <= _MAX_RUNNING and _RUNNING.fullmatch(raw)):
        return Marked(line)
    dates = tuple(
        DateRange(
            found.start + line.start,
            found.end + line.start,
            found.text,
            found.start_month,
            found.end_month,
            found.current,
        )
        for found in date_ranges(raw)
    )
    lengths = [(start + line.start, end + line.start) for start, end in durations(raw)]
    holes = [(date.start, date.end) for date in dates] + lengths
    if line.kind in ("bullet", "more"):
        return _beside(text, line, dates, holes)
    parts = tuple(segments(text, line.body, line.end, holes))
    if len(parts) > 1 and not dates and all(label_role(part.words) is not None for part in parts):
        return Marked(line)
    named = _is_named(text, line, parts, any(date.end_month or date.current for date in dates))
    anchor = _anchor(text, line, dates, parts) if dates and (named or not parts) else ""
    return Marked(line, dates, parts, anchor, named and bool(parts))


def _beside(text: str, line: Line, dates: tuple[DateRange, ...], holes: list[Span]) -> Marked:
    """A list item; dates and places after a tab stand beside it, in a column of their own."""
    tab = text.rfind("\t", line.body, line.end)
    own = tuple(date for date in dates if date.start > tab > 0)
    if tab < 0 or line.end - tab > 60:
        return Marked(line, dates)
    parts = tuple(part for part in segments(text, tab, line.end, holes) if is_place(part.words))
    return Marked(line, own or dates, parts, "beside" if own else "")


def _is_named(text: str, line: Line, parts: Sequence[Segment], dated: bool) -> bool:
    """Whether the line could name a job or a study: short, no sentence, with names in it."""
    words = sum(len(part.words.split()) for part in parts)
    if line.kind == "heading" or not parts:
        return words <= 2 * _MAX_WORDS
    last = text[line.start : line.end].rstrip("*_ ")
    ends = _SENTENCE_END.search(last) is not None and not _ABBREVIATION.search(last)
    if dated and words <= _FEW_WORDS and all(looks_named(part.words) or len(part.words.split()) < 3 for part in parts):
        return True
    if words > (_MAX_WORDS if len(parts) == 1 else 2 * _MAX_WORDS) or (ends and not (len(parts) > 1 and words < 8)):
        return False
    return words == 1 or any(looks_named(part.words) or _is_styled(part.words) for part in parts)


def _is_styled(words: str) -> bool:
    """Whether the words begin with a name in small letters: "oddment – Site Engineer", "oddment (Leeds)"."""
    first, *others = _APART.split(words)
    small = len(first.split()) <= _STYLED and all(len(other.split()) <= _OTHERS for other in others)
    return small and bool(others) and all(map(looks_named, others))


def _anchor(text: str, line: Line, dates: tuple[DateRange, ...], parts: Sequence[Segment]) -> str:
    """Where the date stands in its line: alone, first, or last after what; "" where it is part of the words."""
    if not parts:
        return "alone"
    first, last = dates[0], dates[-1]
    before, after = text[line.body : first.start], text[last.end : line.end]
    if not before.strip("|*_([ \t"):
        return "first"
    if all(not piece.strip(" \t*_)]|•·,") or _is_aside(piece) for piece in re.split(r"[\t|•·]", after)):
        gap = _OPEN_BEFORE.search(before)
        return f"last{gap[0].strip()[:1] or 'tab'}" if gap else "last space"
    marks = "\t|•·([", ",:;/–—-"
    if line.kind == "row" or any(mark in before[-3:] + after[:3] for mark in marks[0]):
        return "inside"
    if any(mark in before[-3:] for mark in marks[1]) and any(mark in after[:3] for mark in marks[1]):
        return "inside"
    return ""


def _is_aside(piece: str) -> bool:
    words = piece.strip(" ()[]*_,.")
    return is_place(words) or not any(map(str.isalpha, words)) or bool(durations(words))
