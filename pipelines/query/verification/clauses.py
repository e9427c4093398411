"""Split sentences into clauses with their subjects, names and possible antecedents."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile

from pipelines.query.verification.words import LISTS, MONTHS, TextWord, read
from pipelines.store.tokens import tokenise

# Of several things, which: what a pronoun stands for is another one.
_ORDINALS = frozenset(tokenise(" ".join(LISTS["relative"])))
_VERBS = LISTS["auxiliaries"] | LISTS["past"]
_LINKS = LISTS["openers"] | LISTS["links"]
_CONJUNCTIONS = ("and", "or", "but")
_NEAR = 4  # sentences from which a pronoun takes a name
_LONGEST = 8  # words of a subject
_WIDEST = 6  # words from a count to the `and` after it
_NAMED = 3  # words of a name or noun before its verb


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a sentence, in index terms.

    `names` are those of its runs of capitalised words, `subject` those before its verb, unless it is a pronoun or
    missing. `brought` are terms of earlier clauses that its pronouns or missing subject may refer to, `before` the
    names among them.
    """

    text: str
    terms: frozenset[str]
    names: tuple[frozenset[str], ...]
    subject: frozenset[str]
    says_subject: bool
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
    """(clause, the shared words before it) of a sentence. `9 in May and 11 in June` are two clauses of one lead."""
    words = read(sentence)
    cuts = [0, *(at for at in range(1, len(words)) if _begins_clause(words, at)), len(words)]
    for first, end in pairwise(cuts):
        last = end - 1 if end < len(words) and words[end - 1].text in (",", ";") else end
        if last <= first:
            continue
        start, shared = first, ""
        for at in range(first + 1, last):
            counted = _counted_before(words, start, at) if words[at].lower == "and" else None
            if counted is not None and _counts_after(words, at + 1, last):
                yield _text(sentence, words, start, at - (words[at - 1].text == ",")), shared
                shared, start = shared or _text(sentence, words, start, counted), at + 1
        yield _text(sentence, words, start, last), shared


def _text(sentence: str, words: Sequence[TextWord], first: int, end: int) -> str:
    return sentence[words[first].start : words[end - 1].end] if first < end else ""


def _begins_clause(words: Sequence[TextWord], at: int) -> bool:
    """True if a clause begins at a word: after a semicolon, at a conjunction, at `and` before a subject or a verb."""
    before, word = words[at - 1].text, words[at].lower
    after = words[at + 1].lower if at + 1 < len(words) else ""
    if before == ";" or not after or words[at].start == words[at - 1].end:
        return before == ";"
    if word == "that":
        return words[at + 1].is_name or after in ("he", "she", "they")
    if word in LISTS["conjunctions"]:
        return (word, after) != ("but", "not")
    place = at + 1 + (word == "and" and after in ("then", "later"))
    is_joint = before == "," and word in LISTS["joints"]
    is_subject = (word == "and" or word in LISTS["times"]) and _is_subject(words, place)
    return is_joint or is_subject or (word == "and" and _is_verb(words, place))


def _is_verb(words: Sequence[TextWord], at: int) -> bool:
    """True for an auxiliary, an irregular past and a word in `-ed`."""
    word = words[at].text if at < len(words) else ""
    stems = [word, *(word.removeprefix(prefix) for prefix in LISTS["verb_prefixes"] if word.startswith(prefix))]
    return not _VERBS.isdisjoint(stems) or (word.endswith("ed") and len(word) > 3 and word.isalpha() and word.islower())


def _is_subject(words: Sequence[TextWord], at: int) -> bool:
    """True if a subject begins here: a pronoun, or a name or noun with a verb in the next words."""
    word = words[at] if at < len(words) else None
    if word is None or word.lower in LISTS["personal"]:
        return word is not None
    if word.is_name:
        end = next((end for end in range(at, at + _NAMED) if end >= len(words) or not words[end].is_name), at + _NAMED)
        return _is_verb(words, end) or _is_third_person(words, end, 3)
    noun = list(takewhile(lambda each: not each.is_sign, words[at + 1 : at + 2 + _NAMED]))
    is_counted = word.text in ("a", "an") and _is_third_person(words, at + 2, 4)
    has_verb = any(_is_verb(noun, place) for place in range(1, len(noun)))
    return word.text in LISTS["possessives"] and (is_counted or has_verb)


def _is_third_person(words: Sequence[TextWord], at: int, least: int) -> bool:
    word = words[at].text if at < len(words) else ""
    return len(word) >= least and word.endswith("s") and word.isalpha() and word.islower()


def _counted_before(words: Sequence[TextWord], start: int, at: int) -> int | None:
    """The index of the first number of the six words before `and`, unless it is one of two (`between 5 and 9`)."""
    at -= words[at - 1].text == ","
    found = None
    for place in range(at - 1, max(start - 1, at - 1 - _WIDEST), -1):
        if words[place].text[0].isdigit():
            found = place
        elif words[place].is_sign and words[place].text != "%":
            break
    lead = [word.lower for word in words[max(0, found - 2) : found]] if found is not None else []
    return None if lead[-1:] == ["between"] or lead == ["between", "the"] else found


