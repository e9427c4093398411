"""EXTRACT: answer with the lines of the sources that fit best, verbatim, or abstain."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from llama_index.core.schema import NodeWithScore

from config.settings import EvidenceSettings
from pipelines.answers import Answer, Footnote, Sentence, Source, Token, Verdict
from pipelines.query.answer import AnswerEvents, WriterInput, abstain, join_sentences
from pipelines.query.citation_markers import escape_markers
from pipelines.query.confidence import confidence
from pipelines.query.context import Retrieved
from pipelines.query.evidence import assess
from pipelines.query.line_scoring import (
    Array,
    LineScorer,
    Signals,
    build_line_scorer,
    line_scores,
    line_signals,
    shortlist,
)
from pipelines.query.person_filter import quotable_sources
from pipelines.query.prompt_injection import is_about_commands, is_command, supported_only_by_commands
from pipelines.query.question_type import QuestionType, classify_question, question_parts
from pipelines.query.quotable_lines import QuotableLine, QuotableSources, display_text, quotable_lines
from pipelines.query.search import Search
from pipelines.query.sufficiency import (
    ANSWER_FLOOR,
    answer_probability,
    denies,
    is_reliable,
    repeats,
    sufficiency_signals,
)
from pipelines.query.verify import verify
from pipelines.text import fold
from pipelines.types import Evidence, QueryIntent

_ASKS_FOR_CODE = re.compile(
    r"\b(?:commands?|code|run|install\w*|flags?|options?|syntax|calls?|called|functions?|imports?|api|examples?|usages?"
    r"|uses?|used|using|config\w*|set|build|built|start|write|query|queries)\b"
)
_MOST_MEASURED = 64  # lines that are embedded
_DIVERSITY = 1.0  # weight of a line's similarity to the lines already chosen, subtracted from its score
_SCORE_MARGIN = 3.0  # a line that scores this much below the best is left out
# For a part of the question: the weight of the score for the whole question, and of naming what the part names.
_WHOLE_WEIGHT, _ABOUT_WEIGHT = 0.5, 2.0
NO_SENTENCE, NAMES_NOTHING = "no sentence of the nearest passages says it", "it names nothing to look for"


@dataclass(frozen=True, slots=True)
class Extraction:
    """The lines that may be quoted, and how likely they answer.

    Attributes:
        question: What the question asks for.
        picks: The lines that answer best, in the order of their sources.
        answers: Probability (0..1) that they answer.
        sure: True if they can be relied on; see `is_reliable`.
        more: Number of items of the quoted lists that are left out.
    """

    question: QuestionType
    picks: tuple[QuotableLine, ...]
    answers: float
    sure: bool = True
    more: int = 0

    @property
    def listed(self) -> bool:
        """True if several things are asked for and several lines are quoted."""
        return self.question.listed and len(self.picks) > 1

    @property
    def silence(self) -> str:
        """Why nothing is quoted, if the reason lies in the question; else empty."""
        return NAMES_NOTHING if self.question.is_vague else ""


def extract(
    intent: QueryIntent,
    quotable: QuotableSources,
    ranking: Sequence[NodeWithScore],
    scorer: LineScorer,
    *,
    strength: float,
    max_sentences: int,
) -> Extraction:
    """Pick the lines that answer best, verbatim, in the order of their sources; at most `max_sentences`.

    Lines far below the best are left out, and so are repetitions. A line that gives orders to a language model is
    quoted only if the question asks about such orders.

    Args:
        intent: The question as understood.
        quotable: The sources, and the spans of them that must not be quoted.
        ranking: The retrieved passages, best first.
        scorer: Term weights and vectors.
        strength: Strength of the evidence, 0..1.
        max_sentences: Maximum number of lines.
    """
    question = classify_question(intent)
    candidates = _candidates(intent, question, quotable)
    lines = shortlist(candidates, question, ranking, scorer, _MOST_MEASURED)
    if not lines or question.is_vague:
        return Extraction(question, (), 0.0)
    parts = question_parts(intent, question)
    texts = [text for part in (question, *parts) for text in (part.text, part.about or part.text)]
    scorer = scorer.over(list(dict.fromkeys((intent.search_text, *texts))), [line.text for line in lines])
    signals, vectors = line_signals(lines, intent.search_text, question, ranking, scorer)
    score = line_scores(lines, signals, question)
    of_parts = [(part, line_signals(lines, part.text, part, ranking, scorer)[0]) for part in parts]
    first = [_best_for_part(lines, part, own, score) for part, own in of_parts]
    answers = answer_probability(sufficiency_signals(signals, question), strength)
    if question.kind == "comparison" and parts:
        weakest = min(answer_probability(sufficiency_signals(own, part), strength) for part, own in of_parts)
        answers = weakest if question.asks_nothing else max(answers, weakest)
    chosen = _distinct(lines, score, vectors, max_sentences, first)
    picks = sorted((lines[at] for at in chosen), key=lambda line: (line.source.n, line.start))
    sure = is_reliable(question, lines, chosen, signals, scorer.weight)
    return Extraction(question, tuple(picks), answers, sure, _left_out(candidates, picks) if question.listed else 0)


def is_answer(extraction: Extraction, evidence: Evidence, settings: EvidenceSettings) -> bool:
    """True if the lines are probable enough, and the evidence is sufficient where that is required.

    Sufficient evidence is required if a bound on it is set, or if the search had no vectors.
    """
    bound = settings.rule == "plain" or settings.min_strength > 0 or evidence.similarity is None
    return bool(extraction.picks) and extraction.answers >= ANSWER_FLOOR and (evidence.sufficient or not bound)


def _candidates(intent: QueryIntent, question: QuestionType, quotable: QuotableSources) -> list[QuotableLine]:
    """The quotable lines without orders to a model, without code unless it is asked for, and without other rows."""
    about_commands = is_about_commands(intent.question)

    def is_excluded(source: Source, start: int, end: int) -> bool:
        is_order = not about_commands and is_command(source.snippet[start:end])
        return is_order or (quotable.excluded is not None and quotable.excluded(source, start, end))

    lines = quotable_lines(quotable.sources, is_excluded)
    if not _ASKS_FOR_CODE.search(fold(intent.question)):
        lines = [line for line in lines if not line.code] or lines
    return _without_other_rows(lines, frozenset((*question.names, *question.focus)))


def _best_for_part(lines: Sequence[QuotableLine], part: QuestionType, signals: Signals, score: Array) -> int:
    own = line_scores(lines, signals, part)
    return int(np.argmax(own + _WHOLE_WEIGHT * score + _ABOUT_WEIGHT * signals["on"]))


def _left_out(lines: Sequence[QuotableLine], picks: Sequence[QuotableLine]) -> int:
    """Number of list items that are left out of the lists from which several items are picked."""
    counts = Counter((pick.source.n, pick.under) for pick in picks if pick.item)
    of_lists = [line for line in lines if line.item and counts[line.source.n, line.under] > 1]
    return sum(not any(repeats(line, pick) for pick in picks) for line in of_lists)


def _without_other_rows(lines: Sequence[QuotableLine], asked: frozenset[str]) -> list[QuotableLine]:
    """Drop the rows of a table that hold fewer of the asked terms than another row of the same table.

    A term that stands in more than half of the rows does not count.
    """
    tables: dict[tuple[int, int], list[QuotableLine]] = {}
    for line in lines:
        if line.table >= 0:
            tables.setdefault((line.source.n, line.table), []).append(line)
    others: set[int] = set()
    for rows in tables.values():
        counts = Counter(term for row in rows for term in row.own & asked)
        matched = [frozenset(term for term in row.own & asked if 2 * counts[term] <= len(rows)) for row in rows]
        others |= {id(row) for row, held in zip(rows, matched, strict=True) if any(held < other for other in matched)}
    return [line for line in lines if id(line) not in others]


def _distinct(
    lines: Sequence[QuotableLine], score: Array, vectors: Array, limit: int, first: Sequence[int] = ()
) -> list[int]:
    """Indexes of the best lines that differ from each other: `first` and those that deny a chosen line come first.

    Source: Carbonell, Goldstein, SIGIR 1998, doi:10.1145/290941.291025 (maximal marginal relevance).
    """
    chosen: list[int] = []
    open_ = np.flatnonzero(score >= score.max() - _SCORE_MARGIN).tolist()
    nearest = np.zeros(len(lines), dtype=np.float32)
    ahead = list(dict.fromkeys(first))
    while (ahead or open_) and len(chosen) < limit:
        best = ahead[0] if ahead else max(open_, key=lambda at: (float(score[at] - _DIVERSITY * nearest[at]), -at))
        chosen.append(best)
        left = [at for at in dict.fromkeys((*ahead, *open_)) if at != best]
        copies = [at for at in left if repeats(lines[at], lines[best])]
        denied = [at for at in copies if denies(lines[at], lines[best])]
        gone = {best, *copies} - set(denied)
        ahead = list(dict.fromkeys((*denied, *(at for at in ahead if at not in gone))))
        open_ = [at for at in open_ if at not in gone]
        if vectors.size:
            nearest = np.maximum(nearest, vectors @ vectors[best])
    return chosen


def write_by_quotation(
    task: WriterInput, retrieved: Retrieved, search: Search, fallback_reason: str = ""
) -> AnswerEvents:
    """Answer with the lines of the sources that fit best, verbatim; abstain if they do not answer.

    Raises:
        ServiceUnavailable: If the database cannot be read.
    """
    found, settings = retrieved.found, search.settings
    task = replace(task, evidence=_quotable_evidence(retrieved, search))
    extraction = extract(
        found.intent,
        quotable_sources(found.intent, task.context, search.store, search.request.audience),
        found.ranking,
        build_line_scorer(search.embed_model, search.model, retrieved.index.idf),
        strength=task.evidence.strength,
        max_sentences=settings.answer.max_sentences,
    )
    if not is_answer(extraction, task.evidence, settings.evidence):
        why = extraction.silence or task.evidence.reason or NO_SENTENCE
        searched = f"{found.intent.search_text} ({search.request.mode}: {why})"
        return (yield from abstain(replace(task, searched=(searched,)), fallback_reason))
    if extraction.more:
        found.ledger.note(
            f"{extraction.more} more of what is listed there are not quoted: open the source for all of them."
        )
    return (yield from write_extraction(task, extraction, fallback_reason))


def write_extraction(task: WriterInput, extraction: Extraction, fallback_reason: str = "") -> AnswerEvents:
    """The picked lines with their markers, then a Verdict for each; an abstention without picks.

    If several things are asked for, each line is an item of a bulleted list.
    """
    bullet = "- " if extraction.listed else ""
    between = f"\n{bullet}" if extraction.listed else " "
    written: list[Sentence] = []
    for pick in extraction.picks:
        text = display_text(pick)
        yield Token(f"{between if written else bullet}{escape_markers(text)}")
        yield Footnote(pick.source.n, pick.source)
        written.append(verify(text, (pick.source.n,), task.context.sources, task.judge))
    if not written:
        return (yield from abstain(task, fallback_reason))
    yield from (Verdict(index, sentence) for index, sentence in enumerate(written))
    return Answer(
        question=task.intent.question,
        answered=True,
        confidence=confidence(task.evidence, written, task.intent.terms, quoted=True, sure=extraction.sure),
        mode="extractive",
        model="",
        answer=bullet + join_sentences(written, between),
        sentences=tuple(written),
        sources=task.context.sources,
        fallback_reason=fallback_reason,
    )


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
