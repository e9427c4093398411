"""The embedding models whose nodes a database holds, side by side, and which of them serves."""

from sqlalchemy import Connection, Engine, select

from pipelines.errors import ConfigError
from pipelines.store.database import reading
from pipelines.store.tables import embedding_models
from pipelines.types import EmbeddingIdentity


def active(connection: Connection) -> EmbeddingIdentity | None:
    """The model that serves; None while nothing was ingested."""
    held = embedding_models.c
    row = connection.execute(select(held.provider, held.model, held.dimension).where(held.active)).one_or_none()
    return None if row is None else EmbeddingIdentity(row.provider, row.model, row.dimension)


def active_model(engine: Engine) -> EmbeddingIdentity | None:
    """The model that serves, read in a connection of its own."""
    with reading(engine, "reading which embedding model serves") as connection:
        return active(connection)


def serving(engine: Engine, wanted: EmbeddingIdentity, *, stated: bool) -> EmbeddingIdentity:
    """The model to search and ingest with: the one that serves; `wanted` while nothing was ingested.

    Args:
        engine: Of the database.
        wanted: What the settings resolve to.
        stated: Whether a person chose it; where nobody did, what serves is followed.

    Raises:
        ConfigError: If a person chose another model than the one that serves: their vectors do not compare.
    """
    serves = active_model(engine)
    if serves is None or serves == wanted or not stated:
        return serves or wanted
    raise ConfigError(
        f"The settings name the embedding model {wanted.model} ({wanted.provider}, {wanted.dimension} d), and "
        f"{serves.model} ({serves.provider}, {serves.dimension} d) serves.",
        hint=f"Run `footnote models add {wanted.model}` and `footnote models promote {wanted.model}` to change over, "
        f"or set FOOTNOTE_EMBEDDING__PROVIDER={serves.provider} and FOOTNOTE_EMBEDDING__MODEL={serves.model}.",
    )
