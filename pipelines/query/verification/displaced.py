"""DISPLACED: a claim that says of one thing what its sources say of another."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from pipelines.query.verification.agree import clear, numbers_in
from pipelines.query.verification.claims import Alignment, Array, Word, holds_word, words_of
from pipelines.query.verification.clauses import Clause, clauses
from pipelines.query.verification.mixed import is_contrary, is_mixed
from pipelines.store.tokens import tokenise

_REST = 0.9  # of the words beside a detail, for a clause to speak of the same
_CLAUSES = 20  # of a claim that are looked at
_DETAILS = 12  # of a clause of a claim that are looked at
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*")
_SMALL = re.compile(r"\b[a-z][\w'’-]*")
_PLACED = {"in": "at", "at": "at", "near": "at", "on": "at"}
_LEADS = frozenset({"to", "from", "for", "with", "of", "as", "by", "into", "under", "after", "before"})


def displaced(claim: str, aligned: Alignment) -> bool:
    """Whether a clause that holds nearly all else of one of a claim has another detail, or the contrary, in its place.

    A claim that joins a detail of one sentence with the rest of another is told so: `Priya will write the report` of
    `Tom will write the report. Priya will test it.` What a pronoun or a missing subject may stand for counts with a
    clause; a name in the headings goes with every clause, and what is written small elsewhere is no name.
    """
    heads = frozenset[str]().union(*(line.terms for line in aligned.lines if line.is_head))
    texts = [_texts(aligned, own) for own in aligned.of_each_source()]
    held = [clause for sentences in texts for clause in clauses(sentences)]
    small = frozenset(tokenise(" ".join(word for text in texts for line in text for word in _SMALL.findall(line))))
    return bool(held) and any(_is_displaced(said, held, heads | small) for said in clauses((clear(claim),))[:_CLAUSES])


def _texts(aligned: Alignment, own: slice) -> tuple[str, ...]:
    return tuple(line.text for line in aligned.lines[own] if not line.is_head)


def _is_displaced(said: Clause, held: Sequence[Clause], common: frozenset[str]) -> bool:
    words = words_of(said.text)
    if not words:
        return False
    weights = np.array([word.weight for word in words])
    inside = np.array([[holds_word(clause.terms, word) for word in words] for clause in held], np.float64)
    holding = np.array([[_has([word], said, clause) for word in words] for clause in held])
    holding = np.where(inside.any(axis=1, keepdims=True), holding, 0.0).astype(np.float64)
    details = _details(said, words, common)
    return (
        is_contrary(said, held, holding @ weights / weights.sum())
        or any(
            _is_of_another([words[place] for place in detail], said, held, _shares(detail, details, words, holding))
            for detail in details
        )
        or is_mixed(said, words, held, holding, {place for detail in details for place in detail})
    )


def _details(said: Clause, words: Sequence[Word], common: frozenset[str]) -> list[list[int]]:
    """The places of each number, and of the words of each run of names; without what is common."""
    found = [[place] for place, word in enumerate(words) if word.detail == "number"]
    for name in said.names:
        run = [place for place, word in enumerate(words) if word.detail == "name" and word.terms[0] in name.terms]
        run = [place for place in run if not holds_word(common, words[place])]
        found += [run] if run else []
    return found[:_DETAILS]


def _shares(detail: Sequence[int], details: Sequence[Sequence[int]], words: Sequence[Word], holding: Array) -> Array:
    """(clauses,) the share of the words beside a detail that each clause holds or brings in, by their weight.

    0 where it lacks another name, and where a claim has too few other words. Numbers count beside a number, and beside
    a name where there is little else.
    """
    rest = [place for place in range(len(words)) if place not in detail]
    plain = [place for place in rest if words[place].detail != "number"]
    rest = plain if words[detail[0]].detail == "name" and len(plain) > 1 else rest
    if len(rest) < max(1, min(2, len(words) - 1)):
        return np.zeros(len(holding))
    weights = np.array([words[place].weight for place in rest])
    shares: Array = holding[:, rest] @ weights / max(weights.sum(), 1e-9)
    for other in details:
        if other is not detail and words[other[0]].detail == "name":
            shares = shares * holding[:, list(other)].any(axis=1)
    return shares


def _is_of_another(detail: Sequence[Word], said: Clause, held: Sequence[Clause], shares: Array) -> bool:
    """Whether the clauses that say most of a claim's have another name or number in a detail's place."""
    if not (shares >= _REST).any():
        return False
    has = [_has(detail, said, clause) for clause in held]
    known = max((share for share, own in zip(shares, has, strict=True) if own), default=0.0)
    return any(
        share >= _REST and share > known and not own and _has_rival(detail, said, clause)
        for clause, share, own in zip(held, shares, has, strict=True)
    )


def _has(detail: Sequence[Word], said: Clause, clause: Clause) -> bool:
    """Whether a clause has a detail: itself, or by what it brings in where it has nothing else in that place."""
    if any(holds_word(clause.terms, word) for word in detail):
        return True
    if not any(holds_word(clause.brought, word) for word in detail):
        return False
    if detail[0].detail != "name":
        return True
    if _is_subject(detail, said, clause):
        return not clause.says_subject
    place = _place(_lead(detail, said))
    return all(_place(name.lead) != place or not name.terms.isdisjoint(clause.subject) for name in clause.names)


def _is_subject(detail: Sequence[Word], said: Clause, clause: Clause) -> bool:
    """Whether a detail of a claim would be what a clause begins with, a passive turned round."""
    opens = any(word.terms[0] in said.subject for word in detail)
    if said.is_passive == clause.is_passive:
        return opens
    return said.is_passive and not opens and _lead(detail, said) == "by"


def _lead(detail: Sequence[Word], said: Clause) -> str:
    """The word before a name."""
    return next((name.lead for name in said.names if any(word.terms[0] in name.terms for word in detail)), "")


def _has_rival(detail: Sequence[Word], said: Clause, clause: Clause) -> bool:
    """Whether a clause has another name or number where a claim has its own."""
    if detail[0].detail == "number":
        return _has_other_number(detail[0].terms[0], said.text, clause.text)
    others = [name for name in clause.names if name.terms.isdisjoint(said.terms)]
    if _is_subject(detail, said, clause):
        if clause.says_subject:
            return any(not name.terms.isdisjoint(clause.subject) for name in others)
        return any(terms.isdisjoint(said.terms) for terms in clause.before)
    place = _place(_lead(detail, said))
    return any(name.terms.isdisjoint(clause.subject) and _place(name.lead) == place for name in others)


def _place(lead: str) -> str:
    return _PLACED.get(lead, lead if lead in _LEADS else "")


def _has_other_number(number: str, said: str, text: str) -> bool:
    """Whether a text has another number than a claim: another year, or one beside the same word."""
    own, mine = numbers_in(said), _beside(number, said)
    is_year = bool(_YEAR.fullmatch(number))
    return any(
        (is_year and bool(_YEAR.fullmatch(other))) or not mine.isdisjoint(_beside(other, text))
        for other in numbers_in(text)
        if other not in own
    )


@lru_cache(maxsize=4_096)
def _beside(number: str, text: str) -> frozenset[str]:
    """The words beside a number: what it counts, and what leads to it."""
    return frozenset(word for own, word in _counted(text) if own == number)


@lru_cache(maxsize=512)
def _counted(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(_neighbours(text))


def _neighbours(text: str) -> Iterator[tuple[str, str]]:
    """(number, a word beside it) of each number."""
    for match in _NUMBER.finditer(text):
        after = tokenise(text[match.end() : match.end() + 40])
        before = re.findall(r"\w+", text[max(0, match.start() - 30) : match.start()])
        yield from ((match[0], f"{word}-") for word in after[:1])
        yield from ((match[0], f"-{word.lower()}") for word in before[-1:])
