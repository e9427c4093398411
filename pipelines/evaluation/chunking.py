"""Compare chunking strategies, our parsers and published baselines, by the gold spans in the retrieved nodes."""

import hashlib
import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path

import sqlalchemy
from llama_index.core.schema import BaseNode, TextNode

from config.settings import Settings
from pipelines.errors import ConfigError, RetrievalError, SourceError
from pipelines.evaluation.corpus import QueryCache, evaluation_database, with_caches
from pipelines.evaluation.datasets import SpanTopic, load_span_topics
from pipelines.evaluation.experiment import Changes, Progress, no_progress
from pipelines.ingestion.change_detection import content_sha, meta_sha
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders import SUFFIXES, load
from pipelines.ingestion.parsers import PARSERS, parse
from pipelines.ingestion.parsers.nodes import EmbedTexts, make_nodes
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.window import WindowParser
from pipelines.ingestion.pipeline import CachedEmbedder, TextEmbedder
from pipelines.ingestion.run import build_ingestion
from pipelines.models.embedding import build_embed_model
from pipelines.models.identity import identity
from pipelines.query.ablation import change_settings
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.database import open_database
from pipelines.store.node_writer import NodeRecipe, Replacement
from pipelines.text import SEARCHABLE_VERSION, canonical, count_tokens
from pipelines.types import MAX_QUESTION_CHARACTERS, Document, SourceItem

Span = tuple[int, int]
Measure = Callable[[Span], int]
_SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")


def recursive(text: str, *, tokens: int, overlap: int) -> list[Span]:
    """Spans of about `tokens`, cut at blank lines, else newlines, else full stops, question marks and so on to letters.

    Args:
        text: What is cut.
        tokens: The most that the parts of a span sum up to.
        overlap: The most that a span repeats of the one before, in whole parts.

    Source: LangChain's recursive splitter with the separators of Smith, Troynikov, "Evaluating Chunking Strategies for
    Retrieval", Chroma 2024; a separator stays with what follows it.
    """
    counted = lru_cache(maxsize=None)(count_tokens)
    found = _recurse(text, (0, len(text)), _SEPARATORS, lambda span: counted(text[slice(*span)]), (tokens, overlap))
    spans = [(start + len(part) - len(part.lstrip()), start + len(part.rstrip())) for start, part in
             ((start, text[start:end]) for start, end in found)]  # fmt: skip
    return [(start, end) for start, end in spans if start < end]


def fixed(text: str, *, tokens: int, overlap: int) -> list[Span]:
    """Windows of `tokens` that share `overlap`, each from word to word."""
    return [(piece.start, piece.end) for piece in WindowParser(tokens=tokens, overlap=overlap).pieces(text, ())]


BASELINES: Mapping[str, Callable[[str], list[Span]]] = {
    "recursive 250/125": partial(recursive, tokens=250, overlap=125),
    "recursive 200/0": partial(recursive, tokens=200, overlap=0),
    "token 250/125": partial(fixed, tokens=250, overlap=125),
}


def _recurse(text: str, span: Span, separators: Sequence[str], measure: Measure, sizes: tuple[int, int]) -> list[Span]:
    stretch = text[slice(*span)]
    level = next((at for at, separator in enumerate(separators) if separator in stretch), len(separators) - 1)
    finer = separators[level + 1 :]
    spans: list[Span] = []
    small: list[Span] = []
    for part in _split(text, span, separators[level]):
        if measure(part) < sizes[0]:
            small.append(part)
            continue
        spans.extend(_merged(small, measure, *sizes))
        small = []
        spans.extend(_recurse(text, part, finer, measure, sizes) if finer else [part])
    return [*spans, *_merged(small, measure, *sizes)]


def _split(text: str, span: Span, separator: str) -> list[Span]:
    """The parts of the stretch, each but the first beginning with the separator; its characters for none."""
    start, end = span
    if not separator:
        return [(at, at + 1) for at in range(start, end)]
    inside = [match.start() for match in re.compile(re.escape(separator)).finditer(text, start, end)]
    return list(pairwise(sorted({start, *inside, end})))


