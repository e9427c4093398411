"""Topics with quoted answers: success of the search, facts, precision and length of the answer, abstention."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import numpy as np

from pipelines.answers import Answer
from pipelines.errors import SourceError
from pipelines.evaluation.corpus import Progress, no_progress
from pipelines.evaluation.datasets import Quote, Topic
from pipelines.evaluation.experiment import Changes, compare_systems
from pipelines.evaluation.measures import Comparison, means, per_topic
from pipelines.query.engine import QueryEngine
from pipelines.query.layout import blocks_of
from pipelines.store import documents as document_rows
from pipelines.store.database import reading
from pipelines.store.query_log import fingerprint
from pipelines.structure import sentences
from pipelines.text import Span, fold
from pipelines.types import Band, SearchResult

RANKED = ("success@1", "success@5", "RR@10", "nDCG@10")
COMPARED = (*RANKED, "document@5", "answered", "facts")
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

    Raises:
        SourceError: If no quoted document is in the database.
        ConfigError: If a setting of a system does not exist.
    """
    wanted = {quote.document for topic in topics for quote in topic.quotes}
    with reading(engine.database.engine, "reading what is stored") as connection:
        held = {document.name for document in document_rows.stored_documents(connection, engine.store.table)}
    if wanted and not wanted & held:
        raise SourceError(
            f"None of the {len(wanted)} quoted documents is there: {', '.join(sorted(wanted)[:3])}.",
            hint="Name the folder that holds them with --documents.",
        )
    rows: dict[str, dict[str, Row]] = {name: {} for name in systems}
    for name, changes in systems.items():
        changed = engine.with_changes(changes)
        for done, topic in enumerate(topics, start=1):
            rows[name][topic.id] = judge_topic(changed, topic)
            on_progress(name, done, len(topics))
    listed = {name: list(by_topic.values()) for name, by_topic in rows.items()}
    return AnswerReport(
        topics=len(topics),
        systems={name: summary(judged) for name, judged in listed.items()},
        kinds={name: summary_by_kind(judged) for name, judged in listed.items()},
        per_topic=rows,
        misses={name: misses(judged) for name, judged in listed.items()},
        comparisons=compare_systems([{name: _measures(judged) for name, judged in listed.items()}], baseline, COMPARED),
        fingerprint=fingerprint({"settings": engine.fingerprint, "systems": dict(systems)}),
    )


