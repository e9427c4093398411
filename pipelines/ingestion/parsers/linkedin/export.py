"""A profile that LinkedIn typeset: its sections, jobs and schools by the levels of its headings, in any language.

The levels are those that the PDF loader gives: 1 name, 2 section, 3 organisation or school, 4 position. A section is
told by what it holds, and by its title only where that does not tell.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pipelines.contacts import email_in, linkedin_slug
from pipelines.facts import PersonFacts
from pipelines.ingestion.parsers.careers.dates import DateRange, months_named
from pipelines.ingestion.parsers.careers.people import pronouns_in, without_pronouns
from pipelines.ingestion.parsers.careers.places import place_score
from pipelines.ingestion.parsers.linkedin.jobs import JobGroup, LinkedInEntry, job_entry, school_entry
from pipelines.ingestion.parsers.linkedin.sections import LISTED, ProfileSection, Row, block_row, title_section
from pipelines.types import Document

_NAME, _SECTION, _ORGANISATION, _POSITION = 1, 2, 3, 4
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_TO = re.compile(r"\s[-‐‑]\s|\s?[–—~〜]\s?")
_BRACKETS = str.maketrans("（）", "()")
_MAX_PLACE, _MAX_PLACE_WORDS, _MAX_PARTS = 60, 7, 4
_MAX_STUDY_ROWS = 4


def is_typeset(document: Document) -> bool:
    """True if the PDF loader recognised LinkedIn's typesetting."""
    named = any(block.level == _NAME for block in document.blocks)
    return named and document.metadata.get("typeset") == "linkedin"


def typeset_sections(document: Document) -> list[ProfileSection]:
    """The sections in order: those of the left column, the person, those of the right column."""
    opened: list[tuple[Row | None, list[Row]]] = []
    person = 0
    for row in (block_row(document, block) for block in document.blocks):
        if row.level == _NAME:
            person = len(opened)
            opened.append((None, [row]))
        elif row.level == _SECTION:
            opened.append((row, []))
        elif opened:
            opened[-1][1].append(row)
    names = [*_left_names(opened[:person]), "person", *_right_names(opened[person + 1 :])]
    return [
        ProfileSection(name, title, tuple(rows), typeset=True)
        for name, (title, rows) in zip(names, opened, strict=True)
    ]


def _left_names(sections: Sequence[tuple[Row | None, list[Row]]]) -> list[str]:
    """Contact has the addresses, languages have levels in brackets; the skills are the first list of unknown title."""
    names: list[str] = []
    for title, rows in sections:
        known = title_section(title.words) if title else ""
        if "contact" not in names and any(linkedin_slug(row.words) or email_in(row.words) for row in rows):
            names.append("contact")
        elif known in LISTED:
            names.append(known)
        elif rows and all(_split_brackets(row.words)[1] for row in rows):
            names.append("languages")
        else:
            names.append("top_skills" if names == ["contact"] else "other")
    return names


def _right_names(sections: Sequence[tuple[Row | None, list[Row]]]) -> list[str]:
    """Experience is the first section with positions, education the first with schools, summary the text before."""
    names: list[str] = []
    for title, rows in sections:
        levels = {row.level for row in rows}
        found = "experience" if _POSITION in levels else "education" if _ORGANISATION in levels else "summary"
        known = title_section(title.words) if title else ""
        taken = found in names or (found == "summary" and bool(names)) or known in ("volunteering", "projects")
        names.append((known if known not in names else "other") or "other" if taken else found)
    return names


def typeset_person(section: ProfileSection) -> list[LinkedInEntry]:
    """The name, and below it the headline and the place."""
    name, *about = (row for row in section.rows if without_pronouns(row.words))
    span = name.start, section.rows[-1].end
    place = about[-1].words if len(about) > 1 else ""
    headline = " ".join(row.words for row in (about[:-1] if place else about))
    return [
        LinkedInEntry(
            *span,
            PersonFacts(
                span=span,
                name=without_pronouns(name.words)[:100],
                headline=headline[:400],
                location=place[:200],
                pronouns=pronouns_in(" ".join(row.words for row in section.rows)),
            ),
        )
    ]


