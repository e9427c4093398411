"""EXTRACT: answer with the units of the sources that fit best, verbatim, or abstain."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from llama_index.core.schema import NodeWithScore

from config.prompts import NO_DOCUMENTS, NOTHING_PASSES
from config.settings import EvidenceSettings
from pipelines.answers import Source
from pipelines.query.answer import AnswerEvents, Draft, WriterInput, abstain, write_sentences
from pipelines.query.citation_markers import escape_markers
from pipelines.query.confidence import quotation_confidence
from pipelines.query.context import Retrieved
from pipelines.query.evidence import assess
from pipelines.query.layout import CitedText
from pipelines.query.person_filter import quotable_sources
from pipelines.query.postprocess.duplicates import jaccard
from pipelines.query.prompt_injection import is_command, supported_only_by_commands
from pipelines.query.question.form import (
    EXACT_KINDS,
    QuestionType,
    asks_for_code,
    asks_of_commands,
    classify_question,
    holds_kind,
    kind_fit,
    question_parts,
    states_change,
)
from pipelines.query.question.language import other_language
from pipelines.query.question.related import related_terms
from pipelines.query.quotable_units import ExcludeSpan, Part, QuotableSources, QuotableUnit, quotable_units
from pipelines.query.search import Search
from pipelines.query.unit_scoring import (
    Array,
    ScoredUnits,
    UnitScorer,
    answer_probability,
    build_unit_scorer,
    heading_with_value,
    score_again,
    score_units,
)
from pipelines.query.verification.normalise import count_negations
from pipelines.query.verification.words import lowered
from pipelines.query.verify import build_judge, cached_embedding, verify
from pipelines.store.tokens import index_terms, tokenise
from pipelines.structure import row_cells
from pipelines.text import plain
from pipelines.types import Evidence, QueryIntent

_MOST_QUOTED, _MOST_NEAREST = 3, 2  # units of an answer; of an abstention
_LEAST_SHARE = 0.04  # of the best unit's probability, from which another one is quoted as well
_ENOUGH = 50  # words up to which a segment of a paragraph grows
_MANY_WORDS = 120  # of all quoted paragraphs, from which on no other unit is quoted
_MOST_ITEMS, _MOST_CODE = 12, 16  # items of a list and lines of code that are quoted
_FEW_ITEMS = 6  # items up to which a list is quoted whole, and the most of a longer one unless all are asked for
_FEW_WORDS = 25  # of a paragraph that does not say by itself that a heading denies it
_NO_CELL = " -–—−?"  # signs of a cell without a value
_LONGEST_HEADING = 80  # characters of a heading that is shown above a list, code or a bare line
_BARE_WORDS, _STOPS = 8, (".", "!", "?", "…")  # of a line that is no sentence
_ITEM_MARGIN = 1.0  # an item that scores this much below the best of its list is left out
_WHOLE_WEIGHT = 0.25  # for a part of the question, of the score for the whole question
_REPEATED = 0.6  # shared index terms from which a part repeats another
ANSWER_FLOOR = 0.45  # probability from which the units count as an answer
NO_SENTENCE, NAMES_NOTHING = "no sentence of the nearest passages says it", "it names nothing to look for"


@dataclass(frozen=True, slots=True)
class Quotation:
    """The quoted parts of a unit, in order, and the number of items of a list that are left out."""

    unit: QuotableUnit
    parts: tuple[Part, ...]
    more: int = 0

    @property
    def words(self) -> int:
        """The number of words outside lists and code."""
        return sum(len(part.text.split()) for part in self.parts) if self.unit.kind == "paragraph" else 0


@dataclass(frozen=True, slots=True)
class Extraction:
    """The units that answer best, best first, the probability (0..1) that the best of them answers, and all that were
    scored.
    """

    question: QuestionType
    quotations: tuple[Quotation, ...]
    answers: float
    scored: ScoredUnits | None = field(default=None, compare=False, repr=False)

    @property
    def more(self) -> int:
        """Number of items of the quoted lists that are left out."""
        return sum(quotation.more for quotation in self.quotations)

    @property
    def silence(self) -> str:
        """Why nothing is quoted, if the reason lies in the question; else empty."""
        return NAMES_NOTHING if self.question.is_vague else ""


def extract(
    intent: QueryIntent,
    quotable: QuotableSources,
    ranking: Sequence[NodeWithScore],
    scorer: UnitScorer,
    *,
    strength: float,
    max_sentences: int,
) -> Extraction:
    """Pick the units that answer best, verbatim, best first; at most `max_sentences` sentences of paragraphs.

    Units far less probable than the best are left out, and so are repetitions. A line that gives orders to a language
    model is quoted only if the question asks about such orders. `strength` (0..1) is that of the evidence. A value
    that is asked for and that nothing quoted holds makes the probability of an answer 0.
    """
    question = classify_question(intent)
    every = quotable_units(_of_named(intent, quotable.sources), _exclusion(intent, quotable))
    if not every or question.is_vague:
        return Extraction(question, (), 0.0)
    scored = score_units(every, question, ranking, scorer)
    parts = question_parts(intent, question)
    of_parts = [score_again(scored, part, ranking) for part in parts]
    first: dict[int, ScoredUnits] = {}
    for own in of_parts:
        first.setdefault(int(np.argmax(own.scores + _WHOLE_WEIGHT * scored.scores)), own)
    answers = answer_probability(scored, strength)
    if question.kind == "comparison" and parts:
        weakest = min(answer_probability(own, strength) for own in of_parts)
        answers = weakest if question.asks_nothing else max(answers, weakest)
    if (at := _stating(scored, question)) is not None:
        first = {at: first.get(at, scored), **first}
        if question.is_definition:
            answers = max(answers, ANSWER_FLOOR)  # the nearest words about it tell more than silence
    quotations = _chosen(scored, first, question, max_sentences)
    if not any(_holds_kind(part, quotations) for part in parts or [question]):
        answers = 0.0  # no number for "how many", no day for "when"
    if question.kind == "how" or asks_for_code(intent.search_text):
        quotations = _with_code(quotations, every)
    return Extraction(question, tuple(quotations), answers, scored)


def _holds_kind(question: QuestionType, quotations: Sequence[Quotation]) -> bool:
    """True if what is quoted, or stands right above it, holds the kind of value that is asked for, or none is."""
    if question.kind not in EXACT_KINDS or not question.focus:
        return True
    return any(
        heading_with_value(question, each.unit)
        or any(kind_fit(question, text) for text in (each.unit.lead_text, *(part.text for part in each.parts)))
        for each in quotations
    )


def _stating(scored: ScoredUnits, question: QuestionType) -> int | None:
    """The best unit that states both values of an asked change, whose heading is the asked reason, or that names all
    of which only the definition is asked for; else None.
    """
    for at in np.argsort(-scored.scores, kind="stable").tolist():
        unit = scored.units[at]
        terms = index_terms(" ".join((unit.text, *unit.headings)))
        is_change = question.asks_change and _states_change(unit) and not terms.isdisjoint(question.asked)
        is_named = question.is_definition and index_terms(unit.text).issuperset(question.names)
        if is_change or is_named or (question.kind == "why" and _is_reason(unit, question)):
            return int(at)
    return None


def _states_change(unit: QuotableUnit) -> bool:
    return any(states_change(part.text) for part in unit.parts)


def _is_reason(unit: QuotableUnit, question: QuestionType) -> bool:
    """True if the heading of a unit, or a line that leads in to it, asks the same "why" of its document's subject."""
    title, asked = index_terms(unit.source.title), {*question.asked}
    heading = unit.lead.text if unit.lead else unit.headings[-1] if unit.headings else ""
    own = asked - title
    told = own | frozenset(term for word in own for term in related_terms(word))
    is_why = "why" in lowered(heading)[:1] and heading != plain(unit.source.title)
    return is_why and (own != asked or not question.names) and not told.isdisjoint(index_terms(heading))


