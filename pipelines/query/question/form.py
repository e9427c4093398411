"""QUESTION TYPE: what kind of answer a question asks for, and whether a sentence holds a value of that kind."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Literal

from pipelines.query.question.rules import owner_terms
from pipelines.query.question.words import Text, counted_things, is_year, read, terms_in, words
from pipelines.query.values import holds
from pipelines.query.verification.words import LISTS
from pipelines.store.known_names import is_own_word
from pipelines.store.tokens import STOP_WORDS, tokenise
from pipelines.text import base_verb_forms, fold
from pipelines.types import QueryIntent

AnswerKind = Literal[
    "why", "money", "share", "duration", "when", "count", "who", "where", "which", "comparison", "how", "yes-no", "what"
]

# In this order; a question is of the first kind of which it has a phrase.
_KINDS: tuple[AnswerKind, ...] = (
    "why", "money", "share", "duration", "when", "count", "comparison", "who", "where", "which", "yes-no", "how",
)  # fmt: skip
_EDGES = "?.,;:!\"'()[]{}“”‘’„«»"
_OPENERS = _EDGES.replace(".", "")  # .NET
_ASKING, _COMPARING, _UNSPECIFIC = map(terms_in, ("asking", "comparing", "unspecific"))
_MOST_PARTS = 4
_MOST_BEFORE = 20  # words of the question before, which a follow-up is read with
_MOST_NAMED = 3  # words after "which" that say what has the name
_ENOUGH = 2  # terms of its own, from which a follow-up's answer need not have those of the conversation


@dataclass(frozen=True, slots=True)
class QuestionType:
    """The kind of thing that a question asks for.

    Attributes:
        kind: The kind of value an answer must hold; `what` leaves it open.
        listed: True if several things are asked for.
        names: Index terms of what the question names: names, years, known documents and companies.
        focus: Index terms of what it asks about them, without question words.
        terms: Index terms of the whole question.
        things: The names, each as the terms of adjacent words.
        put: The question as put to its owner ("you" for the name) after the one that it goes on from; else empty.
        told: Ids of the documents that the last answer is from, of a follow-up.
    """

    kind: AnswerKind
    listed: bool
    names: tuple[str, ...]
    focus: tuple[str, ...]
    text: str
    terms: frozenset[str]
    things: tuple[tuple[str, ...], ...] = ()
    put: str = ""
    told: frozenset[str] = frozenset()

    @property
    def as_put(self) -> str:
        """The question as the reader gets it: documents in the first person do not say their owner's name."""
        return self.put or self.text

    @property
    def is_vague(self) -> bool:
        """True if the question names nothing and asks for nothing specific."""
        if self.told:
            return False
        is_open = not self.focus or self.kind in ("what", "which", "how", "yes-no")
        return not self.names and is_open and _UNSPECIFIC.issuperset(self.focus)

    @property
    def asks_change(self) -> bool:
        """True if it asks by how much something changed: "How much faster did it get?"."""
        return self.kind in ("count", "share", "money", "duration", "comparison") and read(self.text).says("changing")

    @property
    def asked(self) -> tuple[str, ...]:
        """Index terms of what it names and of what it asks about that, each once."""
        return tuple(dict.fromkeys((*self.names, *self.focus)))

    @property
    def words(self) -> tuple[str, ...]:
        """Its words, folded, in order."""
        return tuple(read(self.text).all)

    @property
    def own_terms(self) -> frozenset[str]:
        """Index terms of its words that are not ordinary, as names of projects are."""
        return frozenset(term for word in self.words if is_own_word(word) for term in tokenise(word))

    @property
    def counted(self) -> tuple[str, ...]:
        """The words of what it asks the number of."""
        return counted_things(self.text)

    @property
    def named_things(self) -> frozenset[str]:
        """Index terms of what has the name that it asks for; empty where it asks for none."""
        return _named_things(self.text)

    @property
    def asks_price(self) -> bool:
        """True if it asks for a price or pay."""
        return self.kind == "money" or (self.kind in ("what", "count") and read(self.text).says("asks-price"))

    @property
    def asks_pay(self) -> bool:
        """True if it asks for a salary or a wage."""
        return read(self.text).has("wages")

    @property
    def is_definition(self) -> bool:
        """True if it only asks what or who the named is: "What is saltlick?"."""
        return self.kind in ("who", "what") and bool(self.names) and self.asks_nothing

    @property
    def asks_nothing(self) -> bool:
        """True if the question asks nothing about the named things except how they compare."""
        return _COMPARING.issuperset(self.focus)