def _measures(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """By answerable topic, the measures that systems are compared by."""
    return {row["id"]: {name: float(row[name]) for name in COMPARED} for row in rows if row["answerable"]}


def judge_topic(engine: QueryEngine, topic: Topic) -> Row:
    """Judge the results and the answer for a topic; ranked measures, facts and precision if it is answerable."""
    answer = engine.ask(topic.question, record=False)
    cited = cited_spans(answer)
    words, all_words = answer_length(answer)
    row = {
        "id": topic.id, "question": topic.question, "kind": topic.kind, "answerable": topic.answerable,
        "answered": answer.answered, "confidence": answer.confidence, "words": words, "all_words": all_words,
        "answer": answer.answer, "citations": [[span._asdict() for span in spans] for spans in cited],
    }  # fmt: skip
    if not topic.answerable:
        return row
    first = engine.search(topic.question, top_n=5, record=False).results
    more = engine.search(topic.question, top_n=10, record=False).results
    return row | {
        **ranking_measures(topic, first, ("success@1", "success@5")),
        **ranking_measures(topic, more, ("RR@10", "nDCG@10")),
        "document@5": right_document(topic, first),
        "facts": has_facts(topic, answer),
        "precision": answer_precision(cited, quoted_places(engine, topic, answer)) if answer.answered else None,
    }


def summary(rows: Sequence[Row]) -> dict[str, float]:
    """The measures over all topics, shares 0..1 unless said otherwise; 0 where nothing counts.

    success@k: one of the first k results overlaps a quote, in any document that answers. RR@10 and nDCG@10 likewise;
    every quote is one relevant item, however many documents hold it. document@5: a quoted document is among the first
    five. answered: of the answerable topics. facts: the answer contains every fact. abstention: precision (of the
    topics that got no answer, those that have none), recall (of the topics that have none, those that got none), F1.
    right_high, right_medium, right_low: of the answers of that confidence (n_high, n_medium, n_low in number), those
    that contain every fact. precision: `answer_precision`, mean over the answerable topics that were answered.
    words, words_p95: of `answer_length`, median and 95th percentile over the answers; all_words likewise.
    """
    answerable = [row for row in rows if row["answerable"]]
    answers = [row for row in rows if row["answered"]]
    silent = [row for row in rows if not row["answered"]]
    right = sum(not row["answerable"] for row in silent)
    unanswerable = len(rows) - len(answerable)
    banded = {band: [row for row in answers if row["confidence"] == band] for band in get_args(Band)}
    found = means(_measures(rows))
    return {
        **(found or dict.fromkeys(COMPARED, 0.0)),
        "abstention_precision": right / len(silent) if silent else 0.0,
        "abstention_recall": right / unanswerable if unanswerable else 0.0,
        "abstention_F1": 2 * right / (len(silent) + unanswerable) if silent or unanswerable else 0.0,
        **{f"right_{band}": _mean([bool(row.get("facts")) for row in own]) for band, own in banded.items()},
        **{f"n_{band}": len(own) for band, own in banded.items()},
        "precision": _mean([row["precision"] for row in answers if row["answerable"]]),
        **_percentiles(answers, "words"),
        **_percentiles(answers, "all_words"),
    }


def summary_by_kind(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """By kind of question, the most frequent first: how many are answerable and unanswerable, and `summary`."""
    kinds = Counter(row["kind"] for row in sorted(rows, key=lambda row: str(row["kind"])))
    summaries = {}
    for kind, count in kinds.most_common():
        of_kind = [row for row in rows if row["kind"] == kind]
        answerable = sum(row["answerable"] for row in of_kind)
        summaries[kind] = {"answerable": answerable, "unanswerable": count - answerable, **summary(of_kind)}
    return summaries


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _percentiles(answers: Sequence[Row], name: str) -> dict[str, float]:
    lengths = [row[name] for row in answers] or [0]
    return {name: float(np.median(lengths)), f"{name}_p95": float(np.percentile(lengths, 95))}


def misses(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The topics that went wrong: `id`, `question` and `why` (document@5, success@5, answered, facts)."""
    return [{"id": row["id"], "question": row["question"], "why": why} for row in rows if (why := _wrong(row))]


def _wrong(row: Row) -> list[str]:
    wrong = [name for name in ("document@5", "success@5") if row["answerable"] and not row[name]]
    if row["answered"] != row["answerable"]:
        return [*wrong, "answered"]
    return [*wrong, "facts"] if row["answerable"] and not row["facts"] else wrong


def ranking_measures(topic: Topic, results: Sequence[SearchResult], names: Sequence[str] = RANKED) -> dict[str, float]:
    """Measures of a ranking: relevant is what overlaps a quote that nothing before it overlaps.

    A quote that several documents hold is one item, so that a ranking without duplicates loses nothing; a result that
    overlaps several stands for all of them. No node is named, so that the judgement survives another cutting.
    """
    items: dict[str, list[Quote]] = {}
    for quote in topic.quotes:
        items.setdefault(fold(quote.text), []).append(quote)
    order: dict[str, None] = {}
    for result in results:
        new = [item for item, quotes in items.items() if item not in order and any(overlaps(q, result) for q in quotes)]
        order |= dict.fromkeys(new or [result.node_id])
    run = {item: 1.0 / rank for rank, item in enumerate(order, start=1)}
    return per_topic({topic.id: dict.fromkeys(items, 1)}, {topic.id: run}, names)[topic.id]


def overlaps(quote: Quote, result: SearchResult) -> bool:
    """True if a result from the quote's document holds the quote, or at least half of it from an edge."""
    wanted, held = fold(quote.text), fold(result.text)
    half = len(wanted) // 2
    edges = wanted[:half].strip(), wanted[half:].strip()
    return result.document_name == quote.document and any(edge in held for edge in edges)


def right_document(topic: Topic, results: Sequence[SearchResult]) -> bool:
    """True if a quoted document is among the results."""
    return bool({quote.document for quote in topic.quotes} & {result.document_name for result in results})


def right_quote(topic: Topic, results: Sequence[SearchResult]) -> bool:
    """True if a result overlaps a quote."""
    return any(overlaps(quote, result) for quote in topic.quotes for result in results)


def has_facts(topic: Topic, answer: Answer) -> bool:
    """True if the question was answered and the answer contains every fact."""
    said = fold(" ".join(sentence.text for sentence in answer.sentences))
    return answer.answered and all(fold(fact) in said for fact in topic.facts)


class CitedSpan(NamedTuple):
    """A span of a stored document that supports a sentence of an answer."""

    document: str
    start: int
    end: int


def cited_spans(answer: Answer) -> list[list[CitedSpan]]:
    """For each sentence of an answer (prose, list item, line of code or table row), the spans that it cites.

    Text beside the answer (a conflict, the searches, a note) does not count.
    """
    names = {source.document_id: source.documentName for source in answer.sources}
    return [
        [CitedSpan(names[cited.document_id], cited.start, cited.end) for cited in sentence.evidence]
        for sentence in answer.sentences
    ]


def answer_precision(cited: Sequence[Sequence[CitedSpan]], places: Mapping[str, Sequence[Span]]) -> float:
    """Share of an answer's sentences of which a cited span overlaps a place, by document, of `quoted_places`.

    A sentence that cites nothing lies nowhere; 0 for an answer without sentences.
    """
    hits = [
        any(span.start < end and start < span.end for span in spans for start, end in places.get(span.document, ()))
        for spans in cited
    ]
    return _mean(hits)


def quoted_places(engine: QueryEngine, topic: Topic, answer: Answer) -> dict[str, list[Span]]:
    """By document that the topic quotes and the answer cites, where its quotes stand, with what is directly beside.

    A quote counts in every document that the topic names for it, as for success@k, and in no other: in a document about
    something else the same words (of a licence, of a command) answer another question.
    """
    ids = {source.documentName: source.document_id for source in answer.sources}
    texts: dict[str, str] = {}
    with reading(engine.database.engine, "reading the quoted documents") as connection:
        for name in {quote.document for quote in topic.quotes} & ids.keys():
            document = document_rows.load_document(connection, ids[name], "owner")
            texts[name] = document.text if document else ""
    return {
        name: [place for quote in topic.quotes if quote.document == name for place in places_of(quote.text, text)]
        for name, text in texts.items()
    }


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


def answer_length(answer: Answer) -> tuple[int, int]:
    """(words outside lists and code blocks, all words) of an answer, without markers; headings count as well.

    An abstention has length 0: its list of searches is not an answer.
    """
    texts = [sentence.text for sentence in answer.sentences]
    blocks = blocks_of(answer.answer, texts)
    headings = sum(len(block.text.split()) for block in blocks)
    lengths = [(block.kind, sum(len(texts[at].split()) for line in block.lines for at in line)) for block in blocks]
    prose = sum(words for kind, words in lengths if kind in ("paragraph", "table"))
    return headings + prose, headings + sum(words for _, words in lengths)
