"""CONFLICTS: where sources disagree on what an answer says or its question asks, with a citation for each side."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from pipelines.answers import Answer, Citation, Conflict, ConflictKind, Sentence, Source
from pipelines.facts import JobFacts
from pipelines.months import month_text
from pipelines.query.careers.computed_answer import CAREER_FACTS
from pipelines.query.careers.disagreements import ConflictSide, Disagreement, fact_side
from pipelines.query.careers.people import organisation_words
from pipelines.query.conflicts.contradictions import (
    conflicting_relations,
    contradiction,
    is_denial_of,
    terms_without_negation,
)
from pipelines.query.conflicts.statements import find_relations, parse_statement
from pipelines.query.verification.normalise import contains_phrase, normalise
from pipelines.store.facts import Fact
from pipelines.store.tokens import tokenise
from pipelines.text import fold, sentences

_MOST_CONFLICTS = 5
_YEAR = re.compile(r"\d{4}")
_WORD = re.compile(r"[^\W_]+")
# What a question says that asks for such a value.
_ASKS_FOR: Mapping[ConflictKind, re.Pattern[str]] = {
    "dates": re.compile(
        r"\b(?:when|how long|since|until|years?|months?|dates?|dated|start(?:ed)?|beg[aiu]n|join(?:ed)?|left|leave"
        r"|end(?:ed)?|period|tenure|current(?:ly)?|still|graduat\w*|timeline|career|duration)\b"
    ),
    "title": re.compile(r"\b(?:titles?|positions?|roles?|jobs?|work(?:ed)? as|career|timeline)\b"),
    "employer": re.compile(r"\b(?:employers?|employed|compan(?:y|ies)|where|work(?:ed|s|ing)?|career|timeline)\b"),
    "number": re.compile(r"\bhow (?:many|much|long|large|big|fast|far|old)\b"),
}


def with_conflicts(answer: Answer, careers: Sequence[Disagreement] = ()) -> Answer:
    """The answer with the conflicts of its sources; each side cites a source of the answer.

    Only conflicts about what the question asks or a relevant sentence states are shown. A source that was not shown to
    the writer is added after the others. A disputed answer never has high confidence; an abstention has no conflicts.

    Args:
        answer: The answer as written.
        careers: Disagreements of career facts.
    """
    if not answer.answered:
        return answer
    about = answer if answer.model == CAREER_FACTS else replace(answer, sentences=relevant_sentences(answer))
    found = [each for each in careers if _is_relevant(each, about)]
    found += [each for each in sentence_disagreements(about) if not any(_is_covered_by(each, other) for other in found)]
    conflicts: list[Conflict] = []
    sources = list(answer.sources)
    for each in found[:_MOST_CONFLICTS]:
        sides = [_cite_side(side, sources) for side in each.sides]
        said = ", ".join(f"{side.said} [{cited.n}]" for side, cited in zip(each.sides, sides, strict=True))
        conflicts.append(Conflict(each.kind, f"{each.about}: {said}" if each.about else said, tuple(sides)))
    if not conflicts:
        return answer
    confidence = "medium" if answer.confidence == "high" else answer.confidence
    return replace(answer, conflicts=tuple(conflicts), sources=tuple(sources), confidence=confidence)


def is_about_career(answer: Answer) -> bool:
    """True if career facts may contradict the answer: it names a year, or a date, title or employer is asked."""
    question = fold(answer.question)
    asked = any(_ASKS_FOR[kind].search(question) for kind in ("dates", "title", "employer"))
    return answer.answered and (asked or any(_YEAR.search(sentence.text) for sentence in answer.sentences))


def _cite_side(side: ConflictSide, sources: list[Source]) -> Citation:
    """The citation of a side by the source that holds its span; the source is added if none does."""
    own = side.source
    held = (
        source
        for source in sources
        if (source.document_id, source.content_sha) == (own.document_id, own.content_sha)
        and source.start <= side.start
        and side.end <= source.end
    )
    source = next(held, None)
    if source is None:
        source = replace(own, n=len(sources) + 1)
        sources.append(source)
    page, first, last = source.place(side.start, side.end)
    return Citation(
        n=source.n,
        document_id=source.document_id,
        content_sha=source.content_sha,
        start=side.start,
        end=side.end,
        quote=side.quote,
        verdict="supported",
        support=1.0,
        page=page,
        line_start=first,
        line_end=last,
    )


# Career facts


def _is_relevant(found: Disagreement, answer: Answer) -> bool:
    """True if the question asks for the disputed value, or a sentence of the answer states one side."""
    question = fold(answer.question)
    named = set(_WORD.findall(question)).issuperset(organisation_words(found.about))
    if named and _ASKS_FOR[found.kind].search(question) and may_be_asked(found, answer.question):
        return True
    return any(_states_side(sentence, side, found) for sentence in answer.sentences for side in found.sides)


def _states_side(sentence: Sentence, side: ConflictSide, found: Disagreement) -> bool:
    """True if a sentence states a side's value about the same thing."""
    if found.kind == "dates":
        stated = any(year in sentence.text for year in _YEAR.findall(side.said))
    else:
        stated = contains_phrase(sentence.text, fold(side.said))
    rests = any(
        cited.document_id == side.source.document_id and cited.start < side.end and side.start < cited.end
        for cited in sentence.evidence
    )
    return stated and (rests or contains_phrase(sentence.text, fold(found.about)))


