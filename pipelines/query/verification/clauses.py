"""CLAUSES: the clauses of sentences, with who or what each speaks of and what its pronouns may stand for."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from pipelines.query.verification.agree import OPENERS
from pipelines.query.verification.figures import MONTHS
from pipelines.query.verification.grammar import BOUNDARY, IS_VERB, PASSIVE
from pipelines.store.tokens import tokenise

_AND = re.compile(r",?\sand\s")
_COUNTED_BEFORE = re.compile(r"(?<!between )(?<!between the )\b\d[\w.,]*(?:\s[\w'’%-]+){0,5}$", re.IGNORECASE)
_COUNTED_AFTER = re.compile(r"(?:[a-z]+\s){0,3}\d")
_ONE = re.compile(r"\b(?:ones?|those|that)\b")
_NUMBERED = re.compile(r"\s(\d{1,3}(?:\.\d+)?)\b")  # Orion 3
_JOINED = ("and ", "or ", "but ")
_PHRASE = re.compile(
    r"(?:in|on|at|from|by|after|during|since|before|until|for|with|under|of)\b[^,]{1,80},\s", re.IGNORECASE
)
_WORD = re.compile(r"\w+(?:[.'’&-]\w+)*(?:\+\+|#)?")
_NAME = re.compile(r"\b[A-Z]\w*(?:['’&.-]\w+)*(?:\s[A-Z]\w*(?:['’&.-]\w+)*){0,4}")
_LINKS = OPENERS | frozenset("and but or so yet who which that whose where when then if nor as".split())
_STANDS_FOR = frozenset("he she it they we i you this these those that there here".split())
_REFERS = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|hers|its|their|there|here|this|these|those|that|which|whom|one|both|such)\b",
    re.IGNORECASE,
)
_NOUNS = re.compile(
    r"\b(?:the|an?|his|her|its|their|our|this|these|\d+)\s(?=((?:[a-z][\w'’-]*\s?){1,3}))", re.IGNORECASE
)
# Of several things, which: what a pronoun stands for is another one.
_WHICH = frozenset(tokenise("first second last next previous former latter new old other another same"))
_NEAR = 4  # sentences from which a pronoun takes a name
_LONGEST = 8  # words of a subject
_WIDEST = 80  # characters from a count to the `and` after it


class Name(NamedTuple):
    """A run of capitalised words as terms, and the word before it."""

    terms: frozenset[str]
    lead: str


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a sentence, in index terms.

    Attributes:
        text: Its words.
        terms: What stands in it.
        names: Its runs of capitalised words.
        subject: The terms of what stands before its verb; empty where that is a pronoun or missing.
        says_subject: Whether it says itself of what it speaks.
        is_passive: Whether its subject is what something is done to.
        brought: Terms from before that its pronouns or its missing subject may stand for.
        before: The names among them.
    """

    text: str
    terms: frozenset[str]
    names: tuple[Name, ...]
    subject: frozenset[str]
    says_subject: bool
    is_passive: bool
    brought: frozenset[str]
    before: tuple[frozenset[str], ...]


@lru_cache(maxsize=512)
def clauses(sentences: tuple[str, ...]) -> tuple[Clause, ...]:
    """The clauses of sentences that follow each other, in order."""
    found: list[Clause] = []
    recent: list[list[Clause]] = []
    for sentence in sentences:
        own: list[Clause] = []
        for piece, shared in _pieces(sentence):
            own.append(_clause(piece, shared, own, recent))
        found += own
        recent = [*recent, own][-_NEAR:]
    return tuple(found)


def _pieces(sentence: str) -> Iterator[tuple[str, str]]:
    """The clauses of a sentence; two counts that an `and` puts side by side (`9 in May and 11 in June`) are two.

    With the second of them comes what stands before the first: it goes with both.
    """
    for clause in filter(None, map(str.strip, BOUNDARY.split(sentence))):
        start, shared = 0, ""
        for both in _AND.finditer(clause):
            left = clause[start : both.start()]
            counted = _COUNTED_BEFORE.search(left, max(0, len(left) - _WIDEST))
            if counted and _COUNTED_AFTER.match(clause, both.end()):
                yield left, shared
                shared, start = shared or left[: counted.start()], both.end()
        yield clause[start:], shared


