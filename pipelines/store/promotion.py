"""A node table takes over, and one is dropped; whoever searches or ingests meanwhile is not disturbed."""

import time
from collections.abc import Callable

from sqlalchemy import Connection, Engine, delete, func, insert, select, text, update
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import aliased

from pipelines.errors import ConfigError, ServiceUnavailable
from pipelines.store import schema as tables
from pipelines.store.audit import miscounted
from pipelines.store.database import HELD_BY_OTHERS, reading, translate
from pipelines.store.embedding_models import StoredModel, activate, count_missing, state_of
from pipelines.store.facts import write_facts
from pipelines.store.near_duplicates import lock_families, members_of, write_families
from pipelines.store.node_table import checked
from pipelines.store.vector_store import FootnoteVectorStore
from pipelines.types import EmbeddingIdentity, Filters

_PATIENCE = 60.0  # seconds that a drop waits for those who still read
_LOCK_WAIT = "300ms"  # less than Postgres waits before it ends one of two who wait for each other


def promote(
    store: FootnoteVectorStore, model: EmbeddingIdentity, warm: Callable[[], None], adopt: Callable[[int], None]
) -> int | None:
    """Make this store's table the one that serves, in one statement; the corpus version that it has then.

    Nobody is kept from searching; who ingests waits for moments.

    Args:
        store: Of the table that is to serve.
        model: Its embedding model, for messages.
        warm: Builds what a first search needs from what the table holds.
        adopt: Makes that what serves from the corpus version on that it is given.

    Returns:
        None where it serves already.

    Raises:
        ConfigError: If it lacks the current content of a stored document; nothing is changed then.
    """
    with reading(store.engine, "reading the embedding models") as connection:
        _assert_complete(connection, store.table, model)
        before = state_of(connection, store.table)
    warm()
    try:
        with store.engine.begin() as connection:
            if not _hold_still(connection, store.table, model):
                return None
            _assert_complete(connection, store.table, model)
            if state_of(connection, store.table) != before:
                warm()
            _rewrite_what_hangs_on_nodes(connection, store)
            version = _raise_version(connection)
            activate(connection, store.table, version)
            adopt(version)
            return version
    except DBAPIError as error:
        raise translate(error, f"promoting {model.label}") from error


def _hold_still(connection: Connection, table: str, model: EmbeddingIdentity) -> bool:
    """Lock, in the order in which all writers do, whatever could change before the switch; False where it serves."""
    lock_families(connection)
    held = tables.embedding_models.c
    row = connection.execute(
        select(held.active).where(held.node_table == table).with_for_update(key_share=True)
    ).one_or_none()
    if row is None:
        raise ConfigError(f"{model.label} was dropped meanwhile.", hint=f"Run `footnote models add {model.label}`.")
    connection.execute(select(tables.corpus_version.c.version).with_for_update())
    return not row.active


def _assert_complete(connection: Connection, table: str, model: EmbeddingIdentity) -> None:
    if missing := count_missing(connection, table):
        stored = connection.execute(select(func.count()).select_from(tables.documents)).scalar_one()
        raise ConfigError(
            f"{model.label} lacks {missing} of {stored} documents, so it cannot serve.",
            hint=f"Run `footnote models add {model.label}`.",
        )
    if wrong := miscounted(connection, table):
        raise ConfigError(
            f"The table of {model.label} lacks nodes of {len(wrong)} documents, so it cannot serve.",
            hint=f"Run `footnote doctor --fix`, then `footnote models add {model.label}`.",
        )


def _rewrite_what_hangs_on_nodes(connection: Connection, store: FootnoteVectorStore) -> None:
    """Make facts and families those of the new nodes, where a document was cut otherwise for this model."""
    new, old = aliased(tables.document_indexes), aliased(tables.document_indexes)
    d, n, o = tables.documents.c, new.c, old.c
    serves = select(tables.embedding_models.c.node_table).where(tables.embedding_models.c.active).scalar_subquery()
    otherwise = (
        select(d.id, d.mime)
        .join(new, (n.document_id == d.id) & (n.node_table == store.table))
        .outerjoin(old, (o.document_id == d.id) & (o.node_table == serves))
        .where(o.recipe.is_distinct_from(n.recipe))
        .order_by(d.id)
    )
    for row in connection.execute(otherwise).all():
        nodes = store.window(row.id, 0, _ALL, filters=Filters(), audience="owner")
        write_facts(connection, {row.id: nodes})
        write_families(connection, [row.id], list(members_of(row.id, row.mime, nodes)))


_ALL = 10**9  # more neighbours than a document has


def _raise_version(connection: Connection) -> int:
    """Raise the corpus version; no document changed."""
    version = tables.corpus_version.c.version
    raised = connection.execute(update(tables.corpus_version).values(version=version + 1).returning(version))
    number = int(raised.scalar_one())
    connection.execute(insert(tables.corpus_changes).values(version=number, document_id=""))
    return number


def drop(engine: Engine, model: StoredModel, *, cached: bool = False) -> None:
    """Drop a table that does not serve with all that is derived from it; `cached`: also the cached vectors.

    Whoever reads it still is waited for.

    Args:
        engine: Of the database.
        model: Whose table.
        cached: Whether the vectors go too that would spare adding it again.

    Raises:
        ConfigError: If it serves.
        ServiceUnavailable: If others went on reading it for a minute.
    """
    patience = time.monotonic() + _PATIENCE
    while True:
        try:
            with engine.begin() as connection:
                _drop(connection, model, cached=cached)
            break
        except OperationalError as error:
            if getattr(error.orig, "pgcode", "") not in HELD_BY_OTHERS:
                raise translate(error, f"dropping {model.identity.label}") from error
            if time.monotonic() > patience:
                raise ServiceUnavailable(f"{model.identity.label} is still being read.", hint="Try again.") from error
            time.sleep(0.1)
        except DBAPIError as error:
            raise translate(error, f"dropping {model.identity.label}") from error


def _drop(connection: Connection, model: StoredModel, *, cached: bool) -> None:
    connection.execute(text("SELECT set_config('lock_timeout', :wait, true)"), {"wait": _LOCK_WAIT})
    held, table = tables.embedding_models, checked(model.table)
    active = connection.execute(select(held.c.active).where(held.c.node_table == table).with_for_update()).scalar()
    if active:
        raise ConfigError(
            f"{model.identity.label} serves, so it stays.", hint="`footnote models promote` another one first."
        )
    for rows in (tables.lexical_segments, tables.document_indexes):
        connection.execute(delete(rows).where(rows.c.node_table == table))
    if cached:
        slug, cache = model.identity.slug, tables.embedding_cache
        connection.execute(delete(cache).where(cache.c.model.in_((slug, f"{slug}?questions"))))
    connection.execute(delete(held).where(held.c.node_table == table))
    connection.execute(text(f"DROP TABLE IF EXISTS data_{table}, {table}_windows"))
