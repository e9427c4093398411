"""Records of a LinkedIn profile's other sections: schools, skills, languages, certificates, projects, the person."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pipelines.contacts import begins_address, email_in, link_spans, without_emails
from pipelines.facts import CertificationFacts, LanguageFacts, PersonFacts, SkillsFacts
from pipelines.ingestion.parsers.careers.dates import DateRange, date_ranges, durations
from pipelines.ingestion.parsers.careers.people import (
    could_be_name,
    phone_in,
    pronouns_in,
    self_introduction,
    summary_of,
    without_pronouns,
)
from pipelines.ingestion.parsers.careers.records import date_fields
from pipelines.ingestion.parsers.careers.vocabulary import (
    LEVELS,
    degree_score,
    has_school,
    spoken_languages,
    tokens,
)
from pipelines.ingestion.parsers.linkedin.jobs import LinkedInEntry, school_entry
from pipelines.ingestion.parsers.linkedin.sections import ProfileSection, Row, location_of
from pipelines.ingestion.parsers.resume.entries import split_entries
from pipelines.ingestion.parsers.resume.lines import dated_lines
from pipelines.ingestion.parsers.resume.readers import project_records
from pipelines.text import fold

_EDGES = " \t\n·•|,;:–—-()"
_SCHOOL_DETAILS = tuple(
    map(
        fold,
        (
            "activities and societies", "grade", "aktivitäten", "note", "activités", "notes", "actividades", "nota",
            "atividades", "attività", "voto",
        ),
    )
)  # fmt: skip
_MAX_DETAILS = 2
_LICENCES = frozenset(
    map(fold, "license licence lizenz licencia licença licenza credential issued ausgestellt".split())
)
Reader = Callable[[ProfileSection, str], list[LinkedInEntry]]


def schools(section: ProfileSection, text: str) -> list[LinkedInEntry]:
    """The institutions in order, each with the degree, the subject and the years below it."""
    found: list[list[Row]] = []
    rows = section.rows
    dated = False
    for at, row in enumerate(rows):
        if found and _continues_school(row, len(found[-1]), dated, rows[at + 1] if at + 1 < len(rows) else None):
            found[-1].append(row)
            dated = dated or trailing_dates(row.words) is not None
        else:
            found.append([row])
            dated = trailing_dates(row.words) is not None
    return [_school(entry) for entry in found]


def _continues_school(row: Row, above: int, dated: bool, following: Row | None) -> bool:
    """True if the row is a detail of the school above it, rather than the name of the next one.

    Args:
        row: The row.
        above: Number of rows that the school has so far.
        dated: True if one of them has its years.
        following: The row below, if any.
    """
    if row.bullet or _is_school_detail(row.words):
        return True
    if trailing_dates(row.words) and not dated:
        return True
    if has_school(row.words) and not degree_score(row.words.partition(",")[0]):
        return False
    if dated or above > _MAX_DETAILS:
        return len(row.words) > 120 or row.words.endswith(".")
    return (
        bool(degree_score(row.words.partition(",")[0]))
        or following is None
        or not trailing_dates(following.words)
        or not has_school(row.words)
    )


def _is_school_detail(words: str) -> bool:
    """True if the words begin with the label of a grade or of activities: "Grade: 1.3"."""
    label, colon, _ = fold(words).partition(":")
    return bool(colon) and label.startswith(_SCHOOL_DETAILS)


def _school(rows: Sequence[Row]) -> LinkedInEntry:
    span = rows[0].start, rows[-1].end
    years = next((dates for row in rows[: 1 + _MAX_DETAILS] if (dates := trailing_dates(row.words))), None)
    words = [without_dates(row.words) for row in rows[: 1 + _MAX_DETAILS] if not _is_school_detail(row.words)]
    name, *details = words or [""]
    studied = ""
    for part in filter(None, details):  # a study that goes on in the next line, or its subject
        is_wrapped = part[0].islower() or studied.endswith(",") or studied.rpartition(" ")[2].islower()
        studied = f"{studied}{' ' if is_wrapped else ', '}{part}" if studied else part
    return school_entry(span, name, studied, years)


def trailing_dates(words: str) -> DateRange | None:
    """The dates at the end of a row: in brackets, after a dot or a comma, or alone."""
    ranges = date_ranges(words)
    if not ranges:
        return None
    last = ranges[-1]
    rest = words[last.end :]
    for start, end in durations(rest):
        rest = rest[:start] + rest[end:]
    before = words[: last.start].rstrip()
    return last if not rest.strip(_EDGES) and (not before or before[-1] in "(·,–-|") else None


def without_dates(words: str) -> str:
    """The words without the dates at their end."""
    dates = trailing_dates(words)
    return (words[: dates.start] if dates else words).rstrip(" \t·•|,;:–—-(").strip()


def person(section: ProfileSection, text: str) -> list[LinkedInEntry]:
    """The person: name, headline and place below each other, or the addresses of the contact column."""
    rows = [row for row in (section.title, *section.rows) if row and (section.name == "person" or row != section.title)]
    if not rows:
        return []
    span = rows[0].start, rows[-1].end
    passage = text[slice(*span)]
    name = headline = location = ""
    if section.name == "person":
        about = [row for row in map(_without_addresses, rows[1:]) if row.words][:3]
        told = (one.name for row in rows if (one := self_introduction(text, row.start, row.end)))
        name = rows[0].words if could_be_name(without_pronouns(rows[0].words)) else next(told, "")
        location = location_of(about[-1]) if about else ""
        headline = " ".join(row.words for row in about[: -1 if location else None])
    facts = PersonFacts(
        span=span,
        name=name[:100],
        headline=headline[:400],
        location=location,
        email=email_in(passage),
        phone=phone_in(passage),
        links=_links(passage),
        pronouns=pronouns_in(passage),
    )
    return [LinkedInEntry(*span, facts)]


def _without_addresses(row: Row) -> Row:
    """The row without e-mail addresses and pronouns; empty if it is a link."""
    words = without_emails(row.words).strip()
    is_other = begins_address(words) or "linkedin.com/" in words or not without_pronouns(words)
    return replace(row, words="" if is_other else words)


def _links(passage: str) -> tuple[str, ...]:
    """The links in order; a profile link that is cut by a line end is joined."""
    found: dict[str, None] = {}
    for start, end in link_spans(passage):
        rest, *label = passage[end:].split(maxsplit=2)[:2] or [""]
        is_cut = (
            "linkedin." in passage[start:end] and label == ["(LinkedIn)"] and not any(sign in rest for sign in "()@.")
        )
        found[passage[start:end] + (rest if is_cut else "")] = None
    return tuple(found)


def skills(section: ProfileSection, text: str) -> list[LinkedInEntry]:
    """The list of skills as one entry."""
    named: list[str] = []
    for row in section.rows:
        parts = row.words.replace(" • ", " · ").replace(" | ", " · ").split(" · ")
        if len(section.rows) == 1 and len(parts) == 1 and row.words.count(",") > 1:
            parts = row.words.split(",")
        named += [part.strip(" ,;") for part in parts]
    kept = tuple(dict.fromkeys(name for name in named if name and len(name) <= 80))
    if not kept:
        return []
    span = section.rows[0].start, section.rows[-1].end
    return [
        LinkedInEntry(*span, SkillsFacts(span=span, skills=kept, group=section.title.words if section.title else ""))
    ]


def languages(section: ProfileSection, text: str) -> list[LinkedInEntry]:
    """The languages in order, each with its level from brackets, beside it, or from the line below."""
    found: list[LinkedInEntry] = []
    for row in section.rows:
        levelled = list(_levelled(text, row.start, row.end)) or _with_level_beside(text, row)
        found += [LinkedInEntry(*facts.span, facts) for facts in levelled]
        if levelled:
            continue
        level = row.words.strip("() ")
        last = found[-1].record if found else None
        is_language = not spoken_languages().isdisjoint(tokens(level))
        if isinstance(last, LanguageFacts) and not last.level and not (is_language and level == row.words):
            span = last.span[0], row.end
            found[-1] = LinkedInEntry(*span, last.model_copy(update={"level": level, "span": span}))
        elif len(level) <= 40:
            found.append(LinkedInEntry(row.start, row.end, LanguageFacts(span=(row.start, row.end), language=level)))
    return found


def _levelled(text: str, start: int, end: int) -> Iterator[LanguageFacts]:
    """The languages with a level in brackets behind them: "German (Native), English (Fluent)"."""
    while (opened := text.find("(", start, end)) >= 0 and (closed := text.find(")", opened, end)) >= 0:
        language = text[start:opened].rpartition("\n")[2].strip(" \t,·)")
        first = text.find(language, start)
        if language:
            yield LanguageFacts(span=(first, closed + 1), language=language, level=text[opened + 1 : closed].strip())
        start = closed + 1


def _with_level_beside(text: str, row: Row) -> list[LanguageFacts]:
    """The language of a row whose other words are its level: "English · Native", "English  Full proficiency"."""
    words = text[row.start : row.end].split()
    at = next((at for at, word in enumerate(words) if not any(map(str.isalpha, word)) or fold(word) in LEVELS), 0)
    rest = [word for word in words[at:] if any(map(str.isalpha, word))]
    is_level = bool(rest) and any(fold(word) in LEVELS for word in rest)
    if not at or not is_level or spoken_languages().isdisjoint(map(fold, words[:at])):
        return []
    start = text.index(rest[0], row.start + len(words[0]))
    language, level = " ".join(words[:at]), " ".join(text[start : row.end].split())
    return [LanguageFacts(span=(row.start, row.end), language=language, level=level)]


def certificates(section: ProfileSection, text: str) -> list[LinkedInEntry]:
    """The certificates in order, one per line; a line with a licence or only dates belongs to the one above.

    If every line has a comma, the words after it are the issuer.
    """
    found: list[LinkedInEntry] = []
    listed = len(section.rows) > 1 and all(row.words.count(", ") == 1 for row in section.rows)
    for row in section.rows:
        last = found[-1].record if found else None
        years = trailing_dates(row.words)
        bare = years is not None and not without_dates(row.words)
        named, _, issued = row.words.partition(" · ")
        is_whole = _names_licence(issued) and not _names_licence(named.partition(" ")[0])  # "Diver · Issued Jan 2017"
        if isinstance(last, CertificationFacts) and not is_whole and (bare or _names_licence(row.words)):
            found[-1] = _with_issuer(last, row, text)
            continue
        span = row.start, row.end
        years = years or (next(iter(date_ranges(issued)), None) if is_whole else None)
        name, _, issuer = (named if is_whole else without_dates(row.words)).partition(", " if listed else "\n")
        record = CertificationFacts(span=span, name=name[:200], issuer=issuer[:200], **date_fields(years))
        found.append(LinkedInEntry(*span, record if name else None))
    return found


def _names_licence(words: str) -> bool:
    return not _LICENCES.isdisjoint(tokens(words))


def _with_issuer(record: CertificationFacts, row: Row, text: str) -> LinkedInEntry:
    """The certificate with the issuer and the dates of the line below it."""
    ranges = date_ranges(row.words)
    span = record.span[0], row.end
    line = text[row.start : row.end].replace(" · ", "  ").replace(" | ", "  ").replace(",", "  ")
    issuer = line.partition("  ")[0].strip()
    dates = date_fields(ranges[0] if ranges else None)
    named = not _names_licence(issuer) and not date_ranges(issuer)
    return LinkedInEntry(*span, record.model_copy(update={"span": span, "issuer": issuer if named else "", **dates}))


def summary(section: ProfileSection, text: str) -> list[LinkedInEntry]:
    """The person's summary, unless it is no prose."""
    span = (section.rows[0].start, section.rows[-1].end) if section.rows else (0, 0)
    facts = summary_of(text, *span)
    return [LinkedInEntry(*span, facts)] if facts else []


def projects(section: ProfileSection, text: str) -> list[LinkedInEntry]:
    """The projects in order, read as those of a resume."""
    entries = split_entries(dated_lines(text, section.lines)).entries
    return [LinkedInEntry(*record.span, record) for record in project_records(text, entries) if record]


READERS: dict[str, tuple[str, Reader]] = {
    "person": ("contact", person),
    "summary": ("summary", summary),
    "contact": ("contact", person),
    "education": ("education", schools),
    "top_skills": ("skills", skills),
    "skills": ("skills", skills),
    "languages": ("language", languages),
    "certifications": ("certification", certificates),
    "projects": ("project", projects),
}
