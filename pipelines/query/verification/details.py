"""The best verdict that the details of a claim allow: numbers, units, dates, names, scope, order, contrary words."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from pipelines.answers import VerdictName
from pipelines.query.verification.clauses import split_clauses
from pipelines.query.verification.normalise import (
    ambiguous_number_words,
    contains_name,
    contains_phrase,
    count_negations,
    dates_differ,
    folded_words,
    names_in,
    normalise,
    numbers_in,
    strip_markup,
    units_differ,
)
from pipelines.store.tokens import STOP_WORDS, tokenise
from pipelines.structure import sentences
from pipelines.text import fold

_ANY_WORD = re.compile(r"\w+")
_CODE = re.compile(r"`([^`\n]{2,200})`")
_GENDERS = (frozenset({"he", "him", "his", "himself"}), frozenset({"she", "her", "hers", "herself"}))


@dataclass(frozen=True, slots=True)
class Passages:
    """The texts a claim is compared with: its best place, all its places, and all cited text."""

    best: str
    shown: str
    cited: str


def best_allowed_verdict(claim: str, passages: Passages) -> VerdictName:
    """The best verdict that the details of a claim allow.

    `unsupported` if a number, a name or a line of code stands nowhere, a number has another unit, a date differs, or
    only one side has a negation; `partial` if the numbers of negations or the genders differ, the two use contrary
    words (rose, fell), or the same names or numbers stand in other places.
    """
    said, shown, cited = normalise(claim), normalise(passages.shown), normalise(passages.cited)
    terms = set(tokenise(cited))
    if numbers_in(said) - (numbers_in(cited) + ambiguous_number_words(cited)):
        return "unsupported"
    if not all(contains_name(name, terms) for name in names_in(said)):
        return "unsupported"
    if units_differ(said, shown) or rates_differ(said, shown) or dates_differ(said, cited):
        return "unsupported"
    if bool(count_negations(passages.shown, claim)) != bool(count_negations(claim)) or _code_differs(claim, cited):
        return "unsupported"
    best = passages.best
    alike = (
        count_negations(best, claim) == count_negations(claim)
        and not _genders_differ(claim, best)
        and not is_swapped(claim, best)
    )
    contrary = is_opposed(claim, best) or reversed_order(claim, best) or overstated(claim, best)
    return "supported" if alike and not contrary else "partial"


def _code_differs(claim: str, cited: str) -> bool:
    """True if several words that a claim shows as code stand nowhere in the cited text in this order."""
    shown = (folded_words(normalise(code)) for code in _CODE.findall(claim))
    return any(len(code.split()) > 1 and not contains_phrase(cited, code) for code in shown)


def _genders_differ(sentence: str, span: str) -> bool:
    """True if one side has only masculine and the other only feminine pronouns."""
    of_claim, of_passage = (
        [not gender.isdisjoint(_ANY_WORD.findall(fold(text))) for gender in _GENDERS] for text in (sentence, span)
    )
    return sum(of_claim) == sum(of_passage) == 1 and of_claim != of_passage


# Sides of which a thing can be on one only.
_OPPOSITES = (
    (
        "rise rises rising rose risen grow grows growing grew grown increase increases increasing increased climbed "
        "raise raises raising raised strengthen strengthens strengthened",
        "fall falls falling fell fallen shrink shrinks shrank shrunk decrease decreases decreasing decreased decline "
        "declines declining declined drop drops dropped lower lowers lowered lowering reduce reduced weaken weakens "
        "weakened",
    ),
    (
        "join joins joined start starts started begin begins began",
        "leave leaves leaving left quit resigned stopped ended",
    ),
    (
        "accept accepts accepted approve approves approved adopt adopted",
        "reject rejects rejected refuse refuses refused",
    ),
    ("pass passes passed passing succeed succeeds succeeded", "fail fails failed failing"),
    ("win wins won gain gains gained", "lose loses lost"),
    ("buy buys bought acquire acquired", "sell sells sold"),
    ("open opens opened", "close closes closed shut"),
    ("expand expands expanded enlarge enlarged extend extended", "shut closed demolished shrink shrank shrunk"),
    ("hire hires hired", "fire fires fired dismissed"),
    ("fast faster quick quicker", "slow slower"),
    ("taller longer", "shorter"),
    ("larger bigger", "smaller"),
    ("cheap cheaper", "expensive dearer costlier"),
    ("older", "younger newer"),
    ("warmer hotter", "colder cooler"),
    ("heavier", "lighter"),
    ("strong stronger", "weak weaker"),
    ("better", "worse"),
    ("above", "below"),
    ("add adds added", "remove removes removed drop dropped"),
    ("enable enables enabled", "disable disables disabled"),
    ("include includes included including", "exclude excludes excluded excluding"),
    (
        "allow allows allowed permit permits permitted",
        "forbid forbids forbade forbidden prohibit prohibited ban bans banned",
    ),
    ("import imports imported", "export exports exported"),
    ("uphold upholds upheld", "overturn overturns overturned"),
    ("lend lends lent", "borrow borrows borrowed"),
    ("arrive arrives arrived", "depart departs departed"),
    ("agree agrees agreed", "disagree disagrees disagreed"),
    ("support supports supported", "oppose opposes opposed"),
    ("maximum highest", "minimum lowest"),
    ("profit profits", "loss losses"),
    ("compulsory mandatory required", "optional voluntary"),
    ("mild slight minor", "severe serious major"),
    ("easy easier", "difficult harder"),
    ("full", "empty"),
    ("upstream", "downstream"),
    ("spring", "summer", "autumn", "winter"),
    ("red", "blue", "green", "yellow", "white", "black", "orange", "purple", "brown"),
    ("north northern", "south southern", "east eastern", "west western"),
    ("gold", "silver", "bronze"),
    ("delay delays delayed postpone postponed", "cancel cancels cancelled canceled"),
    ("at_least", "at_most"),
    ("is_later", "is_earlier"),
    ("is_on", "is_off"),
)
_SIDES = tuple(tuple(frozenset(side.split()) for side in sides) for sides in _OPPOSITES)
_PHRASES = (
    (re.compile(r"\b(?:at least|no (?:less|fewer) than|a minimum of|(?<!no )(?<!not )more than)\b"), "at_least"),
    (re.compile(r"\b(?:at most|no more than|up to|a maximum of|(?<!no )(?<!not )(?:less|fewer) than)\b"), "at_most"),
    (re.compile(r"\b(?:delay(?:s|ed)?|postpone[sd]?|deferred|put off|(?:pushed|put|moved) back)\b"), "is_later"),
    (re.compile(r"\b(?:(?:brought|moved|pulled|put) (?:forward|up)|advanced to)\b"), "is_earlier"),
    (re.compile(r"\b(?:switched|turned|switch|turn) on\b"), "is_on"),
    (re.compile(r"\b(?:switched|turned|switch|turn) off\b"), "is_off"),
)
_LETTERS = re.compile(r"[a-z]+")


def is_opposed(claim: str, passage: str) -> bool:
    """True if the claim has one word of a pair of opposites and the passage only another."""
    said, held = _words_and_phrases(claim), _words_and_phrases(passage)
    return any(_on_other_side(said, held, sides) for sides in _SIDES)


def _on_other_side(of_claim: set[str], of_passage: set[str], sides: Sequence[frozenset[str]]) -> bool:
    mine, theirs = ([side for side in sides if side & words] for words in (of_claim, of_passage))
    return len(mine) == len(theirs) == 1 and mine != theirs


def _words_and_phrases(text: str) -> set[str]:
    folded = fold(text)
    return {*_LETTERS.findall(folded), *(name for phrase, name in _PHRASES if phrase.search(folded))}


_PERIODS = {
    unit: period
    for period, units in {
        "second": "seconds sec s", "minute": "minutes min", "hour": "hours hr h hourly", "day": "days daily",
        "night": "nights nightly", "week": "weeks weekly", "month": "months monthly", "quarter": "quarters quarterly",
        "year": "years yr yearly annually annum",
    }.items()
    for unit in (period, *units.split())
}  # fmt: skip
_PERIOD = "|".join(sorted(_PERIODS, key=len, reverse=True))
_RATE = re.compile(
    rf"(?<![\w.])(\d+(?:\.\d+)?)(?![\w]|\.\d)(?:\s[^\W\d][\w-]*){{0,3}}?"
    rf"(?:\s?/\s?([a-z]+)\b|\s(?:per|each)\s([a-z]+)\b|\s(?:an?|every)\s({_PERIOD})\b"
    r"|\s(hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually)\b)",
    re.IGNORECASE,
)


def rates_differ(claim: str, text: str) -> bool:
    """True if a rate of the claim has other units than the same number has in the text; both normalised."""
    units: dict[str, set[str]] = {}
    for number, per in _rates(text):
        units.setdefault(number, set()).add(per)
    return any(number in units and per not in units[number] for number, per in _rates(claim))


def _rates(text: str) -> Iterator[tuple[str, str]]:
    """(number, what it is per) of each rate."""
    for found in _RATE.finditer(text):
        per = next(filter(None, found.groups()[1:])).lower()
        yield found[1], _PERIODS.get(per, per)


_SHARES = {
    "all": "all every each everyone everybody everything entire always whole both",
    "most": "most mostly usually mainly majority generally often frequently",
    "half": "half",
    "some": "some several sometimes partly occasionally certain",
    "few": "few rarely seldom hardly little",
}
_SHARE_OF = {word: share for share, words in _SHARES.items() for word in words.split()}
_ALWAYS = frozenset(
    "always usually generally often frequently sometimes occasionally rarely seldom hardly never".split()
)
_OFTEN = {"always": 3, "usually": 2, "generally": 2, "often": 2, "frequently": 2, "sometimes": 1, "occasionally": 1}
_QUANTIFIED = re.compile(
    rf"\b({'|'.join(_SHARE_OF)})\b(?! (?:more|less|than|other|later|time))((?:[ -][\w'’-]+){{1,4}})", re.IGNORECASE
)
_NEARLY = re.compile(r"\b(?:almost|nearly|not) $", re.IGNORECASE)
_EXCEPT = re.compile(
    r"\b(?:except|excepting|apart from|aside from|other than|but for|with the exception|excluding|all but|save for"
    r"|bar one|but (?:not )?the|but one)\b",
    re.IGNORECASE,
)
_ONLY = re.compile(r"\bonly (?:the|a|one|some|those)\b", re.IGNORECASE)
_ALL = re.compile(r"\b(?:all|every|everyone|everybody|everything|each)\b", re.IGNORECASE)
# What may be, with what it may be.
_DOUBT = re.compile(
    r"\b(?:may|might|could|perhaps|possibly|maybe|allegedly|reportedly|likely|rumou?red"
    r"|(?:plan(?:s|ned|ning)?|intend(?:s|ed)?|hope[sd]?|aim(?:s|ed)?|expect(?:s|ed)?|want(?:s|ed)?|seek(?:s|ing)?|sought"
    r"|tried|attempt(?:s|ed)?|failed|propose[sd]?)(?= to\b)|consider(?:s|ed|ing)?|propos(?:es?|ed|ing))\b"
    r"((?:[ -][\w'’-]+){1,4})",
    re.IGNORECASE,
)
_MONTH_OF_MAY = re.compile(r"\bMay\b")
_STEM = 4  # letters by which `build` and `built` are one


def overstated(claim: str, passage: str) -> bool:
    """True if the claim states another share of the same things, or omits an exception or a doubt of the passage."""
    return _shares_differ(claim, passage) or _leaves_out_exception(claim, passage) or is_surer(claim, passage)


def _shares_differ(claim: str, passage: str) -> bool:
    held: dict[str, set[str]] = {}
    for term, share in _shares(passage):
        held.setdefault(term, set()).add(share)
    differ = any(held.get(term) and share not in held[term] for term, share in _shares(claim))
    mine, theirs = (_ALWAYS.intersection(_LETTERS.findall(text.lower())) for text in (claim, passage))
    return differ or bool(
        mine and theirs and {_OFTEN.get(word, 0) for word in mine}.isdisjoint(_OFTEN.get(word, 0) for word in theirs)
    )


def _shares(text: str) -> Iterator[tuple[str, str]]:
    """(term, share) of each quantified term: `most of the patients` -> (patient, most)."""
    for found in _QUANTIFIED.finditer(text):
        terms = [term for term in tokenise(found[2]) if not term[0].isdigit()]
        if terms:
            yield terms[0], "most" if _NEARLY.search(text[: found.start()][-12:]) else _SHARE_OF[found[1].lower()]


def _leaves_out_exception(claim: str, passage: str) -> bool:
    if not _ALL.search(claim) or _EXCEPT.search(claim):
        return False
    some = bool(_ALL.search(passage) and _EXCEPT.search(passage))
    return some or bool(_ONLY.search(passage) and not _ALL.search(passage) and not _ONLY.search(claim))


def is_surer(claim: str, passage: str) -> bool:
    """True if the claim states as fact what the passage says may be or is planned."""
    if _doubted_terms(claim):
        return False
    terms = {term[:_STEM] for term in tokenise(claim)}
    return any(not terms.isdisjoint(doubted) for doubted in _doubted_terms(passage))


def _doubted_terms(text: str) -> list[set[str]]:
    """The first letters of the first term after each word of doubt."""
    found = _DOUBT.finditer(_MONTH_OF_MAY.sub(" ", text))
    return [{term[:_STEM] for term in tokenise(doubt[1])[:1]} for doubt in found]


# What stands between the earlier and the later, or the other way round.
_EARLIER_FIRST = re.compile(
    r"\b(?:before|(?:,|and) (?:then|later|afterwards|subsequently)|followed by|prior to|preceded|ahead of)\b",
    re.IGNORECASE,
)
_LATER_FIRST = re.compile(r"\b(?:after|preceded by|followed(?! by)|once)\b", re.IGNORECASE)
_COMPARISON = re.compile(r"\b(?:more|less|fewer|[a-z]{2,}er|better|worse)\b[^.;]{0,40}?\bthan\b", re.IGNORECASE)
# Of two things, the one that is so has less.
_LESSER = frozenset(
    """less fewer lower smaller shorter slower cheaper weaker younger colder cooler worse lighter narrower thinner
    poorer nearer closer softer darker earlier shallower safer""".split()
)
_COMMA = re.compile(r",\s")
_LONGEST_SENTENCE = 400


class OrderedPair(NamedTuple):
    """The terms of the earlier and the later event, or of what has more and what has less."""

    first: frozenset[str]
    second: frozenset[str]


def reversed_order(claim: str, passage: str) -> bool:
    """True if the passage orders two things only in the reverse of the claim's order."""
    return any(
        (
            found := {
                turned
                for mine in read(claim)
                for theirs in read(passage)
                if (turned := _is_reversed_pair(mine, theirs)) is not None
            }
        )
        and found == {True}
        for read in (_events, _degrees)
    )


