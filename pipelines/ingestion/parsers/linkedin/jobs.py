"""The jobs of a LinkedIn profile by company, in three layouts: two of the export, and a copied page."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.facts import CareerRecord, EducationFacts, JobFacts
from pipelines.ingestion.parsers.careers.dates import DateRange, date_ranges, durations
from pipelines.ingestion.parsers.careers.places import place_score
from pipelines.ingestion.parsers.careers.records import date_fields
from pipelines.ingestion.parsers.careers.separators import cuts
from pipelines.ingestion.parsers.careers.vocabulary import (
    degree_score,
    is_employment_type,
    title_score,
)
from pipelines.ingestion.parsers.linkedin.sections import Row, location_of
from pipelines.text import digit_runs

_REST = " \t\n()[]·•|,;:-–—"
_AT = frozenset(("at", "bei", "chez", "en", "na", "no", "em", "presso", "@"))
_MAX_NAME = 200


def row_dates(row: Row) -> DateRange | None:
    """The date range of a row that holds nothing else but a duration; None for other rows."""
    ranges = date_ranges(row.words) if len(row.words) < 120 and not row.bullet else []
    if len(ranges) != 1:
        return None
    lengths = [span for span in durations(row.words) if span[0] >= ranges[0].end]
    if not (ranges[0].end_month or ranges[0].current or lengths):
        return None
    return ranges[0] if _states_only(row.words, [(ranges[0].start, ranges[0].end), *lengths]) else None


def stated_months(words: str) -> int:
    """The months of the first duration in the words: 38 for "3 years 2 months"; 0 without one."""
    spans = durations(words)
    if not spans:
        return 0
    stated = words[slice(*spans[0])]
    numbers = [int(number) for number in digit_runs(stated)]
    if len(numbers) == 2:
        return 12 * numbers[0] + numbers[1]
    is_months = stated.strip("(").lstrip("0123456789+ ").lower().startswith("m")
    return 0 if not numbers else numbers[0] if is_months else 12 * numbers[0]


def months_of(row: Row) -> list[int]:
    """The months of a job as numbers, from its start; empty without an end and a duration."""
    stated = row_dates(row)
    if stated is None:
        return []
    start, length = _month_number(stated.start_month), stated_months(row.words)
    if not length and stated.end_month:
        length = _month_number(stated.end_month) - start + 1
    return list(range(start, start + min(max(length, 0), 1200)))


def _month_number(month: str) -> int:
    return int(month[:4]) * 12 + (int(month[5:7]) - 1 if len(month) > 4 else 0)


def split_position(words: str) -> tuple[str, str] | None:
    """(position, company) of `Position at Company`, at the last such word; None for other words."""
    found = cuts(words, "", _AT)[-1:]
    return (words[: found[0].start], words[found[0].end :]) if found and found[0].start > 1 else None


def is_duration(words: str) -> bool:
    """True if the words are a duration and nothing else."""
    spans = durations(words)
    return bool(spans) and _states_only(words, spans)


def _states_only(words: str, spans: Sequence[tuple[int, int]]) -> bool:
    kept, done = [], 0
    for start, end in sorted(spans):
        kept.append(words[done:start])
        done = end
    return not "".join([*kept, words[done:]]).strip(_REST)


@dataclass(frozen=True, slots=True)
class LinkedInEntry:
    """A span with one record; its later parts repeat `lead`."""

    start: int
    end: int
    record: CareerRecord | None = None
    lead: str = ""


@dataclass(frozen=True, slots=True)
class JobGroup:
    """Entries that stay together if they fit; `lead` is common to all of them (a company)."""

    entries: tuple[LinkedInEntry, ...]
    lead: str = ""


@dataclass(frozen=True, slots=True)
class _Head:
    """The row numbers of one job: first row, company, position and dates; -1 = none."""

    first: int
    company: int
    position: int
    dates: int
    opens: bool


def job_groups(rows: Sequence[Row]) -> list[JobGroup]:
    """The jobs by company, in order, covering the rows from the first job on; empty if no row is dated.

    Each row of dates is a job; durations beside the dates are left out. If a company has several positions, its total
    duration decides which of them is the last.
    """
    dated = [at for at, row in enumerate(rows) if row_dates(row)]
    if not dated:
        return []
    joined = dated[0] == 1 and split_position(rows[0].words) is not None
    copied = sum("·" in rows[at].words for at in dated) * 2 > len(dated)
    heads = _position_at_company(dated) if joined else _copied_page(rows, dated) if copied else _exported(rows, dated)
    opened: list[tuple[str, list[LinkedInEntry]]] = []
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        if head.opens or not opened:
            opened.append((rows[head.company].words if head.company >= 0 and not joined else "", []))
        opened[-1][1].append(_entry(rows, head, following.first if following else len(rows), joined))
    return [JobGroup(tuple(entries), lead) for lead, entries in opened]


def _position_at_company(dated: Sequence[int]) -> list[_Head]:
    """`Position at Company` above the dates."""
    known = frozenset(dated)
    return [_Head(at - 1, at - 1, at - 1, at, True) for at in dated if at - 1 not in known and at]


def _exported(rows: Sequence[Row], dated: Sequence[int]) -> list[_Head]:
    """Company, total duration if it has several positions, position, dates."""
    heads: list[_Head] = []
    company, total, counted, before = -1, 0, frozenset[int](), -1
    for at in dated:
        position, above = at - 1, at - 2
        months = months_of(rows[at])
        if above - 1 > before and is_duration(rows[above].words):
            heads.append(_Head(above - 1, above - 1, position, at, True))
            company, total, counted = above - 1, stated_months(rows[above].words), frozenset(months)
        elif company >= 0 and (
            above <= before
            or is_duration(rows[above].words)
            or _is_same_company(rows[above], total, counted, months, len(heads))
        ):
            first = position if position > before else at
            heads.append(_Head(first, company, position if position > before else -1, at, False))
            counted |= frozenset(months)
        else:
            company, total, counted = (above if above > before else position), 0, frozenset(months)
            heads.append(_Head(company, company, position if company != position else -1, at, True))
        before = at
    return heads


def _is_same_company(above: Row, total: int, counted: frozenset[int], months: Sequence[int], jobs: int) -> bool:
    """True if the company's total duration leaves room for one more position, and this one fits.

    A total counts the months of the positions, or all months from the first to the last. If these differ, or without
    durations, the row above the position decides: if it may be a company, the position belongs to that.
    """
    if not total:
        return False
    if not months or not counted:
        return not _may_be_company(above)
    slack = 2 + min(jobs, 4)
    if len(counted) >= total - 1 or len(counted.union(months)) > total + slack:
        return False
    return max(counted) - min(counted) + 1 < total - 1 or not _may_be_company(above)


def _may_be_company(row: Row) -> bool:
    """True if a row may be a company name, rather than the end of the description above."""
    words = row.words.split()
    if row.bullet or len(words) > 6 or row.words.endswith((".", ":", ";")) or place_score(row.words) > 0:
        return False
    return all(not word[0].isalpha() or word[0].isupper() or len(word) <= 3 for word in words)


def _copied_page(rows: Sequence[Row], dated: Sequence[int]) -> list[_Head]:
    """Position, `Company · Full-time`, dates; or a company with its total duration, then its positions."""
    heads: list[_Head] = []
    company, before = -1, -1
    total, counted = 0, frozenset[int]()
    for at in dated:
        months = months_of(rows[at])
        length = next((up for up in range(max(before + 2, at - 5), at) if _is_total_duration(rows[up])), -1)
        typed = at - 1 > before and is_employment_type(rows[at - 1].words)
        position = at - 2 if typed else at - 1
        is_full = len(counted) >= total - 1 and len(counted.union(months)) > total + 2
        if length > 0:
            company, total, counted = length - 1, stated_months(rows[length].words), frozenset(months)
            heads.append(_Head(company, company, position, at, True))
        elif (
            company >= 0
            and total
            and not (typed and is_full)
            and (typed or _is_same_company(rows[at - 1], total, counted, months, len(heads)))
        ):
            heads.append(_Head(position, company, position, at, False))
            counted |= frozenset(months)
        else:
            first, total = max(before + 1, at - 2 - typed), 0
            position = at - 2 if at - 2 > before else -1
            company = at - 3 if typed and at - 3 > before else at - 1
            if not typed and position >= 0 and _is_position_below(rows[position], rows[company]):
                company, position = position, company
            heads.append(_Head(first, company, position, at, True))
        before = at
    return heads


def _is_position_below(row: Row, below: Row) -> bool:
    """True if the lower one of two rows is the position, which says no type of employment, and the upper one is not."""
    return "·" not in below.words and title_score(below.words) >= 1 > title_score(row.words)


def _is_total_duration(row: Row) -> bool:
    """True if the row is a company's total duration: "5 yrs 2 mos", "Full-time · 5 yrs 2 mos"."""
    *kind, length = row.words.split(" · ")
    return is_duration(length) and len(kind) <= 1 and all(map(is_employment_type, kind))


