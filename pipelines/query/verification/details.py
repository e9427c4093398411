"""DETAILS: the best verdict that the numbers, units, dates, names and contrary words of a claim allow."""

import re
from dataclasses import dataclass

from pipelines.query.verification.agree import clear, denials, is_named, names_in, numbers_in
from pipelines.query.verification.figures import dates_differ, spoken_numbers, units_differ
from pipelines.query.verification.opposites import opposed
from pipelines.query.verification.rates import rates_differ
from pipelines.query.verification.scope import overstated
from pipelines.query.verification.sequence import reversed_order
from pipelines.query.verification.swapped import swapped
from pipelines.store.tokens import tokenise
from pipelines.text import fold
from pipelines.types import VerdictName

_WORD = re.compile(r"\w+")
_GENDERS = (frozenset({"he", "him", "his", "himself"}), frozenset({"she", "her", "hers", "herself"}))


@dataclass(frozen=True, slots=True)
class Passages:
    """Texts that a claim is compared with: its best place, all its places, and everything that is cited for it."""

    best: str
    shown: str
    cited: str


def allowed(claim: str, passages: Passages) -> VerdictName:
    """The best verdict that the details of a claim allow.

    `unsupported` where a number or a name stands nowhere, a number has another unit, a date is another, or only one
    side denies; `partial` where the two deny differently often, speak of a he and a she, say contrary things (rose,
    fell), or give the same names or numbers in other places.
    """
    said, shown, cited = clear(claim), clear(passages.shown), clear(passages.cited)
    terms = set(tokenise(cited))
    if numbers_in(said) - (numbers_in(cited) + spoken_numbers(cited)):
        return "unsupported"
    if not all(is_named(name, terms) for name in names_in(said)):
        return "unsupported"
    if units_differ(said, shown) or rates_differ(said, shown) or dates_differ(said, cited):
        return "unsupported"
    if bool(denials(passages.shown, claim)) != bool(denials(claim)):
        return "unsupported"
    best = passages.best
    alike = denials(best, claim) == denials(claim) and not _genders_differ(claim, best) and not swapped(claim, best)
    contrary = opposed(claim, best) or reversed_order(claim, best) or overstated(claim, best)
    return "supported" if alike and not contrary else "partial"


def _genders_differ(sentence: str, span: str) -> bool:
    """Whether one side speaks only of a he, and the other only of a she."""
    said, held = (
        [not gender.isdisjoint(_WORD.findall(fold(text))) for gender in _GENDERS] for text in (sentence, span)
    )
    return sum(said) == sum(held) == 1 and said != held