def _is_reversed_pair(one: OrderedPair, other: OrderedPair) -> bool | None:
    """True if one pair is the other reversed; None if they are about other things."""
    straight = min(_shared(one.first, other.first), _shared(one.second, other.second))
    crossed = min(_shared(one.first, other.second), _shared(one.second, other.first))
    return None if straight == crossed else crossed > straight


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(min(len(one), len(other)), 1)


def _events(text: str) -> Iterator[OrderedPair]:
    """(the earlier, the later) around each word that says which came first."""
    for sentence in _sentences(text):
        for pattern, earlier_first in ((_EARLIER_FIRST, True), (_LATER_FIRST, False)):
            for word in pattern.finditer(sentence):
                left, right = _split_at(sentence, word.start(), word.end())
                yield from _ordered_pair(left, right) if earlier_first else _ordered_pair(right, left)


def _degrees(text: str) -> Iterator[OrderedPair]:
    """(what has more, what has less) around each comparison."""
    for sentence in _sentences(text):
        for word in _COMPARISON.finditer(sentence):
            left, right = _split_at(sentence, word.start(), word.end())
            lesser = not _LESSER.isdisjoint(re.findall(r"[a-z]+", word[0].lower()))
            yield from _ordered_pair(right, left) if lesser else _ordered_pair(left, right)


