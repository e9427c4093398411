"""Detect claims that attach a detail of one thing to another thing."""

from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from itertools import pairwise

import numpy as np

from pipelines.query.verification.clauses import Clause, split_clauses
from pipelines.query.verification.details import is_opposed, stemmed_words
from pipelines.query.verification.normalise import normalise, numbers_in
from pipelines.query.verification.support import Alignment, Array, ClaimWord, claim_words, contains_word
from pipelines.query.verification.words import LISTS, TextWord, read
from pipelines.store.tokens import tokenise

_REST_SHARE = 0.9  # of the words beside a detail, for a clause to speak of the same
_MOST_CLAUSES = 20  # of a claim that are looked at
_MOST_DETAILS = 12  # of a clause of a claim that are looked at


def is_misattached(claim: str, aligned: Alignment) -> bool:
    """True if a claim attaches a detail to the wrong thing, or says the contrary of the clause that matches it best.

    Such a claim joins a detail of one clause with the rest of another: `Priya will write the report` from `Tom will
    write the report. Priya will test it.` Possible antecedents of pronouns and missing subjects count with a clause. A
    name in the headings goes with every clause, and a word that is written in lower case elsewhere is no name.
    """
    heads = frozenset[str]().union(*(line.terms for line in aligned.lines if line.is_head))
    texts = [tuple(line.text for line in aligned.lines[own] if not line.is_head) for own in aligned.of_each_source()]
    clauses = [clause for sentences in texts for clause in split_clauses(sentences)]
    words = (word.text for text in texts for line in text for word in read(line))
    small = frozenset(tokenise(" ".join(word for word in words if word[0].islower())))
    return bool(clauses) and any(
        _clause_is_misattached(clause_of_claim, clauses, heads | small)
        for clause_of_claim in split_clauses((normalise(claim),))[:_MOST_CLAUSES]
    )


def _clause_is_misattached(claim: Clause, clauses: Sequence[Clause], common: frozenset[str]) -> bool:
    words = claim_words(claim.text)
    if not words:
        return False
    weights = np.array([word.weight for word in words])
    inside = np.array([[contains_word(clause.terms, word) for word in words] for clause in clauses], np.float64)
    holding = np.array([[_has_detail([word], claim, clause) for word in words] for clause in clauses])
    holding = np.where(inside.any(axis=1, keepdims=True), holding, 0.0).astype(np.float64)
    details = _details(claim, words, common)
    return (
        _is_contrary(claim, clauses, holding @ weights / weights.sum())
        or any(
            _belongs_to_other(
                [words[place] for place in detail], claim, clauses, _shares(detail, details, words, holding)
            )
            for detail in details
        )
        or _is_mixed(claim, words, clauses, holding, {place for detail in details for place in detail})
    )


def _details(claim: Clause, words: Sequence[ClaimWord], common: frozenset[str]) -> list[list[int]]:
    """TextWord indexes of each number and of each run of names, without common words."""
    found = [[place] for place, word in enumerate(words) if word.detail == "number"]
    for name in claim.names:
        run = [place for place, word in enumerate(words) if word.detail == "name" and word.terms[0] in name]
        run = [place for place in run if not contains_word(common, words[place])]
        found += [run] if run else []
    return found[:_MOST_DETAILS]


def _shares(
    detail: Sequence[int], details: Sequence[Sequence[int]], words: Sequence[ClaimWord], holding: Array
) -> Array:
    """(clauses,) the weight share of the claim's other words that each clause holds or refers to.

    0 if the clause lacks another name of the claim, or if the claim has too few other words. Numbers count as other
    words of a number, and of a name only if there are few others.
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


def _belongs_to_other(detail: Sequence[ClaimWord], claim: Clause, clauses: Sequence[Clause], shares: Array) -> bool:
    """True if a clause that matches the rest of the claim best has another name or number in place of the detail."""
    if not (shares >= _REST_SHARE).any():
        return False
    has = [_has_detail(detail, claim, clause) for clause in clauses]
    known = max((share for share, has_detail in zip(shares, has, strict=True) if has_detail), default=0.0)
    return any(
        share >= _REST_SHARE and share > known and not has_detail and _has_other_detail(detail, claim, clause)
        for clause, share, has_detail in zip(clauses, shares, has, strict=True)
    )


def _has_detail(detail: Sequence[ClaimWord], claim: Clause, clause: Clause) -> bool:
    """True if a clause has a detail, in its words or by reference if nothing else stands in that role."""
    if any(contains_word(clause.terms, word) for word in detail):
        return True
    if not any(contains_word(clause.brought, word) for word in detail):
        return False
    if detail[0].detail != "name":
        return True
    if _is_subject(detail, claim):
        return not clause.says_subject
    return not any(name.isdisjoint(clause.subject) for name in clause.names)


def _is_subject(detail: Sequence[ClaimWord], claim: Clause) -> bool:
    return any(word.terms[0] in claim.subject for word in detail)


def _has_other_detail(detail: Sequence[ClaimWord], claim: Clause, clause: Clause) -> bool:
    """True if a clause has another name or number in the role of the claim's detail."""
    if detail[0].detail == "number":
        return _has_other_number(detail[0].terms[0], claim.text, clause.text)
    others = [name for name in clause.names if name.isdisjoint(claim.terms)]
    if not _is_subject(detail, claim):
        return any(name.isdisjoint(clause.subject) for name in others)
    if clause.says_subject:
        return any(not name.isdisjoint(clause.subject) for name in others)
    return any(name.isdisjoint(claim.terms) for name in clause.before)