def _is_covered_by(found: Disagreement, other: Disagreement) -> bool:
    """True if another disagreement of the same kind covers the documents of all sides."""
    documents = {side.source.document_id for side in other.sides}
    return found.kind == other.kind and all(side.source.document_id in documents for side in found.sides)


_LEAST_SHARED = 2  # beginnings of words that two sentences about one thing have in common at least
_LONGEST_QUOTE = 160  # characters of a sentence as it is told
# Headings that name no subject.
_GENERIC = frozenset(
    """about activity background bio career certifications contact education employment experience highlights history
    interests introduction languages notes overview personal profile projects publications readme resume section skills
    summary usage features installation work professional volunteering talks report minutes meeting final kickoff review
    update plan draft status document page memo letter interim annual title first second""".split()
)


def sentence_disagreements(answer: Answer) -> Iterator[Disagreement]:
    """The cited sentences that a sentence of another document among the sources contradicts."""
    by_number = {source.n: source for source in answer.sources}
    stated = {source.n: _sentences_of(source) for source in answer.sources}
    seen: set[tuple[int, int, int]] = set()
    for sentence in answer.sentences:
        for one in _supporting_sides(sentence, by_number):
            own = (one.source.n, one.start, one.end)
            rivals = (
                other
                for source in answer.sources
                if source.document_id != one.source.document_id and own not in seen
                for other in stated[source.n]
                if _may_be_alike(one.quote, other.quote)
            )
            for other in rivals:
                kind = _conflict_kind(one, other, normalise(sentence.text), answer.question)
                if kind and (other.source.n, other.start, other.end) not in seen:
                    seen |= {own, (other.source.n, other.start, other.end)}
                    yield Disagreement(kind, "", (one, other))
                    break


def _supporting_sides(sentence: Sentence, sources: Mapping[int, Source]) -> Iterator[ConflictSide]:
    """The source sentences that support a sentence of the answer."""
    for cited in sentence.evidence:
        if cited.n in sources and cited.verdict in ("supported", "partial"):
            for start, end in sentences(cited.quote):
                yield _side(sources[cited.n], cited.start + start, cited.start + end)


def _states_value(one: ConflictSide) -> bool:
    said = parse_statement(one.quote)
    return bool(find_relations(one.quote)) or (said is not None and bool(said.when or said.amounts))


def _may_be_alike(one: str, other: str) -> bool:
    """True if two sentences may be about one thing: they share words or a kind of relation."""
    told = ({(each.kind, each.by) for each in find_relations(text)} for text in (one, other))
    return len(_word_beginnings(one) & _word_beginnings(other)) >= _LEAST_SHARED or bool(set.intersection(*told))


