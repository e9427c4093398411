"""Readers of a resume's sections: the pieces of each, with the records that they state."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from pipelines.contacts import email_in, is_link, links_in
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
from pipelines.ingestion.parsers.careers.dates import date_ranges, durations
from pipelines.ingestion.parsers.careers.people import (
    DOCUMENT_TITLES,
    could_be_name,
    is_addressed,
    is_name,
    phone_in,
    pronouns_in,
    self_introduction,
    summary_of,
    without_pronouns,
)
from pipelines.ingestion.parsers.careers.places import place_score
from pipelines.ingestion.parsers.careers.records import date_fields, end_year
from pipelines.ingestion.parsers.careers.separators import DASHES, cuts, split_aside, split_at
from pipelines.ingestion.parsers.careers.talks import names_talks, talk_items
from pipelines.ingestion.parsers.careers.vocabulary import (
    company_score,
    has_title,
    is_level,
    language_names,
    spoken_languages,
    title_score,
    tokens,
)
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
from pipelines.ingestion.words import word_lists
from pipelines.structure import sentences
from pipelines.text import fold, plain

_KINDS = {"languages": "language", "skills": "skills", "top_skills": "skills"}
_MAX_NAME, _MAX_ISSUER = 200, 60
# How well a skill or a language is known, as drawn or in figures: "●●●○", "80 %", "4/5".
_LEVEL_MARKS = re.compile(r"[●○◉◯⬤★☆✩✪■□▮▯▰▱█░]{2,}|[•·]{3,}|\(?\b\d{1,3}\s?%\)?|\b\d{1,2}\s?/\s?(?:5|10)\b")
_MAX_LANGUAGE_LEVEL = 60

_MAX_SKILL_WORDS = 7
_MAX_GROUP, _MAX_GROUP_WORDS = 50, 5
_MAX_ITEM_WORDS = 4
_PAIRED = (2, 3)  # cells of a row of skills: a name, a list, and perhaps a level
_ITEM_ENDS = frozenset(",;|\t\n•·∙●⋅▪◦‖¦")
_LIST_MARKS = ",;•·"
_AND = frozenset(("and", "und", "et", "y", "e", "&"))
_CONTACT_LABELS = frozenset(
    map(
        fold,
        (
            "name", "full name", "address", "location", "phone", "tel", "telephone", "mobile", "e-mail", "email",
            "adresse", "anschrift", "wohnort", "telefon", "ort", "nom", "nombre", "nome", "ubicación", "dirección",
            "teléfono", "indirizzo", "morada", "linkedin", "github", "website",
        ),
    )
)  # fmt: skip
_MAX_PERSON_NAME = 60
_MAX_HEADLINE = 200
_FIRST_LINES = 15
_NAME_LINES = 5
_SENTENCE_ENDS = (".", "!", "?")
_LICENCES = frozenset(map(fold, word_lists("resume_labels")["licences"]))
_MIN_SENTENCE, _MIN_TAGLINE = 7, 3  # words


def read_text(text: str, part: SectionPart) -> Piece:
    """One piece for all lines of the part, with its skills or languages if it lists such."""
    start, end = part.lines[0].start, part.lines[-1].end
    records: Sequence[CareerRecord] = ()
    if part.section in ("skills", "top_skills"):
        records = [record for found in skill_facts(text, part.lines) for record in _spoken_or(text, found)]
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
            is_sentence = len(words.split()) >= _MIN_SENTENCE and words.endswith(_SENTENCE_ENDS)
            if line.kind == "text" and is_sentence and not email_in(words):
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


def project_records(text: str, entries: Sequence[ResumeEntry]) -> list[ProjectFacts | None]:
    """The project of each entry, in order."""
    return [_project(text, entry) for entry in entries]


def read_projects(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """A piece for each project; one for a part that lists them in a row: "kelp (a map server), tide (an almanac)"."""
    found = _read_entries(text, parts, "projects", "project", project_records)
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
        start, end = part.lines[0].start, part.lines[-1].end
        lines = dated_lines(text, list_items_as_text(part.lines))
        entries = list(_above_issuers(lines))
        if not entries:
            is_listed = _is_one_per_line(text, lines)
            entries = list(_one_per_line(text, lines) if is_listed else split_entries(lines).entries)
        records = [record for entry in entries if (record := _certificate(text, entry))]
        found[number] = [Piece(start, end, part.path, "certification", supported_facts(text, records, start, end))]
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


def language_facts(text: str, start: int, end: int) -> list[LanguageFacts]:
    """The languages of `text[start:end]` in order, each once; its level is the words up to the next language."""
    names: list[tuple[int, int]] = []
    for first, last in ((start + one, start + other) for one, other in language_names(text[start:end])):
        if names and fold(text[names[-1][0] : last]) in spoken_languages():  # "Norwegian Bokmål"
            names[-1] = names[-1][0], last
        else:
            names.append((first, last))
    found: dict[str, LanguageFacts] = {}
    for (first, last), (following, _) in pairwise([*names, (end, end)]):
        language = text[first:last]
        if language in found:
            continue
        ends = (at for sign in (". ", ";") if (at := text.find(sign, last, following)) >= 0)
        until = next(ends, following)
        words = text[last:until]
        is_of_next = (
            until < end and words.lstrip().startswith(",") and words.count(",") == 1
        )  # "English, a bit of French"
        is_level = not is_of_next and until - last <= 3 * _MAX_LANGUAGE_LEVEL
        level = _language_level(words) if is_level else ""
        if level and level in " ".join(text[last:until].split()) and len(level) <= _MAX_LANGUAGE_LEVEL:
            found[language] = LanguageFacts(language=language, level=level, span=(first, until))
        else:
            found[language] = LanguageFacts(language=language, span=(first, last))
    return list(found.values())


def _language_level(words: str) -> str:
    """The words behind a language up to a comma outside brackets, without "and", signs and the brackets around them."""
    level = " ".join(part for part in words_of(_LEVEL_MARKS.sub(" ", words)).split() if any(map(str.isalnum, part)))
    if words.lstrip().startswith("(") and ")" in words:
        return words_of(_LEVEL_MARKS.sub(" ", words.partition(")")[0])).lstrip("( ")
    sides = (level.count("(", 0, at) - level.count(")", 0, at) for at in range(len(level)))
    level = level[: next((at for at, depth in enumerate(sides) if level[at] == "," and not depth), None)]
    parts = level.split()
    edges = slice(bool(parts) and parts[0] in _AND, -1 if len(parts) > 1 and parts[-1] in _AND else None)
    level = " ".join(parts[edges])
    return level.strip("()[] ") if level.count("(") != level.count(")") or level.startswith("(") else level


def _spoken_or(text: str, record: SkillsFacts) -> Sequence[CareerRecord]:
    """The languages of a list of skills most of whose items name one; else the list itself."""
    spoken = language_facts(text, *record.span)
    return spoken if len(spoken) > 1 and 2 * len(spoken) > len(record.skills) else [record]


def skill_facts(text: str, lines: Sequence[ResumeLine]) -> list[SkillsFacts]:
    """The skills of the lines in order, one record per group; consecutive lines without a group name are one group."""
    return [
        SkillsFacts(skills=tuple(skills), group=group, span=span) for group, skills, span in _skill_groups(text, lines)
    ]


def _skill_groups(text: str, lines: Sequence[ResumeLine]) -> Iterator[tuple[str, Iterable[str], tuple[int, int]]]:
    """Yield (group name, skills, span); unnamed lines join the group before, a name without skills is a skill."""
    group, found, span = "", dict[str, None](), (0, 0)
    heads = {line for line, below in pairwise(lines) if below.kind == "row" and is_rule(text, below)}
    lines = [line for line in lines if not is_rule(text, line) and not (line in heads and _is_head(_cells(text, line)))]
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
    return [cell for cell in raw.split("|" if line.kind == "row" else "\t") if cell.strip()]


def _is_pair(cells: Sequence[str]) -> bool:
    """True if the cells are a group name and a list, perhaps with a level behind."""
    return len(cells) in _PAIRED and _is_list(cells[1]) and not _is_list(cells[0])


def _is_head(cells: Sequence[str]) -> bool:
    """True for the names of three columns or more."""
    return len(cells) > min(_PAIRED) and not any(map(_is_list, cells))


def _is_list(words: str) -> bool:
    return any(sign in _LIST_MARKS and after.isspace() for sign, after in pairwise(words))


def _group_and_skills(text: str, line: ResumeLine, paired: bool) -> tuple[str, list[str]]:
    """The group name and the skills of a line; if `paired`, a line of two cells has one in each."""
    raw = text[line.body : line.end]
    cells = _cells(text, line)
    if paired and len(cells) in _PAIRED:
        return words_of(cells[0]).rstrip(":"), list(_skills(cells[1]))
    name, listed = _split_group(raw)
    if not name and line.breaks and len(text[line.body : line.breaks[0]].split()) <= _MAX_GROUP_WORDS:
        name, listed = text[line.body : line.breaks[0]], text[line.breaks[0] : line.end]
    if name and len(name.split()) <= _MAX_GROUP_WORDS:
        return words_of(name), list(_skills(listed))
    if raw.rstrip("*_ ").endswith(":") and len(raw.split()) <= _MAX_GROUP_WORDS:
        return words_of(raw).rstrip(":"), []
    return "", list(_skills(raw))


def _split_group(raw: str) -> tuple[str, str]:
    """(the group name, the list) of "Languages: Go, Rust" and "**Languages** Go, Rust"; both "" for other lines."""
    mark = raw[:2] if raw[:2] in ("**", "__") else ""
    bold, closed, listed = raw[len(mark) :].partition(mark or ":")
    if not mark or not closed or listed.startswith(("*", "_")):
        bold, _, listed = raw.replace("：", ":").partition(":")
    name, listed = bold.strip("*_: "), listed.lstrip(" \t*_:")
    is_name = name[:1].isalnum() and len(name) <= _MAX_GROUP and not any(sign in name for sign in ":|\t,;•")
    return (name, listed) if is_name and listed else ("", "")


def _skills(raw: str) -> Iterator[str]:
    items = [item for item in _split_outside_brackets(_LEVEL_MARKS.sub("\t", raw)) if item.strip()]
    if items and items[-1].strip().endswith(_SENTENCE_ENDS) and len(raw.split()) > _MAX_ITEM_WORDS * len(items):
        return  # a sentence
    for number, item in enumerate(_unlabelled(items)):
        last = number == len(items) - 1 and number > 0
        for part in _split_last_item(item) if last else [item]:
            skill = _clean_skill(part)
            if skill and len(skill.split()) <= _MAX_SKILL_WORDS and not is_level(skill):
                yield skill


def _unlabelled(items: Sequence[str]) -> Iterator[str]:
    """The items without the label of a group that begins in the middle of a list: "Go; Tools: dbt"."""
    for item in items:
        label, colon, value = item.partition(": ")
        yield value if colon and value.strip() and len(label.split()) <= _MAX_GROUP_WORDS else item


def _split_outside_brackets(raw: str) -> Iterator[str]:
    """The items between separators that are outside brackets."""
    opened = depth = 0
    for place, char in enumerate(raw):
        depth = max(0, depth + (char == "(") - (char == ")"))
        if place >= opened and (depth == 0 or char in "\n\t") and (length := _separator_at(raw, place)):
            yield raw[opened:place]
            opened, depth = place + length, 0
    yield raw[opened:]


def _separator_at(raw: str, place: int) -> int:
    """The length of the separator of items at a place: a sign, a dash or slash between spaces, a gap; 0 without one."""
    if raw[place] in _ITEM_ENDS:
        return 1
    if raw[place] == "<":
        return (raw.find(">", place) + 1 - place) if raw[place + 1 : place + 3] == "br" else 0
    around = raw[place : place + 3]
    is_between = len(around) == 3 and around[1] in f"/{DASHES}" and around[0].isspace() and around[2].isspace()
    gap = len(raw[place:]) - len(raw[place:].lstrip()) if around.isspace() else 0
    return 3 if is_between else gap if gap > 2 else 0


def _split_last_item(item: str) -> list[str]:
    """The last item of a list; "Go and Rust" is two."""
    first, _, rest = item.strip().partition(" ")
    item = rest.lstrip() if first.lower() in _AND and rest else item.strip()
    sides = split_at(item, "", _AND)
    is_two = len(sides) == 2 and all(0 < len(side.split()) <= 2 for side in sides) and "&" not in item
    return sides if is_two else [item]


def _clean_skill(item: str) -> str:
    skill = words_of(item).rstrip(".")
    bare, aside = split_aside(skill)
    if is_level(aside) or _is_length(aside):
        skill = bare
    return skill if any(map(str.isalnum, skill)) and not _is_length(skill) else ""


def _is_length(words: str) -> bool:
    """True if the words begin with a duration: "5+ years"."""
    return any(start == 0 for start, _ in durations(words))


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
    links = links_in(passage)
    name, headline = _name_and_headline(text, lines, links, titled) if named else ("", "")
    if named and titled and not name:
        name = next((one.name for line in lines if (one := self_introduction(text, line.body, line.end))), "")
    facts = PersonFacts(
        span=(start, end),
        name=name,
        headline=headline,
        location=_location(text, lines[:_FIRST_LINES], name),
        pronouns=pronouns_in(passage),
        email=email_in(passage),
        phone=phone_in(passage),
        links=links,
    )
    return facts if facts.name or facts.email or facts.phone or facts.links else None


def _name_and_headline(text: str, lines: Sequence[ResumeLine], links: Sequence[str], titled: bool) -> tuple[str, str]:
    """The name (one that an address has, else a heading, no position if there is a name) and the headline near it."""
    known = " ".join(links).casefold()
    addresses = f"{known} {email_in(text[lines[0].start : lines[-1].end])}"
    phrases = {line: found for line in lines if (found := _name_phrases(text, line, known, addresses))}
    headings = (line for line in phrases if line.kind == "heading" and could_be_name(phrases[line][0]))
    first = next(headings, next(iter(phrases), None))
    if first is None:
        return "", ""
    position = phrases[first][0] if title_score(phrases[first][0]) else ""
    above = list(phrases)[:_NAME_LINES]
    told = (line for line in above if is_addressed(phrases[line][0], addresses) and is_name(phrases[line][0].split()))
    near = (line for line in above if line != first and position and _is_name(without_pronouns(phrases[line][0])))
    chosen = next(told, None) or next(near, first)
    name, *beside = phrases[chosen]
    name = _without_title(without_pronouns(name))
    if len(name) > _MAX_PERSON_NAME or not (could_be_name(name) if titled else _is_name(name)):
        return "", ""
    headline = next(iter(beside), position if chosen != first else "")
    below = next((line for line in phrases if line.start > chosen.start and fold(phrases[line][0]) != fold(name)), None)
    if not headline and below:
        is_whole = len(phrases[below]) == len(_phrases(text, below))
        cells = text[below.body : below.end].split("|")
        headline = " | ".join(filter(None, map(words_of, cells))) if is_whole else phrases[below][0]
    is_headline = titled and len(headline) <= _MAX_HEADLINE and not any(map(str.isdigit, headline))
    return name, headline if is_headline else ""


def _without_title(name: str) -> str:
    """The words without the document's title before or behind them: "Ann Lee Resume"."""
    words = name.split()
    kept = [
        word for number, word in enumerate(words) if 0 < number < len(words) - 1 or fold(word) not in DOCUMENT_TITLES
    ]
    return " ".join(kept) if len(kept) > 1 else name


