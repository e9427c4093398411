"""A profile that LinkedIn typeset: its sections, jobs and schools by the levels of its headings, in any language.

The levels are those that the PDF loader gives: 1 name, 2 section, 3 organisation or school, 4 position. A section is
told by what it holds, and by its title only where that does not tell.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pipelines.bullets import item_body
from pipelines.contacts import email_in, linkedin_slug
from pipelines.facts import EducationFacts, JobFacts, LanguageFacts, PersonFacts
from pipelines.ingestion.parsers.careers.dates import DateRange, months_named
from pipelines.ingestion.parsers.careers.people import pronouns_in, without_pronouns
from pipelines.ingestion.parsers.careers.places import place_score
from pipelines.ingestion.parsers.careers.records import date_fields, end_year
from pipelines.ingestion.parsers.careers.vocabulary import degree_score
from pipelines.ingestion.parsers.linkedin.jobs import Row, job_facts, job_pieces, rows_of
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.resume.entries import PiecesByPart, parts_of_section, supported_facts, whole_piece
from pipelines.ingestion.parsers.resume.lines import LineKind, ResumeLine
from pipelines.ingestion.parsers.resume.person import person_facts
from pipelines.ingestion.parsers.resume.readers import READERS, Reader
from pipelines.ingestion.parsers.resume.sections import SectionPart
from pipelines.ingestion.words import word_lists
from pipelines.text import letters_of
from pipelines.types import Block, Document

# Each title opens its section as a line of its own.
_SECTION_OF = {
    letters_of(title): section for section, titles in word_lists("linkedin_titles").items() for title in titles
}
_MAX_TITLE = 60
_NAME, _SECTION, _ORGANISATION, _POSITION = 1, 2, 3, 4
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_TO = re.compile(r"\s[-‐‑]\s|\s?[–—~〜]\s?")
_BRACKETS = str.maketrans("（）", "()")
_LISTED = frozenset(
    ("contact", "top_skills", "skills", "languages", "certifications", "awards", "publications", "patents")
)
_MAX_PLACE, _MAX_PLACE_WORDS, _MAX_PARTS = 60, 7, 4
_MAX_STUDY_ROWS = 4
_MAX_NAME, _MAX_HEADLINE, _MAX_HOME = 100, 400, 200


def title_section(words: str) -> str:
    """The section with this LinkedIn title; "" for other words."""
    return _SECTION_OF.get(letters_of(words), "") if len(words) <= _MAX_TITLE else ""


def is_typeset(document: Document) -> bool:
    """True if the PDF loader recognised LinkedIn's typesetting."""
    named = any(block.level == _NAME for block in document.blocks)
    return named and document.metadata.get("typeset") == "linkedin"


def typeset_parts(document: Document) -> list[SectionPart]:
    """The sections in order: those of the left column, the person, those of the right column."""
    opened: list[tuple[ResumeLine | None, list[ResumeLine]]] = []
    person = 0
    for line in (_line(document.text, block) for block in document.blocks):
        if line.level == _NAME:
            person = len(opened)
            opened.append((None, [line]))
        elif line.level == _SECTION:
            opened.append((line, []))
        elif opened:
            opened[-1][1].append(line)
    titles = [document.text[title.start : title.end] if title else "" for title, _ in opened]
    rows = [(title, rows_of(document.text, lines)) for title, (_, lines) in zip(titles, opened, strict=True)]
    names = [*_left_names(rows[:person]), "contact", *_right_names(rows[person + 1 :])]
    return [
        SectionPart(name, title, heading, tuple(lines))
        for name, title, (heading, lines) in zip(names, titles, opened, strict=True)
    ]


def _line(text: str, block: Block) -> ResumeLine:
    body = item_body(text, block.start, block.end)
    kind: LineKind = "heading" if block.level else "bullet" if body > block.start else "text"
    return ResumeLine(block.start, block.end, body, kind, block.level)


def _left_names(sections: Sequence[tuple[str, list[Row]]]) -> list[str]:
    """Contact has the addresses, languages have levels in brackets; the skills are the first list of unknown title."""
    names: list[str] = []
    for title, rows in sections:
        known = title_section(title)
        if "contact" not in names and any(linkedin_slug(row.words) or email_in(row.words) for row in rows):
            names.append("contact")
        elif known in _LISTED:
            names.append(known)
        elif rows and all(_split_brackets(row.words)[1] for row in rows):
            names.append("languages")
        else:
            names.append("top_skills" if names == ["contact"] else "")
    return names


def _right_names(sections: Sequence[tuple[str, list[Row]]]) -> list[str]:
    """Experience is the first section with positions, education the first with schools, summary the text before."""
    names: list[str] = []
    for title, rows in sections:
        levels = {row.level for row in rows}
        found = "experience" if _POSITION in levels else "education" if _ORGANISATION in levels else "summary"
        known = title_section(title)
        taken = found in names or (found == "summary" and bool(names)) or known in ("volunteering", "projects")
        names.append((known if known not in names else "") if taken else found)
    return names


