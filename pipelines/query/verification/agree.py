"""Whether a claim's numbers, names, denials and pronouns agree with a passage: pure comparisons of two texts."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from pipelines.query.verification.figures import dates_differ, levelled, spoken_numbers, units_differ
from pipelines.query.verification.opposites import opposed
from pipelines.store.tokens import STOP_WORDS, tokenise
from pipelines.text import fold, plain
from pipelines.types import VerdictName

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[,'’\u00a0\u202f]\d{3})+(?![\d,])")
_WORD = re.compile(r"\w+(?:[.'’-]\w+)*(?:\+\+|#)?")
_NEGATION = re.compile(
    r"\b(?:no|not(?! only\b)|never|none|nobody|nothing|neither|nor|without|cannot|unable|lack(?:s|ed|ing)?"
    r"|(?:fail|refuse)(?:s|d|ed)? to|\w+n['’]t)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.!?;:,](?=\s|$)|\b(?:but|although|though|whereas|while|because)\b", re.IGNORECASE)
_NAME = re.compile(r"(?:(?<!\w)\.)?\b[A-Z]\w*(?:[.'’&-]\w+)*(?:\+\+|#)?")
_DETERMINER = re.compile(r"\s+(?:a|an|the|this|these|his|her|its|their|our|my)\b")
_GENDERS = (frozenset({"he", "him", "his", "himself"}), frozenset({"she", "her", "hers", "herself"}))
# Usual first words: a capital makes no name of them.
OPENERS = frozenset(
    """according additionally after all also although among another anyone because before between both currently
    despite during each earlier even every everyone finally first following further furthermore given here however
    instead just last later many meanwhile moreover most never next no nobody none nothing now once one only other
    overall over previously prior several since some sometimes soon still then there therefore through throughout
    though thus today together two three under until using when whenever while within without yes yet""".split()
)
_OPENING = re.compile(rf"\b(?:{'|'.join(sorted(OPENERS))})\b", re.IGNORECASE)
_COMPARED = 8  # names or numbers of a claim, and occurrences of each, that are looked at for a change of places
_LONGEST = 60  # words between two of them
_CLAUSES = 300  # characters after a denial in which what is denied stands
# Stop words that say which of two names or numbers is which.
_DIRECTIONS = frozenset({"to", "from", "into"})


@lru_cache(maxsize=4_096)
def bare(text: str) -> str:
    """The text without markup and thousands separators."""
    return plain(_THOUSANDS.sub(lambda number: re.sub(r"\D", "", number.group()), text))


def clear(text: str) -> str:
    """The text without markup, its numbers, units and dates in one spelling."""
    return levelled(bare(text))


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
    if units_differ(said, shown) or dates_differ(said, cited):
        return "unsupported"
    if bool(denials(passages.shown, claim)) != bool(denials(claim)):
        return "unsupported"
    best = passages.best
    alike = denials(best, claim) == denials(claim) and not _genders_differ(claim, best) and not _swapped(claim, best)
    return "supported" if alike and not opposed(claim, best) else "partial"


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


def _genders_differ(sentence: str, span: str) -> bool:
    """Whether one side speaks only of a he, and the other only of a she."""
    said, held = (
        [not gender.isdisjoint(_WORD.findall(fold(text))) for gender in _GENDERS] for text in (sentence, span)
    )
    return sum(said) == sum(held) == 1 and said != held


def _swapped(sentence: str, span: str) -> bool:
    """Whether two names or numbers change places around the same words (`Ann told Bo`, `Bo told Ann`).

    A passive (`Bo was told by Ann`) turns the order of names round.
    """
    claim, text = _stems(sentence), _stems(span)
    numbers = list(dict.fromkeys(word for word in claim if word[0].isdigit()))[:_COMPARED]
    names = list(dict.fromkeys(stem for name in names_in(sentence) for stem in _stems(name)))[:_COMPARED]
    pairs = [(pair, set[str]()) for pair in combinations(numbers, 2)]
    pairs += [(pair, set(names) | set(numbers)) for pair in combinations(names, 2)]
    return any(_turned(one, other, ignored, claim, text) for (one, other), ignored in pairs)


def _turned(one: str, other: str, ignored: set[str], claim: Sequence[str], text: Sequence[str]) -> bool:
    """Whether around the same words a text has two words only in the other order than a claim."""
    ignored = ignored | (STOP_WORDS - _DIRECTIONS)
    orders = {
        in_order == (("by" in said[-2:]) == ("by" in held[-2:]))
        for in_order, pair in ((True, (one, other)), (False, (other, one)))
        for said in _between(one, other, claim)
        for held in _between(*pair, text)
        if (set(said) & set(held)) - ignored
    }
    return orders == {False}


def _between(one: str, other: str, words: Sequence[str]) -> list[Sequence[str]]:
    """What stands between each of the first occurrences of one word and the next of the other."""
    starts = [at for at, word in enumerate(words) if word == one]
    ends = [at for at, word in enumerate(words) if word == other]
    found = []
    for start in starts[:_COMPARED]:
        place = bisect_right(ends, start)
        if place < len(ends):
            found.append(words[start + 1 : ends[place]][:_LONGEST])
    return found


def _stems(text: str) -> list[str]:
    """The words of a text in order, stemmed; stop words stay."""
    words = (word.group() for word in _WORD.finditer(folded(text)))
    return [next(iter(tokenise(word, aliases=False)), word) for word in words]
