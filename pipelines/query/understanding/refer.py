"""REFER: what "she", "it", "there" and "before that" of a follow-up mean, by the names in the questions before it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.store.names import is_own_word
from pipelines.text import fold
from pipelines.types import Turn

NAME = re.compile(r"(?<=[\w,;:)'\"] )(?!I\b)[A-Z][\w'’.+#-]*\w[+#]*")
PERSON = re.compile(r"\b(?:he|him|his|she|her|hers)\b", re.IGNORECASE)
GERMAN = re.compile(
    r"\b(?:und|wer|wann|wo|warum|wieso|wie|welche[rsnm]?|ist|hatte|wurde|gibt|das|der|dem|sie|ihre?[mnrs]?|davor|danach)\b",
    re.IGNORECASE,
)
PLACED = r"(?:in|at|on|from|to|near|within|into|since|until|during|before|after|bei|seit|vor|nach)"
YEAR = r"(?:19|20)\d\d"
_BEFORE = 16  # characters before a name
_TIME = re.compile(
    r"(?:jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|januar|februar|märz|mai|juni|juli|oktober|dezember)\b",
    re.IGNORECASE,
)
_READ = 400  # characters of an answer

_FIRST = re.compile(r"[A-Z][\w'’.+#-]*\w[+#]*")
_BEGINS = re.compile(
    r"(?:wh\w+|how|did|do|does|is|are|was|were|has|have|had|can|could|will|would|should|the|an?|and|und"
    r"|we[rnm]|wann|wo|wie|warum)\b",
    re.IGNORECASE,
)
_OWNER = re.compile(r"['’]s\b")
_YEAR = re.compile(rf"\b{YEAR}\b")
_BETWEEN = frozenset({" ", " of ", " of the ", " de ", " van ", " von ", " & "})
_PREPOSITION = re.compile(rf"\b({PLACED})(?: (?:the|der|dem|den))? $", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(?:an?|the) $", re.IGNORECASE)
_ASKS_FOR = re.compile(r"(?:what|which)\b", re.IGNORECASE)
_DOER = re.compile(r"\b(?:did|does|do|has|have|had|can|could|will|would|hat|war) $", re.IGNORECASE)
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


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a text, without a possessive ending: its words, its span, and what stands before it.

    Attributes:
        placed: The preposition before it.
        article: Whether an article stands before it.
        acts: Whether it does something: "did" or the like stands before it.
    """

    text: str
    start: int
    end: int
    placed: str = ""
    article: bool = False
    acts: bool = False


def names_in(text: str, titles: Sequence[str] = ()) -> list[Name]:
    """The names in a text, in its order; those that stand side by side are one.

    The first word counts where it owns something, a name follows, or a title has it; a word of a title counts
    whatever its case where it is the whole title.
    """
    spans = [match.span() for match in NAME.finditer(text)]
    first = _FIRST.match(text)
    known = {word for title in titles for word in fold(title).split()}
    if first and (_OWNER.search(first[0]) or fold(first[0]) in known or _follows(text, first.end(), spans)):
        spans.insert(0, first.span())
    runs: list[tuple[int, int]] = []
    for start, end in [*spans, *_titles_in(text, titles)]:
        if any(start < until and since < end for since, until in runs):
            continue
        if runs and _is_one(text[slice(*runs[-1])], text[runs[-1][1] : start]):
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return [_name(text, start, end) for start, end in sorted(runs)]


def _is_one(before: str, between: str) -> bool:
    """Whether a name goes on after what stands between: in "City of Leith", but not in "Ann's Leith", "CEO of Acme"."""
    return between in _BETWEEN and not _OWNER.search(before) and (between == " " or not before.isupper())


def _follows(text: str, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return not _BEGINS.match(text) and bool(spans) and spans[0][0] == end + 1


def _titles_in(text: str, titles: Sequence[str]) -> list[tuple[int, int]]:
    """Where a text has a whole title."""
    lower = text.lower()
    found = ((lower.find(title.lower()), len(title)) for title in titles if title)
    spans = [(start, start + length) for start, length in found if start >= 0]
    return [(a, b) for a, b in spans if not (text[a - 1 : a].isalnum() or text[b : b + 1].isalnum())]


def _name(text: str, start: int, end: int) -> Name:
    end -= len(owner[0]) if (owner := _OWNER.search(text[start:end])) else 0
    before = text[max(start - _BEFORE, 0) : start]
    placed, article, acts = _PREPOSITION.search(before), bool(_ARTICLE.search(before)), bool(_DOER.search(before))
    return Name(text[start:end], start, end, placed[1] if placed else "", article, acts)


def bounds_in(text: str, titles: Sequence[str] = ()) -> list[Name]:
    """The names and years in a text, in its order: what something can come before or after."""
    years = [_name(text, *match.span()) for match in _YEAR.finditer(text)]
    return sorted([*names_in(text, titles), *years], key=lambda name: name.start)


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
    if who:
        owner = f"{who}s" if german else f"{who}’s"
        one = _ONE_GERMAN if german else _ONE
        said = one.sub(lambda found: owner if found[1] else who, said, count=1)
    what = "" if german else _thing(told[0].question, told[0].sources, who if points_at_person(question) else "")
    return _IT.sub(lambda it: what + "’s" * (it[1].casefold() == "its"), said, count=1) if what else said


def _person(text: str, titles: Sequence[str], *, german: bool) -> str:
    """Who is spoken of: the name that a source is called by, else the first that is no place, else a source's.

    Of German, where every noun has a capital, only those that a source is called by.
    """
    people = [title for title in titles if _FULL_NAME.fullmatch(title)]
    named = names_in(text, titles)
    words = {word for title in people for word in fold(title).split()}
    owned = (name.text for name in named if words.issuperset(fold(name.text).split()))
    others = (
        name.text
        for name in named
        if not (german or name.placed or name.article or name.text in titles or _TIME.match(name.text))
    )
    return next(owned, "") or next(others, "") or next(iter(people), "")


def _thing(text: str, titles: Sequence[str], who: str) -> str:
    """What is spoken of: the source that is named, or asked for; else the only name that is nobody and no place."""
    people = {word for title in titles if _FULL_NAME.fullmatch(title) for word in fold(title).split()}
    named = [
        name
        for name in names_in(text, titles)
        if name.text != who and not people.issuperset(fold(name.text).split()) and not _TIME.match(name.text)
    ]
    things = {fold(title) for title in titles if not _FULL_NAME.fullmatch(title)}
    called = (name.text for name in named if fold(name.text) in things)
    asked = (title for title in titles[:1] if _ASKS_FOR.match(text) and is_own_word(title))
    others = [name.text for name in named if not (name.placed or name.acts or _OWNER.match(text[name.end :]))]
    return next(called, "") or next(asked, "") or (others[0] if len(others) == len(named) == 1 else "")


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


def said_of(text: str, relation: str) -> bool:
    """Whether a text already says what is before, or after."""
    return any(name.placed.lower() == relation.lower() for name in bounds_in(text))


def answered_by(turn: Turn) -> str:
    """The first name of an answer that its question does not have; empty where there is none."""
    asked = fold(turn.question)
    return next((name.text for name in names_in(turn.answer[:_READ]) if fold(name.text) not in asked), "")
