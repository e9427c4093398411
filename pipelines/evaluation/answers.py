"""Topics with quoted answers: success of the search, facts, precision and length of the answer, abstention."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, get_args

from pipelines.answers import Answer
from pipelines.errors import SourceError
from pipelines.evaluation.corpus import Progress, no_progress
from pipelines.evaluation.datasets import Quote, Topic
from pipelines.evaluation.experiment import Changes, compare_systems
from pipelines.evaluation.measures import Comparison
from pipelines.query.engine import QueryEngine
from pipelines.query.layout import blocks_of
from pipelines.store import documents as document_rows
from pipelines.store.database import reading
from pipelines.store.query_log import fingerprint
from pipelines.structure import sentences
from pipelines.text import Span, fold
from pipelines.types import Band, SearchResult, Turn

FOUND = ("success@1", "success@5", "document@5")
COMPARED = (*FOUND, "answered", "facts")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """By system, the measures on topics with quoted answers: `summary`, also by kind of question, and how each measure
    differs from the baseline on the answerable topics; by topic what was found and said; and which topics were missed.
    """

    topics: int
    systems: dict[str, dict[str, float]]
    kinds: dict[str, dict[str, dict[str, float]]]
    per_topic: dict[str, dict[str, Row]]
    misses: dict[str, list[dict[str, Any]]]
    comparisons: dict[str, dict[str, Comparison]]
    fingerprint: str


def evaluate_answers(
    engine: QueryEngine,
    topics: Sequence[Topic],
    systems: Mapping[str, Changes],
    *,
    baseline: str = "",
    on_progress: Progress = no_progress,
) -> AnswerReport:
    """Search and ask every topic with every system; nothing enters the query log.

    A SourceError if no quoted document is in the database, a ConfigError if a setting of a system does not exist.
    """
    wanted = {quote.document for topic in topics for quote in topic.quotes}
    if wanted and not wanted & stored_names(engine):
        raise SourceError(
            f"None of the {len(wanted)} quoted documents is there: {', '.join(sorted(wanted)[:3])}.",
            hint="Name the folder that holds them with --documents.",
        )
    rows: dict[str, list[Row]] = {name: [] for name in systems}
    for name, changes in systems.items():
        changed = engine.with_changes(changes)
        for topic in topics:
            rows[name].append(judge_topic(changed, topic))
            on_progress(name, len(rows[name]), len(topics))
    scores = {
        name: {row["id"]: {each: float(row[each]) for each in COMPARED} for row in judged if row["answerable"]}
        for name, judged in rows.items()
    }
    return AnswerReport(
        topics=len(topics),
        systems={name: summary(judged) for name, judged in rows.items()},
        kinds={name: summary_by_kind(judged) for name, judged in rows.items()},
        per_topic={name: {row["id"]: row for row in judged} for name, judged in rows.items()},
        misses={name: misses(judged) for name, judged in rows.items()},
        comparisons=compare_systems([scores], baseline, COMPARED),
        fingerprint=fingerprint({"settings": engine.fingerprint, "systems": dict(systems)}),
    )


def stored_names(engine: QueryEngine) -> set[str]:
    """The names of the documents that are stored."""
    with reading(engine.database.engine, "reading what is stored") as connection:
        return {document.name for document in document_rows.stored_documents(connection, engine.store.table)}


def turns_before(engine: QueryEngine, topic: Topic) -> tuple[Turn, ...]:
    """The questions that were asked before a topic's, oldest first, with the answers that they get."""
    turns: tuple[Turn, ...] = ()
    for earlier in topic.history:
        turns = (*turns, Turn(earlier, engine.ask(earlier, history=turns, record=False).answer))
    return turns


def judge_topic(engine: QueryEngine, topic: Topic) -> Row:
    """Judge the results and the answer for a topic; what was found, facts and precision if it is answerable."""
    turns = turns_before(engine, topic)
    answer = engine.ask(topic.question, history=turns, record=False)
    names = {source.document_id: source.documentName for source in answer.sources}
    cited = [
        [{"document": names[each.document_id], "start": each.start, "end": each.end} for each in sentence.evidence]
        for sentence in answer.sentences
    ]
    row = {
        "id": topic.id, "question": topic.question, "kind": topic.kind, "answerable": topic.answerable,
        "answered": answer.answered, "confidence": answer.confidence, "words": answer_length(answer),
        "answer": answer.answer, "citations": cited,
    }  # fmt: skip
    if not topic.answerable:
        return row
    results = engine.search(topic.question, top_n=5, record=False).results
    precision = answer_precision(answer, quoted_places(engine, topic, answer)) if answer.answered else None
    return row | found_measures(topic, results) | {"facts": has_facts(topic, answer), "precision": precision}


def summary(rows: Sequence[Row]) -> dict[str, float]:
    """The measures over all topics, shares 0..1 unless said otherwise; 0 where nothing counts.

    FOUND: see `found_measures`. answered: of the answerable topics. facts: the answer contains every fact.
    abstention: precision (of the topics that got no answer, those that have none), recall (of the topics that have
    none, those that got none), F1. right_high, right_medium, right_low: of the answers of that confidence (n_high,
    n_medium, n_low in number), those that contain every fact. precision: `answer_precision`, mean over the answerable
    topics that were answered. words: `answer_length`, median over the answers.
    """
    answerable = [row for row in rows if row["answerable"]]
    answers = [row for row in rows if row["answered"]]
    silent, unanswerable = len(rows) - len(answers), len(rows) - len(answerable)
    right = sum(not (row["answered"] or row["answerable"]) for row in rows)
    banded = {band: [row for row in answers if row["confidence"] == band] for band in get_args(Band)}
    return {
        **{name: _mean([float(row[name]) for row in answerable]) for name in COMPARED},
        "abstention_precision": right / max(silent, 1),
        "abstention_recall": right / max(unanswerable, 1),
        "abstention_F1": 2 * right / max(silent + unanswerable, 1),
        **{f"right_{band}": _mean([bool(row.get("facts")) for row in own]) for band, own in banded.items()},
        **{f"n_{band}": len(own) for band, own in banded.items()},
        "precision": _mean([row["precision"] for row in answers if row["answerable"]]),
        "words": float(median([row["words"] for row in answers] or [0])),
    }