def nearest_words(extraction: Extraction) -> tuple[Source, ...]:
    """The two units that would be quoted first, each as a source of its own words."""
    spans = ((quotation.unit.source, quotation.parts) for quotation in extraction.quotations[:_MOST_NEAREST])
    return tuple(
        replace(source.part(parts[0].start, parts[-1].end), n=n) for n, (source, parts) in enumerate(spans, start=1)
    )


def is_answer(extraction: Extraction, evidence: Evidence, settings: EvidenceSettings) -> bool:
    """True if the lines are probable enough, and the evidence sufficient if a bound is set or the search had no
    vectors.
    """
    bound = settings.rule == "plain" or settings.min_strength > 0 or evidence.similarity is None
    return bool(extraction.quotations) and extraction.answers >= ANSWER_FLOOR and (evidence.sufficient or not bound)


def _of_named(intent: QueryIntent, sources: Sequence[Source]) -> Sequence[Source]:
    """The sources of documents that the question names or that name what it names; all if it names no document there.

    What another project's document says of its licence is no answer.
    """
    names = [frozenset(term for word in name.split() for term in tokenise(word)[:1]) for name in intent.names]
    texts = [" ".join((each.title, each.documentName, *each.section_path, each.snippet)) for each in sources]
    own = {
        source.document_id
        for source, text in zip(sources, texts, strict=True)
        if source.document_id in intent.documents or any(name <= index_terms(text) for name in names)
    }
    return [source for source in sources if source.document_id in own] if intent.documents and own else sources