def _split_at(sentence: str, start: int, end: int) -> tuple[str, str]:
    """The text on each side of a word; if it opens the sentence, the first side follows the comma."""
    left, right = sentence[:start], sentence[end:]
    pause = _COMMA.search(right)
    if not left.strip() and pause:
        return right[pause.end() :], right[: pause.start()]
    return left, right


def _ordered_pair(first: str, second: str) -> Iterator[OrderedPair]:
    one, other = frozenset(tokenise(first)), frozenset(tokenise(second))
    if one - other and other - one:
        yield OrderedPair(one - other, other - one)


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text) if end - start <= _LONGEST_SENTENCE]


_COMPARED = 8  # names or numbers of a claim, and occurrences of each, that are looked at for a change of places
_LONGEST_GAP = 60  # words between two of them
# Stop words that say which of two names or numbers is which.
_DIRECTIONS = frozenset({"to", "from", "into"})
_DAYS = frozenset(
    tokenise(
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August"
        " September October November December"
    )
)
_SIGNED_WORD = re.compile(r"\w+(?:[.'’-]\w+)*(?:\+\+|#)?")


def is_swapped(sentence: str, span: str) -> bool:
    """True if two names or numbers of a clause change places around the same words (`Ann told Bo`, `Bo told Ann`).

    A passive (`Bo was told by Ann`) turns the order of names round.
    """
    text, common = stemmed_words(span), frozenset(word for word in _SIGNED_WORD.findall(span) if word.islower())
    return any(_swaps_in_clause(clause.text, text, common) for clause in split_clauses((strip_markup(sentence),)))


