"""How much of what answers is in the nodes that are found, and how much besides: recall, precision and IoU of spans."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from config.settings import Settings
from pipelines.errors import RetrievalError, SourceError
from pipelines.evaluation.corpus import ingest_folder
from pipelines.evaluation.datasets import SpanTopic, load_span_topics
from pipelines.evaluation.judged import Progress, no_progress
from pipelines.evaluation.remember import remembering
from pipelines.evaluation.systems import Changes
from pipelines.query.engine import Engine
from pipelines.store import documents as document_rows
from pipelines.text import canonical

MEASURES = ("recall", "precision", "IoU")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Chunked:
    """What came of systems on a chunk set: how it was cut, and by system, by topic, each measure (0..1)."""

    parsers: tuple[str, ...]
    nodes: int
    mean_characters: float
    scores: dict[str, dict[str, dict[str, float]]]


def span_measures(found: Sequence[Span], gold: Sequence[Span], elsewhere: int = 0) -> dict[str, float]:
    """Recall, precision and IoU (0..1) of the characters of the found spans against those of the gold spans.

    A character that two found spans share was read twice and counts twice in what was found.

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
    parser: str = "",
    n: int = 5,
    limit: int | None = None,
    on_progress: Progress = no_progress,
) -> Chunked:
    """Ingest the corpora of a folder in a database of its own, find n nodes for each question, and measure their spans.

    Args:
        settings: Of the user's database, which stays as it is.
        folder: `corpora/*` and `questions_df.csv`.
        systems: Settings of a query by dotted name, by the system's name.
        parser: How all corpora are cut; empty = as ingestion would choose.
        n: How many nodes are found for a question.
        limit: Only the first so many questions.
        on_progress: Told (what, how much is done, of how much).

    Raises:
        SourceError: If the folder is no chunk set.
        ConfigError: If a system or the parser does not exist.
    """
    topics = load_span_topics(folder / "questions_df.csv")[:limit]
    engine = _engine(settings, folder / "corpora", parser, on_progress)
    with engine.database.engine.connect() as connection:
        known = document_rows.known(connection, engine.store.table)
        ids = {Path(document.name).stem: document.id for document in known}
        held = {stem: document_rows.load(connection, document_id, "owner") for stem, document_id in ids.items()}
    texts = {stem: document.text for stem, document in held.items() if document}
    gold = {topic.id: _gold(topic, texts) for topic in topics}
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for name, changes in systems.items():
        tuned = engine.with_changes(changes)
        scores[name] = {}
        for done, topic in enumerate(topics, start=1):
            scores[name][topic.id] = _score(tuned, topic, gold[topic.id], ids[topic.corpus], n)
            on_progress(name, done, len(topics))
    nodes = sum(document.nodes for document in known)
    return Chunked(
        parsers=tuple(sorted({document.parser for document in known})),
        nodes=nodes,
        mean_characters=sum(map(len, texts.values())) / max(1, nodes),
        scores=scores,
    )


def _engine(settings: Settings, corpora: Path, parser: str, on_progress: Progress) -> Engine:
    digest = hashlib.sha256()
    for path in sorted(corpora.glob("*")):
        digest.update(path.read_bytes())
    name = f"chunking_{digest.hexdigest()[:12]}_{parser or 'auto'}"
    return remembering(ingest_folder(settings, name, corpora, parser=parser, on_progress=on_progress), keep=True)


def _gold(topic: SpanTopic, texts: Mapping[str, str]) -> list[Span]:
    if topic.corpus not in texts:
        raise SourceError(f"Question {topic.id} is about {topic.corpus}, which is not among the corpora.")
    return [locate(texts[topic.corpus], span) for span in topic.spans]


def _score(engine: Engine, topic: SpanTopic, gold: Sequence[Span], document_id: str, n: int) -> dict[str, float]:
    try:
        limit = engine.settings.analysis.max_question_characters
        found = [hit.node.metadata for hit in engine.examine(topic.question[:limit], top_n=n).ranking]
    except RetrievalError:
        found = []  # a question that cannot be searched finds nothing
    here = [(meta["start"], meta["end"]) for meta in found if meta["document_id"] == document_id]
    elsewhere = sum(meta["end"] - meta["start"] for meta in found if meta["document_id"] != document_id)
    return span_measures(here, gold, elsewhere)