def _exclusion(intent: QueryIntent, quotable: QuotableSources) -> ExcludeSpan:
    """True for spans that must not be quoted, and for orders to a model unless the question is about such."""
    about_commands = asks_of_commands(intent)

    def is_excluded(source: Source, start: int, end: int) -> bool:
        is_order = not about_commands and is_command(source.snippet[start:end])
        return is_order or (quotable.excluded is not None and quotable.excluded(source, start, end))

    return is_excluded


def _chosen(
    scored: ScoredUnits, first: Mapping[int, ScoredUnits], question: QuestionType, most: int
) -> list[Quotation]:
    """The quotations, best first: the units of `first` by the scores of their parts, the best, and the nearly as good.

    A unit that repeats a chosen one is left out, unless it denies it.
    """
    units, score = scored.units, scored.scores
    order = list(dict.fromkeys((*first, *np.argsort(-score, kind="stable").tolist())))
    best = float(score.max())
    found: list[Quotation] = []
    left = most
    for at in order:
        is_wanted = at in first or score[at] >= best + np.log(_LEAST_SHARE)
        told = [(quotation.unit, part) for quotation in found for part in _said(quotation.unit)]
        own = [(units[at], part) for part in units[at].parts]
        copies = [(one, other) for one in own for other in told if _repeats(one[1], other[1])]
        is_denial = any(_denies(*pair) for pair in copies)
        is_long = sum(quotation.words for quotation in found) >= _MANY_WORDS
        is_full = len(found) >= max(_MOST_QUOTED, len(first)) or not left or is_long
        if is_denial or (is_wanted and not is_full and len({one[1].start for one, _ in copies}) < len(own)):
            share = left // (len(first) - len(found)) if len(found) < len(first) else left
            quotation = _quoted(units[at], partial(first.get(at, scored).parts, at), max(share, 1), question)
            found.append(quotation)
            left = max(left - (len(quotation.parts) if units[at].kind == "paragraph" else 1), 0)
    return found


def _said(unit: QuotableUnit) -> tuple[Part, ...]:
    return (*filter(None, (unit.lead if unit.kind != "paragraph" else None,)), *unit.parts)


def _repeats(one: Part, other: Part) -> bool:
    return jaccard(index_terms(one.text), index_terms(other.text)) >= _REPEATED


def _denies(one: tuple[QuotableUnit, Part], other: tuple[QuotableUnit, Part]) -> bool:
    """True if one of two parts of different documents denies what the other says."""
    apart = one[0].source.document_id != other[0].source.document_id
    said, told = one[1].text, other[1].text
    return apart and bool(count_negations(said, told)) != bool(count_negations(told, said))


def _with_code(quotations: Sequence[Quotation], units: Sequence[QuotableUnit]) -> list[Quotation]:
    """The quotations, each paragraph with the block of code right after it, or else before it, in its section."""
    found: list[Quotation] = []
    for quotation in quotations:
        found.append(quotation)
        at = next(at for at, unit in enumerate(units) if unit is quotation.unit)
        place = quotation.unit.source.n, quotation.unit.headings
        beside = (units[near] for near in (at + 1, at - 1) if 0 <= near < len(units))
        held = {id(each.unit) for each in (*found, *quotations)}
        code = next((each for each in beside if each.kind == "code" and (each.source.n, each.headings) == place), None)
        if quotation.unit.kind == "paragraph" and code and id(code) not in held:
            found.append(Quotation(code, code.parts[:_MOST_CODE]))
    return found


