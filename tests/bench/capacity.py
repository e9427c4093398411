"""What a corpus needs on one machine, from 10,000 to 100 million nodes, by slopes that are measured here.

    python -m tests.bench.capacity ../blog_18f --nodes 10000 --vectors 100000

The corpus of `tests.bench.search` gives the bytes of a node in each table and in the files of the BM25
index. An HNSW index over that many perturbed vectors of it gives the time of building, which grows with n log n, its
size, its speed and its recall@10 against exact search. Embedding is timed on all cores.
"""

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector.sqlalchemy import Vector
from sqlalchemy import Column, Connection, Integer, MetaData, Table, text

from config.settings import get_settings
from pipelines.query.engine import QueryEngine
from pipelines.store.database import append_rows
from pipelines.store.vector_store import snapshot_folder
from pipelines.types import Filters
from tests.bench import arguments, show
from tests.bench.search import corpus_engine, moved

_SIZES = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
_TABLES = "SELECT pg_total_relation_size(CAST(:name AS regclass))"
_NODES_OF_A_DOCUMENT, _TOKENS_OF_A_NODE = 6, 220
_PRICE = 0.02  # dollars for a million tokens, of text-embedding-3-small
_ASKED, _K = 100, 10
_LOOKS = (100, 200, 400, 800)  # vectors that the index examines; 20 times the results that are asked for
_ROWS, _EMBEDDED = 10_000, 1_000


def bytes_of_a_node(engine: QueryEngine) -> dict[str, float]:
    """By part of the database, and in the BM25 files that each process maps, the bytes that a node has there."""
    table, count = engine.store.table, engine.store.count()
    names = {"nodes": f"data_{table}", "vectors and their index": f"{table}_windows", "words": "lexical_segments"}
    with engine.database.engine.connect() as connection:
        sizes = {part: connection.execute(text(_TABLES), {"name": name}).scalar_one() for part, name in names.items()}
    engine.indexes.current("owner")
    folder = snapshot_folder(engine.settings, engine.database, engine.store)
    sizes["BM25 files"] = sum(path.stat().st_size for path in folder.glob("owner-h*/**/*") if path.is_file())
    return {part: size / count for part, size in sizes.items()}


def embedded_each_second(engine: QueryEngine, texts: Sequence[str]) -> float:
    """The texts that the embedding model embeds in a second, on all cores."""
    began = time.perf_counter()
    engine.embed_model.get_text_embedding_batch(list(texts))
    return len(texts) / (time.perf_counter() - began)


def perturbed(vectors: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Vectors of length 1, (count, d), near real ones, no two equal."""
    chance = np.random.default_rng(7)
    return moved(vectors[chance.integers(0, len(vectors), count)], chance)


def measure_index(
    connection: Connection, vectors: NDArray[np.float32], looks: Sequence[int] = _LOOKS
) -> dict[str, Any]:
    """The seconds of building an HNSW index over vectors, its bytes a vector, and by the number of vectors that it
    examines its milliseconds and its recall@10.
    """
    run = connection.exec_driver_sql
    run("DROP TABLE IF EXISTS capacity")
    table = Table("capacity", MetaData(), Column("id", Integer), Column("embedding", Vector(vectors.shape[1])))
    table.create(connection)
    for start in range(0, len(vectors), _ROWS):
        rows = enumerate(vectors[start : start + _ROWS], start=start)
        append_rows(connection, table, [{"id": at, "embedding": row} for at, row in rows])
    run("SET LOCAL maintenance_work_mem = '4GB'")
    began = time.perf_counter()
    run("CREATE INDEX capacity_hnsw ON capacity USING hnsw (embedding vector_cosine_ops) "
        "WITH (m = 16, ef_construction = 64)")  # fmt: skip
    built = time.perf_counter() - began
    size = run("SELECT pg_relation_size('capacity_hnsw')").scalar_one()
    questions = perturbed(vectors, _ASKED)
    nearest = [{int(at) for at in np.argsort(-(vectors @ asked), kind="stable")[:_K]} for asked in questions]
    examined: dict[str, dict[str, float]] = {}
    for look in looks:
        run(f"SET LOCAL hnsw.ef_search = {look}")
        spent, found = [], 0
        for asked, best in zip(questions, nearest, strict=True):
            began = time.perf_counter()
            rows = run("SELECT id FROM capacity ORDER BY embedding <=> %s LIMIT %s", (str(asked.tolist()), 2 * _K))
            ids = [row.id for row in rows]
            spent.append(1000 * (time.perf_counter() - began))
            found += len(best & {*ids[:_K]})
        p50, p95 = np.percentile(spent, (50, 95)).tolist()
        examined[str(look)] = {"p50": p50, "p95": p95, "recall@10": found / _K / _ASKED}
    run("DROP TABLE capacity")
    return {"seconds": built, "bytes": size / len(vectors), "examined": examined}


def foreseen(each: dict[str, float], rate: float, index: dict[str, Any], vectors: int) -> list[dict[str, Any]]:
    """A row for each number of nodes."""
    disk = sum(each.values())
    slope = index["seconds"] / (vectors * math.log2(vectors))
    return [
        {
            "nodes": f"{nodes:,}",
            "documents": f"{nodes // _NODES_OF_A_DOCUMENT:,}",
            "disk, GB": round(nodes * disk / 1e9, 1),
            "memory of Postgres for the vector index, GB": round(nodes * index["bytes"] / 1e9, 2),
            "BM25 files, which each process maps, GB": round(nodes * each["BM25 files"] / 1e9, 2),
            "embedding here, hours": round(nodes / rate / 3600, 1),
            "building the vector index here, hours": round(slope * nodes * math.log2(nodes) / 3600, 2),
            "embedding by a service, dollars": round(nodes * _TOKENS_OF_A_NODE * _PRICE / 1e6, 2),
        }
        for nodes in _SIZES
    ]


if __name__ == "__main__":
    parser = arguments("capacity", __doc__)
    parser.add_argument("sources", nargs="+", help="files and folders whose text the corpus is made of")
    parser.add_argument("--nodes", type=int, default=10_000, help="of the corpus (default: 10000)")
    parser.add_argument("--vectors", type=int, default=100_000, help="of the measured index (default: 100000)")
    given = parser.parse_args()
    engine = corpus_engine(get_settings(), given.sources, given.nodes)
    each = bytes_of_a_node(engine)
    some = [one.node_id for one in engine.store.segments("owner")][:_EMBEDDED]
    nodes = engine.store.fetch(some, filters=Filters(), audience="owner").values()
    rate = embedded_each_second(engine, [node.get_content() for node in nodes])
    with engine.database.engine.begin() as connection:
        index = measure_index(connection, perturbed(engine.store.some_vectors("owner", given.nodes), given.vectors))
    measured = {"bytes of a node": each, "embedded each second": rate, "vectors": given.vectors, "index": index}
    show(measured | {"foreseen": foreseen(each, rate, index, given.vectors)})