def _merged(parts: Sequence[Span], measure: Measure, tokens: int, overlap: int) -> list[Span]:
    spans: list[Span] = []
    held: list[Span] = []
    total = 0
    for part in parts:
        size = measure(part)
        if held and total + size > tokens:
            spans.append((held[0][0], held[-1][1]))
            while held and (total > overlap or total + size > tokens):
                total -= measure(held.pop(0))
        held.append(part)
        total += size
    return [*spans, (held[0][0], held[-1][1])] if held else spans


@dataclass(frozen=True, slots=True)
class Chunker:
    """A chunking strategy: cuts a document into nodes."""

    name: str
    cut: Callable[[Document, EmbedTexts], list[TextNode]]


def build_chunkers(settings: Settings, parsers: Sequence[str] = ()) -> Iterator[Chunker]:
    """The parsers of these names (none = all) as the settings size them, with their headers, then the baselines.

    A baseline's nodes have no header: its figures are published so.

    Raises:
        ConfigError: If there is no such parser.
    """
    for name in parsers or sorted(PARSERS):
        if name not in PARSERS:
            raise ConfigError(f"There is no parser called {name!r}.", hint=f"Parsers: {', '.join(sorted(PARSERS))}.")
        yield Chunker(name, partial(_parsed, name=name, sizes=settings.parsing))
    for name, spans in BASELINES.items():
        yield Chunker(name, partial(_baseline, name=name, spans=spans))


def _parsed(document: Document, embed: EmbedTexts, *, name: str, sizes: object) -> list[TextNode]:
    return parse(document, name, sizes, embed)


def _baseline(document: Document, _: EmbedTexts, *, name: str, spans: Callable[[str], list[Span]]) -> list[TextNode]:
    return make_nodes(document, [Piece(*span) for span in spans(document.text)], name, 1)


@dataclass(frozen=True, slots=True)
class ChunkSet:
    """Questions with the spans that answer them, and the documents of these spans by their stem."""

    topics: Sequence[SpanTopic]
    documents: Mapping[str, Document]


def load_chunk_set(folder: Path, limit: int | None = None) -> ChunkSet:
    """The corpora and the first `limit` questions (None = all) of a folder with `corpora/*` and `questions_df.csv`.

    Raises:
        SourceError: If the folder is not a chunk set.
    """
    topics = load_span_topics(folder / "questions_df.csv")[:limit]
    return ChunkSet(topics, load_corpora(folder / "corpora"))


def load_corpora(folder: Path) -> dict[str, Document]:
    """The documents of a folder by the stem of their file, classified, as ingestion would store them.

    Raises:
        SourceError: If the folder holds none, or two that share a stem.
        LoadError: If one cannot be read.
    """
    found: dict[str, Document] = {}
    for path in sorted(path for path in folder.glob("*") if path.suffix in SUFFIXES):
        if path.stem in found:
            raise SourceError(f"{folder} holds two corpora called {path.stem}.", hint="Remove one.")
        item = SourceItem(path.resolve().as_uri(), path.name, folder.resolve().as_uri(), "file")
        document = classify(load(path.read_bytes(), item))
        found[path.stem] = document.with_(id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"eval|{path.stem}")))
    if not found:
        raise SourceError(f"{folder} holds no document.", hint="Name a folder with corpora/ and questions_df.csv.")
    return found


def vector_cache(settings: Settings, name: str) -> sqlalchemy.Engine:
    """A database that keeps vectors of texts and questions for every way to cut; see `own_database`."""
    return open_database(evaluation_database(settings, name)).engine