def _quoted(unit: QuotableUnit, score: Callable[[], Array], most: int, question: QuestionType) -> Quotation:
    """The quoted parts: up to `most` sentences, a few rows, or a whole list or block of code within limits.

    The parts are scored, which may read each, only where some of them are left out.
    """
    if unit.kind == "paragraph":
        return Quotation(unit, _grown(unit, score, most))
    if unit.kind == "code":
        return Quotation(unit, _window(unit.parts, score, _MOST_CODE))
    if unit.kind == "table":
        rows = _asked_rows(unit.parts, frozenset((*question.names, *question.focus)))
        return Quotation(unit, rows[:_MOST_ITEMS], max(len(rows) - _MOST_ITEMS, 0))
    named = _asked_rows(unit.parts, frozenset(question.names) - index_terms(unit.source.title))
    if question.listed and len(named) < len(unit.parts):
        return Quotation(unit, named[:_MOST_ITEMS], max(len(named) - _MOST_ITEMS, 0))
    if question.listed or len(unit.parts) <= _FEW_ITEMS:
        return Quotation(unit, unit.parts[:_MOST_ITEMS], max(len(unit.parts) - _MOST_ITEMS, 0))
    scores = score().tolist()
    near = [at for at, own in enumerate(scores) if own >= max(scores) - _ITEM_MARGIN]
    kept = sorted(sorted(near, key=lambda at: -scores[at])[:_FEW_ITEMS])
    return Quotation(unit, tuple(unit.parts[at] for at in kept), len(near) - len(kept))


def _asked_rows(rows: Sequence[Part], asked: frozenset[str]) -> tuple[Part, ...]:
    """The rows, or items of a list, without those that hold fewer of the asked terms than another.

    A term that stands in more than half of them does not count.
    """
    own = [index_terms(row.text) & asked for row in rows]
    counts = Counter(term for held in own for term in held)
    told = [frozenset(term for term in held if 2 * counts[term] <= len(rows)) for held in own]
    return tuple(row for row, held in zip(rows, told, strict=True) if not any(held < other for other in told))


def _grown(unit: QuotableUnit, score: Callable[[], Array], most: int) -> tuple[Part, ...]:
    """A segment of a paragraph with the sentences beside it, those after it first, up to 50 words; at most `most`."""
    chosen = list(_window(unit.parts, score, most))
    while len(chosen) < most and sum(len(part.text.split()) for part in chosen) < _ENOUGH:
        first, last = unit.around.index(chosen[0]), unit.around.index(chosen[-1])
        if last + 1 < len(unit.around):
            chosen.append(unit.around[last + 1])
        elif first:
            chosen.insert(0, unit.around[first - 1])
        else:
            break
    return tuple(chosen)


def _window(parts: Sequence[Part], score: Callable[[], Array], size: int) -> tuple[Part, ...]:
    """The parts that follow each other and score best together; all where there are no more."""
    if len(parts) <= size:
        return tuple(parts)
    scores = score().tolist()
    start = max(range(len(parts) - size + 1), key=lambda at: (sum(scores[at : at + size]), -at))
    return tuple(parts[start : start + size])


def extract_from(retrieved: Retrieved, search: Search, strength: float) -> Extraction:
    """The units of what was found that may be quoted, given the strength of the evidence."""
    intent = retrieved.found.intent
    return extract(
        intent,
        quotable_sources(intent, retrieved.context, search.store, search.request.audience),
        retrieved.found.ranking,
        build_unit_scorer(retrieved.index.idf),
        strength=strength,
        max_sentences=search.settings.answer.max_sentences,
    )


