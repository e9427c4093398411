"""The jobs of a LinkedIn profile by company, in three layouts: two of the export, and a copied page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipelines.facts import JobFacts
from pipelines.headings import trim_span
from pipelines.ingestion.parsers.careers.dates import DateRange, date_ranges, durations
from pipelines.ingestion.parsers.careers.places import place_score
from pipelines.ingestion.parsers.careers.records import date_fields, end_year
from pipelines.ingestion.parsers.careers.separators import cuts
from pipelines.ingestion.parsers.careers.vocabulary import company_score, is_break, is_employment_type, title_score
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.resume.entries import PiecesByPart, parts_of_section, supported_facts
from pipelines.ingestion.parsers.resume.jobs import BEFORE_NAMES, read_experience
from pipelines.ingestion.parsers.resume.lines import ResumeLine
from pipelines.ingestion.parsers.resume.sections import SectionPart
from pipelines.text import digit_runs, fold, is_page_number, plain

_REST = " \t\n()[]·•|,;:-–—"
_AT = BEFORE_NAMES | {"@"}
_AREAS = frozenset(
    map(
        fold,
        "area region périphérie alrededores región großraum umgebung dintorni greater metropolitan metropolitana"
        " metropolitano metropolitaine".split(),
    )
)
_MARKUP = "*`[<\\&"
_MAX_NAME = 200
_MAX_PLACE_WORDS, _MAX_AREA_WORDS = 4, 6


@dataclass(frozen=True, slots=True)
class Row:
    """A line with its words; `level` is that of a heading, else 0."""

    start: int
    end: int
    words: str
    level: int = 0
    bullet: bool = False


def rows_of(text: str, lines: Iterable[ResumeLine]) -> list[Row]:
    """The lines as rows, without page numbers and without what a copied page says twice in turn."""
    found: list[Row] = []
    for line in lines:
        raw = text[line.body : line.end]
        words = " ".join((plain(raw) if any(mark in raw for mark in _MARKUP) else raw).split())
        if words and not is_page_number(words) and not (found and found[-1].words == words):
            found.append(Row(line.start, line.end, words, line.level, line.kind == "bullet"))
    return found


def row_dates(row: Row) -> DateRange | None:
    """The date range of a row that holds nothing else but a duration; None for other rows."""
    ranges = date_ranges(row.words) if len(row.words) < 120 and not row.bullet else []
    if len(ranges) != 1:
        return None
    lengths = [span for span in durations(row.words) if span[0] >= ranges[0].end]
    if not (ranges[0].is_range or lengths):
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
class _Head:
    """The row numbers of one job: first row, company, position and dates; -1 = none."""

    first: int
    company: int
    position: int
    dates: int


def read_profile_jobs(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """A piece for each job of the experience sections, in order; those of a resume where LinkedIn's layout is none."""
    jobs = {number: listed_jobs(rows_of(text, part.lines)) for number, part in parts_of_section(parts, "experience")}
    if not any(job.company for found in jobs.values() for job in found):
        return read_experience(text, parts)
    return {number: job_pieces(text, parts[number], found) for number, found in jobs.items()}


def job_pieces(text: str, part: SectionPart, jobs: Sequence[JobFacts]) -> list[Piece]:
    """A piece for each job, from its first line to the next one; the company of a further position is in its lead."""
    starts = [part.lines[0].start, *(job.span[0] for job in jobs[1:])]
    pieces = []
    for job, begin, until in zip(jobs, starts, [*starts[1:], part.lines[-1].end], strict=False):
        start, end = trim_span(text, begin, until)
        lead = "" if job.company in text[slice(*job.span)] else job.company
        record = [] if _is_break(job) else [job]
        facts = supported_facts(text, record, start, end, lead)
        pieces.append(Piece(start, end, part.path, "job", facts, end_year(job), lead))
    return pieces or [Piece(part.lines[0].start, part.lines[-1].end, part.path, "job")]


def _is_break(job: JobFacts) -> bool:
    """True for a time without work ("Career break", "Parental leave"), which a profile lists among the jobs."""
    if title_score(job.position) >= 1 or company_score(job.company) >= 1:
        return False
    return is_break(job.company) or is_break(job.position)


def listed_jobs(rows: Sequence[Row]) -> list[JobFacts]:
    """The jobs in order, each with its company; one without a company is empty. None if no row is dated.

    Each row of dates is a job; durations beside the dates are left out. If a company has several positions, its total
    duration decides which of them is the last.
    """
    dated = [at for at, row in enumerate(rows) if row_dates(row)]
    if not dated:
        return []
    known = frozenset(dated)
    joined = dated[0] == 1 and split_position(rows[0].words) is not None
    copied = sum("·" in rows[at].words for at in dated) * 2 > len(dated)
    if joined:
        heads = [_Head(at - 1, at - 1, at - 1, at) for at in dated if at - 1 not in known and at]
    else:
        heads = _heads(rows, dated, copied=copied)
    ends = [*(head.first for head in heads[1:]), len(rows)]
    return [_job(rows, head, end, joined) for head, end in zip(heads, ends, strict=True)]


