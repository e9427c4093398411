"""The best verdict that the details of a claim allow: numbers, units, dates, names, scope, order, contrary words."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import combinations

from pipelines.answers import VerdictName
from pipelines.query.verification.clauses import split_clauses
from pipelines.query.verification.normalise import (
    ambiguous_number_words,
    contains_name,
    contains_phrase,
    count_negations,
    dates_differ,
    folded_words,
    measures_differ,
    names_in,
    normalise,
    numbers_in,
    strip_markup,
)
from pipelines.query.verification.words import LISTS, MONTHS, find_phrases, has_phrase, lowered, read
from pipelines.store.tokens import STOP_WORDS, tokenise
from pipelines.structure import sentences
from pipelines.text import fold


def best_allowed_verdict(claim: str, best: str, shown: str, cited: str) -> VerdictName:
    """The best verdict that the details of a claim allow, by its best place, all its places, and all cited text.

    `unsupported` if a number, a name or a line of code stands nowhere, a number has another unit, a date differs, or
    only one side has a negation; `partial` if the numbers of negations differ, the two use contrary words (rose, fell;
    he, she), or the same names or numbers stand in other places.
    """
    said, cited = normalise(claim), normalise(cited)
    terms = set(tokenise(cited))
    if numbers_in(said) - (numbers_in(cited) + ambiguous_number_words(cited)):
        return "unsupported"
    if not all(contains_name(name, terms) for name in names_in(said)):
        return "unsupported"
    if measures_differ(said, normalise(shown)) or dates_differ(said, cited):
        return "unsupported"
    if bool(count_negations(shown, claim)) != bool(count_negations(claim)) or _code_differs(claim, cited):
        return "unsupported"
    alike = count_negations(best, claim) == count_negations(claim) and not is_swapped(claim, best)
    contrary = is_opposed(claim, best) or reversed_order(claim, best) or overstated(claim, best)
    return "supported" if alike and not contrary else "partial"


def _code_differs(claim: str, cited: str) -> bool:
    """True if several words that a claim shows as code stand nowhere in the cited text in this order."""
    shown = (folded_words(normalise(code)) for code in claim.split("`")[1:-1:2])
    return any(len(code.split()) > 1 and not contains_phrase(cited, code) for code in shown)


# Sides of which a thing can be on one only.
_SIDES = tuple(tuple(frozenset(side.split()) for side in sides) for sides in LISTS["opposites"])


def is_opposed(claim: str, passage: str) -> bool:
    """True if the claim has one word of a pair of opposites and the passage only another."""
    said, held = _words_and_phrases(claim), _words_and_phrases(passage)
    pairs = (([side for side in sides if side & words] for words in (said, held)) for sides in _SIDES)
    return any(len(mine) == len(theirs) == 1 and mine != theirs for mine, theirs in pairs)


def _words_and_phrases(text: str) -> set[str]:
    words = lowered(fold(text))
    return {*words, *(name for *_, name in find_phrases(words, "phrases"))}


_SHARE_OF = {word: share for share, words in LISTS["shares"].items() for word in words.split()}
_SHARED = 4  # words after a share or a doubt, the first term of which it is about
_STEM = 4  # letters by which `build` and `built` are one


def overstated(claim: str, passage: str) -> bool:
    """True if the claim states another share of the same things, or omits an exception or a doubt of the passage."""
    return _shares_differ(claim, passage) or _leaves_out_exception(claim, passage) or is_surer(claim, passage)


def _shares_differ(claim: str, passage: str) -> bool:
    held: dict[str, set[str]] = {}
    for term, share in _shares(passage):
        held.setdefault(term, set()).add(share)
    often: dict[str, int] = LISTS["how_often"]
    mine, theirs = ({often[word] for word in lowered(text) if word in often} for text in (claim, passage))
    differ = any(held.get(term) and share not in held[term] for term, share in _shares(claim))
    return differ or bool(mine and theirs and mine.isdisjoint(theirs))


def _shares(text: str) -> Iterator[tuple[str, str]]:
    """(term, share) of each quantified term: `most of the patients` -> (patient, most)."""
    words = lowered(text)
    for at, word in enumerate(words):
        if word in _SHARE_OF and LISTS["no_shares"].isdisjoint(words[at + 1 : at + 2]):
            term = _term_after(words, at)
            is_nearly = at > 0 and words[at - 1] in LISTS["nearly"]
            yield from [(term, "most" if is_nearly else _SHARE_OF[word])] if term else ()


def _term_after(words: Sequence[str], at: int) -> str:
    """The first term, but no number, of the next four words before a sign; empty for none."""
    for word in words[at + 1 : at + 1 + _SHARED]:
        if not word[-1].isalnum():
            break
        if terms := [term for term in tokenise(word) if not term[0].isdigit()]:
            return terms[0]
    return ""


def _leaves_out_exception(claim: str, passage: str) -> bool:
    mine, theirs = lowered(claim), lowered(passage)
    if LISTS["all"].isdisjoint(mine) or has_phrase(mine, "except"):
        return False
    if not LISTS["all"].isdisjoint(theirs):
        return has_phrase(theirs, "except")
    return has_phrase(theirs, "only") and not has_phrase(mine, "only")


def is_surer(claim: str, passage: str) -> bool:
    """True if the claim states as fact what the passage says may be or is planned."""
    if _doubted(claim):
        return False
    return not {term[:_STEM] for term in tokenise(claim)}.isdisjoint(_doubted(passage))


def _doubted(text: str) -> set[str]:
    """The first letters of the first term after each word of doubt."""
    words = [word.lower if word.text != "May" else word.text for word in read(text)]
    places = (
        at
        for at, word in enumerate(words)
        if word in LISTS["doubts"] or (word in LISTS["doubts_to"] and words[at + 1 : at + 2] == ["to"])
    )
    return {term[:_STEM] for at in places if (term := _term_after(words, at))}


_LONGEST_SENTENCE = 400
_THAN_WITHIN = 7  # words between a comparative and its `than`
_Pair = tuple[frozenset[str], frozenset[str]]  # terms of the earlier and the later event, or of what has more and less


def reversed_order(claim: str, passage: str) -> bool:
    """True if the passage orders two things only in the reverse of the claim's order."""
    return any(
        {_is_reversed_pair(mine, theirs) for mine in order(claim) for theirs in order(passage)} - {None} == {True}
        for order in (_events, _degrees)
    )


