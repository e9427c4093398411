"""Split sentences into clauses with their subjects, names and possible antecedents."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from pipelines.query.verification.normalise import MONTHS, SENTENCE_OPENERS
from pipelines.store.tokens import tokenise

_AUXILIARIES = "is are was were be been am has have had can could may might must shall should will would do does did"
_IRREGULAR = (
    "became began bought broke brought built came caught chose cost costs cut drew drove fell felt fought found gave"
    " got grew held hit kept knew laid leads led left let lost made makes meets met moves paid put ran rose runs said"
    " sang sat saw sent set shot showed sold spent spoke stood swam takes taught thought threw told took went won wore"
    " wrote"
)
_VERB = rf"(?:(?:re|over|under|out|with)?(?:{'|'.join(f'{_AUXILIARIES} {_IRREGULAR}'.split())})|[a-z]{{2,}}ed)\b"
_NAMED = rf"(?:[A-Z][\w'’-]*\s){{1,3}}(?:{_VERB}|[a-z]{{2,}}s\b)"
_DETERMINED = rf"(?:the|his|her|its|their|our|an?)\s(?:[\w-]+\s){{1,3}}?{_VERB}|an?\s\w+\s[a-z]{{3,}}s\b"
_OWN_SUBJECT = rf"(?:(?:he|she|it|they|we|I|there)\b|{_NAMED}|{_DETERMINED})"
_BOUNDARY = re.compile(
    r";\s|\s(?=that\s(?:[A-Z]|(?:he|she|they)\b))|,?\s(?=(?:but(?! not\b)|whereas|although|though|because|while)\b)"
    r"|,\s(?=(?:and|or|so|yet|which|who|whose|where|when|after|before|until|then|since)\b)"
    rf"|\s(?=and\s(?:(?:then|later)\s)?(?:{_OWN_SUBJECT}|{_VERB}))|\s(?=(?:after|before|when|until|once|since)\s{_OWN_SUBJECT})"
)
_IS_VERB = re.compile(_VERB)
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being)\s(?:\w+ly\s)?(?:\w+ed|built|bought|brought|chosen|cut|done|drawn|driven|found"
    r"|given|held|hit|kept|known|laid|led|lost|made|met|paid|put|run|seen|sent|set|sold|spent|taken|taught|told|won"
    r"|worn|written)\b"
)


_AND = re.compile(r",?\sand\s")
_COUNTED_BEFORE = re.compile(r"(?<!between )(?<!between the )\b\d[\w.,]*(?:\s[\w'’%-]+){0,5}$", re.IGNORECASE)
_COUNTED_AFTER = re.compile(r"(?:[a-z]+\s){0,3}\d")
_ANAPHOR = re.compile(r"\b(?:ones?|those|that)\b")
_NUMBERED = re.compile(r"\s(\d{1,3}(?:\.\d+)?)\b")  # Orion 3
_CONJUNCTIONS = ("and ", "or ", "but ")
_PHRASE = re.compile(
    r"(?:in|on|at|from|by|after|during|since|before|until|for|with|under|of)\b[^,]{1,80},\s", re.IGNORECASE
)
_WORD = re.compile(r"\w+(?:[.'’&-]\w+)*(?:\+\+|#)?")
_NAME = re.compile(r"\b[A-Z]\w*(?:['’&.-]\w+)*(?:\s[A-Z]\w*(?:['’&.-]\w+)*){0,4}")
_LINKS = SENTENCE_OPENERS | frozenset("and but or so yet who which that whose where when then if nor as".split())
_STANDS_FOR = frozenset("he she it they we i you this these those that there here".split())
_REFERS = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|hers|its|their|there|here|this|these|those|that|which|whom|one|both|such)\b",
    re.IGNORECASE,
)
_NOUNS = re.compile(
    r"\b(?:the|an?|his|her|its|their|our|this|these|\d+)\s(?=((?:[a-z][\w'’-]*\s?){1,3}))", re.IGNORECASE
)
# Of several things, which: what a pronoun stands for is another one.
_ORDINALS = frozenset(tokenise("first second last next previous former latter new old other another same"))
_NEAR = 4  # sentences from which a pronoun takes a name
_LONGEST = 8  # words of a subject
_WIDEST = 80  # characters from a count to the `and` after it


class NameRun(NamedTuple):
    """The terms of a run of capitalised words, and the word before it."""

    terms: frozenset[str]
    lead: str


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a sentence, in index terms.

    Attributes:
        text: Its words.
        terms: Its index terms.
        names: Its runs of capitalised words.
        subject: The terms before its verb; empty if the subject is a pronoun or missing.
        says_subject: True if it has a subject that is not a pronoun.
        is_passive: True if its verb is passive.
        brought: Terms of earlier clauses that its pronouns or missing subject may refer to.
        before: The names among them.
    """

    text: str
    terms: frozenset[str]
    names: tuple[NameRun, ...]
    subject: frozenset[str]
    says_subject: bool
    is_passive: bool
    brought: frozenset[str]
    before: tuple[frozenset[str], ...]


