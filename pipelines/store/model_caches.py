"""What models made, kept so that none is asked twice: vectors of texts, and contextual headers of nodes."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, Engine, and_, delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError, IntegrityError

from pipelines.store.database import append_rows, reading, translate, writing
from pipelines.store.schema import embedding_cache, headers

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


@dataclass(frozen=True, slots=True)
class HeaderKey:
    """What a header was written for and by, but for the node's text."""

    document_id: str
    prompt_version: int
    model: str


def read_headers(engine: Engine, key: HeaderKey, shas: Collection[str]) -> dict[str, str]:
    """The kept headers of these node texts, by the SHA-256 of each; the others are missing."""
    h = headers.c
    wanted = and_(h.document_id == key.document_id, h.prompt_version == key.prompt_version, h.model == key.model)
    with reading(engine, "reading headers") as connection:
        rows = connection.execute(select(h.node_sha, h.header).where(wanted, h.node_sha.in_(list(shas))))
        return {row.node_sha: row.header for row in rows}


def keep_headers(engine: Engine, key: HeaderKey, written: Mapping[str, str]) -> None:
    """Keep these headers, by the SHA-256 of their nodes' texts; one that is known already stays."""
    rows = [
        {"document_id": key.document_id, "prompt_version": key.prompt_version, "model": key.model, "node_sha": sha,
         "header": header}
        for sha, header in sorted(written.items())
    ]  # fmt: skip
    if rows:
        with writing(engine, "keeping headers") as connection:
            connection.execute(insert(headers).on_conflict_do_nothing(), rows)


def forget_headers(connection: Connection, document_ids: Collection[str]) -> None:
    """Delete what was written for documents."""
    connection.execute(delete(headers).where(headers.c.document_id.in_(document_ids)))
