"""Compare ways to cut documents, our parsers and published baselines, by the gold spans in the retrieved nodes.

    python -m tests.bench.chunking FOLDER --parser generic --parser sections

FOLDER has corpora/* and questions_df.csv with `question`, `references` (JSON: content, start_index, end_index) and
`corpus_id`. For each parser and baseline the report has the lengths of its nodes, the best precision that any ranking
of them could reach (omega), and by system recall, precision and IoU of the retrieved characters.

Source: Smith, Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma 2024.
"""

import csv
import hashlib
import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from llama_index.core.schema import BaseNode, TextNode

from config.settings import Settings, get_settings
from pipelines.errors import ConfigError, RetrievalError, SourceError
from pipelines.evaluation.corpus import evaluation_database, with_cached_vectors
from pipelines.evaluation.datasets import unreadable
from pipelines.evaluation.experiment import Changes, choose_systems
from pipelines.evaluation.measures import means
from pipelines.ingestion.change_detection import content_sha, meta_sha
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders import SUFFIXES, load
from pipelines.ingestion.parsers import PARSERS, parse
from pipelines.ingestion.parsers.nodes import EmbedTexts, make_nodes
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.window import WindowParser
from pipelines.ingestion.pipeline import CachedEmbedder, TextEmbedder, embedded_text
from pipelines.ingestion.run import build_ingestion
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.database import open_database
from pipelines.store.node_writer import Replacement, replace_documents
from pipelines.text import canonical, count_tokens
from pipelines.types import MAX_QUESTION_CHARACTERS, Document, SourceItem
from tests.bench import arguments, show

Span = tuple[int, int]
Measure = Callable[[Span], int]
Cut = Callable[[Document, EmbedTexts], list[TextNode]]
MEASURES = ("recall", "precision", "IoU")
_SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")
_HINT = "Name a folder with corpora/ and questions_df.csv."


@dataclass(frozen=True, slots=True)
class SpanTopic:
    """A question and the spans of one corpus that answer it: `(start, end, text)`, offsets in characters."""

    id: str
    question: str
    corpus: str
    spans: tuple[tuple[int, int, str], ...]


def load_span_topics(path: Path) -> list[SpanTopic]:
    """The questions of a CSV file.

    Raises:
        SourceError: If the file is missing or a row is broken.
    """
    topics: list[SpanTopic] = []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), start=1):
                spans = [(r["start_index"], r["end_index"], r["content"]) for r in json.loads(row["references"])]
                if not all(0 <= start < end for start, end, _ in spans):
                    raise ValueError("a span that is none")
                topics.append(SpanTopic(str(number), row["question"], row["corpus_id"], tuple(spans)))
    except OSError as error:
        raise unreadable(path, error, _HINT) from error
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise SourceError(f"Question {len(topics) + 1} of {path} cannot be read: {error!r}.") from error
    return topics


def load_corpora(folder: Path) -> dict[str, Document]:
    """The documents of a folder by the stem of their file, classified, as ingestion would store them.

    Raises:
        SourceError: If the folder holds none.
        LoadError: If one cannot be read.
    """
    found: dict[str, Document] = {}
    for path in sorted(path for path in folder.glob("*") if path.suffix in SUFFIXES):
        item = SourceItem(path.resolve().as_uri(), path.name, folder.resolve().as_uri(), "file")
        document = classify(load(path.read_bytes(), item))
        found[path.stem] = document.with_(id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"eval|{path.stem}")))
    if not found:
        raise SourceError(f"{folder} holds no document.", hint=_HINT)
    return found


def recursive(text: str, *, tokens: int, overlap: int) -> list[Span]:
    """Spans of about `tokens`, cut at blank lines, else newlines, else full stops, question marks and so on to letters.

    Args:
        text: What is cut.
        tokens: The most that the parts of a span sum up to.
        overlap: The most that a span repeats of the one before, in whole parts.

    Source: LangChain's recursive splitter with the separators of the published figures; a separator stays with what
    follows it.
    """
    counted = lru_cache(maxsize=None)(count_tokens)
    found = _recurse(text, (0, len(text)), _SEPARATORS, lambda span: counted(text[slice(*span)]), (tokens, overlap))
    trimmed = [(start + len(part) - len(part.lstrip()), start + len(part.rstrip())) for start, part in
               ((start, text[start:end]) for start, end in found)]  # fmt: skip
    return [(start, end) for start, end in trimmed if start < end]


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
    for part in _split(stretch, span[0], separators[level]):
        if measure(part) < sizes[0]:
            small.append(part)
            continue
        spans.extend(_merged(small, measure, *sizes))
        small = []
        spans.extend(_recurse(text, part, finer, measure, sizes) if finer else [part])
    return [*spans, *_merged(small, measure, *sizes)]


