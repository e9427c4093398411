"""CAREERS: durations, counts, lists and dates computed from career facts."""

from pipelines.answers import Answer, Footnote, Token, Verdict
from pipelines.query.answer import AnswerEvents, join_sentences
from pipelines.query.careers.answers import compute_answer
from pipelines.query.careers.computed_answer import (
    CAREER_FACTS,
    ComputedAnswer,
    cited_facts,
    left_out_note,
)
from pipelines.query.citation_markers import escape_markers
from pipelines.query.search import Search
from pipelines.query.verify import verify_computed


def find(search: Search) -> ComputedAnswer | None:
    """The answer that career facts give; None where they do not answer every word of the question.

    Raises:
        ServiceUnavailable: If the database cannot be read.
    """
    computed = compute_answer(search) if search.settings.answer.facts else None
    if computed and (note := left_out_note(computed)):
        search.ledger.note(note)
    return computed


def write(search: Search, computed: ComputedAnswer) -> AnswerEvents:
    """Yield the computed sentences with a footnote for each fact, then their Verdicts; list items have bullets."""
    sources, stated = cited_facts(computed, search.settings.persona)
    derived = (*computed.derived, *filter(None, (computed.value,)))
    bullet, between = ("- ", "\n- ") if computed.listed else ("", " ")
    written = [verify_computed(text, quoted, derived, sources) for text, quoted in stated]
    shown: set[int] = set()
    for place, sentence in enumerate(written):
        yield Token(f"{between if place else bullet}{escape_markers(sentence.text)}")
        yield from (Footnote(n, sources[n - 1]) for n in sentence.citations if n not in shown)
        shown.update(sentence.citations)
    yield from (Verdict(place, sentence) for place, sentence in enumerate(written))
    supported = all(sentence.verdict == "supported" for sentence in written)
    is_sure = supported and computed.exact and not computed.doubts
    return Answer(
        question=search.intent.question,
        answered=True,
        confidence="high" if is_sure else "medium" if supported else "low",
        mode="extractive",
        model=CAREER_FACTS,
        answer=bullet + join_sentences(written, between),
        sentences=tuple(written),
        sources=sources,
    )