@lru_cache(maxsize=4_096)
def _word_beginnings(text: str) -> frozenset[str]:
    """The first four letters of each word."""
    return frozenset(word[:4] for word in _WORD.findall(fold(text)) if len(word) > 1)


def _sentences_of(source: Source) -> list[ConflictSide]:
    return [_side(source, source.start + start, source.start + end) for start, end in sentences(source.snippet)]


def _side(source: Source, start: int, end: int) -> ConflictSide:
    words = " ".join(source.snippet[start - source.start : end - source.start].split())
    told = words if len(words) <= _LONGEST_QUOTE else words[:_LONGEST_QUOTE].rsplit(" ", 1)[0] + "…"
    return ConflictSide(f"“{told}”", source, start, end)


def _conflict_kind(one: ConflictSide, other: ConflictSide, spoken: str, question: str) -> ConflictKind | None:
    """The kind of conflict between two sentences about what the answer states; None without one."""
    kind = _value_conflict(one, other, spoken) if _states_value(one) else None
    if kind or not _same_time(one.source, other.source):
        return kind
    same_subject, told_apart = _same_subject(one.source, other.source), _name_different_things(one.source, other.source)
    if not is_denial_of(one.quote, other.quote, same_subject=same_subject, told_apart=told_apart):
        return None
    terms = terms_without_negation(one.quote) & terms_without_negation(other.quote)
    said = terms & {*tokenise(spoken), *tokenise(question)}
    return "denial" if len(said) * 3 >= len(terms) * 2 else None


def _value_conflict(one: ConflictSide, other: ConflictSide, spoken: str) -> ConflictKind | None:
    """The kind of conflict of two values, one of which the answer states; None without one."""
    same_subject, same_time = _same_subject(one.source, other.source), _same_time(one.source, other.source)
    found = contradiction(one.quote, other.quote, same_subject=same_subject, same_time=same_time)
    if found is None:
        apart = _name_different_things(one.source, other.source)
        named = conflicting_relations(
            one.quote, other.quote, same_subject=same_subject, told_apart=apart, same_time=same_time
        )
        return named.kind if named and not set(tokenise(named.one)).isdisjoint(tokenise(spoken)) else None
    if _is_own_year(found.one, one.source) and _is_own_year(found.other, other.source):
        return None
    said = re.findall(r"\d+(?:\.\d+)?", found.one)
    return found.kind if any(re.search(rf"(?<![\d.]){value}(?![\d]|\.\d)", spoken) for value in said) else None


def _name_different_things(one: Source, other: Source) -> bool:
    """True if the titles and headings of two sources name different things."""
    mine, theirs = (_heading_words(source) | _words_of(source.title) for source in (one, other))
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _same_subject(one: Source, other: Source) -> bool:
    """True if the innermost headings of two sources name one thing."""
    return not _heading_words(one).isdisjoint(_heading_words(other))


def _heading_words(source: Source) -> set[str]:
    return _words_of(source.section_path[-1]) if source.section_path else set()


def _words_of(heading: str) -> set[str]:
    """The capitalised words of a heading that name no kind of document or section."""
    words = _WORD.findall(heading)
    return {fold(word) for word in words if word[0].isupper() and fold(word) not in _GENERIC and len(word) > 2}


def _same_time(one: Source, other: Source) -> bool:
    """True if two sources name the same years in names and headings, or one names none."""
    mine, theirs = _years_of(one), _years_of(other)
    return mine == theirs or not mine or not theirs


def _is_own_year(value: str, source: Source) -> bool:
    """True if a date is the year that its own document is about."""
    years = set(_YEAR.findall(value))
    return bool(years) and years <= _years_of(source)