def read_typeset_contact(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """The person: name, headline and place below each other; the addresses of the contact column."""
    found: PiecesByPart = {}
    for number, part in parts_of_section(parts, "contact"):
        person = person_facts(text, part.lines, named=False, titled=False) if part.title else _person(text, part)
        found[number] = [whole_piece(text, part.path, part.lines, "contact", [person] if person else [])]
    return found


def _person(text: str, part: SectionPart) -> PersonFacts:
    rows = rows_of(text, part.lines)
    name, *about = (row.words for row in rows if without_pronouns(row.words))
    place = about[-1] if len(about) > 1 else ""
    return PersonFacts(
        span=(rows[0].start, rows[-1].end),
        name=without_pronouns(name)[:_MAX_NAME],
        headline=" ".join(about[:-1] if place else about)[:_MAX_HEADLINE],
        location=place[:_MAX_HOME],
        pronouns=pronouns_in(" ".join(row.words for row in rows)),
    )


def read_typeset_languages(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """One piece per part; each row is a language, its level in brackets behind it."""
    found: PiecesByPart = {}
    for number, part in parts_of_section(parts, "languages"):
        rows = [(row, *_split_brackets(row.words)) for row in rows_of(text, part.lines)]
        spoken = [LanguageFacts(span=(row.start, row.end), language=name, level=level) for row, name, level in rows]
        found[number] = [whole_piece(text, part.path, part.lines, "language", spoken)]
    return found


def read_typeset_jobs(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """A piece for each job of the experience sections, in order."""
    found = parts_of_section(parts, "experience")
    return {number: job_pieces(text, part, _jobs(rows_of(text, part.lines))) for number, part in found}


def _jobs(rows: Sequence[Row]) -> list[JobFacts]:
    """The jobs in order: a company, a position, its dates below it, and perhaps a place, then the text."""
    jobs: list[tuple[Row, list[Row]]] = []
    company: Row | None = None
    for row in rows:
        if row.level == _ORGANISATION or company is None:
            company = row
        elif row.level == _POSITION:
            jobs.append((company, [row]))
        elif jobs and jobs[-1][0] is company:
            jobs[-1][1].append(row)
    dates = _ranges([job[1] if len(job) > 1 else job[0] for _, job in jobs])
    firsts = [number == 0 or jobs[number - 1][0] is not company for number, (company, _) in enumerate(jobs)]
    return [_job(*job, dated, first=first) for job, dated, first in zip(jobs, dates, firsts, strict=True)]


def _job(company: Row, rows: Sequence[Row], dated: DateRange | None, *, first: bool) -> JobFacts:
    position, *body = rows
    body = body[1:] if dated else body
    span = (company if first else position).start, rows[-1].end
    return job_facts(span, (company.words, position.words, _place(body[0]) if body else ""), body, dated)


def _place(row: Row) -> str:
    """The words below the dates if they name a place; "" if they are the text."""
    words = row.words
    if row.bullet or len(words) > _MAX_PLACE or len(words.split()) > _MAX_PLACE_WORDS or words[-1] in ":;!?…":
        return ""
    parts = [part.strip() for part in words.split(",")]
    named = len(parts) <= _MAX_PARTS and all(part and not part[0].islower() and not part[0].isdigit() for part in parts)
    return words if place_score(words) >= 2 or (named and (len(parts) > 1 or len(words.split()) <= 3)) else ""


def read_typeset_schools(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """A piece for each school of the education sections, with the degree, the subject and the years below it."""
    found: PiecesByPart = {}
    for number, part in parts_of_section(parts, "education"):
        schools: list[list[Row]] = []
        for row in rows_of(text, part.lines):
            if row.level == _ORGANISATION or not schools:
                schools.append([])
            schools[-1].append(row)
        studied = [_studied(rows) for rows in schools]
        dates = _ranges([replace(rows[0], words=when) for rows, (_, when) in zip(schools, studied, strict=True)])
        found[number] = [
            _school(text, rows, what, dated, part)
            for rows, (what, _), dated in zip(schools, studied, dates, strict=True)
        ]
    return found


def _school(text: str, rows: Sequence[Row], studied: str, dated: DateRange | None, part: SectionPart) -> Piece:
    """A school; what was studied is a degree and its subject, or one of the two."""
    span = rows[0].start, rows[-1].end
    degree, _, area = studied.partition(", ")
    if not degree_score(degree) and not area:
        degree, area = "", degree
    record = EducationFacts(
        span=span, institution=rows[0].words[:200], degree=degree[:200], area=area[:200], **date_fields(dated)
    )
    return Piece(*span, part.path, "education", supported_facts(text, [record], *span), end_year(dated))


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


TYPESET_READERS: dict[str, Reader] = {
    **READERS,
    "contact": read_typeset_contact,
    "experience": read_typeset_jobs,
    "education": read_typeset_schools,
    "languages": read_typeset_languages,
}
