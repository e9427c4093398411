"""The jobs of a LinkedIn profile, by company: the layouts of the export, old and new, and of a copied page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.facts import CareerRecord, JobFacts
from pipelines.ingestion.parsers.career.career_words import EMPLOYMENT_TYPES
from pipelines.ingestion.parsers.career.places import place_score
from pipelines.ingestion.parsers.linkedin.lengths import dates_of, is_length, months_of, months_stated
from pipelines.ingestion.parsers.linkedin.lines import Row, location_of
from pipelines.text import fold

_AT = re.compile(r"^(.{2,}) (?:at|bei|chez|en|na|no|em|presso|@) (.+)$", re.DOTALL)
_MAX_POSITION = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """A stretch that states one thing; `lead` is what a later part of it repeats."""

    start: int
    end: int
    record: CareerRecord | None = None
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Entries that stay together while they fit; `lead` is what all of them hang on (a company)."""

    entries: tuple[Entry, ...]
    lead: str = ""


@dataclass(frozen=True, slots=True)
class _Head:
    """The rows of one job by number: where it begins, its company, position and dates; -1 = none."""

    first: int
    company: int
    position: int
    dates: int
    opens: bool


def job_groups(rows: Sequence[Row]) -> list[Group]:
    """The jobs by company, in order, together covering the rows from the first job on; none where no line is dated.

    A line that holds dates and nothing else makes a job; the lengths of time beside them are left out. Where a
    company has several positions its total length tells which of them are the last: then another company follows.
    """
    dated = [at for at, row in enumerate(rows) if dates_of(row)]
    if not dated:
        return []
    joined = dated[0] == 1 and _AT.match(rows[0].words) is not None
    copied = sum("·" in rows[at].words for at in dated) * 2 > len(dated)
    heads = _joined(dated) if joined else _copied(rows, dated) if copied else _listed(rows, dated)
    opened: list[tuple[str, list[Entry]]] = []
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        if head.opens or not opened:
            opened.append((rows[head.company].words if head.company >= 0 and not joined else "", []))
        opened[-1][1].append(_entry(rows, head, following.first if following else len(rows), joined))
    return [Group(tuple(entries), lead) for lead, entries in opened]


# The three layouts


def _joined(dated: Sequence[int]) -> list[_Head]:
    """`Position at Company` over the dates."""
    known = frozenset(dated)
    return [_Head(at - 1, at - 1, at - 1, at, True) for at in dated if at - 1 not in known and at]


def _listed(rows: Sequence[Row], dated: Sequence[int]) -> list[_Head]:
    """Company, total length where it has several positions, position, dates."""
    heads: list[_Head] = []
    company, total, counted, before = -1, 0, frozenset[int](), -1
    for at in dated:
        position, above = at - 1, at - 2
        months = months_of(rows[at])
        if above - 1 > before and is_length(rows[above]):
            heads.append(_Head(above - 1, above - 1, position, at, True))
            company, total, counted = above - 1, months_stated(rows[above].words), frozenset(months)
        elif company >= 0 and (above <= before or _goes_on(rows[above], total, counted, months, len(heads))):
            first = position if position > before else at
            heads.append(_Head(first, company, position if position > before else -1, at, False))
            counted |= frozenset(months)
        else:
            company, total, counted = (above if above > before else position), 0, frozenset(months)
            heads.append(_Head(company, company, position if company != position else -1, at, True))
        before = at
    return heads


def _goes_on(above: Row, total: int, counted: frozenset[int], months: Sequence[int], jobs: int) -> bool:
    """Whether a company's total length leaves room for one more position, and this one fits into it.

    A total may count the months of the positions, or all from the first to the last: where these differ, and where no
    lengths are stated, the row above the position tells whether it is a name.
    """
    if not total:
        return False
    if not months or not counted:
        return not _is_named(above)
    slack = 2 + min(jobs, 4)
    if len(counted) >= total - 1 or len(counted.union(months)) > total + slack:
        return False
    return max(counted) - min(counted) + 1 < total - 1 or not _is_named(above)


def _is_named(row: Row) -> bool:
    """Whether a row may be the name of a company, and not the end of what was done in the job before."""
    words = row.words.split()
    if row.bullet or len(words) > 6 or row.words.endswith((".", ":", ";")) or place_score(row.words) > 0:
        return False
    return all(not word[0].isalpha() or word[0].isupper() or len(word) <= 3 for word in words)


def _copied(rows: Sequence[Row], dated: Sequence[int]) -> list[_Head]:
    """Position, `Company · Full-time`, dates; or a company with its total length, then its positions."""
    heads: list[_Head] = []
    company, before = -1, -1
    total, counted = 0, frozenset[int]()
    for at in dated:
        months = months_of(rows[at])
        length = next((up for up in range(max(before + 2, at - 5), at) if _is_total(rows[up])), -1)
        typed = at - 1 > before and _is_type(rows[at - 1].words)
        position = at - 2 if typed else at - 1
        if length > 0:
            company, total, counted = length - 1, months_stated(rows[length].words), frozenset(months)
            heads.append(_Head(company, company, position, at, True))
        elif company >= 0 and total and (typed or _goes_on(rows[at - 1], total, counted, months, len(heads))):
            heads.append(_Head(position, company, position, at, False))
            counted |= frozenset(months)
        else:
            company, total = at - 1, 0
            heads.append(_Head(max(before + 1, at - 2), company, at - 2 if at - 2 > before else -1, at, True))
        before = at
    return heads


def _is_type(words: str) -> bool:
    return fold(words).replace(" ", "-") in EMPLOYMENT_TYPES


def _is_total(row: Row) -> bool:
    """Whether the row is a company's total length: "5 yrs 2 mos", "Full-time · 5 yrs 2 mos"."""
    *kind, length = row.words.split(" · ")
    return is_length(Row(0, 0, length)) and len(kind) <= 1 and all(map(_is_type, kind))


# One job


def _entry(rows: Sequence[Row], head: _Head, end: int, joined: bool) -> Entry:
    stated = dates_of(rows[head.dates])
    company = rows[head.company].words if head.company >= 0 else ""
    position = rows[head.position].words if head.position >= 0 else ""
    at = _AT.match(company) if joined else None
    if at:
        position, company = at[1].strip(), at[2].strip()
    elif " · " in company and _is_type(company.rsplit(" · ", 1)[1]):
        company = company.rsplit(" · ", 1)[0]
    body = rows[head.dates + 1 : end]
    location = location_of(body[0], strict=joined) if body else ""
    span = rows[head.first].start, rows[end - 1].end
    if not company:
        return Entry(*span)
    record = JobFacts(
        span=span,
        company=company[:_MAX_POSITION],
        position=position[:_MAX_POSITION],
        location=location,
        date_range=stated.text if stated else "",
        start_month=stated.start_month if stated else "",
        end_month=stated.end_month if stated else None,
        current=bool(stated and stated.current),
        bullets=tuple(row.words for row in body if row.bullet),
    )
    lead = " | ".join(filter(None, (company, position, location, record.date_range)))
    return Entry(*span, record, lead)
