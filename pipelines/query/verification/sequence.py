"""SEQUENCE: whether a claim turns round what came first, or what is more, of what a passage says."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pipelines.sentences import sentences
from pipelines.store.tokens import tokenise

# What stands between the earlier and the later, or the other way round.
_EARLIER_FIRST = re.compile(
    r"\b(?:before|(?:,|and) (?:then|later|afterwards|subsequently)|followed by|prior to|preceded|ahead of)\b",
    re.IGNORECASE,
)
_LATER_FIRST = re.compile(r"\b(?:after|preceded by|followed(?! by)|once)\b", re.IGNORECASE)
_THAN = re.compile(r"\b(?:more|less|fewer|[a-z]{2,}er|better|worse)\b[^.;]{0,40}?\bthan\b", re.IGNORECASE)
# Of two things, the one that is so has less.
_LESSER = frozenset(
    """less fewer lower smaller shorter slower cheaper weaker younger colder cooler worse lighter narrower thinner
    poorer nearer closer softer darker earlier shallower safer""".split()
)
_PAUSE = re.compile(r",\s")
_LONGEST = 400


class Order(NamedTuple):
    """Two sides of a relation in index terms: the earlier and the later, or what has more and what has less."""

    first: frozenset[str]
    second: frozenset[str]


def reversed_order(claim: str, passage: str) -> bool:
    """Whether two things that a claim puts in an order are in the other order in a passage, and nowhere in its own."""
    return any(
        (
            found := {
                turned
                for mine in read(claim)
                for theirs in read(passage)
                if (turned := _turned(mine, theirs)) is not None
            }
        )
        and found == {True}
        for read in (_events, _degrees)
    )


def _turned(one: Order, other: Order) -> bool | None:
    """Whether the sides of one order are those of the other turned round; None where they are others."""
    straight = min(_shared(one.first, other.first), _shared(one.second, other.second))
    crossed = min(_shared(one.first, other.second), _shared(one.second, other.first))
    return None if straight == crossed else crossed > straight


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(min(len(one), len(other)), 1)


def _events(text: str) -> Iterator[Order]:
    """(the earlier, the later) around each word that says which came first."""
    for sentence in _sentences(text):
        for pattern, earlier_first in ((_EARLIER_FIRST, True), (_LATER_FIRST, False)):
            for word in pattern.finditer(sentence):
                left, right = _sides(sentence, word.start(), word.end())
                yield from _order(left, right) if earlier_first else _order(right, left)


def _degrees(text: str) -> Iterator[Order]:
    """(what has more, what has less) around each comparison."""
    for sentence in _sentences(text):
        for word in _THAN.finditer(sentence):
            left, right = _sides(sentence, word.start(), word.end())
            lesser = not _LESSER.isdisjoint(re.findall(r"[a-z]+", word[0].lower()))
            yield from _order(right, left) if lesser else _order(left, right)


def _sides(sentence: str, start: int, end: int) -> tuple[str, str]:
    """What stands on each side of a word; of one that opens the sentence, the first side comes after the comma."""
    left, right = sentence[:start], sentence[end:]
    pause = _PAUSE.search(right)
    if not left.strip() and pause:
        return right[pause.end() :], right[: pause.start()]
    return left, right


def _order(first: str, second: str) -> Iterator[Order]:
    one, other = frozenset(tokenise(first)), frozenset(tokenise(second))
    if one - other and other - one:
        yield Order(one - other, other - one)


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text) if end - start <= _LONGEST]
