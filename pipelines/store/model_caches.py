"""Caches of model output: vectors of texts, and contextual headers of nodes."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Column, Connection, Engine, Row, delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError, IntegrityError

from pipelines.store.database import append_rows, read_rows, reading, translate, writing
from pipelines.store.schema import embedding_cache, headers

_BATCH = 1000


def text_sha(text: str) -> str:
    """The key of an embedded text."""
    return hashlib.sha256(text.encode()).hexdigest()


def cached_vectors(engine: Engine, model: str, keys: Sequence[str], dimension: int) -> dict[str, np.ndarray]:
    """The cached vectors of these keys, each (windows, dimension) float32."""
    cache = embedding_cache.c
    rows = _cached(engine, model, keys, cache.text_sha, cache.vector)
    return {row.text_sha: np.frombuffer(row.vector, dtype="<f4").reshape(-1, dimension) for row in rows}


def known_texts(engine: Engine, model: str, keys: Sequence[str]) -> set[str]:
    """Those of the keys whose vectors are cached; no vector is read."""
    return {row.text_sha for row in _cached(engine, model, keys, embedding_cache.c.text_sha)}


def _cached(engine: Engine, model: str, keys: Sequence[str], *columns: Column[Any]) -> Iterator[Row[Any]]:
    cache = embedding_cache.c
    with reading(engine, "reading the embedding cache") as connection:
        for start in range(0, len(keys), _BATCH):
            some = cache.text_sha.in_(keys[start : start + _BATCH])
            yield from connection.execute(select(*columns).where(cache.model == model, some))


def cache_vectors(engine: Engine, model: str, vectors: Mapping[str, np.ndarray]) -> None:
    """Cache these vectors; one that is cached already stays."""
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


HeaderKey = Mapping[str, Any]  # the columns of a header but for the text: its document, and what wrote it


def read_headers(engine: Engine, key: HeaderKey, shas: Collection[str]) -> dict[str, str]:
    """The cached headers of these node texts, by their SHA-256; the others are missing."""
    wanted = *(headers.c[name] == value for name, value in key.items()), headers.c.node_sha.in_(list(shas))
    statement = select(headers.c.node_sha, headers.c.header).where(*wanted)
    return {row.node_sha: row.header for row in read_rows(engine, "reading headers", statement)}


def keep_header(engine: Engine, key: HeaderKey, sha: str, header: str) -> None:
    """Cache the header of a node's text by its SHA-256; one that is cached already stays."""
    row = {**key, "node_sha": sha, "header": header}
    with writing(engine, "keeping a header") as connection:
        connection.execute(insert(headers).on_conflict_do_nothing(), row)


def forget_headers(connection: Connection, document_ids: Collection[str]) -> None:
    """Delete the headers of documents."""
    connection.execute(delete(headers).where(headers.c.document_id.in_(document_ids)))
