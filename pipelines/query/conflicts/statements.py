"""Statements: what a sentence says when, and how many of what, taken apart so that two can be compared."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from pipelines.query.verification.agree import bare
from pipelines.query.verification.figures import levelled
from pipelines.store.tokens import tokenise

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(rf"(?<![\w./])(?:(?:(\d{{1,2}}) )?({_MONTHS})(?: (\d{{1,2}}))?,? )?((?:19|20)\d\d)(?![\w%/]|[.,]\d)")
_OPEN = re.compile(r"\s*(?:-|–|—|to|until|till)\s*(?:present|now|today|current)\b", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:-|–|—|to|until|till|through|and)\s*", re.IGNORECASE)
_ROLES = {
    "start": re.compile(r"\b(?:since|from|starting(?: in)?|beginning(?: in)?) $", re.IGNORECASE),
    "end": re.compile(r"\b(?:until|till|through|to) $", re.IGNORECASE),
    "before": re.compile(r"\b(?:before|by) $", re.IGNORECASE),
    "after": re.compile(r"\bafter $", re.IGNORECASE),
}
_NUMBER = re.compile(r"(?<![\w.#/-])\d+(?:\.\d+)?(?![\w/]|\.\d|-\d)")
_UNIT = re.compile(r"[ -]([^\W\d]+)(?:[ -]([^\W\d]+))?")
_WORD_BEFORE = re.compile(r"([^\W\d_]+) $")
_ROUGHLY = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|circa|some|almost|nearly|approx\.?)|~) ?$", re.IGNORECASE
)
_BOUND = re.compile(r"\b(?:over|under|than|least|most|to|above|below|exceeding|nearly|almost) $", re.IGNORECASE)
_LABELS = frozenset(
    "version section chapter part page figure table step phase no number room level grade release rfc issue ticket"
    " volume act article line item day week sprint season round task question rank place appendix".split()
)
_NAME = re.compile(r"\b[A-Z][\w&'’-]*")
_QUALIFIED = re.compile(r"\b(?:in|at|for|of|from|on|to|with|near|under|during|within) (?:the )?([A-Z][\w&'’-]*)")
_DEFINITE = re.compile(r"\b(?:the|our|its|her|his|their|my) +(\w+)(?: (\w+))?", re.IGNORECASE)
_LEADS = re.compile(r"\W*(?:in +)?", re.IGNORECASE)
_SUBJECT = re.compile(r"\W*([A-Z]\w*[^\Ws]) +(?:is|are|was|were|(\w+))\b")
_DID = re.compile(
    r"(?:\w+ed|led|built|ran|won|cut|wrote|grew|made|held|gave|sold|drove|taught|had|has|saw|took)", re.IGNORECASE
)
HEDGED = re.compile(
    r"\b(?:will|would|could|might|may be|should|plan|plans|planned|planning|expect|expected|expects|estimate|estimated"
    r"|estimates|target|targets|goal|goals|aim|aims|budget|forecast|if|unless|originally|initially|hoped|proposed"
    r"|per cent of the|rumou?red|allegedly|example|e\.g)\b|\?",
    re.IGNORECASE,
)
DENIED = re.compile(r"\b(?:no|not|never|none|nobody|nothing|without|cannot|neither|nor)\b|n['’]t\b", re.IGNORECASE)
# Index terms that say that the same happened.
_SAME = {
    "began": "start", "begun": "start", "begin": "start", "commenc": "start", "establish": "found", "inaugur": "open",
    "finish": "end", "conclud": "end", "construct": "built", "shut": "close",
}  # fmt: skip
_LONGEST = 400

Date = tuple[str, str, str]  # year, month, day; the later ones may be empty


@dataclass(frozen=True, slots=True)
class When:
    """A date with what it is to what is said (`at`, `start`, `end`, `before`, `after`), or a range of two."""

    role: str
    first: Date
    last: Date | None = None


@dataclass(frozen=True, slots=True)
class Amount:
    """A number; `rough` where the sentence says that it is."""

    value: float
    said: str
    rough: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """What one sentence says.

    Attributes:
        terms: Its content, as index terms, without dates and amounts.
        names: The terms of its capitalised words, but for a first word that may be none.
        opening: The terms of its first word, which may be a name.
        qualifying: Names that a preposition leads in: where, for whom.
        definite: Terms that follow a `the` or a possessive.
        subject: Those of them that it begins with.
        when: Its date or range.
        amounts: Numbers by the term that they count.
        labels: Numbers that name something: a version, a page.
        denies: Whether it denies something.
    """

    terms: frozenset[str]
    names: frozenset[str]
    opening: frozenset[str]
    qualifying: frozenset[str]
    definite: frozenset[str]
    subject: frozenset[str]
    when: When | None
    amounts: Mapping[str, Amount]
    labels: frozenset[str]
    denies: bool


@lru_cache(maxsize=4_096)
def statement(sentence: str) -> Statement | None:
    """What a sentence says; None where it is no plain statement: a plan, a question, a list of dates or numbers."""
    text = " ".join(levelled(bare(sentence)).split())
    if len(text) > _LONGEST or HEDGED.search(text):
        return None
    dated = _when(text)
    if dated is None:
        return None
    when, text = dated
    counted = _amounts(text)
    if counted is None:
        return None
    amounts, labels, rest = counted
    first = rest.split(" ", 1)[0] if rest else ""
    inner = rest if _opens_with_a_name(rest) else rest[len(first) :]
    lead = _LEADS.match(rest)
    subject = _DEFINITE.match(rest, lead.end() if lead else 0)
    return Statement(
        terms=frozenset(_SAME.get(term, term) for term in tokenise(rest)),
        names=_terms(_NAME.findall(inner)),
        opening=_terms(_NAME.findall(first)),
        qualifying=_terms(_QUALIFIED.findall(rest)),
        definite=_terms(word for pair in _DEFINITE.findall(rest) for word in pair if word),
        subject=_terms(filter(None, subject.groups())) if subject else frozenset(),
        when=when,
        amounts=amounts,
        labels=labels,
        denies=bool(DENIED.search(rest)),
    )


def _terms(words: object) -> frozenset[str]:
    return frozenset(tokenise(" ".join(words)))  # type: ignore[arg-type]


def _when(text: str) -> tuple[When | None, str] | None:
    """(the one date or range, the text without it); None where there are several."""
    found = list(_DATE.finditer(text))
    if not found:
        return None, text
    first, last = found[0], found[-1]
    if len(found) == 2 and _BETWEEN.fullmatch(text[first.end() : last.start()]):
        return When("range", _date(first), _date(last)), f"{text[: first.start()]} {text[last.end() :]}"
    if len(found) > 1:
        return None
    before, after = text[: first.start()], text[first.end() :]
    if going_on := _OPEN.match(after):
        return When("open", _date(first)), f"{before} {after[going_on.end() :]}"
    role = next((name for name, pattern in _ROLES.items() if pattern.search(before[-20:])), "at")
    return When(role, _date(first)), f"{before} {after}"


def _date(found: re.Match[str]) -> Date:
    day, month, other_day, year = found.groups()
    return year, month or "", (day or other_day or "").lstrip("0")


def _amounts(text: str) -> tuple[dict[str, Amount], frozenset[str], str] | None:
    """(numbers by what they count, numbers that are names, the text without the first); None for a list of numbers."""
    amounts: dict[str, Amount] = {}
    labels: set[str] = set()
    rest, done = [], 0
    for number in _NUMBER.finditer(text):
        before, unit = text[: number.start()], _UNIT.match(text, number.end())
        word = _WORD_BEFORE.search(before[-30:])
        counted = tokenise(" ".join(filter(None, unit.groups()))) if unit else []
        if not counted or (word and _is_named_by(word[1], first=len(before) == len(word[0]))):
            labels.add(number[0])
            continue
        if counted[0] in amounts or _BOUND.search(before[-12:]) or text[number.end() :][:1] == "+":
            return None
        rough = bool(_ROUGHLY.search(before[-16:]))
        amounts[counted[0]] = Amount(float(number[0]), number[0], rough)
        rest.append(text[done : number.start()])
        done = number.end()
    return None if len(amounts) > 3 else (amounts, frozenset(labels), "".join([*rest, text[done:]]))


def _is_named_by(word: str, *, first: bool) -> bool:
    """Whether a number is the name of what stands before it (`version 2`, `Python 3`), not an amount."""
    if word.casefold() in _LABELS:
        return True
    return word[0].isupper() and bool(tokenise(word)) and not (first and _DID.fullmatch(word))


def _opens_with_a_name(text: str) -> bool:
    """Whether the first word can only be a name: it did something, and no article stands before it."""
    found = _SUBJECT.match(text)
    return bool(found and tokenise(found[1]) and (not found[2] or _DID.fullmatch(found[2])))