def _counts_after(words: Sequence[TextWord], at: int, end: int) -> bool:
    """True if a number is among the next words, after three words in lower case at most."""
    for word in words[at : min(at + 4, end)]:
        if word.text[0].isdigit():
            return True
        if not (word.text.isalpha() and word.text.islower()):
            break
    return False


def _clause(text: str, shared: str, own: Sequence[Clause], recent: Sequence[Sequence[Clause]]) -> Clause:
    """A clause after others of its sentence, and after earlier sentences."""
    words = read(text)
    lowered = [word.lower for word in words]
    said, says = (frozenset[str](), False) if shared else _subject(words)
    names = _names(words)
    earlier = [clause for sentence in recent for clause in sentence]
    before = tuple(name for clause in (*earlier, *own) for name in clause.names)
    is_joined = lowered[:1] and lowered[0] in _CONJUNCTIONS
    brought = frozenset[str]()
    if shared:
        is_anaphoric = not {"one", "ones", "those", "that"}.isdisjoint(lowered)
        brought = frozenset(tokenise(shared))
        brought |= frozenset(tokenise(own[-1].text)[-1:]) if own and is_anaphoric else frozenset()
    elif own and not says:  # the subject of the clause before, or all of it
        last = own[-1]
        subject = last.subject if last.says_subject else last.brought
        brought = subject if is_joined else _without_numbers(last.terms | last.brought)
    refers = not LISTS["refer"].isdisjoint(lowered) or (not says and not (own and is_joined))
    if not shared and refers:
        near = [*(recent[-1] if recent else ()), *own]
        brought = brought.union(*before, *(_nouns(clause.text) for clause in near))
        brought = brought.union(*(clause.brought for clause in near if not clause.says_subject))
    terms = frozenset(tokenise(text))
    brought = brought - _ORDINALS if terms & _ORDINALS else brought
    return Clause(text, terms, names, said, says, brought, () if says else before)


def _subject(words: Sequence[TextWord]) -> tuple[frozenset[str], bool]:
    """(the terms of the subject, whether the clause has a subject that is not a pronoun)."""
    words = [word for word in words if not word.is_sign]
    while words and words[0].lower in _LINKS and words[0].lower not in LISTS["stand_for"]:
        words = words[1:]
    if len(words) > 1 and words[0].lower == "that" and (words[1].is_name or words[1].text in LISTS["stand_for"]):
        words = words[1:]
    if not words or words[0].lower in LISTS["stand_for"] or words[0].text[0].isdigit() or _is_verb(words, 0):
        return frozenset(), False
    verb = next((at for at in range(1, min(_LONGEST, len(words))) if _is_verb(words, at)), 0)
    if verb:
        end = verb
    elif words[0].is_name:
        end = next((at for at in range(1, min(_LONGEST, len(words))) if not words[at].is_name), len(words))
    else:
        end = min(len(words), _NAMED)
    return frozenset(tokenise(" ".join(word.text for word in words[:end]))), True


def _names(words: Sequence[TextWord]) -> tuple[frozenset[str], ...]:
    found: list[frozenset[str]] = []
    at = 0
    while at < len(words):
        end = at
        while end < min(at + 5, len(words)) and words[end].is_name and (end == at or _is_next(words, end)):
            end += 1
        run = [each for each in words[at:end] if each.lower not in _LINKS and each.lower not in LISTS["stand_for"]]
        if run:
            after = words[end] if end < len(words) else None
            is_numbered = after and after.is_number and len(after.text) < 6 and run[-1].text not in MONTHS  # Orion 3
            number = [after.text] if after and is_numbered and _is_next(words, end) and not after.is_year else []
            terms = frozenset(tokenise(" ".join([*(each.text for each in run), *number])))
            found += [terms] if terms else []
            found += [frozenset({each.lower}) for each in run[1:] if len(each.text) == 1]
        at = max(end, at + 1)
    return tuple(found)


def _is_next(words: Sequence[TextWord], at: int) -> bool:
    return words[at].start == words[at - 1].end + 1


@lru_cache(maxsize=4_096)
def _nouns(text: str) -> frozenset[str]:
    """The terms that follow an article, a possessive or a number."""
    words = read(text)
    found: list[str] = []
    for at, word in enumerate(words):
        if word.lower in LISTS["determiners"] or word.text.isdigit():
            for each in words[at + 1 : at + 1 + _NAMED]:
                if not each.text[0].isalpha():
                    break
                found.append(each.text)
    return _without_numbers(tokenise(" ".join(found))) - _ORDINALS


def _without_numbers(terms: Iterable[str]) -> frozenset[str]:
    return frozenset(term for term in terms if not term[0].isdigit())