def _heads(rows: Sequence[Row], dated: Sequence[int], *, copied: bool) -> list[_Head]:
    """Company, its total duration if it has several positions, position, dates.

    In a copied page a type of employment may stand between, and the company below the position: "Acme · Full-time".
    """
    heads: list[_Head] = []
    company = before = -1
    total, counted = 0, frozenset[int]()
    for at in dated:
        months = months_of(rows[at])
        near = range(max(before + 2, at - 5), at) if copied else range(max(before + 2, at - 2), at - 1)
        length = next((up for up in near if _is_total_duration(rows[up])), -1)
        names = 2 if total or length > 0 else 3  # a further position has no company of its own
        typed = copied and at - names > before and is_employment_type(rows[at - 1].words)
        position, above = at - 1 - typed, at - 2 - typed
        is_below = copied and not typed and above > before and not _is_position_below(rows[above], rows[position])
        if typed:
            goes_on = len(counted) < total - 1 or len(counted.union(months)) <= total + 2
        elif not copied and (above <= before or is_duration(rows[above].words)):
            goes_on = True
        else:
            first = position if is_below or above <= before else above
            goes_on = _is_same_company(rows[first], total, counted, months, len(heads))
        if length > 0:
            first = company = length - 1
            total, counted = stated_months(rows[length].words), frozenset(months)
        elif goes_on and company >= 0 and (total or not copied):
            first = position = position if position > before else at
            counted |= frozenset(months)
        else:
            first = max(above, before + 1)
            company, position = (position, above) if is_below else (first if first < at else -1, position)
            total, counted = 0, frozenset(months)
        heads.append(_Head(first, company, -1 if position in (company, at) else position, at))
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


def _is_position_below(row: Row, below: Row) -> bool:
    """True if the lower one of two rows is the position, which says no type of employment, and the upper one is not."""
    return "·" not in below.words and title_score(below.words) >= 1 > title_score(row.words)


def _is_total_duration(row: Row) -> bool:
    """True if the row is a company's total duration: "5 yrs 2 mos", "Full-time · 5 yrs 2 mos"."""
    *kind, length = row.words.split(" · ")
    return is_duration(length) and len(kind) <= 1 and all(map(is_employment_type, kind))


def _job(rows: Sequence[Row], head: _Head, end: int, joined: bool) -> JobFacts:
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
    names = (company, position, location)
    return job_facts(span, names, body, row_dates(rows[head.dates])) if company else JobFacts(span=span, company="")


def job_facts(
    span: tuple[int, int], names: tuple[str, str, str], body: Sequence[Row], dated: DateRange | None
) -> JobFacts:
    """A job with its company, position and location; `body` are the rows below its dates."""
    company, position, location = names
    return JobFacts(
        span=span,
        company=company[:_MAX_NAME],
        position=position[:_MAX_NAME],
        location=location,
        bullets=tuple(row.words for row in body if row.bullet),
        **date_fields(dated),
    )


def location_of(row: Row, *, strict: bool = False) -> str:
    """The place that a row below a job's dates names; "" for other rows. `strict` accepts only known places."""
    words = row.words.split(" · ")[0].strip()
    is_sentence = words.endswith(".") and "." not in words.split()[-1][:-1]  # unlike "Washington, D.C."
    if row.bullet or len(words) > 80 or is_sentence or words.endswith((":", "!", ";")):
        return ""
    if place_score(words) >= 2:
        return words
    if strict or words.endswith(".") or is_employment_type(words):
        return ""
    parts = [part.split() for part in words.split(",")]
    is_area = _is_area(words)
    most = _MAX_AREA_WORDS if is_area else _MAX_PLACE_WORDS
    named = len(parts) <= 4 and all(part and len(part) <= most and part[0][0].isupper() for part in parts)
    short = len(parts) == 1 and len(parts[0]) <= 2 and words.istitle()
    return words if named and (len(parts) > 1 or short or is_area) else ""


def _is_area(words: str) -> bool:
    """True for the area of a town, in words with capitals: "New York City Metropolitan Area"."""
    found = words.replace(",", " ").split()
    areas = [fold(word) in _AREAS for word in found]
    are_named = (word[0].isupper() or len(word) <= 3 for word in found)
    return any(areas) and all(is_named or is_area for is_named, is_area in zip(are_named, areas, strict=True))