@lru_cache(maxsize=512)
def split_clauses(sentences: tuple[str, ...]) -> tuple[Clause, ...]:
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
    """(clause, shared words) of a sentence. Two counts joined by `and` (`9 in May and 11 in June`) are two clauses.

    The shared words stand before the first count and belong to both.
    """
    for clause in filter(None, map(str.strip, _BOUNDARY.split(sentence))):
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
            frozenset(tokenise(own[-1].text)[-1:]) if own and _ANAPHOR.search(text) else frozenset()
        )
    else:
        brought = _shared(text, own[-1]) if own and not says else frozenset()
    refers = _REFERS.search(text) or (not says and not (own and text.startswith(_CONJUNCTIONS)))
    if not shared and refers:
        last = [*(recent[-1] if recent else ()), *own]
        brought = brought.union(*before, *(_nouns(clause.text) for clause in last))
        brought = brought.union(*(clause.brought for clause in last if not clause.says_subject))
    terms = frozenset(tokenise(text))
    brought = brought - _ORDINALS if terms & _ORDINALS else brought
    return Clause(text, terms, names, said, says, bool(_PASSIVE.search(text)), brought, () if says else before)


def _shared(text: str, last: Clause) -> frozenset[str]:
    """The terms that a clause without a subject takes from the one before: its subject, or all of it."""
    if text.startswith(_CONJUNCTIONS):
        return last.subject if last.says_subject else last.brought
    return _without_numbers(last.terms | last.brought)


def _subject(text: str) -> tuple[frozenset[str], bool]:
    """(the terms of the subject, whether the clause has a subject that is not a pronoun)."""
    words = _WORD.findall(_after_opening(text))
    while words and words[0].lower() in _LINKS and words[0].lower() not in _STANDS_FOR:
        words = words[1:]
    if len(words) > 1 and words[0].lower() == "that" and (_is_name(words[1]) or words[1] in _STANDS_FOR):
        words = words[1:]
    if not words or words[0].lower() in _STANDS_FOR or words[0][0].isdigit() or _IS_VERB.fullmatch(words[0]):
        return frozenset(), False
    end = next((at for at, word in enumerate(words[:_LONGEST]) if at and _IS_VERB.fullmatch(word)), 0)
    if not end:
        end = next((at for at, word in enumerate(words[:_LONGEST]) if at and not _is_name(word)), len(words))
        end = max(end, 1) if _is_name(words[0]) else min(len(words), 3)
    return frozenset(tokenise(" ".join(words[:end]))), True


def _after_opening(text: str) -> str:
    """The clause from where its subject may stand: after a conjunction and an opening phrase (`In 2019, `)."""
    start = next((word.start() for word in _WORD.finditer(text) if word[0].lower() not in {"and", "but", "or"}), 0)
    phrase = _PHRASE.match(text, start)
    return text[phrase.end() if phrase else start :]


def _is_name(word: str) -> bool:
    return word[:1].isupper()


def _names(text: str) -> tuple[NameRun, ...]:
    found = []
    for run in _NAME.finditer(text):
        words = [
            word for word in _WORD.findall(run[0]) if word.lower() not in _LINKS and word.lower() not in _STANDS_FOR
        ]
        number = _NUMBERED.match(text, run.end()) if words and words[-1] not in MONTHS else None
        terms = frozenset(tokenise(" ".join([*words, *(number.groups() if number else ())])))
        before = _WORD.findall(text[max(0, run.start() - 30) : run.start()])
        lead = before[-1].lower() if before else ""
        found += [NameRun(terms, lead)] if terms else []
        found += [NameRun(frozenset({word.lower()}), lead) for word in words[1:] if len(word) == 1]
    return tuple(found)


@lru_cache(maxsize=4_096)
def _nouns(text: str) -> frozenset[str]:
    """The terms that follow an article, a possessive or a number."""
    return _without_numbers(tokenise(" ".join(_NOUNS.findall(text)))) - _ORDINALS


def _without_numbers(terms: Iterable[str]) -> frozenset[str]:
    return frozenset(term for term in terms if not term[0].isdigit())
