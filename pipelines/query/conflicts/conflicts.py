"""CONFLICTS: where sources disagree on what an answer says or its question asks, with a citation for each side."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pipelines.query.careers.jobs import own_words
from pipelines.query.conflicts.disagreement import Disagreement, Side
from pipelines.query.conflicts.relevance import may_be_asked, relevant_sentences
from pipelines.query.conflicts.sentence_conflicts import sentence_disagreements
from pipelines.query.verification.agree import holds
from pipelines.query.writing.write import BY_FACTS
from pipelines.text import fold
from pipelines.types import Answer, Citation, Conflict, ConflictKind, Sentence, Source

_MOST = 5
_YEAR = re.compile(r"\d{4}")
_WORD = re.compile(r"[^\W_]+")
# What a question says that asks for such a value.
_ASKS: Mapping[ConflictKind, re.Pattern[str]] = {
    "dates": re.compile(
        r"\b(?:when|how long|since|until|years?|months?|dates?|dated|start(?:ed)?|beg[aiu]n|join(?:ed)?|left|leave"
        r"|end(?:ed)?|period|tenure|current(?:ly)?|still|graduat\w*|timeline|career|duration)\b"
    ),
    "title": re.compile(r"\b(?:titles?|positions?|roles?|jobs?|work(?:ed)? as|career|timeline)\b"),
    "employer": re.compile(r"\b(?:employers?|employed|compan(?:y|ies)|where|work(?:ed|s|ing)?|career|timeline)\b"),
    "number": re.compile(r"\bhow (?:many|much|long|large|big|fast|far|old)\b"),
}


def with_conflicts(answer: Answer, careers: Sequence[Disagreement] = ()) -> Answer:
    """The answer with what its sources disagree about; each side's citation is of a source of the answer.

    Only what the question asks is shown, or what a sentence says that is about the question.

    A source that disagrees and was not shown to the writer is added after the others. An answer that sources dispute
    is not of high confidence. An abstention has no conflicts.

    Args:
        answer: As it was written.
        careers: What career facts say differently.
    """
    if not answer.answered:
        return answer
    about = answer if answer.model == BY_FACTS else replace(answer, sentences=relevant_sentences(answer))
    found = [each for each in careers if _touches(each, about)]
    found += [each for each in sentence_disagreements(about) if not any(_within(each, other) for other in found)]
    conflicts: list[Conflict] = []
    sources = list(answer.sources)
    for each in found[:_MOST]:
        sides = [_cited(side, sources) for side in each.sides]
        said = ", ".join(f"{side.said} [{cited.n}]" for side, cited in zip(each.sides, sides, strict=True))
        conflicts.append(Conflict(each.kind, f"{each.about}: {said}" if each.about else said, tuple(sides)))
    if not conflicts:
        return answer
    confidence = "medium" if answer.confidence == "high" else answer.confidence
    return replace(answer, conflicts=tuple(conflicts), sources=tuple(sources), confidence=confidence)


def is_about_a_career(answer: Answer) -> bool:
    """Whether career facts may dispute an answer: it names a year, or a date, title or employer is asked."""
    question = fold(answer.question)
    asked = any(_ASKS[kind].search(question) for kind in ("dates", "title", "employer"))
    return answer.answered and (asked or any(_YEAR.search(sentence.text) for sentence in answer.sentences))


def _cited(side: Side, sources: list[Source]) -> Citation:
    """The citation of a side: of the source that holds its span, which is added where none does."""
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


def _touches(found: Disagreement, answer: Answer) -> bool:
    """Whether the question asks for what is disputed, or a sentence of the answer says one side of it."""
    question = fold(answer.question)
    named = set(_WORD.findall(question)).issuperset(own_words(found.about))
    if named and _ASKS[found.kind].search(question) and may_be_asked(found, answer.question):
        return True
    return any(_says(sentence, side, found) for sentence in answer.sentences for side in found.sides)


def _says(sentence: Sentence, side: Side, found: Disagreement) -> bool:
    """Whether a sentence says a side's value, and that of the same thing."""
    if found.kind == "dates":
        stated = any(year in sentence.text for year in _YEAR.findall(side.said))
    else:
        stated = holds(sentence.text, fold(side.said))
    rests = any(
        cited.document_id == side.source.document_id and cited.start < side.end and side.start < cited.end
        for cited in sentence.evidence
    )
    return stated and (rests or holds(sentence.text, fold(found.about)))


def _within(found: Disagreement, other: Disagreement) -> bool:
    """Whether two disagreements are of the same kind, and each side of one stands in a document of the other."""
    documents = {side.source.document_id for side in other.sides}
    return found.kind == other.kind and all(side.source.document_id in documents for side in found.sides)
