"""What the other sections of a LinkedIn profile state: schools, skills, languages, certificates, the person."""

import re
from collections.abc import Callable
from dataclasses import replace

from pipelines.facts import (
    CertificationFacts,
    LanguageFacts,
    PersonFacts,
    ProjectFacts,
    SkillsFacts,
)
from pipelines.ingestion.parsers.career.career_words import SPOKEN_LANGUAGES
from pipelines.ingestion.parsers.career.dates import date_ranges
from pipelines.ingestion.parsers.linkedin.jobs import Entry
from pipelines.ingestion.parsers.linkedin.lines import Row, location_of
from pipelines.ingestion.parsers.linkedin.schools import date_fields, schools, without_dates, years_of
from pipelines.ingestion.parsers.linkedin.sections import ProfileSection
from pipelines.text import fold

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_LINK = re.compile(
    r"(?<![@\w.])(?:https?://)?(?:www\.)?[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.[a-z]{2,10}(?:/[^\s()]{0,300})?(?!\w*@)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[ \n]{1,2}([^\s()@.]{1,60})\s{1,2}\(LinkedIn\)")
_ADDRESS = re.compile(r"^(?:https?://|www\.)|linkedin\.com/")
_PRONOUNS = re.compile(r"\(?\w+/\w+(?:/\w+)?\)?")
_PHONE = re.compile(r"(?<![\w/])\+?\(?\d[\d ()./-]{6,20}\d(?!\w)")
_LEVELLED = re.compile(r"([^\s(),·][^()\n]{0,60}?)[ ]?\(([^()\n]{3,60})\)")
_WORD = re.compile(r"[^\W\d_][\w.'’-]*")
_LICENCE = re.compile(
    r"\b(?:license|licence|lizenz|licencia|licença|licenza|credential|issued|ausgestellt)\b", re.IGNORECASE
)


def person(section: ProfileSection, text: str) -> list[Entry]:
    """The person: name, headline and place under each other, or the addresses of the contact column."""
    rows = [row for row in (section.title, *section.rows) if row and (section.name == "person" or row != section.title)]
    if not rows:
        return []
    span = rows[0].start, rows[-1].end
    stretch = text[slice(*span)]
    email, links, phone = _EMAIL.search(stretch), _links(stretch), _PHONE.search(stretch)
    name = headline = location = ""
    if section.name == "person":
        about = [row for row in map(_without_addresses, rows[1:]) if row.words][:3]
        name = rows[0].words
        location = location_of(about[-1]) if about else ""
        headline = " ".join(row.words for row in about[: -1 if location else None])
    facts = PersonFacts(
        span=span,
        name=name[:100],
        headline=headline[:400],
        location=location,
        email=email[0] if email else "",
        phone=phone[0].strip() if phone else "",
        links=links,
    )
    return [Entry(*span, facts)]


def _without_addresses(row: Row) -> Row:
    """The row without e-mail addresses and pronouns; empty where it is a link."""
    words = "" if _ADDRESS.search(row.words) or _PRONOUNS.fullmatch(row.words) else row.words
    return replace(row, words=_EMAIL.sub("", words).strip())


def _links(stretch: str) -> tuple[str, ...]:
    """The addresses in order; that of the profile in one piece where a line end cuts it."""
    found: dict[str, None] = {}
    for match in _LINK.finditer(stretch):
        link = match[0].rstrip(".,;")
        rest = _LABEL.match(stretch, match.end()) if "linkedin." in link else None
        link += rest[1] if rest else ""
        found[link] = None
    return tuple(found)


def skills(section: ProfileSection, text: str) -> list[Entry]:
    """The list of skills as one entry."""
    named: list[str] = []
    for row in section.rows:
        parts = re.split(r"\s[·•|]\s|\n", row.words)
        if len(section.rows) == 1 and len(parts) == 1 and row.words.count(",") > 1:
            parts = row.words.split(",")
        named += [part.strip(" ,;") for part in parts]
    kept = tuple(dict.fromkeys(name for name in named if name and len(name) <= 80))
    if not kept:
        return []
    span = section.rows[0].start, section.rows[-1].end
    return [Entry(*span, SkillsFacts(span=span, skills=kept, group=section.title.words if section.title else ""))]


