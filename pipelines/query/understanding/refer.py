"""REFER: what "she", "it", "there" and "before that" of a follow-up mean, by the names in the questions before it."""

import re
from collections.abc import Sequence

from pipelines.query.extraction.irregular import participle, regular
from pipelines.query.understanding.naming import OWNER, Name, bounds_in, names_in
from pipelines.store.names import is_own_word
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import fold
from pipelines.types import Turn

PERSON = re.compile(r"\b(?:he|him|his|she|her|hers)\b", re.IGNORECASE)
GERMAN = re.compile(
    r"\b(?:und|wer|wann|wo|warum|wieso|wie|welche[rsnm]?|ist|hatte|wurde|gibt|das|der|dem|sie|ihre?[mnrs]?|davor|danach)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?:jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|januar|februar|märz|mai|juni|juli|oktober|dezember)\b",
    re.IGNORECASE,
)
_MARKS = ".,;:!?'\"()"
_AT = frozenset({"at", "bei"})
_READ = 400  # characters of an answer

_ASKS_FOR = re.compile(r"(?:what|which)\b", re.IGNORECASE)
_ASKS_FOR_ONE = re.compile(
    r"(?:what|which) (?!(?:year|month|day|date|time|is|are|was|were)\b)[a-z]+ (?:is|was)\b", re.I
)
_NOUN = re.compile(r" (?!(?:now|today|like|then|again)\b)([a-z-]{3,})(?=[ ?.!]*$)")
_FULL_NAME = re.compile(r"[A-Z][\w'’-]+(?: [A-Z][\w'’.-]*){1,3}")
_HERS = r"hers\b|his\b|her\b(?= (?!about|in|on|at|to|with|for|and|or|before|after|when|why|then)\w)"
_ONE = re.compile(rf"\b(?:({_HERS})|(?:she|he|him|her)\b)", re.IGNORECASE)
_ONE_GERMAN = re.compile(r"\b(?:((?:ihr|sein)(?:e[mnrs]?)?(?= [A-ZÄÖÜ]))|(?:er|sie|ihn|ihm|ihr)\b)", re.IGNORECASE)
_IT = re.compile(r"\b(its|it)\b(?!['’]| (?:possible|true|correct|likely|safe|legal|better|necessary)\b)", re.IGNORECASE)
_THEN = re.compile(r"\b(before|after|since|until|during) (?:that|this|it|then)\b(?=[^\w'’]*$)|\b(davor|danach)\b", re.I)
_THERE = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!was )(?<!were )\b(?:there|dort)\b(?! (?:is|are|was|were)\b)", re.IGNORECASE
)
_RELATIONS = {"davor": "vor", "danach": "nach"}


def points_at_person(question: str) -> bool:
    """Whether a question speaks of somebody whom it does not name."""
    return bool(PERSON.search(question) or (GERMAN.search(question) and _ONE_GERMAN.search(question)))


def resolved(question: str, told: Sequence[Turn]) -> str:
    """The question with the names that it points at, where it is clear which; the rest of it stays.

    Args:
        question: The follow-up.
        told: The turns before it, the last first, their questions as they stand alone.
    """
    german = not PERSON.search(question) and bool(GERMAN.search(question))
    who = next((name for turn in told if (name := _person(turn.question, turn.sources, german=german))), "")
    said = _with_time_and_place(question, told[0], who)
    said = with_person(said, who, german=german) if who else said
    what = "" if german else _thing(told[0].question, told[0].sources, who if points_at_person(question) else "")
    return _IT.sub(lambda it: what + "’s" * (it[1].casefold() == "its"), said, count=1) if what else said


def with_person(question: str, who: str, *, german: bool = False) -> str:
    """The question with a name for its first "she" or "her"."""
    owner, one = (f"{who}s", _ONE_GERMAN) if german else (f"{who}’s", _ONE)
    return one.sub(lambda found: owner if found[1] else who, question, count=1)


