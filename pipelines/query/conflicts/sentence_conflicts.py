"""Sentences of sources that an answer rests on and that another of its documents contradicts."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from pipelines.query.conflicts.contradict import contradiction
from pipelines.query.conflicts.denials import denied_terms, is_denied
from pipelines.query.conflicts.disagreement import Disagreement, Side
from pipelines.query.conflicts.relations import relations
from pipelines.query.conflicts.rivals import rivals
from pipelines.query.conflicts.statements import statement
from pipelines.query.verification.agree import clear
from pipelines.store.tokens import tokenise
from pipelines.text import fold, sentences
from pipelines.types import Answer, ConflictKind, Sentence, Source

_ALIKE = 2  # beginnings of words that two sentences about one thing have in common at least
_QUOTED = 160  # characters of a sentence as it is told
_YEAR = re.compile(r"\d{4}")
_WORD = re.compile(r"[^\W_]+")
# Headings that name no subject.
_GENERIC = frozenset(
    """about activity background bio career certifications contact education employment experience highlights history
    interests introduction languages notes overview personal profile projects publications readme resume section skills
    summary usage features installation work professional volunteering talks report minutes meeting final kickoff review
    update plan draft status document page memo letter interim annual title first second""".split()
)


def sentence_disagreements(answer: Answer) -> Iterator[Disagreement]:
    """The sentences that the answer rests on and that one of another of its documents contradicts."""
    by_number = {source.n: source for source in answer.sources}
    stated = {source.n: _sentences_of(source) for source in answer.sources}
    seen: set[tuple[int, int, int]] = set()
    for sentence in answer.sentences:
        for one in _quoted(sentence, by_number):
            own = (one.source.n, one.start, one.end)
            rivals = (
                other
                for source in answer.sources
                if source.document_id != one.source.document_id and own not in seen
                for other in stated[source.n]
                if _may_be_alike(one.quote, other.quote)
            )
            for other in rivals:
                kind = _disagree(one, other, clear(sentence.text), answer.question)
                if kind and (other.source.n, other.start, other.end) not in seen:
                    seen |= {own, (other.source.n, other.start, other.end)}
                    yield Disagreement(kind, "", (one, other))
                    break


def _quoted(sentence: Sentence, sources: Mapping[int, Source]) -> Iterator[Side]:
    """The sentences of sources that bear a sentence of the answer out."""
    for cited in sentence.evidence:
        if cited.n in sources and cited.verdict in ("supported", "partial"):
            for start, end in sentences(cited.quote):
                yield _side(sources[cited.n], cited.start + start, cited.start + end)


def _says_a_value(one: Side) -> bool:
    said = statement(one.quote)
    return bool(relations(one.quote)) or (said is not None and bool(said.when or said.amounts))


def _may_be_alike(one: str, other: str) -> bool:
    """Whether two sentences may be about one thing: they share words, or say a relation of one kind."""
    told = ({(each.kind, each.by) for each in relations(text)} for text in (one, other))
    return len(_beginnings(one) & _beginnings(other)) >= _ALIKE or bool(set.intersection(*told))


@lru_cache(maxsize=4_096)
def _beginnings(text: str) -> frozenset[str]:
    """How its words begin: two sentences that say the same have some of them in common."""
    return frozenset(word[:4] for word in _WORD.findall(fold(text)) if len(word) > 1)


def _sentences_of(source: Source) -> list[Side]:
    return [_side(source, source.start + start, source.start + end) for start, end in sentences(source.snippet)]


def _side(source: Source, start: int, end: int) -> Side:
    words = " ".join(source.snippet[start - source.start : end - source.start].split())
    told = words if len(words) <= _QUOTED else words[:_QUOTED].rsplit(" ", 1)[0] + "…"
    return Side(f"“{told}”", source, start, end)


def _disagree(one: Side, other: Side, spoken: str, question: str) -> ConflictKind | None:
    """What two sentences say differently of what the answer says, or one of them denies."""
    kind = _contradict(one, other, spoken) if _says_a_value(one) else None
    if kind or not _same_time(one.source, other.source):
        return kind
    same_subject, told_apart = _same_subject(one.source, other.source), _are_told_apart(one.source, other.source)
    if not is_denied(one.quote, other.quote, same_subject=same_subject, told_apart=told_apart):
        return None
    terms = denied_terms(one.quote) & denied_terms(other.quote)
    said = terms & {*tokenise(spoken), *tokenise(question)}
    return "denial" if len(said) * 3 >= len(terms) * 2 else None


def _contradict(one: Side, other: Side, spoken: str) -> ConflictKind | None:
    """What two sentences say differently of what the answer says itself."""
    same_subject, same_time = _same_subject(one.source, other.source), _same_time(one.source, other.source)
    found = contradiction(one.quote, other.quote, same_subject=same_subject, same_time=same_time)
    if found is None:
        apart = _are_told_apart(one.source, other.source)
        named = rivals(one.quote, other.quote, same_subject=same_subject, told_apart=apart, same_time=same_time)
        return named.kind if named and _is_said(named.one, spoken) else None
    if _names_itself(found.one, one.source) and _names_itself(found.other, other.source):
        return None
    said = re.findall(r"\d+(?:\.\d+)?", found.one)
    return found.kind if any(re.search(rf"(?<![\d.]){value}(?![\d]|\.\d)", spoken) for value in said) else None


def _is_said(value: str, spoken: str) -> bool:
    """Whether an answer says a word of a value."""
    return not set(tokenise(value)).isdisjoint(tokenise(spoken))


def _are_told_apart(one: Source, other: Source) -> bool:
    """Whether the titles and headings of two sources name different things."""
    mine, theirs = (_heading_words(source) | _words_of(source.title) for source in (one, other))
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _same_subject(one: Source, other: Source) -> bool:
    """Whether the innermost headings of two sources name one thing."""
    return not _heading_words(one).isdisjoint(_heading_words(other))


def _heading_words(source: Source) -> set[str]:
    return _words_of(source.section_path[-1]) if source.section_path else set()


def _words_of(heading: str) -> set[str]:
    """What a heading names: its capitalised words that say no kind of document or section."""
    words = _WORD.findall(heading)
    return {fold(word) for word in words if word[0].isupper() and fold(word) not in _GENERIC and len(word) > 2}


def _same_time(one: Source, other: Source) -> bool:
    """Whether neither source, or both, is of a year that its name or its headings tell."""
    mine, theirs = _years_of(one), _years_of(other)
    return mine == theirs or not mine or not theirs


def _names_itself(value: str, source: Source) -> bool:
    """Whether a date is the year that its own document is about: no news in a report of that year."""
    years = set(_YEAR.findall(value))
    return bool(years) and years <= _years_of(source)


def _years_of(source: Source) -> set[str]:
    told: Iterable[str] = (source.documentName, source.title, *source.section_path)
    return {year for text in told for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", text)}
