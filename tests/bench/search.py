"""Searches and asks over a corpus of any size, beside their floor and beside stock LlamaIndex, in one run.

    python -m tests.bench.search ../blog_18f ../readmes --nodes 4000 --topics qa/topics.jsonl

The corpus is made of the text of the sources, a node a document, in a database of its own that the next run uses
again. The model embeds the first 20,000 nodes; those after them have the vectors of these with some noise. Stock is a
PGVectorStore and a BM25Retriever under a QueryFusionRetriever, as LlamaIndex documents them, over the same nodes,
vectors and twenty candidates a retriever; with and without an HNSW index.
"""

import hashlib
import sys
import threading
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from llama_index.core import VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import BaseNode, TextNode
from llama_index.retrievers.bm25 import BM25Retriever
from llama_index.vector_stores.postgres import PGVectorStore
from sqlalchemy import text

from config.settings import Settings, get_settings
from data.make_documents import bodies, read_passages
from pipelines.evaluation.bench import bench_ask
from pipelines.evaluation.corpus import RECIPE, Embed, index_dataset
from pipelines.evaluation.datasets import Dataset, Item, load_topics
from pipelines.query.engine import QueryEngine
from pipelines.store.node_table import Vectors
from pipelines.types import Filters
from tests.bench import arguments, show, silent

_ROOT = Path(__file__).resolve().parents[2]
TOPICS = _ROOT / "data" / "eval" / "topics.jsonl"
_CANDIDATES = 20
_EMBEDDED = 20_000  # nodes
_NOISE = 0.2  # of the length of a vector
_HNSW = {"hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 100, "hnsw_dist_method": "vector_cosine_ops"}


def corpus_engine(settings: Settings, sources: Sequence[str], nodes: int) -> QueryEngine:
    """An engine over `nodes` documents of a node each, made of the text of these files and folders."""
    texts = list(islice(bodies(list(read_passages(sources))), nodes))
    sha = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:12]
    items = tuple(Item(f"{number:06}", "", body) for number, body in enumerate(texts))
    return index_dataset(settings, Dataset("bench", sha, items, {}, {}), silent, embedding=perturbing)


def questions(topics: Path) -> list[str]:
    """The distinct questions of topics, in order."""
    return list(dict.fromkeys(topic.question for topic in load_topics(topics)))


def moved(vectors: Vectors, chance: np.random.Generator) -> Vectors:
    """Vectors of length 1 near these: with noise of a fifth of their length, so that no two are equal."""
    noise = chance.standard_normal(vectors.shape, np.float32)
    made = vectors + _NOISE * noise / np.linalg.norm(noise, axis=1, keepdims=True)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def perturbing(embed: Embed) -> Embed:
    """The vectors of the model for the first 20,000 texts, and for later ones vectors near those of an earlier one."""
    real: list[Vectors] = []
    chance = np.random.default_rng(7)

    def embedded(texts: list[str]) -> Sequence[Vectors]:
        if len(real) < _EMBEDDED:
            real.extend(found := embed(texts))
            return found
        return [moved(real[int(at)], chance) for at in chance.integers(0, len(real), len(texts))]

    return embedded


def stock(engine: QueryEngine, *, hnsw: bool) -> Callable[[str], Any]:
    """A search by stock LlamaIndex over the engine's nodes and vectors."""
    ids = sorted(engine.store.matching_ids(Filters(), "owner"))
    stored = engine.store.get_nodes(ids)
    nodes: list[BaseNode] = [
        TextNode(id_=each.node_id, text=each.get_content(), embedding=each.embedding) for each in stored
    ]
    url = engine.database.engine.url.render_as_string(hide_password=False)
    made = hashlib.sha256(f"{RECIPE} {_HNSW if hnsw else ''}".encode()).hexdigest()[:8]
    name = f"stock_{'hnsw_' if hnsw else ''}{made}"
    store = PGVectorStore(
        connection_string=url, async_connection_string=url.replace("+psycopg2", "").replace("://", "+asyncpg://"),
        table_name=name, embed_dim=engine.store.dimension, hnsw_kwargs=dict(_HNSW) if hnsw else None,
    )  # fmt: skip
    with engine.database.engine.begin() as connection:
        filled = connection.execute(text("SELECT to_regclass(:name)"), {"name": f"data_{name}"}).scalar()
        held = set(connection.execute(text(f"SELECT node_id FROM data_{name}")).scalars()) if filled else set()
        if filled and held != set(ids):
            connection.execute(text(f"DROP TABLE data_{name}"))
    if held != set(ids):
        store.add(nodes)
    with engine.database.engine.begin() as connection:
        connection.execute(text(f"ANALYZE data_{name}"))
    by_vector = VectorStoreIndex.from_vector_store(store, embed_model=engine.embed_model)
    legs = [
        by_vector.as_retriever(similarity_top_k=_CANDIDATES),
        BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=_CANDIDATES),
    ]
    fused = QueryFusionRetriever(
        legs, llm=MockLLM(), mode=FUSION_MODES.RECIPROCAL_RANK, similarity_top_k=5, num_queries=1, use_async=False
    )
    return fused.retrieve


def called(work: Callable[[], Any]) -> dict[str, int]:
    """The number of our modules and functions that work goes through, and of their calls, by sys.setprofile."""
    seen: list[tuple[str, str]] = []

    def note(frame: FrameType, what: str, _: Any) -> None:
        code = frame.f_code
        if what == "call" and code.co_filename.startswith(str(_ROOT)) and ".venv" not in code.co_filename:
            seen.append((code.co_filename, code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {"modules": len({file for file, _ in seen}), "functions": len({*seen}), "calls": len(seen)}


def measure(engine: QueryEngine, questions: Sequence[str]) -> dict[str, Any]:
    """The report of `bench_ask` with stock LlamaIndex, and the calls of a warm search and a warm ask, medians."""
    others = {"stock": stock(engine, hnsw=False), "stock HNSW": stock(engine, hnsw=True)}
    report = bench_ask(engine, questions, silent, others)
    times = report["milliseconds"]
    around = {name: times[name]["p50"] - times["embed"]["p50"] for name in ("search", *others)}
    by = {f"{name} by search, around the embedding": round(around[name] / around["search"], 2) for name in others}
    counts: dict[str, dict[str, int]] = {}
    for name, call in (("search", engine.search), ("ask", engine.ask)):
        each = [called(lambda call=call, q=q: call(q, record=False)) for q in questions[:9]]  # type: ignore[misc]
        counts[name] = {key: int(np.median([one[key] for one in each])) for key in each[0]}
    return report | {"stock": by, "called": counts}


if __name__ == "__main__":
    parser = arguments("search", __doc__)
    parser.add_argument("sources", nargs="+", help="files and folders whose text the corpus is made of")
    parser.add_argument("--nodes", type=int, default=4_000, help="how many (default: 4000)")
    parser.add_argument("--topics", type=Path, default=TOPICS, help="the questions")
    parser.add_argument("--limit", type=int, default=60, help="at most this many questions (default: 60)")
    given = parser.parse_args()
    engine = corpus_engine(get_settings(), given.sources, given.nodes)
    show(measure(engine, questions(given.topics)[: given.limit]))