def _has_other_number(number: str, claim: str, text: str) -> bool:
    """True if a text has another number in the same role: another year, or a number next to the same word."""
    own, mine = numbers_in(claim), _numbers_in_context(claim).get(number, _NOTHING)
    is_year = TextWord(number, 0, 0, number).is_year
    theirs = _numbers_in_context(text)
    return any(
        (is_year and TextWord(other, 0, 0, other).is_year) or not mine.isdisjoint(theirs.get(other, _NOTHING))
        for other in numbers_in(text)
        if other not in own
    )


_NOTHING = frozenset[str]()


@lru_cache(maxsize=512)
def _numbers_in_context(text: str) -> Mapping[str, frozenset[str]]:
    """For each number the words right before and after it."""
    found: dict[str, frozenset[str]] = {}
    words = [word for word in read(text) if not word.is_sign]
    for at, word in enumerate(words):
        if word.is_number:
            after = tokenise(" ".join(each.text for each in words[at + 1 : at + 6]))[:1]
            near = {*(f"{each}-" for each in after), *(f"-{each.lower}" for each in words[max(0, at - 1) : at])}
            found[word.text] = found.get(word.text, _NOTHING) | near
    return found


_ABOUT_SAME = 0.6  # of a clause, for another to be about the same
_FEWEST_WORDS = 3  # words of a clause that can be put together
_LONGEST_RUN = 3  # words in a row
_PRONOUNS = frozenset(stemmed_words(" ".join(LISTS["pronouns"])))
_ARTICLES = frozenset({"a", "an", "the"})


def _is_contrary(claim: Clause, clauses: Sequence[Clause], shares: Array) -> bool:
    """True if every best-matching clause contradicts the claim's clause."""
    most = shares.max(initial=0.0)
    nearest = (clause for clause, share in zip(clauses, shares, strict=True) if share == most)
    return bool(most >= _ABOUT_SAME) and all(
        is_opposed(claim.text, clause.text) or _relabelled(claim.text, clause.text) for clause in nearest
    )


def _relabelled(claim: str, text: str) -> bool:
    """True if a thing labelled by a letter has another letter in the text (`group A`, `group B`)."""
    mine, theirs = _labels(claim), _labels(text)
    return any(noun in theirs and letters.isdisjoint(theirs[noun]) for noun, letters in mine.items())


def _labels(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for noun, letter in pairwise(read(text)):
        if len(letter.text) == 1 and letter.is_name and len(noun.text) > 1 and noun.text.isalpha():
            found.setdefault(noun.lower, set()).add(letter.text)
    return found


def _is_mixed(
    claim: Clause, words: Sequence[ClaimWord], clauses: Sequence[Clause], holding: Array, skip: Set[int]
) -> bool:
    """True if a clause has other words between the same neighbours, while another clause has the claim's words.

    `The landlord repairs the doors` of `The landlord repairs the roof, and tenants repair the doors`. Names and
    numbers, at the places to `skip`, are ignored. `holding` (clauses, words) is 1 where a clause holds a word or brings
    it in.
    """
    if len(words) < _FEWEST_WORDS or (holding.min(axis=1) > 0).any():
        return False
    spoken = _words_in_order(claim.text)
    for clause, row in zip(clauses, holding, strict=True):
        places = [place for place, has in enumerate(row) if not has]
        missing = [words[place] for place in places]
        if len(missing) > _LONGEST_RUN or not skip.isdisjoint(places):
            continue
        if _stands_between(missing, spoken, _words_in_order(clause.text), claim.terms) and any(
            all(contains_word(other.terms, word) for word in missing) for other in clauses if other is not clause
        ):
            return True
    return False


def _stands_between(
    missing: Sequence[ClaimWord], spoken: Sequence[str], words: Sequence[str], terms: frozenset[str]
) -> bool:
    """True if the missing words are adjacent, and other words without a pronoun stand between the same neighbours."""
    absent = {term for word in missing for term in word.terms}
    at = [place for place, word in enumerate(spoken) if word in absent]
    if not at or at[-1] - at[0] >= _LONGEST_RUN or len(at) != at[-1] - at[0] + 1:
        return False
    before, after = spoken[at[0] - 1], spoken[at[-1] + 1]
    starts = [place for place, word in enumerate(words) if word == before and (before or after)]
    return any(
        words[end] == after and terms.isdisjoint(between := words[start + 1 : end]) and _PRONOUNS.isdisjoint(between)
        for start in starts
        for end in range(start + 2, min(start + _LONGEST_RUN + 2, len(words)))
    )


@lru_cache(maxsize=4_096)
def _words_in_order(text: str) -> tuple[str, ...]:
    """The stemmed words of a text without articles, with an empty word at each end."""
    return ("", *(stem for stem in stemmed_words(text) if stem not in _ARTICLES), "")