def summary_by_kind(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """By kind of question, the most frequent first: how many are answerable and unanswerable, and `summary`."""
    summaries = {}
    for kind, count in Counter(sorted(str(row["kind"]) for row in rows)).most_common():
        of_kind = [row for row in rows if row["kind"] == kind]
        answerable = sum(row["answerable"] for row in of_kind)
        summaries[kind] = {"answerable": answerable, "unanswerable": count - answerable, **summary(of_kind)}
    return summaries


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def misses(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The topics that went wrong: `id`, `question` and `why` (document@5, success@5, answered, facts)."""
    wrong = []
    for row in rows:
        why = [name for name in ("document@5", "success@5") if row["answerable"] and not row[name]]
        why += ["answered"] * (row["answered"] != row["answerable"])
        why += ["facts"] * (row["answered"] and row["answerable"] and not row["facts"])
        wrong += [{"id": row["id"], "question": row["question"], "why": why}] if why else []
    return wrong


def found_measures(topic: Topic, results: Sequence[SearchResult]) -> dict[str, bool]:
    """success@k: one of the first k results overlaps a quote, in any document that answers. document@5: a quoted
    document is among the first five."""
    documents = {quote.document for quote in topic.quotes} & {result.document_name for result in results[:5]}
    found = (right_quote(topic, results[:1]), right_quote(topic, results[:5]), bool(documents))
    return dict(zip(FOUND, found, strict=True))


def overlaps(quote: Quote, result: SearchResult) -> bool:
    """True if a result from the quote's document holds the quote, or at least half of it from an edge."""
    wanted, held = fold(quote.text), fold(result.text)
    half = len(wanted) // 2
    edges = wanted[:half].strip(), wanted[half:].strip()
    return result.document_name == quote.document and any(edge in held for edge in edges)


def right_quote(topic: Topic, results: Sequence[SearchResult]) -> bool:
    """True if a result overlaps a quote. No node is named, so that the judgement survives another cutting."""
    return any(overlaps(quote, result) for quote in topic.quotes for result in results)


def has_facts(topic: Topic, answer: Answer) -> bool:
    """True if the question was answered and the answer contains every fact."""
    said = fold(" ".join(sentence.text for sentence in answer.sentences))
    return answer.answered and all(fold(fact) in said for fact in topic.facts)


def answer_precision(answer: Answer, places: Mapping[str, Sequence[Span]]) -> float:
    """Share of an answer's sentences of which a citation overlaps a place, by document id, of `quoted_places`.

    A sentence (prose, list item, line of code or table row) that cites nothing lies nowhere; text beside the answer (a
    conflict, the searches, a note) does not count; 0 for an answer without sentences.
    """
    hits = [
        any(
            cited.start < end and start < cited.end
            for cited in sentence.evidence
            for start, end in places.get(cited.document_id, ())
        )
        for sentence in answer.sentences
    ]
    return _mean(hits)


def quoted_places(engine: QueryEngine, topic: Topic, answer: Answer) -> dict[str, list[Span]]:
    """By id of a document that the topic quotes and the answer cites, where its quotes stand: see `places_of`.

    A quote counts in every document that the topic names for it, as for success@k, and in no other: in a document about
    something else the same words (of a licence, of a command) answer another question.
    """
    places: dict[str, list[Span]] = {}
    with reading(engine.database.engine, "reading the quoted documents") as connection:
        for document_id, name in {source.document_id: source.documentName for source in answer.sources}.items():
            if quotes := [quote.text for quote in topic.quotes if quote.document == name]:
                document = document_rows.load_document(connection, document_id, "owner")
                text = document.text if document else ""
                places[document_id] = [place for quote in quotes for place in places_of(quote, text)]
    return places


def places_of(quote: str, text: str) -> list[Span]:
    """Where a quote stands in a document's text, each place widened by the sentence before and the one after.

    A list item, a line of code, a table row and a heading is a sentence of its own. Runs of space and capitals are
    folded; a quote that stands nowhere as a whole stands where one of its halves does, as for success@k.
    """
    half = len(quote) // 2
    standing = _standing(quote, text) or [*_standing(quote[:half], text), *_standing(quote[half:], text)]
    units = sentences(text) if standing else []
    places = []
    for start, end in standing:
        touched = [at for at, (begin, until) in enumerate(units) if begin < end and start < until]
        around = [(start, end), *(units[max(touched[0] - 1, 0) : touched[-1] + 2] if touched else ())]
        places.append((min(begin for begin, _ in around), max(until for _, until in around)))
    return places


def _standing(words: str, text: str) -> list[Span]:
    """Where these words stand in a text, whatever the space between them and their capitals."""
    pattern = r"\s+".join(map(re.escape, words.split()))
    return [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)] if pattern else []


def answer_length(answer: Answer) -> int:
    """The words of an answer outside lists and code, without markers; 0 for an abstention."""
    texts = [sentence.text for sentence in answer.sentences]
    words = 0
    for block in blocks_of(answer.answer, texts):
        words += len(block.text.split())  # of a heading
        if block.kind in ("paragraph", "table"):
            words += sum(len(texts[at].split()) for line in block.lines for at in line)
    return words
