"""The person whom a resume is about: name, headline, place and addresses, from the lines around its sections."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from pipelines.contacts import email_in, is_link, linkedin_slug, links_in
from pipelines.facts import PersonFacts, records_of
from pipelines.ingestion.parsers.careers.dates import date_ranges
from pipelines.ingestion.parsers.careers.people import (
    DOCUMENT_TITLES,
    could_be_name,
    is_addressed,
    is_name,
    name_of_file,
    phone_in,
    pronouns_in,
    self_introduction,
    summary_of,
    without_pronouns,
)
from pipelines.ingestion.parsers.careers.places import place_score
from pipelines.ingestion.parsers.careers.records import combined
from pipelines.ingestion.parsers.careers.separators import split_at
from pipelines.ingestion.parsers.careers.vocabulary import company_score, title_score
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.resume.entries import PiecesByPart, parts_of_section, whole_piece
from pipelines.ingestion.parsers.resume.lines import ResumeLine, segments, words_of
from pipelines.ingestion.parsers.resume.sections import SectionPart
from pipelines.store.known_names import is_ordinary
from pipelines.text import fold

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
_MIN_SENTENCE = 7  # words
_MAX_MENU = 2  # parts that the menu of a copied page may look like
_NEAR_NAME = 200  # characters down to the addresses below a name
_CAREER = frozenset({"experience", "education", "projects", "volunteering"})  # sections that no sidebar begins with


def read_contact(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """The pieces of the contact parts: the person's name, headline, location and addresses.

    A sentence there is the summary, if the resume has no section for it.
    """
    found: PiecesByPart = {}
    named = False
    prose = None if any(part.section == "summary" for part in parts) else _first_prose(text, parts)
    for number, part in parts_of_section(parts, "contact"):
        lines = (part.heading, *part.lines) if part.heading and not part.title else part.lines
        record = person_facts(text, lines, named=not named, titled=not part.title)
        named = named or bool(record and record.name)
        summary = summary_of(text, prose.body, prose.end) if prose in part.lines and prose else None
        found[number] = [whole_piece(text, part.path, lines, "contact", list(filter(None, (record, summary))))]
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


def person_facts(text: str, lines: Sequence[ResumeLine], *, named: bool, titled: bool) -> PersonFacts | None:
    """The person that the lines describe; None if they hold no name, address, phone number or link.

    A name is looked for if it is to be `named`; with `titled`, which the lines before the first section are, the first
    line is the name whatever its shape.
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
        and not words.startswith("@")
        and not date_ranges(words)
        and not (
            email_in(words)
            or phone_in(words)
            or is_link(words)
            or (_is_home(words) and not is_addressed(words, addresses))
        )
        and without_pronouns(words)
        and words.casefold() not in known
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


def with_name(text: str, parts: Sequence[SectionPart]) -> list[SectionPart]:
    """The parts; if the resume begins with a section, the person's name below it opens a part of its own.

    The name is a heading of an unknown section, or a line below an empty line with a position below it, or a line that
    an address right below it has.
    """
    for number, part in enumerate(parts[:_MAX_MENU]):
        for at, pair in enumerate(pairwise(part.lines)):
            if _is_said_twice(text, *pair):
                return _with_contact(parts, number, at)
    if not parts or not parts[0].heading or not parts[0].title:
        return list(parts)
    sidebar = list(takewhile(lambda part: part.section not in _CAREER, parts))
    if any(part.section == "contact" and part.heading and not part.title for part in sidebar):
        return list(parts)
    profile = linkedin_slug(text)
    for number, part in enumerate(sidebar):
        if part.heading and not part.section and _is_named_above(text, part.heading, part.lines[:1]):
            return [*parts[:number], replace(part, section="contact", title=""), *parts[number + 1 :]]
        for at, line in enumerate(part.lines):
            apart = "\n\n" in text[(part.lines[at - 1].end if at else 0) : line.start]
            words = words_of(text[line.body : line.end])
            below = text[line.end : line.end + _NEAR_NAME]
            is_told = is_name(words.split()) and is_addressed(words, f"{below} {profile}")
            is_named = line.kind == "text" and not profile and _is_named_above(text, line, part.lines[at + 1 : at + 2])
            if (is_told and (apart or profile)) or (apart and is_named):
                return _with_contact(parts, number, at)
    return list(parts)


def _with_contact(parts: Sequence[SectionPart], number: int, at: int) -> list[SectionPart]:
    """The parts; in that of a number, the lines from a place on are a part with the person's name."""
    part = parts[number]
    person = SectionPart("contact", "", None, part.lines[at:])
    return [*parts[:number], replace(part, lines=part.lines[:at]), person, *parts[number + 1 :]]


def _is_said_twice(text: str, line: ResumeLine, below: ResumeLine) -> bool:
    """True for a name that a page copied from a browser repeats, below its menu."""
    words = text[line.body : line.end]
    return words == text[below.body : below.end] and is_name(words.split()) and not title_score(words)


def _is_named_above(text: str, line: ResumeLine, below: Sequence[ResumeLine]) -> bool:
    """True for a line like a person's name with a position below it."""
    name, *others = (words_of(text[one.body : one.end]) for one in (line, *below))
    return is_name(name.split()) and not title_score(name) and any(title_score(words) >= 1 for words in others)


def with_name_of_file(text: str, file: str, pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces; if none names the person, the name that the file has does: as the text writes it, else in the header.

    A name that the text does not have must be of words that are not all ordinary ones.
    """
    people = [
        each for piece in pieces for each in records_of(piece.facts) if isinstance(each, PersonFacts) and each.name
    ]
    name = name_of_file(file) if pieces and not people else ""
    at = text.lower().find(name.lower()) if name else -1
    is_rare = bool(name) and not title_score(name) and not all(map(is_ordinary, name.split()))
    if at < 0 and not is_rare:
        return list(pieces)
    holding = next((number for number, piece in enumerate(pieces) if piece.start <= at < piece.end), 0)
    piece = pieces[holding]
    records = records_of(piece.facts)
    person = next(
        (each for each in records if isinstance(each, PersonFacts)), PersonFacts(span=(piece.start, piece.end))
    )
    named = person.model_copy(update={"name": text[at : at + len(name)] if at >= 0 else name})
    facts = combined([named, *(each for each in records if each is not person)])
    found = replace(piece, facts=facts, lead=piece.lead if at >= 0 else piece.lead or name)
    return [*pieces[:holding], found, *pieces[holding + 1 :]]