def _split(stretch: str, start: int, separator: str) -> list[Span]:
    """The parts of the stretch, each but the first beginning with the separator; its characters for none."""
    first, *others = stretch.split(separator) if separator else ["", *stretch]
    sizes = [len(first), *(len(separator) + len(part) for part in others)]
    return [(begin, end) for begin, end in pairwise(accumulate(sizes, initial=start)) if begin < end]


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


def build_cuts(settings: Settings, parsers: Sequence[str] = ()) -> dict[str, Cut]:
    """The parsers of these names (none = all) as the settings size them, with their headers, then the baselines.

    A baseline's nodes have no header: its figures are published so.

    Raises:
        ConfigError: If there is no such parser.
    """
    if unknown := [name for name in parsers if name not in PARSERS]:
        raise ConfigError(f"There is no parser called {unknown[0]!r}.", hint=f"Parsers: {', '.join(sorted(PARSERS))}.")

    def by_parser(name: str) -> Cut:
        return lambda document, embed: parse(document, name, settings.parsing, embed)

    def by_baseline(name: str) -> Cut:
        return lambda document, _: make_nodes(document, [Piece(*s) for s in BASELINES[name](document.text)], name, 1)

    return {name: by_parser(name) for name in parsers or sorted(PARSERS)} | {
        name: by_baseline(name) for name in BASELINES
    }


def span_measures(found: Sequence[Span], gold: Sequence[Span], elsewhere: int = 0) -> dict[str, float]:
    """Token recall, precision and IoU (0..1) of the found spans against the gold spans, counted in characters.

    Characters stand for tokens, as in the code behind the published figures. One that two found spans share was read
    twice and counts twice in what was found.

    Args:
        found: Spans of the gold spans' corpus.
        gold: Spans that answer; not empty.
        elsewhere: Characters of what was found in other corpora.
    """
    held, wanted = _places(found), [place for start, end in gold for place in range(start, end)]
    hit = len(held & {*wanted})
    read = sum(end - start for start, end in found) + elsewhere
    missed = sum(place not in held for place in wanted)
    return {
        "recall": hit / len(wanted),
        "precision": hit / read if read else 0.0,
        "IoU": hit / (read + missed),
    }


def precision_omega(spans: Sequence[Span], gold: Sequence[Span]) -> float:
    """The share (0..1) of the gold in the spans that hold any of it, each character once: what no ranking can exceed.

    Gold that no span holds counts as found for nothing.

    Args:
        spans: All that the gold spans' corpus is cut into.
        gold: Spans that answer; not empty.
    """
    wanted = _places(gold)
    held = _places([span for span in spans if any(span[0] < end and start < span[1] for start, end in gold)])
    return len(wanted & held) / len(wanted | held)


def _places(spans: Sequence[Span]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}


def locate(text: str, span: tuple[int, int, str]) -> Span:
    """The place of a gold span in the stored text, which may have lost characters: as stated, else the nearest.

    Raises:
        SourceError: If its words are not there.
    """
    start, end, content = span
    if text[start:end] == content:
        return start, end
    wanted = canonical(content)
    before, after = text.rfind(wanted, 0, start + len(wanted)), text.find(wanted, start)
    if not wanted or max(before, after) < 0:
        raise SourceError(f"The gold span {content[:60]!r} does not stand in its corpus.")
    nearest = min((at for at in (before, after) if at >= 0), key=lambda at: abs(at - start))
    return nearest, nearest + len(wanted)


@dataclass(frozen=True, slots=True)
class ChunkingResult:
    """The nodes and the measures of one way to cut.

    Attributes:
        nodes: How many there are.
        characters: Of a node, on average; its header does not count.
        tokens: Of a node, on average, cl100k.
        omega: The mean over the questions of `precision_omega`.
        scores: By system, by question, each measure (0..1).
    """

    nodes: int
    characters: float
    tokens: float
    omega: float
    scores: dict[str, dict[str, dict[str, float]]]