def classify_question(intent: QueryIntent) -> QuestionType:
    """The type of a question; a follow-up takes names and focus from its standalone form."""
    text, known = intent.wording, _known_terms(intent)
    wanted = replace(_without_owner(_classify(text, known), intent.owner), put=_put_to_owner(text, intent.owner))
    if not intent.follow_up:
        return wanted
    before = _put_to_owner(" ".join(intent.after.split()[-_MOST_BEFORE:]), intent.owner)
    wanted = replace(wanted, put=f"{before} {wanted.put}", told=frozenset(intent.told))
    own = _without_owner(_classify(text.partition(" (")[0], known), intent.owner)
    if len(own.focus) >= _ENOUGH:
        wanted = replace(own, put=wanted.put, told=wanted.told)
    asked = fold(intent.corrected or intent.question)
    return replace(wanted, kind=_kind_of(asked), listed=read(asked).says("several"))


def _without_owner(wanted: QuestionType, owner: Sequence[str]) -> QuestionType:
    """The type without the terms of its owner's name, unless it asks for nothing else."""
    terms = owner_terms(owner)
    names, focus = (tuple(term for term in own if term not in terms) for own in (wanted.names, wanted.focus))
    return replace(wanted, names=names, focus=focus, terms=wanted.terms - terms) if names or focus else wanted


def _put_to_owner(text: str, owner: Sequence[str]) -> str:
    """A question with "you" and "your" for its owner's name: "When did you finish your thesis?"."""
    terms, said = owner_terms(owner), read(text).words
    held = [bool(own := tokenise(word.text)) and terms.issuperset(own) for word in said]
    held = [
        own or (word.text in words("address-forms") and any(held[at + 1 : at + 2]))
        for at, (own, word) in enumerate(zip(held, said, strict=True))
    ]
    put, at = "", 0
    for place, word in enumerate(said):
        if held[place]:
            is_last = not any(held[place + 1 : place + 2])
            put += text[at : word.start] + ("your" if word.owns else "you") * is_last
            at = word.end + 2 * word.owns if is_last else said[place + 1].start
    return put + text[at:]


def question_parts(intent: QueryIntent, whole: QuestionType) -> list[QuestionType]:
    """The types of the parts of a question that has several: two questions in one, or things to compare.

    A part without names takes those of the whole question.
    """
    known = _known_terms(intent)
    things = [thing for thing in whole.things if whole.asks_nothing or known.issuperset(thing)]
    if (whole.kind == "comparison" or len(intent.documents) > 1) and len(things) > 1:
        kind: AnswerKind = "what" if whole.asks_nothing else whole.kind
        focus = () if whole.asks_nothing else whole.focus
        asked = [(thing, frozenset((*thing, *focus))) for thing in things[:_MOST_PARTS]]
        return [replace(whole, kind=kind, names=thing, focus=focus, terms=terms) for thing, terms in asked]
    halves = _halves(read(whole.text))[:_MOST_PARTS]
    if len(halves) < 2 or not all(read(half).says("asking") for half in halves):
        return []
    parts_wanted = (_classify(half, known) for half in halves)
    return [part if part.names else replace(part, names=whole.names) for part in parts_wanted]


def _halves(text: Text) -> list[str]:
    """The questions of a text that asks several: each begins after a comma or "and" with a question word."""
    cuts = [0]
    for at in range(1, len(text.words)):
        led = text.all[at - 1] == "and" or not {*",;"}.isdisjoint(text.words[at].before)
        if led and text.at("question-word", at):
            cuts.append(at)
    ends = [at - (text.all[at - 1] == "and") for at in cuts[1:]]
    halves = [text.slice(first, last) for first, last in zip(cuts, ends, strict=False)]
    return [*halves, text.text[text.words[cuts[-1]].start :].strip()] if text.words else []


