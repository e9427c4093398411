"""Readers of a resume's sections: the pieces of each, with the records that they state."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from pipelines.facts import (
    CareerRecord,
    CertificationFacts,
    EducationFacts,
    LanguageFacts,
    PersonFacts,
    ProjectFacts,
    SkillsFacts,
    TalkFacts,
)
from pipelines.ingestion.parsers.careers.dates import date_ranges
from pipelines.ingestion.parsers.careers.people import pronouns_in, summary_of, without_pronouns
from pipelines.ingestion.parsers.careers.places import place_score
from pipelines.ingestion.parsers.careers.records import date_fields, end_year
from pipelines.ingestion.parsers.careers.talks import names_talks, talk_items
from pipelines.ingestion.parsers.careers.vocabulary import LEVELS, company_score, language_names, title_score
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.resume.education import education_records
from pipelines.ingestion.parsers.resume.entries import (
    PiecesByPart,
    ResumeEntry,
    entries_by_part,
    leading_pieces,
    parts_of_section,
    split_entries,
    supported_facts,
)
from pipelines.ingestion.parsers.resume.jobs import read_experience
from pipelines.ingestion.parsers.resume.lines import (
    DatedLine,
    ResumeLine,
    dated_lines,
    is_rule,
    list_items_as_text,
    segments,
    words_of,
)
from pipelines.ingestion.parsers.resume.sections import SectionPart
from pipelines.ingestion.parsers.technologies import technologies_in, topic_terms
from pipelines.structure import sentences
from pipelines.text import fold, plain

_KINDS = {"languages": "language", "skills": "skills", "top_skills": "skills"}
_MAX_NAME = 200
_ISSUER = re.compile(r"([^,]{3,}?)(?:,\s+|\s+[–—-]\s+)([^,]{2,60})")

_LANGUAGE_DOTS = re.compile(r"[●○◉◯⬤★☆■□▮▯•·]{2,}|\b\d{1,3}\s?%|\b\d\s?/\s?\d{1,2}\b")
_MAX_LANGUAGE_LEVEL = 60

_MAX_SKILL_WORDS = 7
_MAX_ITEM_WORDS = 4
_SKILL_SEPARATOR = re.compile(r"[,;|\t\n•·∙●⋅▪◦‖¦]|\s/\s|\s{3,}|\s[–—-]\s|<br\s?/?>")
_SKILL_LIST = re.compile(r"[,;•·]\s")
_SKILL_GROUP = re.compile(r"[*_]{0,3}([^\W_][^:：|\t,;•]{0,50}?)[*_]{0,3}\s?[:：][*_]{0,3}\s*(?=\S)")
_BOLD_GROUP = re.compile(r"(?:\*\*|__)([^*_:|,;]{2,50}):?(?:\*\*|__):?\s+(?=[^\s*_|])")
_SKILL_LEVEL = re.compile(r"[●○◉◯⬤★☆✩✪■□▮▯▰▱█░]{2,}|[•·]{3,}|\(?\b\d{1,3}\s?%\)?|\b\d{1,2}\s?/\s?(?:5|10)\b")
_SKILL_ASIDE = re.compile(r"\s*\(([^()]{1,40})\)$")
_YEARS = re.compile(r"\d{1,2}\+?\s?(?:years?|yrs?|jahre?n?|ans?|años?|anos?|anni|anno)\b.*", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|und|et|y|e|&)\s+")
_LEADING_AND = re.compile(r"^(?:and|und|et|y|e|&)\s+", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?]$")
_CELL = re.compile(r"\s*\|\s*")

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_PHONE = re.compile(r"(?<![\w/.])\(?\+?\(?\d[\d ()./-]{6,20}\d(?!\w)")
_LINK = re.compile(
    r"(?<![@\w.-])(?:https?://)?(?:www\.)?[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.[a-z]{2,10}(?:/[^\s()|,;]{0,300})?(?![\w@])",
    re.IGNORECASE,
)
_CONTACT_LABEL = re.compile(
    r"(?:(?:full )?name|address|location|phone|tel|telephone|mobile|e-?mail|adresse|anschrift|wohnort|telefon|ort|nom"
    r"|nombre|nome|ubicación|dirección|teléfono|indirizzo|morada|linkedin|github|website)\s?[:：]\s+",
    re.IGNORECASE,
)
_DASH = re.compile(r"\s+[–—-]\s+")
_NAME = re.compile(r"[^\W\d_][\w.'’-]*\.?(?:,?\s+(?:[^\W\d_][\w.'’-]*\.?|\([^\W\d_]+\))){1,5}")
_DOCUMENT_TITLES = frozenset(map(fold, ("resume", "cv", "curriculum vitae", "lebenslauf", "currículo", "curriculum")))
_MAX_PERSON_NAME = 60
_MAX_HEADLINE = 200
_FIRST_LINES = 15
_NAME_LINES = 5
_MAX_PHONE = 15  # digits, as in E.164
_MIN_SENTENCE, _MIN_TAGLINE = 7, 3  # words


def read_text(text: str, part: SectionPart) -> Piece:
    """One piece for all lines of the part, with its skills or languages if it lists such."""
    start, end = part.lines[0].start, part.lines[-1].end
    records: Sequence[CareerRecord] = ()
    if part.section in ("skills", "top_skills"):
        records = skill_facts(text, part.lines)
    elif part.section == "languages":
        records = language_facts(text, start, end)
    kind = _KINDS.get(part.section, "text")
    return Piece(start, end, part.path, kind, supported_facts(text, records, start, end))


def read_summary(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """The pieces of the summary parts; the first that is prose has the summary."""
    found: PiecesByPart = {}
    summary = None
    for number, part in parts_of_section(parts, "summary"):
        start, end = part.lines[0].start, part.lines[-1].end
        known, summary = summary, summary or summary_of(text, start, end)
        facts = supported_facts(text, [summary] if summary and not known else [], start, end)
        found[number] = [Piece(start, end, part.path, "summary", facts)]
    return found


def read_talks(text: str, parts: Sequence[SectionPart], section: str) -> PiecesByPart:
    """One piece per part, with the talks that it lists; of other works ("Publications and talks") only the talks."""
    found: PiecesByPart = {}
    title = ""
    for number, part in parts_of_section(parts, section):
        title = part.title or title
        start, end = part.lines[0].start, part.lines[-1].end
        mixed = section != "talks"
        talks: Sequence[TalkFacts] = ()
        if not mixed or names_talks(title):
            talks = talk_items(text, _talk_spans(text, part.lines), mixed=mixed)
        found[number] = [Piece(start, end, part.path, "text", supported_facts(text, talks, start, end))]
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
    if len(items) > 1 and not len(items) % 2:
        with_date = [bool(date_ranges(text[slice(*item)])) for item in items]
        if not any(with_date[::2]) and all(with_date[1::2]):  # the event and date below each title
            return [(one[0], other[1]) for one, other in zip(items[::2], items[1::2], strict=True)]
    return items


def read_contact(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """The pieces of the contact parts: the person's name, headline, location and addresses.

    A sentence there is the summary, if the resume has no section for it.
    """
    found: PiecesByPart = {}
    named = False
    prose = None if any(part.section == "summary" for part in parts) else _first_prose(text, parts)
    for number, part in parts_of_section(parts, "contact"):
        lines = (part.heading, *part.lines) if part.heading and not part.title else part.lines
        start, end = lines[0].start, lines[-1].end
        record = person_facts(text, lines, named=not named, titled=not part.title)
        named = named or bool(record and record.name)
        summary = summary_of(text, prose.body, prose.end) if prose in part.lines and prose else None
        facts = supported_facts(text, [each for each in (record, summary) if each], start, end)
        found[number] = [Piece(start, end, part.path, "contact", facts)]
    return found


def _first_prose(text: str, parts: Sequence[SectionPart]) -> ResumeLine | None:
    """The first line of a contact part that is a sentence; None if there is none."""
    for _, part in parts_of_section(parts, "contact"):
        for line in part.lines:
            words = text[line.body : line.end]
            is_sentence = len(words.split()) >= _MIN_SENTENCE and _SENTENCE_END.search(words) is not None
            if line.kind == "text" and is_sentence and not _EMAIL.search(words):
                return line
    return None


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


def _projects(text: str, entries: Sequence[ResumeEntry]) -> list[ProjectFacts | None]:
    return [_project(text, entry) for entry in entries]


def read_projects(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """A piece for each project; one for a part that lists them in a row: "kelp (a map server), tide (an almanac)"."""
    found = _read_entries(text, parts, "projects", "project", _projects)
    for number, part in parts_of_section(parts, "projects"):
        start, end = part.lines[0].start, part.lines[-1].end
        listed = [record for line in part.lines for record in _projects_in_row(text, line)]
        if len(listed) > 1 and all(line.kind in ("text", "more") for line in part.lines):
            found[number] = [Piece(start, end, part.path, "project", supported_facts(text, listed, start, end))]
    return found


def _projects_in_row(text: str, line: ResumeLine) -> Iterator[ProjectFacts]:
    """The projects of a line, each a name with words in brackets, between commas or "and"."""
    at = line.body
    for item in _split_outside_brackets(text[line.body : line.end].replace(" and ", " ,   ")):
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
    bullets = tuple(words_of(text[body:end]) for body, end in _bullets(entry))
    words = " ".join(plain(text[entry.start : entry.end]).split())
    link = next((match[0] for match in _LINK.finditer(_EMAIL.sub(" ", words)) if "/" in match[0]), "")
    return ProjectFacts(
        span=(entry.start, entry.end),
        name=name[:_MAX_NAME],
        purpose=_purpose(text, entry, name) or (bullets[0] if bullets else ""),
        languages=technologies_in(words),
        topics=topic_terms(words),
        link=link.rstrip(".,;/"),
        bullets=bullets,
        **date_fields(entry.dated),
    )


def _bullets(entry: ResumeEntry) -> Iterator[tuple[int, int]]:
    """The spans of the entry's list items, each with the lines that continue it."""
    opened: tuple[int, int] | None = None
    for one in (*entry.head, *entry.after, *entry.body):
        if one.line.kind == "bullet":
            if opened:
                yield opened
            opened = one.line.body, one.line.end
        elif opened and one.line.kind == "more":
            opened = opened[0], one.line.end
    if opened:
        yield opened


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
        if is_prose and len(words.split()) > _MIN_TAGLINE and not _LINK.fullmatch(words):
            start, end = next(iter(sentences(raw)), (0, len(raw)))
            return " ".join(plain(raw[start:end]).split())
    return ""