def _swaps_in_clause(clause: str, text: Sequence[str], common: frozenset[str]) -> bool:
    """True if two names or numbers of a clause are swapped; a word in lower case elsewhere is no name."""
    claim = stemmed_words(clause)
    numbers = list(dict.fromkeys(word for word in claim if word[0].isdigit()))[:_COMPARED]
    names = list(
        dict.fromkeys(stem for name in names_in(clause) if name.lower() not in common for stem in stemmed_words(name))
    )[:_COMPARED]
    pairs = [(pair, set[str]()) for pair in combinations(numbers, 2)]
    pairs += [
        (pair, set(names) | set(numbers)) for pair in combinations(names, 2) if (pair[0] in _DAYS) == (pair[1] in _DAYS)
    ]
    return any(_only_in_other_order(one, other, ignored, claim, text) for (one, other), ignored in pairs)


def _only_in_other_order(one: str, other: str, ignored: set[str], claim: Sequence[str], text: Sequence[str]) -> bool:
    """True if the text has the two words only in the reverse order around the same words."""
    ignored = ignored | (STOP_WORDS - _DIRECTIONS)
    orders = {
        in_order == (("by" in said[-2:]) == ("by" in held[-2:]))
        for in_order, pair in ((True, (one, other)), (False, (other, one)))
        for said in _words_between(one, other, claim)
        for held in _words_between(*pair, text)
        if (set(said) & set(held)) - ignored
    }
    return orders == {False}


def _words_between(one: str, other: str, words: Sequence[str]) -> list[Sequence[str]]:
    """The words between each of the first occurrences of one word and the next occurrence of the other."""
    starts = [at for at, word in enumerate(words) if word == one]
    ends = [at for at, word in enumerate(words) if word == other]
    found = []
    for start in starts[:_COMPARED]:
        place = bisect_right(ends, start)
        if place < len(ends):
            found.append(words[start + 1 : ends[place]][:_LONGEST_GAP])
    return found


def stemmed_words(text: str) -> list[str]:
    """The words of a text in order, stemmed; stop words stay."""
    words = (word.group() for word in _SIGNED_WORD.finditer(folded_words(text)))
    return [next(iter(tokenise(word, aliases=False)), word) for word in words]