def _kind_of(text: str) -> AnswerKind:
    if read(text).says("whom-it-serves"):  # a group, seldom a person's name
        return "what"
    return next((kind for kind in _KINDS if read(text).says(kind)), "what")


def _known_terms(intent: QueryIntent) -> frozenset[str]:
    return frozenset(term for name in intent.names for term in tokenise(name))


def _classify(text: str, known: frozenset[str]) -> QuestionType:
    folded = fold(text)
    names: dict[str, None] = {}
    things: list[tuple[str, ...]] = []
    focus: dict[str, None] = {}
    follows = False
    for place, raw in enumerate(text.split()):
        word = raw.lstrip(_OPENERS).rstrip(_EDGES).removesuffix("'s").removesuffix("’s")
        terms = tokenise(base_verb_forms(word))
        if fold(word).rstrip(".") in words("address-forms"):
            continue
        if is_name_word(word, first=place == 0) or (terms and known.issuperset(terms)):
            names |= dict.fromkeys(terms[:1])
            things[len(things) - follows :] = [((*things[-1], *terms[:1]) if follows else tuple(terms[:1]))]
            follows = raw[-1] not in _EDGES
            continue
        follows = False
        focus |= dict.fromkeys(term for term in terms[:1] if term not in _ASKING)
    return QuestionType(
        kind=_kind_of(folded),
        listed=read(folded).says("several"),
        names=tuple(names),
        focus=tuple(focus),
        text=text,
        terms=frozenset(tokenise(text)) - _COMPARING,
        things=tuple(dict.fromkeys(filter(None, things))),
    )


@lru_cache(maxsize=256)
def _named_things(question: str) -> frozenset[str]:
    asked = read(question)
    place, kind = asked.find("asks-name"), asked.find("asks-named-kind")
    if place is None and kind is None and asked.says("asks-called"):
        place = asked.find("thing-called")
    first = place.last if place else kind.last - 1 if kind else len(asked.words)
    said: list[str] = []
    for word in asked.words[first : first + _MOST_NAMED]:
        if word.text in STOP_WORDS | words("auxiliaries") | {"one", "ones"} or word.is_capital:
            break
        said += tokenise(word.text)
    return frozenset(said)


def asks_for_code(question: str) -> bool:
    """True if a question asks how something is run, called or set."""
    return read(question).has("code")


def asks_of_commands(intent: QueryIntent) -> bool:
    """True if a question is about prompts or orders to a model, so that such sentences may answer it."""
    return read(intent.corrected or intent.question).says("commands")


def is_name_word(word: str, *, first: bool = False) -> bool:
    """True if a word of a question names something: by its capitals, its signs (C++), or as a year."""
    if is_year(word) or "+" in word or "#" in word or "." in word[1:-1]:
        return True
    inner = word[1:] != word[1:].lower()
    return inner or (word[:1].isupper() and not first)


# Kinds that ask for a value which a line either holds or does not.
EXACT_KINDS = frozenset[AnswerKind]({"money", "share", "duration", "count", "when", "who"})
_LONGEST = 1_200  # characters of a sentence that are read
_SHORT_LINE = 6  # words
_NEAR = 8  # words between the two values of a change
_ARROWS = {"→", "->", "⇒"}
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_DATE = re.compile(
    rf"\b(?:1[89]|20)\d\d\b|\b\d\d? {_MONTH}\b|\b{_MONTH} \d|\b\d\d?:\d\d\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:yesterday|today|midnight|noon)\b"
)
_REASON = re.compile(
    r"\b(?:because|since|so|therefore|thus|hence|reasons?|due to|owing to|as a result|caus\w+|mistakes?|fault|afraid"
    r"|fear|wanted|would|could|should|worth|better|harder|too|instead|meant|means|needed|never"
    r"|not|no)\b"
)
_CAPITAL, _SMALL = "A-ZÀ-ÖØ-ÞĀ-ž\u1e00-\u1eff", "a-zß-öø-ÿā-ž\u1e00-\u1eff"  # of names in Latin script
_NAME = re.compile(rf"(?<![.!?:|•\n] )(?<!^)\b[{_CAPITAL}][\w&.'’-]*")
_PERSON = re.compile(
    rf"\b[{_CAPITAL}][{_SMALL}]+(?: (?:van|von|de|der|den|di|du|la|al|bin) )? ?(?:[{_CAPITAL}][.] )?"
    rf"[{_CAPITAL}][{_SMALL}'’-]+"
    rf"|\b(?:named|called|colleague|by|with|ask|asked|name is|friend|brother|sister|mentor),? "
    rf"[{_CAPITAL}][{_SMALL}'’-]+"
)
_SUBJECT = re.compile(rf"[{_CAPITAL}][{_SMALL}'’-]+(?= [a-z])")
_NO_PERSON = terms_in("no-persons")
_COMPARED = re.compile(r"\b(?:than|more|less|most|better|worse|prefer\w*|alone|against|versus|both|while|\w+er)\b|\d")