def write_by_quotation(
    task: WriterInput, retrieved: Retrieved, search: Search, fallback_reason: str = ""
) -> AnswerEvents:
    """Answer with the lines of the sources that fit best, verbatim; abstain if they do not answer."""
    found, settings = retrieved.found, search.settings
    instead = other_language(found.intent.question, search.model, retrieved.index.document_frequency)
    if instead:
        return (yield from abstain(replace(task, instead=instead), fallback_reason))
    task = replace(task, evidence=_quotable_evidence(retrieved, search))
    extraction = extract_from(retrieved, search, task.evidence.strength)
    if not is_answer(extraction, task.evidence, settings.evidence):
        why = extraction.silence or task.evidence.reason or NO_SENTENCE
        searched = f"{found.intent.search_text} ({search.request.mode}: {why})"
        return (
            yield from abstain(replace(task, searched=(searched,), nearest=nearest_words(extraction)), fallback_reason)
        )
    if extraction.more:
        found.ledger.note(
            f"{extraction.more} more of what is listed there are not quoted: open the source for all of them."
        )
    return (yield from write_extraction(task, extraction, fallback_reason))


def write_extraction(task: WriterInput, extraction: Extraction, fallback_reason: str = "") -> AnswerEvents:
    """The quoted units as Markdown with their markers, then a Verdict for each part; an abstention without units."""
    parts = [
        part
        for at, quotation in enumerate(extraction.quotations)
        for part in cited(quotation, extraction.question, extraction.quotations[:at])
    ]
    if not parts:
        return (yield from abstain(task, fallback_reason))
    sources = task.context.sources
    checks = [(part, verify(part.quote or part.text, part.citations, sources, task.judge)) for part in parts]
    written = [(part, replace(checked, text=part.text, cells=part.cells)) for part, checked in checks]
    band = quotation_confidence([each for _, each in written], extraction.answers, is_open=leaves_open(extraction))
    answer = yield from write_sentences(task.intent.question, written, sources, band, "")
    return replace(answer, fallback_reason=fallback_reason)


def cited(quotation: Quotation, question: QuestionType, before: Sequence[Quotation] = ()) -> Iterator[CitedText]:
    """The parts of a quotation with the Markdown before each: a lead-in or heading, list marks, a fence.

    A heading that alone holds the date or person that is asked for stands above them. What is quoted `before` is not
    repeated, and its block of code is closed first.
    """
    unit, cites = quotation.unit, (quotation.unit.source.n,)
    gap = "" if not before else "\n```\n\n" if before[-1].unit.kind == "code" else "\n\n"
    is_led = unit.kind != "paragraph" and unit.lead is not None
    denials = [words for words in unit.denials if not unit.lead or words != unit.lead.text]
    is_told = quotation.words <= _FEW_WORDS and unit.kind != "code" and not (before and before[-1].unit is unit)
    for words in denials if is_told else ():
        gap += _heading(words)
    if is_led and unit.lead and not _is_written(unit, unit.lead, before):
        yield CitedText(unit.lead.text, cites, gap)
        gap = "\n\n"
    elif value := heading_with_value(question, unit):
        gap += _heading(value)
    elif _is_bare(quotation) and unit.headings and not is_led:
        heading = _shown_heading(unit.headings)
        is_year = heading.isdigit() and all(heading in part.text for part in quotation.parts)
        gap += _heading(heading) if heading not in denials and not is_year else ""
    if unit.columns and not all(map(unit.cells, quotation.parts)):
        gap += _heading(", ".join(filter(None, row_cells(unit.columns))))
    marks = {"paragraph": ("", " "), "code": ("```\n", "\n"), "list": ("- ", "\n- "), "table": ("- ", "\n- ")}
    opening, between = marks[unit.kind]
    parts = [part for part in quotation.parts if not _is_written(unit, part, before)]
    opened = [unit.source.snippet[: part.start].rpartition("\n")[2] for part in parts]
    insets = ["" if unit.kind != "code" or space.strip() else space for space in opened]  # before lines of code
    common = min(map(len, insets), default=0)
    for place, (part, inset) in enumerate(zip(parts, insets, strict=True)):
        opens = f"{gap}{opening}" if place == 0 else between
        words = unit.shown(part)
        quote = part.text if words != part.text else ""
        yield CitedText(words, cites, opens + inset[common:], unit.kind == "code", quote, tuple(unit.cells(part)))