def _entry(rows: Sequence[Row], head: _Head, end: int, joined: bool) -> LinkedInEntry:
    dated = row_dates(rows[head.dates])
    company = rows[head.company].words if head.company >= 0 else ""
    position = rows[head.position].words if head.position >= 0 else ""
    sides = split_position(company) if joined else None
    if sides:
        position, company = sides
    elif " · " in company and is_employment_type(company.rsplit(" · ", 1)[1]):
        company = company.rsplit(" · ", 1)[0]
    body = rows[head.dates + 1 : end]
    location = location_of(body[0], strict=joined) if body else ""
    span = rows[head.first].start, rows[end - 1].end
    return (
        job_entry(span, company, position, location=location, body=body, dated=dated)
        if company
        else LinkedInEntry(*span)
    )


def job_entry(
    span: tuple[int, int], company: str, position: str, *, location: str, body: Sequence[Row], dated: DateRange | None
) -> LinkedInEntry:
    """A job with its facts; `body` are the rows below its dates."""
    record = JobFacts(
        span=span,
        company=company[:_MAX_NAME],
        position=position[:_MAX_NAME],
        location=location,
        bullets=tuple(row.words for row in body if row.bullet),
        **date_fields(dated),
    )
    return LinkedInEntry(*span, record, " | ".join(filter(None, (company, position, location, record.date_range))))


def school_entry(span: tuple[int, int], name: str, studied: str, dated: DateRange | None) -> LinkedInEntry:
    """A school with its facts; what was studied is a degree and its subject, or one of the two."""
    degree, _, area = studied.partition(", ")
    if not degree_score(degree) and not area:
        degree, area = "", degree
    names = {"institution": name[:_MAX_NAME], "degree": degree[:_MAX_NAME], "area": area[:_MAX_NAME]}
    return LinkedInEntry(*span, EducationFacts(span=span, **names, **date_fields(dated)) if name else None)