def holds_kind(kind: AnswerKind, sentence: str, asked: frozenset[str]) -> bool:
    """True if a sentence, without markup, holds a value of the kind that the question does not give itself.

    What stands among its index terms (`asked`) is no answer; of a kind that leaves it open every sentence is one.
    """
    text = sentence[:_LONGEST]
    held = _HOLDS_KIND.get(kind)
    return held is None or held(text, asked)


def states_change(sentence: str) -> bool:
    """True if a sentence says both values of a change: `from 840 ms to 210 ms`, `0.81 → 0.93`."""
    said = read(sentence[:_LONGEST])
    numbers = [at for at, word in enumerate(said.words) if word.text[:1].isdigit()]
    near = [(one, other) for one, other in pairwise(numbers) if other - one <= _NEAR]
    return any(
        ("to" in said.all[one + 1 : other] and "from" in said.all[max(one - 2, 0) : one])
        or not _ARROWS.isdisjoint(said.text[said.words[one].end : said.words[other].start].split())
        for one, other in near
    )


def kind_fit(wanted: QuestionType, sentence: str) -> float:
    """1 where a sentence holds what is asked for, 0 where it does not, 0.5 where the kind leaves it open.

    A single name that a sentence begins with may be a person's. Of a change, one of its values leaves it open.
    """
    if wanted.asks_change and holds_kind(wanted.kind, sentence, wanted.terms):
        return 1.0 if states_change(sentence) else 0.5
    if wanted.kind in ("what", "how", "yes-no") or not wanted.focus:
        return 0.5
    if wanted.kind == "who" and not holds_kind("who", sentence, wanted.terms):
        return 0.5 * _may_open_with_name(sentence[:_LONGEST], wanted.terms)
    return float(holds_kind(wanted.kind, sentence, wanted.terms))


def _has_person(text: str, asked: frozenset[str]) -> bool:
    found = (frozenset(tokenise(name)) for name in _PERSON.findall(text))
    return any(not asked.issuperset(name) and _NO_PERSON.isdisjoint(name) for name in found)


def _may_open_with_name(text: str, asked: frozenset[str]) -> bool:
    """True if a sentence begins with a name on its own (`Ann built`): no usual first word, and not asked about."""
    first = _SUBJECT.match(text)
    name = frozenset(tokenise(first[0])) if first and first[0].lower() not in LISTS["openers"] else frozenset()
    return bool(name) and not asked.issuperset(name) and _NO_PERSON.isdisjoint(name)


def _has_name(text: str, asked: frozenset[str]) -> bool:
    said = f"a {text}" if len(text.split()) <= _SHORT_LINE else text  # a name on its own begins its line
    names = (name for name in _NAME.findall(said) if fold(name).partition("'")[0] not in STOP_WORDS | {"i"})
    return any(not asked.issuperset(tokenise(name)) for name in names)


# What an answer of a kind must hold; any line may be one of another kind.
_HOLDS_KIND: Mapping[AnswerKind, Callable[[str, frozenset[str]], bool]] = {
    "why": lambda text, _: bool(_REASON.search(fold(text))),
    "money": partial(holds, "money"),
    "share": partial(holds, "share"),
    "duration": partial(holds, "duration"),
    "when": lambda text, asked: any(not asked.issuperset(tokenise(date) or [""]) for date in _DATE.findall(fold(text))),
    "count": partial(holds, "count"),
    "who": _has_person,
    "where": _has_name,
    "which": _has_name,
    "comparison": lambda text, _: bool(_COMPARED.search(fold(text))),
}
