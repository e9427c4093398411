"""How much of what answers is in the nodes that are found, and how much besides, by the way that nodes are cut."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from llama_index.core.schema import BaseNode, TextNode

from config.settings import Settings
from pipelines.errors import RetrievalError, SourceError
from pipelines.evaluation.baselines import Span
from pipelines.evaluation.cutters import cutters, index_cut, load_corpora, vector_cache
from pipelines.evaluation.datasets import SpanTopic, load_span_topics
from pipelines.evaluation.judged import Progress, no_progress
from pipelines.evaluation.remember import QueryCache, remembering
from pipelines.evaluation.systems import Changes
from pipelines.models.embed import build_embed_model
from pipelines.models.identity import identity
from pipelines.query.engine import Engine
from pipelines.query.parts import changed
from pipelines.text import canonical
from pipelines.types import Document

MEASURES = ("recall", "precision", "IoU")


@dataclass(frozen=True, slots=True)
class Cutting:
    """What came of one way to cut.

    Attributes:
        nodes: How many there are.
        characters: Of a node, on average; its header does not count.
        tokens: Of a node, on average, cl100k.
        omega: By topic, the precision (0..1) if every node that holds some of the answer were found, and no other.
        scores: By system, by topic, each measure (0..1).
    """

    name: str
    nodes: int
    characters: float
    tokens: float
    omega: dict[str, float]
    scores: dict[str, dict[str, dict[str, float]]]


def span_measures(found: Sequence[Span], gold: Sequence[Span], elsewhere: int = 0) -> dict[str, float]:
    """Token recall, precision and IoU (0..1) of the found spans against the gold spans, counted in characters.

    Characters stand for tokens, as in the code behind the published figures. One that two found spans share was read
    twice and counts twice in what was found.

    Args:
        found: Spans of the gold spans' corpus.
        gold: Spans that answer; not empty.
        elsewhere: Characters of what was found in other corpora.

    Source: Smith, Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma 2024.
    """
    held = {place for start, end in found for place in range(start, end)}
    hit = len(held & {place for start, end in gold for place in range(start, end)})
    read = sum(end - start for start, end in found) + elsewhere
    missed = sum(place not in held for start, end in gold for place in range(start, end))
    return {
        "recall": hit / sum(end - start for start, end in gold),
        "precision": hit / read if read else 0.0,
        "IoU": hit / (read + missed),
    }


def precision_omega(spans: Sequence[Span], gold: Sequence[Span]) -> float:
    """The share (0..1) of the gold in the spans that hold any of it, each character once: what no ranking can exceed.

    Gold that no span holds counts as found for nothing.

    Args:
        spans: All that the gold spans' corpus is cut into.
        gold: Spans that answer; not empty.

    Source: Smith, Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma 2024.
    """
    wanted = {place for start, end in gold for place in range(start, end)}
    holding = [span for span in spans if any(span[0] < end and start < span[1] for start, end in gold)]
    held = {place for start, end in holding for place in range(start, end)}
    return len(wanted & held) / len(wanted | held)


def locate(text: str, span: tuple[int, int, str]) -> Span:
    """Where a gold span stands in the stored text, which may have lost characters: where it says, else the nearest.

    Raises:
        SourceError: If its words are not there.
    """
    start, end, content = span
    if text[start:end] == content:
        return start, end
    wanted = canonical(content)
    places = []
    place = text.find(wanted)
    while place >= 0:
        places.append(place)
        place = text.find(wanted, place + 1)
    if not wanted or not places:
        raise SourceError(f"The gold span {content[:60]!r} does not stand in its corpus.")
    nearest = min(places, key=lambda at: abs(at - start))
    return nearest, nearest + len(wanted)


def measure_chunking(
    settings: Settings,
    folder: Path,
    systems: Mapping[str, Changes],
    *,
    parsers: Sequence[str] = (),
    n: int = 5,
    limit: int | None = None,
    on_progress: Progress = no_progress,
) -> list[Cutting]:
    """Cut the corpora of a folder in each way, find n nodes for each question, and measure their spans.

    Each way to cut has a database of its own, and all share one cache of vectors.

    Args:
        settings: Of the user's database, which stays as it is.
        folder: `corpora/*` and `questions_df.csv`.
        systems: Settings of a query by dotted name, by the system's name.
        parsers: Which of ours; none = all. The baselines are always measured.
        n: How many nodes are found for a question.
        limit: Only the first so many questions.
        on_progress: Told (what, how much is done, of how much).

    Raises:
        SourceError: If the folder is no chunk set.
        ConfigError: If a system or a parser does not exist.
    """
    topics = load_span_topics(folder / "questions_df.csv")[:limit]
    wanted = list(cutters(settings, parsers))
    for changes in systems.values():
        changed(settings, changes)
    documents = load_corpora(folder / "corpora")
    gold = {topic.id: _gold(topic, documents) for topic in topics}
    name = f"chunking_{_digest(documents)}"
    vectors = vector_cache(settings, name)
    questions = QueryCache.over(build_embed_model(settings), identity(settings), vectors)
    questions.recall(topic.question for topic in topics)
    done: list[Cutting] = []
    for number, cutter in enumerate(wanted):
        on_progress("cutting and embedding", number, len(wanted))
        own = f"{name}_{re.sub('[^a-z0-9]+', '_', cutter.name)}"
        engine, nodes = index_cut(settings, own, list(documents.values()), cutter, vectors)
        engine = remembering(engine, keep=False).with_parts(embed_model=questions)
        done.append(
            Cutting(
                name=cutter.name,
                nodes=len(nodes),
                characters=sum(len(node.text) for node in nodes) / max(1, len(nodes)),
                tokens=sum(node.metadata["token_count"] for node in nodes) / max(1, len(nodes)),
                omega={topic.id: _omega(nodes, documents[topic.corpus], gold[topic.id]) for topic in topics},
                scores={
                    system: _scores(engine.with_changes(changes), topics, documents, gold, n)
                    for system, changes in systems.items()
                },
            )
        )
    on_progress("cutting and embedding", len(wanted), len(wanted))
    questions.save()
    return done


def _digest(documents: Mapping[str, Document]) -> str:
    whole = hashlib.sha256()
    for stem, document in documents.items():
        whole.update(f"{stem} {document.file_sha} ".encode())
    return whole.hexdigest()[:12]


def _gold(topic: SpanTopic, documents: Mapping[str, Document]) -> list[Span]:
    if topic.corpus not in documents:
        raise SourceError(f"Question {topic.id} is about {topic.corpus}, which is not among the corpora.")
    return [locate(documents[topic.corpus].text, span) for span in topic.spans]


def _omega(nodes: Sequence[TextNode], document: Document, gold: Sequence[Span]) -> float:
    return precision_omega([_span(node) for node in nodes if node.metadata["document_id"] == document.id], gold)


def _span(node: BaseNode) -> Span:
    return node.metadata["start"], node.metadata["end"]


def _scores(
    engine: Engine,
    topics: Sequence[SpanTopic],
    documents: Mapping[str, Document],
    gold: Mapping[str, Sequence[Span]],
    n: int,
) -> dict[str, dict[str, float]]:
    """By topic, the measures of what the engine finds."""
    return {topic.id: _score(engine, topic, documents[topic.corpus].id, gold[topic.id], n) for topic in topics}


def _score(engine: Engine, topic: SpanTopic, document_id: str, gold: Sequence[Span], n: int) -> dict[str, float]:
    try:
        limit = engine.settings.analysis.max_question_characters
        found = [hit.node for hit in engine.examine(topic.question[:limit], top_n=n).ranking]
    except RetrievalError:
        found = []  # a question that cannot be searched finds nothing
    here = [_span(node) for node in found if node.metadata["document_id"] == document_id]
    elsewhere = sum(end - start for start, end in map(_span, found)) - sum(end - start for start, end in here)
    return span_measures(here, gold, elsewhere)
