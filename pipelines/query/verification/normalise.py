"""A text in one comparable form, and the numbers, units, dates, names and negations in it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache

from pipelines.query.verification.figures import UNITS, normalise_figures
from pipelines.query.verification.words import LISTS, MONTHS, TextWord, find_phrases, lowered, read
from pipelines.store.tokens import tokenise
from pipelines.text import fold, plain

Date = tuple[str, str, str]  # day, month, year; each may be empty
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[,'’\u00a0\u202f]\d{3})+(?![\d,])")
_NUMBER = re.compile(r"(?<![^\W_])\d++(?:[.,]\d++)*+|(?<!\d)\d++(?:[.,]\d++)*+(?![^\W\d_])")  # not k8s
_REACH = 60  # words after a denial in which what is denied stands


@lru_cache(maxsize=4_096)
def strip_markup(text: str) -> str:
    """The text without markup and thousands separators."""
    return plain(_THOUSANDS.sub(lambda number: "".join(filter(str.isdigit, number[0])), text))


def normalise(text: str) -> str:
    """The text without markup, its numbers, units, dates and short forms of `not` in one spelling."""
    return normalise_figures(strip_markup(text))


def folded_words(text: str) -> str:
    return fold(strip_markup(text))


def contains_phrase(text: str, claim: str) -> bool:
    """True if a text holds a folded claim verbatim at word boundaries (`5` is not in `1.5`)."""
    body = folded_words(text)
    start = body.find(claim) if claim else -1
    while start >= 0:
        if _begins(body[:start][-2:]) and _ends(body[start + len(claim) :][:2]):
            return True
        start = body.find(claim, start + 1)
    return False


def _begins(before: str) -> bool:
    last = before[-1:]
    if last in {"-", "_"} or last.isalnum():
        return False
    return not (last in {".", ",", "'", "/"} and before[:1].isalnum() and len(before) == 2)


def _ends(after: str) -> bool:
    first = after[:1]
    if first in {"+", "#", "_"} or first.isalnum():
        return False
    return not (first in {"-", ".", ",", "'", "/"} and after[1:].isalnum())


def numbers_in(text: str) -> Counter[str]:
    """The numbers of a text without thousands separators; digits between letters (k8s) do not count."""
    return Counter(_NUMBER.findall(folded_words(text)))


def ambiguous_number_words(text: str) -> Counter[str]:
    """Numbers of words that may also mean something else: `one`, `first`, `second`, `twice`, `dozen`, `half`."""
    return Counter(filter(None, map(LISTS["ambiguous_numbers"].get, lowered(text))))


def names_in(text: str) -> list[str]:
    """The capitalised words of a text except stop words, usual first words and a verb that opens it (`Led a team`)."""
    words = read(strip_markup(text))
    return [
        word.text
        for at, word in enumerate(words)
        if word.is_name and word.lower not in LISTS["openers"] and tokenise(word.text)
        if at or not (len(words) > 1 and words[1].lower in LISTS["before_sentences"])
    ]


def contains_name(name: str, terms: Set[str]) -> bool:
    """True if a name is among the terms of a text: whole, or by all its parts or its long form."""
    whole, *parts = tokenise(name)
    return whole in terms or (bool(parts) and terms >= set(parts))


def measures_differ(claim: str, text: str) -> bool:
    """True if a number of the claim has only other units, or is only per other things, in the text; both normalised."""
    units, rates = dict[str, set[str]](), dict[str, set[str]]()
    for number, unit, per in measures_in(text):
        units.setdefault(number, set()).add(unit)
        rates.setdefault(number, set()).update(filter(None, [per]))
    return any(
        (unit and held and "" not in held and unit not in held) or (per and other and per not in other)
        for number, unit, per in measures_in(claim)
        for held, other in ((units.get(number, ()), rates.get(number, ())),)
    )


@lru_cache(maxsize=1_024)
def measures_in(text: str) -> tuple[tuple[str, str, str], ...]:
    """(number, unit, what it is per) of the numbers of a normalised text; the last two may be empty."""
    words = read(text)
    return tuple(
        (word.text, _unit_after(words, at), _per(words, at + 1))
        for at, word in enumerate(words)
        if word.is_number and "," not in word.text
    )


def _unit_after(words: Sequence[TextWord], at: int) -> str:
    unit = words[at + 1].lower if at + 1 < len(words) else ""
    is_rate = at + 2 < len(words) and words[at + 2].text == "/" and words[at + 2].start == words[at + 1].end
    return unit if unit in UNITS and not is_rate else ""


_PERIODS: Mapping[str, str] = {word: period for period, words in LISTS["periods"].items() for word in words.split()}
_RATE_WIDTH = 3  # words between a number and what it is per


def _per(words: Sequence[TextWord], start: int) -> str:
    """What a number is per: `requests per second`, `/s`, `a day`, `weekly`."""
    for at in range(start, min(start + _RATE_WIDTH + 1, len(words))):
        word, after = words[at].lower, words[at + 1].lower if at + 1 < len(words) else ""
        if word in LISTS["periodic"]:
            return _PERIODS[word]
        if (word in ("/", "per", "each") and after.isalpha()) or (word in ("a", "an", "every") and after in _PERIODS):
            return _PERIODS.get(after, after)
        if not word[0].isalpha():
            break
    return ""


def dates_differ(claim: str, text: str) -> bool:
    """True if a date of the claim with a month is compatible with no date of the text; both normalised."""
    held = _dates(text)
    for date in _dates(claim) if held else ():
        pairs = ([pair for pair in zip(date, other, strict=True) if all(pair)] for other in held)
        if date[1] and not any(own and all(mine == theirs for mine, theirs in own) for own in pairs):
            return True
    return False


@lru_cache(maxsize=1_024)
def _dates(text: str) -> frozenset[Date]:
    """The dates of a text; a year that stands alone is one, a month that stands alone is none."""
    words = (*read(text), *[TextWord("", 0, 0, "")] * 3)
    found: set[Date] = set()
    for at, word in enumerate(words):
        if word.text in MONTHS:
            before = words[at - 1 - (words[at - 1].lower == "of")] if at else words[-1]
            day = before.text if _is_day(before) else ""
            place = at + 1
            if _is_day(words[place]):
                day, place = day or words[place].text, place + 1
            year = words[place + (words[place].lower in (",", "of"))]
            if day or year.is_year:
                found.add((day.lstrip("0"), word.text, year.text if year.is_year else ""))
    in_full = {year for _, _, year in found}
    return frozenset(found | {("", "", word.text) for word in words if word.is_year and word.text not in in_full})


def _is_day(word: TextWord) -> bool:
    return word.text.isdigit() and len(word.text) < 3


def count_negations(text: str, claim: str = "") -> int:
    """Number of negations in a text; with a claim, only those that negate a term of the claim.

    The negated terms stand in the clause after the negation, or in the next clause that has terms (`not, however,`); at
    the end of a text (`they hear nothing`), before it.
    """
    words, terms = lowered(strip_markup(text)), set(tokenise(strip_markup(claim)))
    short = [(at, at + 1) for at, word in enumerate(words) if word.endswith("n't")]
    places = sorted(short + [(start, end) for start, end, name in find_phrases(words, "negations") if name])
    denied = (_denied_terms(words, start, end) for start, end in places)
    return sum(not claim or not held or not held.isdisjoint(terms) for held in denied)


def _denied_terms(words: Sequence[str], start: int, end: int) -> set[str]:
    """The terms of the first clause with terms after a negation, else of the clause before it."""
    for clause in (*_clauses(words[end : end + _REACH]), _clauses(words[max(0, start - _REACH) : start])[-1]):
        if held := set(tokenise(" ".join(clause))):
            return held
    return set()


def _clauses(words: Sequence[str]) -> list[list[str]]:
    """The words between signs and conjunctions, without usual first words."""
    clauses: list[list[str]] = [[]]
    for word in words:
        if word in LISTS["clause_ends"]:
            clauses.append([])
        elif word not in LISTS["openers"]:
            clauses[-1].append(word)
    return clauses


_NOUNS = r"(?:sources?|documents?|context|passages?|excerpts?|texts?|articles?|posts?)(?: \d{1,3})?"
_MATERIAL = rf"(?:the |these |this |your )?(?:\w+ ){{0,2}}{_NOUNS}(?: (?:provided|given|above))?"
_TELLS = r"(?:mention|state|say|note|explain|describe|indicate|report|show|tell(?:s)? us|specif(?:y|ie))(?:s|d|ed)?"
_ATTRIBUTION = re.compile(
    rf"\A(?:(?:based on|according to|as (?:stated|mentioned|described|noted) in) {_MATERIAL}, "
    rf"|{_MATERIAL} (?:also |clearly |explicitly ){{0,2}}{_TELLS},? that "
    rf"|(?:the|these|this|your) (?:provided |given |cited |uploaded ){{0,2}}{_NOUNS} (?:also |clearly ){{0,2}}{_TELLS} "
    rf"|it (?:is|was) (?:also )?(?:mentioned|stated|said|noted|reported)(?: in {_MATERIAL})? that )(?=\S)"
    rf"|(?<=\S),? \(?(?:based on|according to|as (?:stated|mentioned|described|noted) in) {_MATERIAL}\)?(?=[.!]?\Z)",
    re.IGNORECASE,
)


def without_attribution(claim: str) -> str:
    """The claim without words that name the sources in general: `Based on the sources, `, `The text mentions that `."""
    return _ATTRIBUTION.sub("", claim)
