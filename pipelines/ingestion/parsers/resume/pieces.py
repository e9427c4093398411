"""The pieces of each section of a resume, with what they state."""

import re
from collections.abc import Callable, Iterator, Sequence

from pipelines.facts import CareerRecord, CertificationFacts, EducationFacts, ProjectFacts
from pipelines.ingestion.parsers.career.languages import language_facts
from pipelines.ingestion.parsers.career.skills import skill_facts
from pipelines.ingestion.parsers.cuts import Piece
from pipelines.ingestion.parsers.resume.entries import Entry, split_entries
from pipelines.ingestion.parsers.resume.entry_pieces import (
    Read,
    dates_of,
    facts_in,
    leading,
    parts_in,
    path_of,
    splits_of,
    year_of,
)
from pipelines.ingestion.parsers.resume.job_pieces import read_experience
from pipelines.ingestion.parsers.resume.lines import words_of
from pipelines.ingestion.parsers.resume.marks import Marked, listed_as_text, marked_lines
from pipelines.ingestion.parsers.resume.parts import Part
from pipelines.ingestion.parsers.resume.person import person_facts
from pipelines.ingestion.parsers.resume.studies import read_studies

_KINDS = {"summary": "summary", "languages": "language", "skills": "skills", "top_skills": "skills"}
_MAX_NAME = 200
_ISSUER = re.compile(r"([^,]{3,}?)(?:,\s+|\s+[–—-]\s+)([^,]{2,60})")


def read_text(text: str, part: Part) -> Iterator[Piece]:
    """One piece for all lines of the part, with the records that its section holds."""
    start, end = part.lines[0].start, part.lines[-1].end
    records: Sequence[CareerRecord] = ()
    if part.section in ("skills", "top_skills"):
        records = skill_facts(text, part.lines)
    elif part.section == "languages":
        records = language_facts(text, start, end)
    kind = _KINDS.get(part.section, "text")
    yield Piece(start, end, path_of(part), kind, facts_in(text, records, start, end))


def read_contact(text: str, parts: Sequence[Part]) -> Read:
    """The pieces of what says who the person is: name, headline, place, addresses."""
    found: Read = {}
    named = False
    for number, part in parts_in(parts, "contact"):
        start, end = part.lines[0].start, part.lines[-1].end
        record = person_facts(text, part.lines, named=not named, titled=not part.title)
        named = named or bool(record and record.name)
        facts = facts_in(text, [record] if record else [], start, end)
        found[number] = [Piece(start, end, path_of(part), "contact", facts)]
    return found


def read_education(text: str, parts: Sequence[Part]) -> Read:
    """A piece for each study, in order."""
    splits = splits_of(text, parts, "education")
    studies = iter(read_studies([entry for split in splits.values() for entry in split.entries]))
    found: Read = {}
    for number, split in splits.items():
        made = leading(split, parts[number], "", "education")
        for entry in split.entries:
            study, span = next(studies), (entry.start, entry.end)
            record = EducationFacts(
                span=span,
                institution=study.institution[:_MAX_NAME],
                degree=study.degree[:_MAX_NAME],
                area=study.area[:_MAX_NAME],
                location=study.location,
                **dates_of(entry.dated),
            )
            facts = facts_in(text, [record], *span)
            made.append(Piece(*span, path_of(parts[number]), "education", facts, year_of(entry.dated)))
        found[number] = made
    return found


def read_projects(text: str, parts: Sequence[Part]) -> Read:
    """A piece for each project, in order."""
    return _read_named(text, parts, "projects", "project", _project)


def read_volunteering(text: str, parts: Sequence[Part]) -> Read:
    """A piece for each voluntary work; it is no job."""
    return _read_named(text, parts, "volunteering", "volunteering", lambda text, entry: None)


def read_certifications(text: str, parts: Sequence[Part]) -> Read:
    """One piece a section, with a record for each certificate: by their dates, else a line each."""
    found: Read = {}
    for number, part in parts_in(parts, "certifications"):
        start, end = part.lines[0].start, part.lines[-1].end
        marked = marked_lines(text, listed_as_text(part.lines))
        entries = list(_by_line(text, marked)) if _a_line_each(text, marked) else split_entries(marked).entries
        records = [record for entry in entries if (record := _certificate(text, entry))]
        found[number] = [Piece(start, end, path_of(part), "certification", facts_in(text, records, start, end))]
    return found


def _a_line_each(text: str, marked: Sequence[Marked]) -> bool:
    """Whether each line is a certificate: none has its date on a line of its own, nor its issuer below."""
    dated = [one for one in marked if one.anchor]
    if any(one.anchor == "alone" for one in dated):
        return False
    paired = 2 * len(dated) == len(marked)
    return not paired or any(len(one.parts) > 1 or "," in text[one.line.start : one.line.end] for one in dated)


def _by_line(text: str, marked: Sequence[Marked]) -> Iterator[Entry]:
    """An entry for each line; a single word after "Name, First" in a narrow column is the rest of that."""
    held: list[Marked] = []
    for one in marked:
        words = text[one.line.body : one.line.end]
        if held and (" " in words or "," not in text[held[-1].line.start : held[-1].line.end]):
            yield Entry(tuple(held), (), (), held[0].dated)
            held = []
        held.append(one)
    if held:
        yield Entry(tuple(held), (), (), held[0].dated)


def _read_named(
    text: str, parts: Sequence[Part], section: str, kind: str, record_of: Callable[[str, Entry], CareerRecord | None]
) -> Read:
    found: Read = {}
    for number, split in splits_of(text, parts, section).items():
        made = leading(split, parts[number], "", kind)
        for entry in split.entries:
            span = entry.start, entry.end
            record = record_of(text, entry)
            facts = facts_in(text, [record] if record else [], *span)
            made.append(Piece(*span, path_of(parts[number]), kind, facts, year_of(entry.dated)))
        found[number] = made
    return found


def _project(text: str, entry: Entry) -> ProjectFacts | None:
    name = _first_words(text, entry)
    return ProjectFacts(span=(entry.start, entry.end), name=name[:_MAX_NAME], **dates_of(entry.dated)) if name else None


def _certificate(text: str, entry: Entry) -> CertificationFacts | None:
    names = [part.words for one in (*entry.head, *entry.after) for part in one.parts]
    name = names[0] if names else _first_words(text, entry)
    if not name:
        return None
    span = entry.start, entry.end
    issuer = names[1][:_MAX_NAME] if len(names) > 1 else ""
    if " " not in issuer and (match := _ISSUER.fullmatch(name)):
        name, issuer = match[1], f"{match[2]} {issuer}".rstrip()
    return CertificationFacts(span=span, name=name[:_MAX_NAME], issuer=issuer, **dates_of(entry.dated))


def _first_words(text: str, entry: Entry) -> str:
    for one in (*entry.head, *entry.after, *entry.body):
        if one.parts:
            return one.parts[0].words
        words = words_of(text[one.line.body : one.line.end])
        if words and not one.dates:
            return words
    return ""


READERS: dict[str, Callable[[str, Sequence[Part]], Read]] = {
    "contact": read_contact,
    "experience": read_experience,
    "education": read_education,
    "projects": read_projects,
    "volunteering": read_volunteering,
    "certifications": read_certifications,
}
