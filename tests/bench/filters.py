"""Compare filtered searches through the vector index with exact scans, over random filters."""

import hashlib
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from config.settings import Settings, get_settings
from pipelines.evaluation.corpus import evaluation_database
from pipelines.ingestion.change_detection import content_sha, meta_sha
from pipelines.ingestion.parsers.nodes import make_nodes
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.run import Ingestion, build_ingestion
from pipelines.store.node_reader import EXACT_BELOW
from pipelines.store.node_writer import Replacement, replace_documents
from pipelines.store.vector_store import FootnoteVectorStore
from pipelines.types import CATEGORIES, Audience, Document, Filters
from tests.bench import arguments, show

TOP = 10
LOOK = 100  # what `retrieval.ann_factor` times the usual top_n gives
_NODES_EACH = 20
_CLUSTERS = 200
_LINE = "Passage {number:05d}.\n"
_FIRST_DAY = date(2015, 1, 1)
_COLLECTIONS = ("default", "work", "archive")
_PRIVATE = 1 / 3
_AUTHORS = ("Ann", "Bo", "Cleo", "Dan")
Vectors = NDArray[np.float32]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Case:
    """A question's vector with filters and an audience."""

    vector: Vectors
    filters: Filters
    audience: Audience


def measure_filters(
    settings: Settings, nodes: int, cases: int, *, seed: int = 5, on_progress: Progress | None = None
) -> dict[str, Any]:
    """How far the filtered index agrees with an exact scan, over random filters on clustered random vectors.

    `agreement` is the mean share (0..1) of the exact first ten that the index returned, `least` the smallest, `exact`
    the share of cases without a difference, `through_index` the number of cases that passed too many nodes to be
    compared one by one; `median_ms` and `exact_ms` are times of one search.
    """
    own = evaluation_database(settings, f"filters_{nodes}_{seed}")
    ingestion = build_ingestion(own)
    vectors = _vectors(nodes, ingestion.store.dimension, seed)
    documents = list(_documents(nodes, seed))
    _write(ingestion, documents, vectors, on_progress)
    rows = [_agreement(ingestion.store, case) for case in _cases(documents, vectors, cases, seed)]
    shares = [row["share"] for row in rows]
    return {
        "nodes": nodes,
        "filters": cases,
        "agreement": float(np.mean(shares)),
        "least": min(shares),
        "exact": float(np.mean([share == 1.0 for share in shares])),
        "through_index": sum(row["through_index"] for row in rows),
        "median_passing": int(np.median([row["passing"] for row in rows])),
        "median_ms": float(np.median([row["ms"] for row in rows])),
        "exact_ms": float(np.median([row["exact_ms"] for row in rows])),
    }


def _vectors(count: int, dimension: int, seed: int) -> Vectors:
    """Unit vectors around random centres, as documents lie around their topics."""
    drawn = np.random.default_rng(seed)
    centres = drawn.normal(size=(_CLUSTERS, dimension))
    rows = centres[drawn.integers(0, _CLUSTERS, size=count)] + 0.7 * drawn.normal(size=(count, dimension))
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _documents(nodes: int, seed: int) -> Iterator[Document]:
    drawn = np.random.default_rng(seed)
    for number in range(-(-nodes // _NODES_EACH)):
        lines = range(number * _NODES_EACH, min(nodes, (number + 1) * _NODES_EACH))
        body = "".join(_LINE.format(number=line) for line in lines)
        day = _FIRST_DAY + timedelta(days=int(drawn.integers(4000)))
        document = Document(
            id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"filters|{seed}|{number}")),
            text=body,
            source_uri=f"eval:{number}",
            source="eval",
            source_kind="eval",
            name=f"{number}.txt",
            mime="text/plain",
            bytes=len(body),
            file_sha=hashlib.sha256(body.encode()).hexdigest(),
            title=f"Document {number}",
            collection=str(drawn.choice(_COLLECTIONS)),
            category=str(drawn.choice(CATEGORIES)),
            year=day.year,
            author=str(drawn.choice(_AUTHORS)),
            visibility="private" if drawn.random() < _PRIVATE else "public",
            published_at=datetime(day.year, day.month, day.day, tzinfo=UTC),
        )
        yield document.with_(content_sha=content_sha(document, "filters"), meta_sha=meta_sha(document))


