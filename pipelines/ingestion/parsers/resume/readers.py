"""Readers of a resume's sections: the pieces of each, with the records that they state."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from pipelines.contacts import is_link, links_in
from pipelines.facts import CareerRecord, CertificationFacts, EducationFacts, ProjectFacts, TalkFacts
from pipelines.ingestion.parsers.careers.dates import date_ranges
from pipelines.ingestion.parsers.careers.people import summary_of
from pipelines.ingestion.parsers.careers.records import date_fields, end_year
from pipelines.ingestion.parsers.careers.separators import cuts
from pipelines.ingestion.parsers.careers.talks import names_talks, talk_items
from pipelines.ingestion.parsers.careers.vocabulary import has_title, is_level, tokens
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.resume.education import education_records
from pipelines.ingestion.parsers.resume.entries import (
    PiecesByPart,
    ResumeEntry,
    bullet_spans,
    entries_by_part,
    leading_pieces,
    parts_of_section,
    split_entries,
    supported_facts,
    whole_piece,
)
from pipelines.ingestion.parsers.resume.jobs import read_experience
from pipelines.ingestion.parsers.resume.lines import DatedLine, ResumeLine, dated_lines, list_items_as_text, words_of
from pipelines.ingestion.parsers.resume.person import read_contact
from pipelines.ingestion.parsers.resume.sections import SectionPart
from pipelines.ingestion.parsers.resume.skills import language_facts, skills_or_languages, split_outside_brackets
from pipelines.ingestion.parsers.technologies import technologies_in, topic_terms
from pipelines.ingestion.words import word_lists
from pipelines.structure import sentences
from pipelines.text import fold, plain

_KINDS = {"languages": "language", "skills": "skills", "top_skills": "skills"}
_MAX_NAME, _MAX_ISSUER = 200, 60
_LICENCES = frozenset(map(fold, word_lists("resume_labels")["licences"]))
_MIN_TAGLINE = 3  # words


def read_text(text: str, part: SectionPart) -> Piece:
    """One piece for all lines of the part, with its skills or languages if it lists such."""
    records: Sequence[CareerRecord] = ()
    if part.section in ("skills", "top_skills"):
        records = skills_or_languages(text, part.lines)
    elif part.section == "languages":
        records = language_facts(text, part.lines[0].start, part.lines[-1].end)
    return whole_piece(text, part.path, part.lines, _KINDS.get(part.section, "text"), records)


def read_summary(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """The pieces of the summary parts; the first that is prose has the summary."""
    found: PiecesByPart = {}
    summary = None
    for number, part in parts_of_section(parts, "summary"):
        known, summary = summary, summary or summary_of(text, part.lines[0].start, part.lines[-1].end)
        records = [summary] if summary and not known else []
        found[number] = [whole_piece(text, part.path, part.lines, "summary", records)]
    return found


def read_talks(text: str, parts: Sequence[SectionPart], section: str) -> PiecesByPart:
    """One piece per part, with the talks that it lists; of other works ("Publications and talks") only the talks."""
    found: PiecesByPart = {}
    title = ""
    for number, part in parts_of_section(parts, section):
        title = part.title or title
        mixed = section != "talks"
        talks: Sequence[TalkFacts] = ()
        if not mixed or names_talks(title):
            talks = talk_items(text, _talk_spans(text, part.lines), mixed=mixed)
        found[number] = [whole_piece(text, part.path, part.lines, "text", talks)]
    return found


def _talk_spans(text: str, lines: Sequence[ResumeLine]) -> list[tuple[int, int]]:
    """The spans of the entries of a list of talks.

    They are the naming lines of entries that list items describe; else a list item with its lines, or lines up to a
    date or an empty line.
    """
    dated_items = {line.kind == "bullet" for line in lines if date_ranges(text[line.start : line.end])}
    if dated_items == {False} and any(line.kind == "bullet" for line in lines):
        entries = split_entries(dated_lines(text, lines)).entries
        named = [[one.line for one in (*entry.head, *entry.after) if one.line.kind != "bullet"] for entry in entries]
        return [(min(line.body for line in part), max(line.end for line in part)) for part in named if part]
    items: list[tuple[int, int]] = []
    dated = True
    for line in lines:
        has_date = bool(date_ranges(text[line.start : line.end]))
        apart = bool(items) and "\n\n" in text[items[-1][1] : line.start]
        begins = line.kind != "more" and (
            line.kind == "bullet" or apart or (dated and has_date) or (dated and not has_date)
        )
        if not items or begins:
            items.append((line.body, line.end))
            dated = has_date
        else:
            items[-1] = items[-1][0], line.end
            dated = dated or has_date
    return items


def _read_entries(
    text: str,
    parts: Sequence[SectionPart],
    section: str,
    kind: str,
    records_of: Callable[[str, Sequence[ResumeEntry]], Sequence[CareerRecord | None]],
) -> PiecesByPart:
    """A piece for each entry of a section, in order, with its record."""
    by_part = entries_by_part(text, parts, section)
    records = iter(records_of(text, [entry for split in by_part.values() for entry in split.entries]))
    found: PiecesByPart = {}
    for number, split in by_part.items():
        found[number] = leading_pieces(split, parts[number], "", kind)
        for entry in split.entries:
            record = next(records)
            span = entry.start, entry.end
            school = record.institution if isinstance(record, EducationFacts) else ""
            lead = "" if school in text[slice(*span)] else school
            facts = supported_facts(text, [record] if record else [], *span, lead)
            found[number].append(Piece(*span, parts[number].path, kind, facts, end_year(entry.dated), lead))
    return found


def read_projects(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """A piece for each project; one for a part that lists them in a row: "kelp (a map server), tide (an almanac)"."""
    found = _read_entries(
        text, parts, "projects", "project", lambda text, entries: [_project(text, each) for each in entries]
    )
    for number, part in parts_of_section(parts, "projects"):
        listed = [record for line in part.lines for record in _projects_in_row(text, line)]
        if len(listed) > 1 and all(line.kind in ("text", "more") for line in part.lines):
            found[number] = [whole_piece(text, part.path, part.lines, "project", listed)]
    return found


def _projects_in_row(text: str, line: ResumeLine) -> Iterator[ProjectFacts]:
    """The projects of a line, each a name with words in brackets, between commas or "and"."""
    at = line.body
    for item in split_outside_brackets(text[line.body : line.end].replace(" and ", " ,   ")):
        name, bracket, rest = item.partition("(")
        purpose, closed, after = rest.rpartition(")")
        bare, words = words_of(name), " ".join(purpose.split())
        is_date = any(one.end - one.start > len(words) // 2 for one in date_ranges(words))
        is_named = 0 < len(bare.split()) <= _MIN_TAGLINE and not is_date
        if bracket and closed and is_named and not after.strip(" .;,"):
            start = text.find(name.strip(), at, line.end)
            end = text.find(")", start + len(name), line.end) + 1
            yield ProjectFacts(
                span=(start, end),
                name=bare,
                purpose=words,
                languages=technologies_in(words),
                topics=topic_terms(words),
            )
            at = end


def _project(text: str, entry: ResumeEntry) -> ProjectFacts | None:
    name = _first_words(text, entry)
    if not name:
        return None
    bullets = tuple(words_of(text[slice(*span)]) for span in bullet_spans(text, entry))
    words = " ".join(plain(text[entry.start : entry.end]).split())
    return ProjectFacts(
        span=(entry.start, entry.end),
        name=name[:_MAX_NAME],
        purpose=_purpose(text, entry, name) or (bullets[0] if bullets else ""),
        languages=technologies_in(words),
        topics=topic_terms(words),
        link=next((link for link in links_in(words) if "/" in link), ""),
        bullets=bullets,
        **date_fields(entry.dated),
    )


def _purpose(text: str, entry: ResumeEntry, name: str) -> str:
    """The first sentence below a project's name that is no list item, or the words beside its name; may be empty."""
    for one in (*entry.head, *entry.after, *entry.body):
        raw = text[one.line.body : one.line.end]
        words = " ".join(plain(raw).split())
        for separator in (": ", " – ", " — ", " - "):
            beside = words.partition(f"{name}{separator}")[2]
            if len(beside.split()) > _MIN_TAGLINE:
                return beside
        is_prose = one.line.kind == "text" and name not in words and not one.dates
        if is_prose and len(words.split()) > _MIN_TAGLINE and not is_link(words):
            start, end = next(iter(sentences(raw)), (0, len(raw)))
            return " ".join(plain(raw[start:end]).split())
    return ""