def measure_chunking(
    settings: Settings,
    folder: Path,
    systems: Mapping[str, Changes],
    *,
    parsers: Sequence[str] = (),
    n: int = 5,
    limit: int | None = None,
) -> dict[str, ChunkingResult]:
    """Cut the corpora of a folder in each way, find n nodes for each question, and measure their spans.

    Each way has its own database; all share one cache of vectors.

    Raises:
        SourceError: If a gold span does not stand in its corpus.
        ConfigError: If a system or a parser does not exist.
    """
    topics, documents = load_span_topics(folder / "questions_df.csv")[:limit], load_corpora(folder / "corpora")
    if unknown := {topic.corpus for topic in topics} - documents.keys():
        raise SourceError(f"Questions are about {', '.join(sorted(unknown))}, which is not among the corpora.")
    gold = {topic.id: [locate(documents[topic.corpus].text, span) for span in topic.spans] for topic in topics}
    cuts = build_cuts(settings, parsers)
    facts = " ".join(f"{stem} {document.file_sha}" for stem, document in documents.items())
    name = f"chunking_{hashlib.sha256(facts.encode()).hexdigest()[:12]}"
    vectors = open_database(evaluation_database(settings, name)).engine

    def measured(cut_name: str, cut: Cut) -> ChunkingResult:
        engine, nodes = index_chunks(settings, (name, cut_name), list(documents.values()), cut, vectors)
        engine = with_cached_vectors(engine)
        spans = {
            stem: [_span(node) for node in nodes if node.metadata["document_id"] == document.id]
            for stem, document in documents.items()
        }
        return ChunkingResult(
            nodes=len(nodes),
            characters=fmean(len(node.text) for node in nodes),
            tokens=fmean(node.metadata["token_count"] for node in nodes),
            omega=fmean(precision_omega(spans[topic.corpus], gold[topic.id]) for topic in topics),
            scores={
                system: {
                    topic.id: _score(engine.with_changes(changes), topic.question, documents[topic.corpus].id,
                                     gold[topic.id], n)
                    for topic in topics
                }
                for system, changes in systems.items()
            },
        )  # fmt: skip

    return {cut_name: measured(cut_name, cut) for cut_name, cut in cuts.items()}


def index_chunks(
    settings: Settings, name: tuple[str, str], documents: Sequence[Document], cut: Cut, vectors: Any
) -> tuple[QueryEngine, list[TextNode]]:
    """An engine over these documents, cut in this way, in a database of their own; and the nodes."""
    own = evaluation_database(settings, "_".join(name))
    ingestion = build_ingestion(own)
    embedder = CachedEmbedder(ingestion.embed_model, vectors, ingestion.identity)
    made: list[TextNode] = []
    for loaded in documents:
        document = loaded.with_(content_sha=content_sha(loaded, name[1]), meta_sha=meta_sha(loaded))
        nodes = cut(document, TextEmbedder(embedder))
        windows, _ = embedder.embed([embedded_text(node) for node in nodes])
        facts = json.dumps([(*_span(node), node.metadata["header"]) for node in nodes])
        recipe = hashlib.sha256(facts.encode()).hexdigest()  # other spans are another recipe, which indexes look at
        replace_documents(ingestion.store, [Replacement(document, nodes, windows, name[1], recipe)])
        made.extend(nodes)
    ingestion.indexes.refresh("owner")
    return build_query_engine(own), made


def _span(node: BaseNode) -> Span:
    return node.metadata["start"], node.metadata["end"]


def _score(engine: QueryEngine, question: str, document_id: str, gold: Sequence[Span], n: int) -> dict[str, float]:
    try:
        found = [hit.node for hit in engine.examine(question[:MAX_QUESTION_CHARACTERS], top_n=n).ranking]
    except RetrievalError:
        found = []  # a question that cannot be searched finds nothing
    here = [_span(node) for node in found if node.metadata["document_id"] == document_id]
    elsewhere = sum(end - start for start, end in map(_span, found)) - sum(end - start for start, end in here)
    return span_measures(here, gold, elsewhere)


def reported(results: Mapping[str, ChunkingResult]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The nodes of each way to cut, and by system the means over the questions."""
    for name, result in results.items():
        yield (
            name,
            {
                "nodes": result.nodes,
                "mean_characters": round(result.characters, 1),
                "mean_tokens": round(result.tokens, 1),
                "precision_omega": result.omega,
                "systems": {system: means(scores) for system, scores in result.scores.items()},
            },
        )


if __name__ == "__main__":
    options = arguments("chunking", __doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--parser", action="append", default=[], help="measure this parser (default: all)")
    options.add_argument("--system", action="append", help="measure this system (default: dense and default)")
    options.add_argument("--top-n", type=int, default=5, help="number of retrieved nodes (default: 5)")
    options.add_argument("--limit", type=int, help="at most this many questions, from the first")
    given = options.parse_args()
    systems = choose_systems(given.system or ["dense", "default"], {})
    show(dict(reported(measure_chunking(
        get_settings(), given.folder, systems, parsers=given.parser, n=given.top_n, limit=given.limit
    ))))  # fmt: skip