def _is_reversed_pair(one: _Pair, other: _Pair) -> bool | None:
    """True if one pair is the other reversed; None if they are about other things."""
    straight = min(map(_shared, one, other))
    crossed = min(map(_shared, one, other[::-1]))
    return None if straight == crossed else crossed > straight


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(min(len(one), len(other)), 1)


def _events(text: str) -> Iterator[_Pair]:
    """(the earlier, the later) around each word that says which came first."""
    for words in _sentences(text):
        for start, end, name in find_phrases(words, "orders"):
            yield from _ordered_pair(words, start, end, is_turned=name == "later_first")


def _degrees(text: str) -> Iterator[_Pair]:
    """(what has more, what has less) around each comparison."""
    for words in _sentences(text):
        for than in (at for at, word in enumerate(words) if word == "than"):
            for at in range(max(0, than - _THAN_WITHIN), than):
                if words[at] in LISTS["comparatives"] or (words[at].endswith("er") and len(words[at]) > 3):
                    yield from _ordered_pair(words, at, than + 1, is_turned=words[at] in LISTS["lesser"])
                    break


def _ordered_pair(words: Sequence[str], start: int, end: int, *, is_turned: bool) -> Iterator[_Pair]:
    """The terms on each side of a phrase; if it opens the sentence, the first side follows the comma."""
    left, right = words[:start], words[end:]
    if not left and "," in right:
        left, right = right[right.index(",") + 1 :], right[: right.index(",")]
    one, other = (frozenset(tokenise(" ".join(side))) for side in ((right, left) if is_turned else (left, right)))
    if one - other and other - one:
        yield one - other, other - one


def _sentences(text: str) -> list[list[str]]:
    return [lowered(text[start:end]) for start, end in sentences(text) if end - start <= _LONGEST_SENTENCE]


_COMPARED = 8  # names or numbers of a claim, and occurrences of each, that are looked at for a change of places
_LONGEST_GAP = 60  # words between two of them
# Stop words that say which of two names or numbers is which.
_DIRECTIONS = frozenset({"to", "from", "into"})
_DAYS = frozenset(tokenise(f"Monday Tuesday Wednesday Thursday Friday Saturday Sunday {' '.join(MONTHS)}"))


def is_swapped(sentence: str, span: str) -> bool:
    """True if two names or numbers change places around the same words (`Ann told Bo`, `Bo told Ann`); a passive turns
    them.
    """
    text, common = stemmed_words(span), frozenset(word.text for word in read(span) if not word.is_name)
    return any(_swaps_in_clause(clause.text, text, common) for clause in split_clauses((strip_markup(sentence),)))


def _swaps_in_clause(clause: str, text: Sequence[str], common: frozenset[str]) -> bool:
    """True if two names or numbers of a clause are swapped; a word in lower case elsewhere is no name."""
    claim = stemmed_words(clause)
    numbers = list(dict.fromkeys(word for word in claim if word[0].isdigit()))[:_COMPARED]
    own = (name for name in names_in(clause) if name.lower() not in common)
    names = list(dict.fromkeys(stem for name in own for stem in stemmed_words(name)))[:_COMPARED]
    pairs = [(pair, set[str]()) for pair in combinations(numbers, 2)]
    pairs += [(pair, {*names, *numbers}) for pair in combinations(names, 2) if (pair[0] in _DAYS) == (pair[1] in _DAYS)]
    return any(_only_in_other_order(pair, ignored, claim, text) for pair, ignored in pairs)


def _only_in_other_order(pair: tuple[str, str], ignored: set[str], claim: Sequence[str], text: Sequence[str]) -> bool:
    """True if the text has the two words only in the reverse order around the same words."""
    ignored = ignored | (STOP_WORDS - _DIRECTIONS)
    orders = {
        in_order == (("by" in said[-2:]) == ("by" in held[-2:]))
        for in_order, (one, other) in ((True, pair), (False, pair[::-1]))
        for said in _words_between(*pair, claim)
        for held in _words_between(one, other, text)
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
    words = (word.text for word in read(folded_words(text)) if not word.is_sign)
    return [next(iter(tokenise(word, aliases=False)), word) for word in words]