def index_chunks(
    settings: Settings, name: str, documents: Sequence[Document], cutter: Chunker, cache: sqlalchemy.Engine
) -> tuple[QueryEngine, list[TextNode]]:
    """An engine over these documents as the cutter cuts them, and the nodes.

    They are in a database of their own, where unchanged documents are kept.
    """
    own = evaluation_database(settings, name)
    ingestion = build_ingestion(own)
    embedder = CachedEmbedder(ingestion.embed_model, cache, ingestion.identity)
    known = {held.id: (held.indexed_sha, held.recipe) for held in ingestion.known()}
    made: list[TextNode] = []
    for loaded in documents:
        document = loaded.with_(content_sha=content_sha(loaded, cutter.name), meta_sha=meta_sha(loaded))
        nodes = cutter.cut(document, TextEmbedder(embedder))
        made.extend(nodes)
        made_by = _recipe(nodes)
        if known.get(document.id) != (document.content_sha, made_by):
            vectors, _ = embedder(nodes)
            ingestion.store.replace([Replacement(document, nodes, vectors, NodeRecipe(cutter.name, made_by))])
    ingestion.indexes.refresh("owner")
    return build_query_engine(own), made


def _recipe(nodes: Sequence[TextNode]) -> str:
    """A digest of the nodes, so that they are made again when the code that cuts changes."""
    facts = [(node.metadata["start"], node.metadata["end"], node.metadata["header"]) for node in nodes]
    return f"{hashlib.sha256(json.dumps(facts).encode()).hexdigest()} searchable@{SEARCHABLE_VERSION}"


MEASURES = ("recall", "precision", "IoU")


@dataclass(frozen=True, slots=True)
class ChunkingResult:
    """The nodes and the measures of one chunking strategy.

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
    """The place of a gold span in the stored text, which may have lost characters: as stated, else the nearest.

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
    chunk_set: ChunkSet,
    systems: Mapping[str, Changes],
    *,
    parsers: Sequence[str] = (),
    n: int = 5,
    on_progress: Progress = no_progress,
) -> list[ChunkingResult]:
    """Cut the corpora of a folder in each way, find n nodes for each question, and measure their spans.

    Each parser has its own database; all share one cache of vectors.

    Args:
        settings: Of the user's database, which stays as it is.
        chunk_set: The questions, and the documents that are cut.
        systems: Settings of a query by dotted name, by the system's name.
        parsers: Which of ours; none = all. The baselines are always measured.
        n: How many nodes are found for a question.
        on_progress: Told (what, how much is done, of how much).

    Raises:
        SourceError: If a gold span does not stand in its corpus.
        ConfigError: If a system or a parser does not exist.
    """
    topics, documents = chunk_set.topics, chunk_set.documents
    wanted = list(build_chunkers(settings, parsers))
    for changes in systems.values():
        change_settings(settings, changes)
    gold = {topic.id: _gold(topic, documents) for topic in topics}
    name = f"chunking_{_digest(documents)}"
    vectors = vector_cache(settings, name)
    questions = QueryCache.over(build_embed_model(settings), identity(settings), vectors)
    questions.recall(topic.question for topic in topics)
    done: list[ChunkingResult] = []
    for number, cutter in enumerate(wanted):
        on_progress("cutting and embedding", number, len(wanted))
        own = f"{name}_{re.sub('[^a-z0-9]+', '_', cutter.name)}"
        engine, nodes = index_chunks(settings, own, list(documents.values()), cutter, vectors)
        engine = with_caches(engine, keep=False).with_parts(embed_model=questions)
        done.append(
            ChunkingResult(
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
    engine: QueryEngine,
    topics: Sequence[SpanTopic],
    documents: Mapping[str, Document],
    gold: Mapping[str, Sequence[Span]],
    n: int,
) -> dict[str, dict[str, float]]:
    """By topic, the measures of what the engine finds."""
    return {topic.id: _score(engine, topic, documents[topic.corpus].id, gold[topic.id], n) for topic in topics}


def _score(engine: QueryEngine, topic: SpanTopic, document_id: str, gold: Sequence[Span], n: int) -> dict[str, float]:
    try:
        found = [hit.node for hit in engine.examine(topic.question[:MAX_QUESTION_CHARACTERS], top_n=n).ranking]
    except RetrievalError:
        found = []  # a question that cannot be searched finds nothing
    here = [_span(node) for node in found if node.metadata["document_id"] == document_id]
    elsewhere = sum(end - start for start, end in map(_span, found)) - sum(end - start for start, end in here)
    return span_measures(here, gold, elsewhere)