def _is_name(words: str) -> bool:
    """True if the words look like a person: two to six with capitals, no company, no position."""
    return is_name(words.replace(",", "").split()) and not title_score(words) and not company_score(words)


def _name_phrases(text: str, line: ResumeLine, known: str, addresses: str) -> list[str]:
    """The phrases of a line that are not an address, a date, the document's title, or a place that no address names."""
    return [
        words
        for words in _phrases(text, line)
        if fold(words) not in DOCUMENT_TITLES
        and words.casefold() not in known
        and not words.startswith("@")
        and not date_ranges(words)
        and not (
            email_in(words)
            or phone_in(words)
            or is_link(words)
            or (_is_home(words) and not is_addressed(words, addresses))
        )
        and without_pronouns(words)
    ]


def _phrases(text: str, line: ResumeLine) -> list[str]:
    found = [_without_label(part.words) for part in segments(text, line.body, line.end)]
    return [words for part in found for words in map(words_of, split_at(part, "-")) if words]


def _without_label(words: str) -> str:
    label, colon, value = words.replace("：", ":").partition(":")
    return value.strip() if colon and fold(label).strip() in _CONTACT_LABELS else words


def _is_home(words: str) -> bool:
    """True for a place, also one that begins with an unknown district, and is no position or company."""
    if place_score(words) >= 2:
        return True
    return place_score(words) == 1 and "," in words and not title_score(words) and not company_score(words)


def _location(text: str, lines: Sequence[ResumeLine], name: str) -> str:
    """The first phrase that is a place, else the place before an address for mail, else the end of a postal address."""
    phrases = [words for line in lines for words in _phrases(text, line) if words != name]
    addresses = [(words, (email_in(words), *links_in(words))) for words in phrases]
    before = [words_of(words.partition(address)[0]) for words, found in addresses for address in found if address]
    found = next((words for words in (*phrases, *before) if words != name and _is_home(words)), "")
    ends = (words_of(words[at + 1 :]) for words in phrases for at, sign in enumerate(words) if sign == ",")
    return found or next((words for words in ends if place_score(words) >= 2), "")


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
