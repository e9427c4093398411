"""Who a resume is about: name, headline, place and addresses."""

import re
from collections.abc import Sequence

from pipelines.facts import PersonFacts
from pipelines.ingestion.parsers.career.dates import date_ranges
from pipelines.ingestion.parsers.career.job_words import company_score, title_score
from pipelines.ingestion.parsers.career.places import place_score
from pipelines.ingestion.parsers.resume.lines import Line, segments, words_of
from pipelines.text import fold

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_PHONE = re.compile(r"(?<![\w/.])\(?\+?\(?\d[\d ()./-]{6,20}\d(?!\w)")
_LINK = re.compile(
    r"(?<![@\w.-])(?:https?://)?(?:www\.)?[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.[a-z]{2,10}(?:/[^\s()|,;]{0,300})?(?![\w@])",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:(?:full )?name|address|location|phone|tel|telephone|mobile|e-?mail|adresse|anschrift|wohnort|telefon|ort|nom"
    r"|nombre|nome|ubicación|dirección|teléfono|indirizzo|morada|linkedin|github|website)\s?[:：]\s+",
    re.IGNORECASE,
)
_DASH = re.compile(r"\s+[–—-]\s+")
_NAME = re.compile(r"[^\W\d_][\w.'’-]*\.?(?:,?\s+(?:[^\W\d_][\w.'’-]*\.?|\([^\W\d_]+\))){1,5}")
_TITLES = frozenset(map(fold, ("resume", "cv", "curriculum vitae", "lebenslauf", "currículo", "curriculum")))
_MAX_NAME = 60
_MAX_HEADLINE = 200
_FIRST_LINES = 15


def person_facts(text: str, lines: Sequence[Line], *, named: bool, titled: bool) -> PersonFacts | None:
    """The person that these lines name; None where they hold nothing of one.

    Args:
        text: The document's text.
        lines: The lines before the first section, or those of a contact section.
        named: Whether a name is to be found here.
        titled: Whether these are the lines before the first section, where any first line is the name.
    """
    start, end = lines[0].start, lines[-1].end
    stretch = text[start:end]
    email = _EMAIL.search(stretch)
    links = tuple(dict.fromkeys(match[0].rstrip(".,;/") for match in _LINK.finditer(_EMAIL.sub(" ", stretch))))
    name, headline = _name(text, lines, links, titled) if named else ("", "")
    facts = PersonFacts(
        span=(start, end),
        name=name,
        headline=headline,
        location=_place(text, lines[:_FIRST_LINES], name),
        email=email[0].rstrip(".") if email else "",
        phone=_phone(stretch),
        links=links,
    )
    return facts if facts.name or facts.email or facts.phone or facts.links else None


def _phone(stretch: str) -> str:
    """The first number that is no date."""
    for match in _PHONE.finditer(stretch):
        digits = sum(map(str.isdigit, match[0]))
        if digits >= 7 and not (digits <= 8 and date_ranges(match[0])):
            return match[0].strip()
    return ""


def _name(text: str, lines: Sequence[Line], links: Sequence[str], titled: bool) -> tuple[str, str]:
    """The name, a heading before any other line, and the headline below or beside it."""
    known = " ".join(links).casefold()
    free = [line for line in lines if _free(text, line, known)]
    chosen = next((line for line in free if line.kind == "heading"), next(iter(free), None))
    if chosen is None:
        return "", ""
    words = _free(text, chosen, known)
    name = words[0]
    if len(name) > _MAX_NAME or any(map(str.isdigit, name)) or not (titled or _is_name(name)):
        return "", ""
    beside = words[1] if len(words) > 1 else ""
    below = next((line for line in free if line.start > chosen.start), None)
    headline = beside or (words_of(text[below.body : below.end]) if below else "")
    if below and not beside and len(_free(text, below, known)) < len(_phrases(text, below)):
        headline = _free(text, below, known)[0]
    told = titled and len(headline) <= _MAX_HEADLINE and not any(map(str.isdigit, headline))
    return name, headline if told else ""


def _is_name(words: str) -> bool:
    """Whether the words could be a person's: two to six with capitals, no company, no position."""
    shaped = _NAME.fullmatch(words) is not None and all(word[:1].isupper() for word in words.split() if len(word) > 3)
    return shaped and not title_score(words) and not company_score(words)


def _free(text: str, line: Line, known: str) -> list[str]:
    """The phrases of a line that are no address, no date and no title of the document."""
    return [
        words
        for words in _phrases(text, line)
        if fold(words) not in _TITLES
        and words.casefold() not in known
        and not words.startswith("@")
        and not date_ranges(words)
        and not (_EMAIL.search(words) or _phone(words) or _LINK.fullmatch(words) or place_score(words) >= 2)
    ]


def _phrases(text: str, line: Line) -> list[str]:
    found = [_LABEL.sub("", part.words, count=1) for part in segments(text, line.body, line.end)]
    return [words for part in found for words in map(words_of, _DASH.split(part)) if words]


def _place(text: str, lines: Sequence[Line], name: str) -> str:
    """The first phrase that is a known place, or the place that begins a line of addresses."""
    for line in lines:
        for words in _phrases(text, line):
            if place_score(words) >= 2 and words != name:
                return words
    for line in lines:
        raw = text[line.body : line.end]
        marks = [match.start() for pattern in (_EMAIL, _LINK, _PHONE) if (match := pattern.search(raw))]
        before = words_of(raw[: min(marks)]) if marks else ""
        if before and place_score(before) >= 2:
            return before
    return ""
