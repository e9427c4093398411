"""The numbers, names and denials of a text, and whether it holds another word for word."""

import re
from collections import Counter
from collections.abc import Set
from functools import lru_cache

from pipelines.query.verification.figures import levelled
from pipelines.store.tokens import tokenise
from pipelines.text import fold, plain

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[,'’\u00a0\u202f]\d{3})+(?![\d,])")
_WORD = re.compile(r"\w+(?:[.'’-]\w+)*(?:\+\+|#)?")
_NEGATION = re.compile(
    r"\b(?:no|not(?! only\b)|never|none|nobody|nothing|neither|nor|without|cannot|unable|lack(?:s|ed|ing)?"
    r"|(?:fail|refuse)(?:s|d|ed)? to|\w+n['’]t)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b([a-z]+)n['’]t\b", re.IGNORECASE)
_SHORT_NOT = {"ca": "can", "wo": "will", "sha": "shall"}
_CLAUSE_END = re.compile(r"[.!?;:,](?=\s|$)|\b(?:but|although|though|whereas|while|because)\b", re.IGNORECASE)
_NAME = re.compile(r"(?:(?<!\w)\.)?\b[A-Z]\w*(?:[.'’&-]\w+)*(?:\+\+|#)?")
_DETERMINER = re.compile(r"\s+(?:a|an|the|this|these|his|her|its|their|our|my)\b")
# Usual first words: a capital makes no name of them.
OPENERS = frozenset(
    """according additionally after all also although among another anyone because before between both currently
    despite during each earlier even every everyone finally first following further furthermore given here however
    instead just last later many meanwhile moreover most never next no nobody none nothing now once one only other
    overall over previously prior several since some sometimes soon still then there therefore through throughout
    though thus today together two three under until using when whenever while within without yes yet""".split()
)
_OPENING = re.compile(rf"\b(?:{'|'.join(sorted(OPENERS))})\b", re.IGNORECASE)
_CLAUSES = 300  # characters after a denial in which what is denied stands


@lru_cache(maxsize=4_096)
def bare(text: str) -> str:
    """The text without markup and thousands separators."""
    return plain(_THOUSANDS.sub(lambda number: re.sub(r"\D", "", number.group()), text))


def clear(text: str) -> str:
    """The text without markup, its numbers, units, dates and short forms of `not` in one spelling."""
    return levelled(_NOT.sub(lambda found: _SHORT_NOT.get(found[1].lower(), found[1]) + " not", bare(text)))


def folded(text: str) -> str:
    return fold(bare(text))


def holds(text: str, claim: str) -> bool:
    """Whether a text holds a folded claim verbatim, from word boundary to word boundary (`5` is not in `1.5`)."""
    body = folded(text)
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
    """The numbers of a text, however their thousands are set; digits between letters (k8s) are none."""
    padded = f" {folded(text)} "
    found = _NUMBER.finditer(padded)
    return Counter(n.group() for n in found if not (padded[n.start() - 1].isalpha() and padded[n.end()].isalpha()))


def names_in(text: str) -> list[str]:
    """The capitalised words of a text, but for stop words, usual first words and a first verb (`Led a team`)."""
    clean = bare(text)
    return [
        name.group()
        for name in _NAME.finditer(clean)
        if name.group().lower() not in OPENERS
        and tokenise(name.group())
        and not (name.start() == 0 and _DETERMINER.match(clean, name.end()))
    ]


def is_named(name: str, terms: Set[str]) -> bool:
    """Whether a name is among the terms of a text: whole, or by all its parts or its long form."""
    whole, *parts = tokenise(name)
    return whole in terms or (bool(parts) and terms >= set(parts))


def denials(text: str, claim: str = "") -> int:
    """How often a text denies something; with a claim, only where the denial goes on with a term of the claim.

    What is denied stands in the clause after the denial, or in the first later one that has terms (`not, however,`).
    """
    clean, terms, found = bare(text), set(tokenise(bare(claim))), 0
    for negation in _NEGATION.finditer(clean):
        clauses = (
            _OPENING.sub(" ", clause) for clause in _CLAUSE_END.split(clean[negation.end() : negation.end() + _CLAUSES])
        )
        denied = next((held for clause in clauses if (held := set(tokenise(clause)))), set[str]())
        found += not claim or not denied or not denied.isdisjoint(terms)
    return found