def read_certifications(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """One piece per part, with a record for each certificate: separated by dates, or one per line."""
    found: PiecesByPart = {}
    for number, part in parts_of_section(parts, "certifications"):
        start, end = part.lines[0].start, part.lines[-1].end
        lines = dated_lines(text, list_items_as_text(part.lines))
        entries = list(_one_per_line(text, lines)) if _is_one_per_line(text, lines) else split_entries(lines).entries
        records = [record for entry in entries if (record := _certificate(text, entry))]
        found[number] = [Piece(start, end, part.path, "certification", supported_facts(text, records, start, end))]
    return found


def _is_one_per_line(text: str, lines: Sequence[DatedLine]) -> bool:
    """True if each line is a certificate: none has its date or its issuer on a line of its own."""
    dated = [line for line in lines if line.anchor]
    if any(line.anchor == "alone" for line in dated):
        return False
    paired = 2 * len(dated) == len(lines)
    return not paired or any(len(one.parts) > 1 or "," in text[one.line.start : one.line.end] for one in dated)


def _one_per_line(text: str, lines: Sequence[DatedLine]) -> Iterator[ResumeEntry]:
    """An entry for each line; in a narrow column, a single word after "Name, First" continues the line above."""
    entry: list[DatedLine] = []
    for line in lines:
        words = text[line.line.body : line.line.end]
        if entry and (" " in words or "," not in text[entry[-1].line.start : entry[-1].line.end]):
            yield ResumeEntry(tuple(entry), (), (), entry[0].dated)
            entry = []
        entry.append(line)
    if entry:
        yield ResumeEntry(tuple(entry), (), (), entry[0].dated)


def _certificate(text: str, entry: ResumeEntry) -> CertificationFacts | None:
    names = [part.words for line in (*entry.head, *entry.after) for part in line.parts]
    name = names[0] if names else _first_words(text, entry)
    if not name:
        return None
    issuer = names[1][:_MAX_NAME] if len(names) > 1 else ""
    if " " not in issuer and (match := _ISSUER.fullmatch(name)):
        name, issuer = match[1], f"{match[2]} {issuer}".rstrip()
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


def language_facts(text: str, start: int, end: int) -> list[LanguageFacts]:
    """The languages of `text[start:end]` in order, each once; its level is the words up to the next language."""
    names = [(start + first, start + last) for first, last in language_names(text[start:end])]
    found: dict[str, LanguageFacts] = {}
    for (first, last), (following, _) in pairwise([*names, (end, end)]):
        language = text[first:last]
        if language in found:
            continue
        near = following - last <= 3 * _MAX_LANGUAGE_LEVEL
        level = words_of(_LANGUAGE_DOTS.sub(" ", text[last:following])) if near else ""
        level = level.removesuffix(" and").strip()
        level = level.strip("()[] ") if level.count("(") != level.count(")") or level.startswith("(") else level
        if level and level in " ".join(text[last:following].split()) and len(level) <= _MAX_LANGUAGE_LEVEL:
            found[language] = LanguageFacts(language=language, level=level, span=(first, following))
        else:
            found[language] = LanguageFacts(language=language, span=(first, last))
    return list(found.values())


def skill_facts(text: str, lines: Sequence[ResumeLine]) -> list[SkillsFacts]:
    """The skills of the lines in order, one record per group; consecutive lines without a group name are one group."""
    return [
        SkillsFacts(skills=tuple(skills), group=group, span=span) for group, skills, span in _skill_groups(text, lines)
    ]


def _skill_groups(text: str, lines: Sequence[ResumeLine]) -> Iterator[tuple[str, Iterable[str], tuple[int, int]]]:
    """Yield (group name, skills, span); unnamed lines join the group before, a name without skills is a skill."""
    group, found, span = "", dict[str, None](), (0, 0)
    lines = [line for line in lines if not is_rule(text, line)]
    for line, (name, skills) in zip(lines, _names_and_skills(text, lines), strict=True):
        if name:
            if found or group:
                yield (group, found, span) if found else ("", [group], span)
            group, found, span = name, {}, (line.start, line.end)
        if any(skill not in found for skill in skills):
            span = (span[0] if found or group else line.start), line.end
        found |= dict.fromkeys(skills)
    if found or group:
        yield (group, found, span) if found else ("", [group], span)


def _names_and_skills(text: str, lines: Sequence[ResumeLine]) -> list[tuple[str, list[str]]]:
    """The group name and the skills of each line; headings are names, and so are single words and lists in turn."""
    paired = any(_is_pair(_cells(text, line)) for line in lines)
    read = [_group_and_skills(text, line, paired) for line in lines]
    counts = [0 if name else len(skills) for name, skills in read]
    in_turn = len(counts) > 3 and set(counts[::2]) == {1} and min(counts[1::2]) > 1
    return [
        (words_of(text[line.body : line.end]).rstrip(":"), [])
        if not name and (line.kind == "heading" or (in_turn and not number % 2))
        else (name, skills)
        for number, (line, (name, skills)) in enumerate(zip(lines, read, strict=True))
    ]


def _cells(text: str, line: ResumeLine) -> list[str]:
    """The cells of a table row, or of a line with tabs."""
    raw = text[line.body : line.end]
    return [cell for cell in (_CELL.split(raw) if line.kind == "row" else raw.split("\t")) if cell.strip()]


def _is_pair(cells: Sequence[str]) -> bool:
    """True if the cells are a group name and a list."""
    return len(cells) == 2 and _SKILL_LIST.search(cells[1]) is not None and not _SKILL_LIST.search(cells[0])


def _group_and_skills(text: str, line: ResumeLine, paired: bool) -> tuple[str, list[str]]:
    """The group name and the skills of a line; if `paired`, a line of two cells has one in each."""
    raw = text[line.body : line.end]
    cells = _cells(text, line)
    if paired and len(cells) == 2:
        return words_of(cells[0]).rstrip(":"), list(_skills(cells[1]))
    match = _BOLD_GROUP.match(raw) or _SKILL_GROUP.match(raw)
    if match and len(match[1].split()) <= 5:
        return words_of(match[1]), list(_skills(raw[match.end() :]))
    if raw.rstrip("*_ ").endswith(":") and len(raw.split()) <= 5:
        return words_of(raw).rstrip(":"), []
    return "", list(_skills(raw))


def _skills(raw: str) -> Iterator[str]:
    items = [item for item in _split_outside_brackets(_SKILL_LEVEL.sub("\t", raw)) if item.strip()]
    if items and _SENTENCE_END.search(items[-1].strip()) and len(raw.split()) > _MAX_ITEM_WORDS * len(items):
        return  # a sentence
    for number, item in enumerate(items):
        last = number == len(items) - 1 and number > 0
        for part in _split_last_item(item) if last else [item]:
            skill = _clean_skill(part)
            if skill and len(skill.split()) <= _MAX_SKILL_WORDS and not _is_level(skill):
                yield skill


def _split_outside_brackets(raw: str) -> Iterator[str]:
    """The items between separators that are outside brackets."""
    opened = done = 0
    depth = 0
    cuts = {match.start(): match.end() for match in _SKILL_SEPARATOR.finditer(raw)}
    for place, char in enumerate(raw):
        depth = max(0, depth + (char == "(") - (char == ")"))
        if place in cuts and place >= done and (depth == 0 or char in "\n\t"):
            yield raw[opened:place]
            opened = done = cuts[place]
            depth = 0
    yield raw[opened:]


def _split_last_item(item: str) -> list[str]:
    """The last item of a list; "Go and Rust" is two."""
    item = _LEADING_AND.sub("", item.strip())
    sides = _AND.split(item)
    return (
        sides if len(sides) == 2 and all(0 < len(side.split()) <= 2 for side in sides) and "&" not in item else [item]
    )


def _clean_skill(item: str) -> str:
    skill = words_of(item).rstrip(".")
    aside = _SKILL_ASIDE.search(skill)
    if aside and (_is_level(aside[1]) or _YEARS.fullmatch(aside[1])):
        skill = skill[: aside.start()].rstrip()
    return skill if any(map(str.isalnum, skill)) and not _YEARS.fullmatch(skill) else ""


def _is_level(words: str) -> bool:
    found = [word.strip(".,()") for word in fold(words).replace("-", " ").split()]
    return bool(found) and all(word in LEVELS for word in found)


def person_facts(text: str, lines: Sequence[ResumeLine], *, named: bool, titled: bool) -> PersonFacts | None:
    """The person that the lines describe; None if they hold no name, address, phone number or link.

    Args:
        text: The document's text.
        lines: The lines before the first section, or those of a contact section.
        named: True to look for a name.
        titled: True for the lines before the first section, where the first line is the name whatever its shape.
    """
    start, end = lines[0].start, lines[-1].end
    passage = text[start:end]
    email = _EMAIL.search(passage)
    links = tuple(dict.fromkeys(match[0].rstrip(".,;/") for match in _LINK.finditer(_EMAIL.sub(" ", passage))))
    name, headline = _name_and_headline(text, lines, links, titled) if named else ("", "")
    facts = PersonFacts(
        span=(start, end),
        name=name,
        headline=headline,
        location=_location(text, lines[:_FIRST_LINES], name),
        pronouns=pronouns_in(passage),
        email=email[0].rstrip(".") if email else "",
        phone=_phone(passage),
        links=links,
    )
    return facts if facts.name or facts.email or facts.phone or facts.links else None


def _phone(passage: str) -> str:
    """The first phone number that is not a date."""
    for match in _PHONE.finditer(passage):
        digits = sum(map(str.isdigit, match[0]))
        if 7 <= digits <= _MAX_PHONE and not (digits <= 8 and date_ranges(match[0])):
            return match[0].strip()
    return ""


def _name_and_headline(text: str, lines: Sequence[ResumeLine], links: Sequence[str], titled: bool) -> tuple[str, str]:
    """The name (a heading if there is one, no position if there is a name) and the headline below, beside or above."""
    known = " ".join(links).casefold()
    phrases = {line: found for line in lines if (found := _name_phrases(text, line, known))}
    first = next((line for line in phrases if line.kind == "heading"), next(iter(phrases), None))
    if first is None:
        return "", ""
    position = phrases[first][0] if title_score(phrases[first][0]) else ""
    near = [line for line in list(phrases)[:_NAME_LINES] if line != first and position]
    chosen = next((line for line in near if _is_name(without_pronouns(phrases[line][0]))), first)
    name, *beside = phrases[chosen]
    name = without_pronouns(name)
    if not name or len(name) > _MAX_PERSON_NAME or any(map(str.isdigit, name)) or not (titled or _is_name(name)):
        return "", ""
    headline = next(iter(beside), position if chosen != first else "")
    below = next((line for line in phrases if line.start > chosen.start and fold(phrases[line][0]) != fold(name)), None)
    if not headline and below:
        is_whole = len(phrases[below]) == len(_phrases(text, below))
        headline = words_of(text[below.body : below.end]) if is_whole else phrases[below][0]
    is_headline = titled and len(headline) <= _MAX_HEADLINE and not any(map(str.isdigit, headline))
    return name, headline if is_headline else ""


def _is_name(words: str) -> bool:
    """True if the words look like a person: two to six with capitals, no company, no position."""
    shaped = _NAME.fullmatch(words) is not None and all(word[:1].isupper() for word in words.split() if len(word) > 3)
    return shaped and not title_score(words) and not company_score(words)


def _name_phrases(text: str, line: ResumeLine, known: str) -> list[str]:
    """The phrases of a line that are not an address, a date, a place or the document's title."""
    return [
        words
        for words in _phrases(text, line)
        if fold(words) not in _DOCUMENT_TITLES
        and words.casefold() not in known
        and not words.startswith("@")
        and not date_ranges(words)
        and not (_EMAIL.search(words) or _phone(words) or _LINK.fullmatch(words) or _is_home(words))
        and without_pronouns(words)
    ]


def _phrases(text: str, line: ResumeLine) -> list[str]:
    found = [_CONTACT_LABEL.sub("", part.words, count=1) for part in segments(text, line.body, line.end)]
    return [words for part in found for words in map(words_of, _DASH.split(part)) if words]


def _is_home(words: str) -> bool:
    """True for a place, also one that begins with an unknown district, and is no position or company."""
    if place_score(words) >= 2:
        return True
    return place_score(words) == 1 and "," in words and not title_score(words) and not company_score(words)


def _location(text: str, lines: Sequence[ResumeLine], name: str) -> str:
    """The first phrase that is a place, else the place before an address for mail, else the end of a postal address."""
    phrases = [words for line in lines for words in _phrases(text, line) if words != name]
    before = [words_of(pattern.sub("\t", words).partition("\t")[0]) for words in phrases for pattern in (_EMAIL, _LINK)]
    found = next((words for words in (*phrases, *before) if words != name and _is_home(words)), "")
    ends = (words_of(words[at + 1 :]) for words in phrases for at, sign in enumerate(words) if sign == ",")
    return found or next((words for words in ends if place_score(words) >= 2), "")


READERS: dict[str, Callable[[str, Sequence[SectionPart]], PiecesByPart]] = {
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
