"""The embedding cache: (model, SHA-256 of the embedded text) -> the vectors of its windows."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import Engine, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError, IntegrityError

from pipelines.store.copying import append_rows
from pipelines.store.database import reading, translate
from pipelines.store.tables import embedding_cache

_BATCH = 1000


def text_sha(text: str) -> str:
    """The key of an embedded text."""
    return hashlib.sha256(text.encode()).hexdigest()


def cached_vectors(engine: Engine, model: str, keys: Sequence[str], dimension: int) -> dict[str, np.ndarray]:
    """The known vectors of these keys, each (windows, dimension) float32."""
    found: dict[str, np.ndarray] = {}
    cache = embedding_cache.c
    with reading(engine, "reading the embedding cache") as connection:
        for start in range(0, len(keys), _BATCH):
            rows = connection.execute(
                select(cache.text_sha, cache.vector).where(
                    cache.model == model, cache.text_sha.in_(keys[start : start + _BATCH])
                )
            )
            found |= {row.text_sha: np.frombuffer(row.vector, dtype="<f4").reshape(-1, dimension) for row in rows}
    return found


def known_texts(engine: Engine, model: str, keys: Sequence[str]) -> set[str]:
    """Those of the keys whose vectors are known; no vector is read."""
    cache, found = embedding_cache.c, set[str]()
    with reading(engine, "reading the embedding cache") as connection:
        for start in range(0, len(keys), _BATCH):
            some = cache.text_sha.in_(keys[start : start + _BATCH])
            found |= set(connection.execute(select(cache.text_sha).where(cache.model == model, some)).scalars())
    return found


def cache_vectors(engine: Engine, model: str, vectors: Mapping[str, np.ndarray]) -> None:
    """Remember these vectors; one that is known already stays."""
    rows = [
        {"model": model, "text_sha": key, "vector": np.asarray(vector, dtype="<f4").tobytes()}
        for key, vector in sorted(vectors.items())
    ]
    try:
        try:
            with engine.begin() as connection:
                append_rows(connection, embedding_cache, rows)
        except IntegrityError:  # another run embedded one of them meanwhile
            with engine.begin() as connection:
                connection.execute(insert(embedding_cache).on_conflict_do_nothing(), rows)
    except DBAPIError as error:
        raise translate(error, "writing the embedding cache") from error
