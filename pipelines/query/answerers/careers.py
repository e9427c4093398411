"""CAREERS: durations, counts, lists and dates computed from career facts."""

from dataclasses import replace
from datetime import date

from pipelines.query.answer import AnswerEvents, write_sentences
from pipelines.query.careers.answers import answer_from_people
from pipelines.query.careers.computed_answer import CAREER_FACTS, NEUTRAL, ComputedAnswer, cited_facts, left_out_note
from pipelines.query.confidence import computed_confidence
from pipelines.query.layout import CitedText
from pipelines.query.question.careers import career_asks
from pipelines.query.question.language import in_english, in_language, question_language
from pipelines.query.question.understand import analyse
from pipelines.query.search import Search
from pipelines.query.verify import verify_computed


def find(search: Search) -> ComputedAnswer | None:
    """The answer that career facts give; None where they do not answer every word of the question."""
    language, _ = question_language(search.intent.question)
    computed = None
    if search.settings.answer.facts:
        computed = _computed(_in_english(search, language) if language else search)
    if computed and language:
        computed = replace(computed, language=language)
    if computed and (note := left_out_note(computed)):
        search.ledger.note(note)
    return computed


def _computed(search: Search) -> ComputedAnswer | None:
    intent, filters = search.intent, search.request.filters
    if not career_asks(intent):
        return None
    careers = search.careers(replace(filters, phrase=(*filters.phrase, *intent.phrases)))
    return answer_from_people(intent, careers.people(date.today()))


def _in_english(search: Search, language: str) -> Search:
    """The search with the intent of its question in English, as far as careers have words for it."""
    intent = analyse(in_english(search.intent.question, language), search.settings.analysis, known=search.names)
    return replace(search, intent=intent)


def write(search: Search, computed: ComputedAnswer) -> AnswerEvents:
    """Yield the computed sentences with a footnote for each fact, then their Verdicts; list items have bullets."""
    language = computed.language
    sources, stated = cited_facts(computed, NEUTRAL if language else search.settings.persona)
    derived = (*computed.derived, *filter(None, (computed.value,)))
    if language:
        kept = [(text, quoted, [said for _, words in quoted for said in words]) for text, quoted in stated]
        stated = [(in_language(text, language, said), quoted) for text, quoted, said in kept]
        derived = tuple(in_language(value, language, ()) for value in derived)
    sentences = [verify_computed(text, quoted, derived, sources) for text, quoted in stated]
    band = computed_confidence(sentences, is_exact=computed.exact and not computed.doubts)
    marks = ["- " if computed.listed else "", *["\n- " if computed.listed else " "] * len(sentences)]
    written = [(CitedText(each.text, each.citations, mark), each) for each, mark in zip(sentences, marks, strict=False)]
    return write_sentences(search.intent.question, written, sources, band, CAREER_FACTS)