def read_certifications(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """One piece per part, with a record for each certificate: separated by dates, or one per line."""
    found: PiecesByPart = {}
    for number, part in parts_of_section(parts, "certifications"):
        lines = dated_lines(text, list_items_as_text(part.lines))
        entries = list(_above_issuers(lines))
        if not entries:
            is_listed = _is_one_per_line(text, lines)
            entries = list(_one_per_line(text, lines) if is_listed else split_entries(lines).entries)
        records = [record for entry in entries if (record := _certificate(text, entry))]
        found[number] = [whole_piece(text, part.path, part.lines, "certification", records)]
    return found


def _above_issuers(lines: Sequence[DatedLine]) -> Iterator[ResumeEntry]:
    """An entry for every two lines without dates, if the first ones are headings of one level, and the others not."""
    levels = [one.line.level if one.line.kind == "heading" else 0 for one in lines]
    names, issuers = set(levels[::2]), set(levels[1::2])
    if len(lines) % 2 or len(names) != 1 or 0 in names or names & issuers or any(one.dates for one in lines):
        return
    for name, issuer in zip(lines[::2], lines[1::2], strict=True):
        yield ResumeEntry((name, issuer), (), ())


def _is_one_per_line(text: str, lines: Sequence[DatedLine]) -> bool:
    """True if each line is a certificate: none has its date or its issuer on a line of its own."""
    dated = [line for line in lines if line.anchor]
    if any(line.anchor == "alone" for line in dated):
        return False
    paired = 2 * len(dated) == len(lines)
    return not paired or any(len(one.parts) > 1 or "," in text[one.line.start : one.line.end] for one in dated)


def _one_per_line(text: str, lines: Sequence[DatedLine]) -> Iterator[ResumeEntry]:
    """An entry for each line; what a line says of a licence only, and a single word after "Name, First", goes on."""
    entry: list[DatedLine] = []
    for line in lines:
        words = text[line.line.body : line.line.end]
        if (
            entry
            and not _names_licence(words.partition("·")[0])
            and (" " in words or "," not in text[entry[-1].line.start : entry[-1].line.end])
        ):
            yield _of_lines(entry)
            entry = []
        entry.append(line)
    if entry:
        yield _of_lines(entry)


def _of_lines(lines: Sequence[DatedLine]) -> ResumeEntry:
    return ResumeEntry(tuple(lines), (), (), next((line.dated for line in lines if line.dated), None))


def _names_licence(words: str) -> bool:
    return not _LICENCES.isdisjoint(tokens(words))


def _certificate(text: str, entry: ResumeEntry) -> CertificationFacts | None:
    first, *others = [part.words for line in (*entry.head, *entry.after) for part in line.parts] or [""]
    name = first or _first_words(text, entry)
    if not name:
        return None
    issuer = next((words[:_MAX_NAME] for words in others if not _names_licence(words)), "")
    cut = next(iter(cuts(name, "," if "," in name else "-")), None)
    behind = name[cut.end :] if cut and name.count(",") < 2 and len(name) - cut.end <= _MAX_ISSUER else ""
    if cut and behind and " " not in issuer and not has_title(behind) and not is_level(behind):
        name, issuer = name[: cut.start], f"{behind} {issuer}".rstrip()
    span = entry.start, entry.end
    return CertificationFacts(span=span, name=name[:_MAX_NAME], issuer=issuer, **date_fields(entry.dated))


def _first_words(text: str, entry: ResumeEntry) -> str:
    for line in (*entry.head, *entry.after, *entry.body):
        if line.parts:
            return line.parts[0].words
        words = words_of(text[line.line.body : line.line.end])
        if words and not line.dates:
            return words
    return ""


Reader = Callable[[str, Sequence[SectionPart]], PiecesByPart]

READERS: dict[str, Reader] = {
    "contact": read_contact,
    "experience": read_experience,
    "education": partial(_read_entries, section="education", kind="education", records_of=education_records),
    "projects": read_projects,
    "volunteering": partial(
        _read_entries,
        section="volunteering",
        kind="volunteering",
        records_of=lambda text, entries: [None] * len(entries),
    ),
    "certifications": read_certifications,
    "summary": read_summary,
    "talks": partial(read_talks, section="talks"),
    "publications": partial(read_talks, section="publications"),
}