def _person(text: str, titles: Sequence[str], *, german: bool) -> str:
    """Who is spoken of: the name that a source is called by, else the first that is no place, else a source's.

    A name after "she" is not hers. Of German, where every noun has a capital, only those that a source is called by.
    """
    unnamed = PERSON.search(text)
    people = [title for title in titles if _FULL_NAME.fullmatch(title)]
    named = names_in(text, titles)
    words = {word for title in people for word in fold(title).split()}
    owned = (name.text for name in named if words.issuperset(fold(name.text).split()))
    others = (
        name.text
        for name in named
        if not (german or name.placed or name.article or name.text in titles or _TIME.match(name.text))
        and not (unnamed and unnamed.start() < name.start)
    )
    return next(owned, "") or next(others, "") or next(iter(people), "")


def _thing(text: str, titles: Sequence[str], who: str) -> str:
    """What is spoken of: the source that is named, or asked for; else the only name that is nobody and no place.

    "The Acme outage" is the outage; and after "Which ship was Ann on?" it is the ship, which nothing names.
    """
    people = {word for title in titles if _FULL_NAME.fullmatch(title) for word in fold(title).split()}
    named = [
        name
        for name in names_in(text, titles)
        if name.text != who and not people.issuperset(fold(name.text).split()) and not _TIME.match(name.text)
    ]
    things = {fold(title) for title in titles if not _FULL_NAME.fullmatch(title)}
    called = (name.text for name in named if fold(name.text) in things)
    asked = (title for title in titles[:1] if _ASKS_FOR.match(text) and is_own_word(title))
    others = [name for name in named if not (name.placed or name.acts or OWNER.match(text[name.end :]))]
    only = others[0] if len(others) == len(named) == 1 and not _ASKS_FOR_ONE.match(text) else None
    return next(called, "") or next(asked, "") or (_with_noun(text, only) if only else "")


def _with_noun(text: str, name: Name) -> str:
    """The name, or with its article the noun that it tells apart: "the Acme outage" of "When was the Acme outage?"."""
    noun = _NOUN.match(text, name.end) if name.article else None
    is_noun = noun and not participle(noun[1]) and regular(noun[1]) == noun[1] and noun[1] not in STOP_WORDS
    return f"the {name.text} {noun[1]}" if noun and is_noun else name.text


def _with_time_and_place(question: str, last: Turn, who: str) -> str:
    """The question with "before that" and "there" as the name or year that the last question places something by."""
    named = [name for name in bounds_in(last.question, last.sources) if name.text != who]
    places = [name for name in named if name.placed and not name.text.isdigit()]
    if then := _THEN.search(question):
        relation = then[1] or _RELATIONS[then[2].casefold()]
        when = answered_by(last) if said_of(last.question, relation) else next((n.text for n in reversed(named)), "")
        question = f"{question[: then.start()]}{relation} {when}{question[then.end() :]}" if when else question
    if places:
        where = places[-1].placed.lower()
        inside = where if where in {"in", "on", "near", "within", "bei"} else "at"
        question = _THERE.sub(lambda _: f"{inside} {places[-1].text}", question)
    return question


def is_somebody(name: str, titles: Sequence[str]) -> bool:
    """Whether a name is a part of a person's that a source is called by."""
    words = set(fold(name).split())
    return any(words.issubset(fold(title).split()) for title in titles if _FULL_NAME.fullmatch(title))


def said_of(text: str, relation: str) -> bool:
    """Whether a text already says what is before, or after."""
    return any(name.placed.lower() == relation.lower() for name in bounds_in(text))


def answered_by(turn: Turn) -> str:
    """The first name of an answer of which its question has no word, one that stands after "at" before any other."""
    asked = {word.strip(_MARKS) for word in fold(turn.question).split()}
    new = [name for name in names_in(turn.answer[:_READ]) if asked.isdisjoint(fold(name.text).split())]
    return next((name.text for name in new if name.placed in _AT), "") or next((name.text for name in new), "")