def _years_of(source: Source) -> set[str]:
    told: Iterable[str] = (source.documentName, source.title, *source.section_path)
    return {year for text in told for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", text)}


_SHARE = 0.6  # of the question's terms that the best sentence has
_ASKING = frozenset(
    tokenise(
        "when how what which who where long many much since until year month date time start begin end join leave work"
        " job title position role company employer employed career tenure period exactly still current currently"
    )
)
_CAPITALISED = re.compile(r"(?<!\w)[A-Z][\w'’-]*")


def relevant_sentences(answer: Answer) -> tuple[Sentence, ...]:
    """The sentences that hold at least 0.6 as many terms of the question as the best sentence.

    Terms of the cited spans and of the headings and titles above them count. All sentences of a language model are
    relevant.
    """
    if answer.mode == "llm":
        return answer.sentences
    asked = {term for term in tokenise(answer.question) if not term.isdigit()}
    by_number = {source.n: source for source in answer.sources}
    held = [len(asked & _sentence_terms(sentence, by_number)) for sentence in answer.sentences]
    least = _SHARE * max(held, default=0)
    return tuple(sentence for sentence, count in zip(answer.sentences, held, strict=True) if count >= least)


def may_be_asked(found: Disagreement, question: str) -> bool:
    """True if fewer than half of the question's terms are unknown to the sides of a disagreement."""
    sides = " ".join(f"{side.source.snippet} {_headings_above(side.source)}" for side in found.sides)
    asked = {*tokenise(question)} - _ASKING
    strange = asked - {*tokenise(sides), *tokenise(found.about)} - {*tokenise(_capitalised_words(question))}
    return len(strange) * 2 < len(asked) or not strange


def _sentence_terms(sentence: Sentence, sources: dict[int, Source]) -> set[str]:
    numbers = {*sentence.citations, *(cited.n for cited in sentence.evidence)}
    above = (_headings_above(sources[n]) for n in sorted(numbers) if n in sources)
    quotes = (cited.quote for cited in sentence.evidence)
    return set(tokenise(" ".join([sentence.text, *quotes, *above])))


def _headings_above(source: Source) -> str:
    return " ".join([source.title, *source.section_path])


def _capitalised_words(question: str) -> str:
    """The capitalised words of a question, but for the first."""
    found: Iterable[str] = _CAPITALISED.findall(question.partition(" ")[2])
    return " ".join(found)


_BEGAN, _ENDED = ("joined", "started at"), ("left",)


def job_date_disagreements(
    facts: Iterable[Fact], names: Mapping[str, str], sources: Sequence[Source]
) -> list[Disagreement]:
    """For each fact, the first sentence of another document that dates the start or end of the job differently.

    Args:
        facts: The facts behind an answer.
        names: Name of the person by document id.
        sources: The passages found for the question.
    """
    told = list(facts)
    own = {fact.document_id for fact in told}
    others = [source for source in sources if source.document_id not in own]
    found = (_fact_disagreement(fact, names.get(fact.document_id, ""), others) for fact in told)
    return [each for each in found if each]


def _fact_disagreement(fact: Fact, name: str, sources: Sequence[Source]) -> Disagreement | None:
    for said in _fact_claims(fact, name):
        for source in sources:
            for start, end in sentences(source.snippet):
                differs = contradiction(said, source.snippet[start:end], same_subject=False)
                if differs and differs.kind == "dates":
                    other = ConflictSide(differs.other, source, source.start + start, source.start + end)
                    record = fact.record
                    assert isinstance(record, JobFacts)
                    return Disagreement("dates", record.company, (fact_side(fact, record.date_range), other))
    return None


def _fact_claims(fact: Fact, name: str) -> Iterator[str]:
    """Sentences that state the start and the end of a job with the person's name."""
    record = fact.record
    if not isinstance(record, JobFacts) or not name:
        return
    first, last = record.start_month, None if record.current else record.end_month
    for month, verbs in ((first, _BEGAN), (last, _ENDED)):
        yield from (f"{name} {verb} {record.company} in {month_text(month)}." for verb in verbs if month)