def typeset_jobs(rows: Sequence[Row]) -> list[JobGroup]:
    """The jobs by company: a position, its dates below it, and perhaps a place, then the text."""
    companies: list[tuple[Row, list[list[Row]]]] = []
    for row in rows:
        if row.level == _ORGANISATION or not companies:
            companies.append((row, []))
        elif row.level == _POSITION:
            companies[-1][1].append([row])
        elif companies[-1][1]:
            companies[-1][1][-1].append(row)
    dates = iter(_ranges([job[1] if len(job) > 1 else job[0] for _, jobs in companies for job in jobs]))
    return [
        JobGroup(tuple(_job(company, job, next(dates), first=job is jobs[0]) for job in jobs), company.words)
        for company, jobs in companies
        if jobs
    ]


def _job(company: Row, rows: Sequence[Row], dated: DateRange | None, *, first: bool) -> LinkedInEntry:
    position, *body = rows
    body = body[1:] if dated else body
    span = (company if first else position).start, rows[-1].end
    place = _place(body[0]) if body else ""
    return job_entry(span, company.words, position.words, location=place, body=body, dated=dated)


def _place(row: Row) -> str:
    """The words below the dates if they name a place; "" if they are the text."""
    words = row.words
    if row.bullet or len(words) > _MAX_PLACE or len(words.split()) > _MAX_PLACE_WORDS or words[-1] in ":;!?…":
        return ""
    parts = [part.strip() for part in words.split(",")]
    named = len(parts) <= _MAX_PARTS and all(part and not part[0].islower() and not part[0].isdigit() for part in parts)
    return words if place_score(words) >= 2 or (named and (len(parts) > 1 or len(words.split()) <= 3)) else ""


def typeset_schools(section: ProfileSection) -> list[LinkedInEntry]:
    """The schools in order, each with the degree, the subject and the years below it."""
    schools: list[list[Row]] = []
    for row in section.rows:
        if row.level == _ORGANISATION or not schools:
            schools.append([])
        schools[-1].append(row)
    studied = [_studied(rows) for rows in schools]
    dates = _ranges([replace(rows[0], words=when) for rows, (_, when) in zip(schools, studied, strict=True)])
    return [
        school_entry((rows[0].start, rows[-1].end), rows[0].words, what, dated)
        for rows, (what, _), dated in zip(schools, studied, dates, strict=True)
    ]


def _studied(rows: Sequence[Row]) -> tuple[str, str]:
    """(the degree and the subject, the years) of a school, over the rows that they take; each may be empty."""
    joined = ""
    for row in rows[1 : 1 + _MAX_STUDY_ROWS]:
        joined = f"{joined} {row.words}".lstrip()
        what, when = _split_brackets(joined)
        if _YEAR.search(when):
            return what.rstrip(" ·•"), when
    return (rows[1].words.rstrip(" ·") if len(rows) > 1 else ""), ""


def _ranges(rows: Iterable[Row]) -> list[DateRange | None]:
    """The dates of each row, without the duration behind them; None for a row without a year.

    An end without a year is open, whatever its words.
    """
    stated = [_split_brackets(row.words)[0] for row in rows]
    ends = [_ends(words) for words in stated]
    months = months_named([point for pair in ends for point in pair])
    found: list[DateRange | None] = []
    for words, (first, last), begun, ended in zip(stated, ends, months[::2], months[1::2], strict=True):
        start, end = _iso(first, begun), _iso(last, ended)
        dated = DateRange(0, len(words), words, start, end or None, bool(last) and not end)
        found.append(dated if start else None)
    return found


def _ends(words: str) -> tuple[str, str]:
    """The two sides of a range; both are empty without a year, the second one for a single date."""
    first, *last = _TO.split(words, maxsplit=1) if _YEAR.search(words) else [""]
    return first, "".join(last)


def _split_brackets(words: str) -> tuple[str, str]:
    """(the words before brackets at the end, the words in them); the second is "" without brackets."""
    head, opened, inside = words.translate(_BRACKETS).rpartition("(")
    is_end = opened and inside.endswith(")") and inside.find(")") == len(inside) - 1
    return (head.rstrip(), inside[:-1]) if is_end else (words, "")


def _iso(point: str, month: int) -> str:
    year = _YEAR.search(point)
    return "" if year is None else f"{year[0]}-{month:02d}" if month else year[0]
