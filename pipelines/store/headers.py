"""The headers that a language model wrote, kept by document, node text, prompt version and model."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, and_, delete, select
from sqlalchemy.dialects.postgresql import insert

from pipelines.store.database import reading, writing
from pipelines.store.tables import headers


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
