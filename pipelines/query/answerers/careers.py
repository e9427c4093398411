"""CAREERS: durations, counts, lists and dates computed from career facts."""

from pipelines.query.answer import AnswerEvents, write_sentences
from pipelines.query.careers.answers import compute_answer
from pipelines.query.careers.computed_answer import CAREER_FACTS, ComputedAnswer, cited_facts, left_out_note
from pipelines.query.confidence import computed_confidence
from pipelines.query.layout import CitedText
from pipelines.query.search import Search
from pipelines.query.verify import verify_computed


def find(search: Search) -> ComputedAnswer | None:
    """The answer that career facts give; None where they do not answer every word of the question."""
    computed = compute_answer(search) if search.settings.answer.facts else None
    if computed and (note := left_out_note(computed)):
        search.ledger.note(note)
    return computed


def write(search: Search, computed: ComputedAnswer) -> AnswerEvents:
    """Yield the computed sentences with a footnote for each fact, then their Verdicts; list items have bullets."""
    sources, stated = cited_facts(computed, search.settings.persona)
    derived = (*computed.derived, *filter(None, (computed.value,)))
    sentences = [verify_computed(text, quoted, derived, sources) for text, quoted in stated]
    band = computed_confidence(sentences, is_exact=computed.exact and not computed.doubts)
    marks = ["- " if computed.listed else "", *["\n- " if computed.listed else " "] * len(sentences)]
    written = [(CitedText(each.text, each.citations, mark), each) for each, mark in zip(sentences, marks, strict=False)]
    return write_sentences(search.intent.question, written, sources, band, CAREER_FACTS)