def _write(ingestion: Ingestion, documents: list[Document], vectors: Vectors, on_progress: Progress | None) -> None:
    held = {document.id for document in ingestion.known()}
    size = len(_LINE.format(number=0))
    for number, document in enumerate(documents):
        if document.id not in held:
            starts = range(0, len(document.text), size)
            nodes = make_nodes(document, [Piece(at, at + size - 1) for at in starts], "lines", 1)
            first = number * _NODES_EACH
            windows = [vectors[first + place : first + place + 1] for place in range(len(nodes))]
            replace_documents(ingestion.store, [Replacement(document, nodes, windows, "lines", "lines@1")])
        if on_progress:
            on_progress(number + 1, len(documents))


def _cases(documents: list[Document], vectors: Vectors, count: int, seed: int) -> Iterator[Case]:
    drawn = np.random.default_rng(seed + 1)
    for _ in range(count):
        near = vectors[drawn.integers(0, len(vectors))] + 0.05 * drawn.normal(size=vectors.shape[1])
        audience: Audience = "visitor" if drawn.random() < _PRIVATE else "owner"
        yield Case((near / np.linalg.norm(near)).astype(np.float32), _filters(documents, drawn), audience)


def _filters(documents: list[Document], drawn: np.random.Generator) -> Filters:
    """One to three kinds of filter, so that from a handful to nearly all nodes pass."""

    def some(values: Sequence[Any], most: int) -> tuple[Any, ...]:
        size = int(drawn.integers(1, min(most, len(values)) + 1))
        return tuple(drawn.choice(np.asarray(values), size=size, replace=False).tolist())

    since = _FIRST_DAY + timedelta(days=int(drawn.integers(3900)))
    until = since + timedelta(days=int(drawn.integers(30, 3000)))
    kinds: list[dict[str, Any]] = [
        {"category": some(CATEGORIES, len(CATEGORIES) - 1)},
        {"collection": some(_COLLECTIONS, 2)},
        {"year": some(range(2015, 2026), 10)},
        {"author": some(_AUTHORS, 3)},
        {"since": since.isoformat(), "until": until.isoformat()},
        {"document": some([document.id for document in documents], 40)},
    ]
    chosen = drawn.choice(len(kinds), size=int(drawn.choice((1, 1, 1, 2, 2, 3))), replace=False)
    return Filters(**{name: value for kind in chosen for name, value in kinds[kind].items()})


def _agreement(store: FootnoteVectorStore, case: Case) -> dict[str, Any]:
    began = time.perf_counter()
    found = store.nearest(case.vector.tolist(), TOP, look=LOOK, filters=case.filters, audience=case.audience)
    middle = time.perf_counter()
    passing = store.matching_ids(case.filters, case.audience)
    scored = store.similarities([case.vector.tolist()], sorted(passing))[0]
    exact = {node_id for node_id, _ in sorted(scored.items(), key=lambda item: (-item[1], item[0]))[:TOP]}
    share = len({node_id for node_id, _ in found} & exact) / len(exact) if exact else float(not found)
    return {
        "share": share,
        "passing": len(passing),
        "through_index": len(passing) > EXACT_BELOW,
        "ms": (middle - began) * 1000,
        "exact_ms": (time.perf_counter() - middle) * 1000,
    }


if __name__ == "__main__":
    parser = arguments("filters", __doc__)
    parser.add_argument("--nodes", type=int, default=10_000, help="nodes in the table (default: 10000)")
    parser.add_argument("--cases", type=int, default=200, help="random filters (default: 200)")
    given = parser.parse_args()
    show(measure_filters(get_settings(), nodes=given.nodes, cases=given.cases))