def _clause(text: str, shared: str, own: Sequence[Clause], recent: Sequence[Sequence[Clause]]) -> Clause:
    """A clause after others of its sentence, and after earlier sentences."""
    said, says = (frozenset[str](), False) if shared else _subject(text)
    names = _names(text)
    earlier = [clause for sentence in recent for clause in sentence]
    before = tuple(name.terms for clause in (*earlier, *own) for name in clause.names)
    if shared:
        brought = frozenset(tokenise(shared)) | (
            frozenset(tokenise(own[-1].text)[-1:]) if own and _ONE.search(text) else frozenset()
        )
    else:
        brought = _shared(text, own[-1]) if own and not says else frozenset()
    refers = _REFERS.search(text) or (not says and not (own and text.startswith(_JOINED)))
    if not shared and refers:
        last = [*(recent[-1] if recent else ()), *own]
        brought = brought.union(*before, *(_nouns(clause.text) | _nouns_brought(clause) for clause in last))
    terms = frozenset(tokenise(text))
    brought = brought - _WHICH if terms & _WHICH else brought
    return Clause(text, terms, names, said, says, bool(PASSIVE.search(text)), brought, () if says else before)


def _shared(text: str, last: Clause) -> frozenset[str]:
    """What a clause that says no subject has of the one before it: its subject, or all where it is part of it."""
    if text.startswith(_JOINED):
        return last.subject if last.says_subject else last.brought
    return _without_numbers(last.terms | last.brought)


def _nouns_brought(clause: Clause) -> frozenset[str]:
    return frozenset() if clause.says_subject else clause.brought


def _subject(text: str) -> tuple[frozenset[str], bool]:
    """(the terms of what a clause speaks of, whether it says so itself)."""
    words = _WORD.findall(_opened(text))
    while words and words[0].lower() in _LINKS and words[0].lower() not in _STANDS_FOR:
        words = words[1:]
    if len(words) > 1 and words[0].lower() == "that" and (_is_name(words[1]) or words[1] in _STANDS_FOR):
        words = words[1:]
    if not words or words[0].lower() in _STANDS_FOR or words[0][0].isdigit() or IS_VERB.fullmatch(words[0]):
        return frozenset(), False
    end = next((at for at, word in enumerate(words[:_LONGEST]) if at and IS_VERB.fullmatch(word)), 0)
    if not end:
        end = next((at for at, word in enumerate(words[:_LONGEST]) if at and not _is_name(word)), len(words))
        end = max(end, 1) if _is_name(words[0]) else min(len(words), 3)
    return frozenset(tokenise(" ".join(words[:end]))), True


def _opened(text: str) -> str:
    """A clause from where its subject may stand: after a link and a phrase with a comma (`In 2019, `)."""
    start = next((word.start() for word in _WORD.finditer(text) if word[0].lower() not in {"and", "but", "or"}), 0)
    phrase = _PHRASE.match(text, start)
    return text[phrase.end() if phrase else start :]


def _is_name(word: str) -> bool:
    return word[:1].isupper()


def _names(text: str) -> tuple[Name, ...]:
    found = []
    for run in _NAME.finditer(text):
        words = [
            word for word in _WORD.findall(run[0]) if word.lower() not in _LINKS and word.lower() not in _STANDS_FOR
        ]
        number = _NUMBERED.match(text, run.end()) if words and words[-1] not in MONTHS else None
        terms = frozenset(tokenise(" ".join([*words, *(number.groups() if number else ())])))
        before = _WORD.findall(text[max(0, run.start() - 30) : run.start()])
        lead = before[-1].lower() if before else ""
        found += [Name(terms, lead)] if terms else []
        found += [Name(frozenset({word.lower()}), lead) for word in words[1:] if len(word) == 1]
    return tuple(found)


@lru_cache(maxsize=4_096)
def _nouns(text: str) -> frozenset[str]:
    """What an article, a possessive or a number leads in."""
    return _without_numbers(tokenise(" ".join(_NOUNS.findall(text)))) - _WHICH


def _without_numbers(terms: Iterable[str]) -> frozenset[str]:
    return frozenset(term for term in terms if not term[0].isdigit())