def _is_bare(quotation: Quotation) -> bool:
    """True for what does not say by itself what it is about: a list, a table, code, or a short line such as a date."""
    is_sentence = quotation.parts[-1].text.endswith(_STOPS) if quotation.parts else True
    return quotation.unit.kind != "paragraph" or (quotation.words <= _BARE_WORDS and not is_sentence)


def _shown_heading(headings: Sequence[str]) -> str:
    """The innermost heading, with the one above it where it says when: of a job under a line of its dates."""
    *above, last = headings
    if len(above) < 2 or not holds_kind("when", last, frozenset()):
        return last
    both = f"{above[-1]} · {last}"
    return both if len(both) <= _LONGEST_HEADING else above[-1]


def leaves_open(extraction: Extraction) -> bool:
    """True if the best unit is denied by what stands above it and yes or no is asked, or is a row of empty cells; and
    where one value of an asked change is all that is quoted."""
    first = extraction.quotations[0]
    if extraction.question.asks_change and not any(_states_change(each.unit) for each in extraction.quotations):
        return True
    if extraction.question.kind == "yes-no" and first.unit.denials:
        return True
    cells = [cell for part in first.parts for _, cell in first.unit.cells(part)[1:]]
    return bool(cells) and not any(cell.strip(_NO_CELL) for cell in cells)


def _is_written(unit: QuotableUnit, part: Part, before: Sequence[Quotation]) -> bool:
    """True if a part of the same source was quoted already."""
    return any(
        other.start == part.start
        for quotation in before
        if quotation.unit.source.n == unit.source.n
        for other in (*quotation.parts, *filter(None, (quotation.unit.lead,)))
    )


def _heading(words: str) -> str:
    """A heading of an answer, with the markers in it escaped; empty for a long one and for an order to a model."""
    is_shown = 0 < len(words) <= _LONGEST_HEADING and not is_command(words)
    return f"**{escape_markers(words)}**\n\n" if is_shown else ""


def _quotable_evidence(retrieved: Retrieved, search: Search) -> Evidence:
    """The evidence without passages that match the question only by orders to a language model."""
    found = retrieved.found
    left_out = supported_only_by_commands(found.intent, found.ranking)
    if not left_out:
        return found.evidence
    again = assess(
        [hit for hit in found.ranked if hit.node.node_id not in left_out],
        found.intent,
        found.ledger,
        retrieved.index,
        settings=search.settings.evidence,
        model=search.model,
    )
    return min(found.evidence, again, key=lambda evidence: evidence.strength)


def try_answer(search: Search, retrieve: Callable[[], Retrieved]) -> Draft:
    """The quotation of the units that fit best, or an abstention."""
    retrieved = retrieve()
    return Draft(partial(write_without_model, retrieved, search), retrieved)


def write_without_model(retrieved: Retrieved, search: Search, failure: str = "") -> AnswerEvents:
    """Quote, or abstain: also where there is nothing to search. `failure` is that of a language model before."""
    task, instead = writer_input(retrieved, search), _nothing_to_search(retrieved, search)
    if not task.context.sources or instead:
        return (yield from abstain(replace(task, instead=instead), failure))
    return (yield from write_by_quotation(task, retrieved, search, failure))


def writer_input(retrieved: Retrieved, search: Search) -> WriterInput:
    """The input of a writer for what was found."""
    found, mode = retrieved.found, search.request.mode
    searched = (
        () if found.intent.greeting else (f"{found.intent.search_text} ({mode}: {found.evidence.reason or 'found'})",)
    )
    is_blind = mode == "sparse" or found.ledger.degraded
    embed = None if is_blind else cached_embedding(search.embed_model)
    judge = build_judge(search.model, embed)
    persona = search.settings.persona
    return WriterInput(found.intent, retrieved.context, found.evidence, searched, judge=judge, persona=persona)


def _nothing_to_search(retrieved: Retrieved, search: Search) -> str:
    """The message for an empty index or filters that nothing passes; else empty."""
    if retrieved.found.intent.greeting or retrieved.found.ranked:
        return ""
    if not len(retrieved.index):
        return NO_DOCUMENTS
    filters = search.request.filters
    return "" if not filters or search.store.matching_ids(filters, search.request.audience) else NOTHING_PASSES