def languages(section: ProfileSection, text: str) -> list[Entry]:
    """The languages in order, each with the level in brackets after it or on the line below."""
    found: list[Entry] = []
    for row in section.rows:
        levelled = list(_LEVELLED.finditer(text, row.start, row.end))
        for match in levelled:
            facts = LanguageFacts(span=match.span(), language=match[1].strip(), level=match[2].strip())
            found.append(Entry(*match.span(), facts))
        if levelled:
            continue
        level = row.words.strip("() ")
        last = found[-1].record if found else None
        spoken = bool(set(_WORD.findall(fold(level))) & SPOKEN_LANGUAGES)
        if isinstance(last, LanguageFacts) and not last.level and not (spoken and level == row.words):
            span = last.span[0], row.end
            found[-1] = Entry(*span, last.model_copy(update={"level": level, "span": span}))
        elif len(level) <= 40:
            found.append(Entry(row.start, row.end, LanguageFacts(span=(row.start, row.end), language=level)))
    return found


def certificates(section: ProfileSection, text: str) -> list[Entry]:
    """The certificates in order, a line each; a line with the licence or only dates belongs to the one above.

    Where every line has a comma, what follows it is who issued the certificate.
    """
    found: list[Entry] = []
    listed = len(section.rows) > 1 and all(row.words.count(", ") == 1 for row in section.rows)
    for row in section.rows:
        last = found[-1].record if found else None
        years = years_of(row)
        bare = years is not None and not without_dates(row.words)
        if isinstance(last, CertificationFacts) and (bare or _LICENCE.search(row.words)):
            found[-1] = _licensed(last, row, text)
            continue
        span = row.start, row.end
        name, _, issuer = without_dates(row.words).partition(", " if listed else "\n")
        record = CertificationFacts(span=span, name=name[:200], issuer=issuer[:200], **date_fields(years))
        found.append(Entry(*span, record if name else None))
    return found


def _licensed(record: CertificationFacts, row: Row, text: str) -> Entry:
    """The certificate with the issuer and the dates of the line below it."""
    ranges = date_ranges(row.words)
    span = record.span[0], row.end
    issuer = re.split(r"\s{2,}|\s[·|]\s|,", text[row.start : row.end])[0].strip()
    dates = date_fields(ranges[0] if ranges else None)
    named = not _LICENCE.search(issuer) and not date_ranges(issuer)
    return Entry(*span, record.model_copy(update={"span": span, "issuer": issuer if named else "", **dates}))


def projects(section: ProfileSection, text: str) -> list[Entry]:
    """The projects in order: a line over each line of dates."""
    found: list[Entry] = []
    dated: list[int] = []
    for at, row in enumerate(section.rows):
        if at and at - 1 not in dated[-1:] and years_of(row) and not without_dates(row.words):
            dated.append(at)
    for at, following in zip(dated, [*dated[1:], len(section.rows) + 1], strict=False):
        rows = section.rows[at - 1 : following - 1]
        span = rows[0].start, rows[-1].end
        found.append(Entry(*span, ProjectFacts(span=span, name=rows[0].words[:200], **date_fields(years_of(rows[1])))))
    return found


Reader = Callable[[ProfileSection, str], list[Entry]]
READERS: dict[str, tuple[str, Reader]] = {
    "person": ("contact", person),
    "contact": ("contact", person),
    "education": ("education", schools),
    "top_skills": ("skills", skills),
    "skills": ("skills", skills),
    "languages": ("language", languages),
    "certifications": ("certification", certificates),
    "projects": ("project", projects),
}
