"""Make another node table the active one, or drop one, while searches and ingests continue."""

import time

from sqlalchemy import Connection, Engine, delete, func, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import aliased

from config.settings import Settings
from pipelines.errors import ConfigError, ServiceUnavailable
from pipelines.store import schema as tables
from pipelines.store.audit import miscounted
from pipelines.store.database import LOCKED_BY_OTHERS, Database, translate, writing
from pipelines.store.embedding_models import StoredModel, activate, active_table, count_missing
from pipelines.store.facts import write_facts
from pipelines.store.near_duplicates import lock_families, members_of, write_families
from pipelines.store.node_table import checked
from pipelines.store.node_writer import raise_version
from pipelines.store.read_snapshot import read_mark
from pipelines.store.vector_store import FootnoteVectorStore, build_indexes, build_vector_store
from pipelines.types import EmbeddingIdentity, Filters

_ALL_NEIGHBOURS = 10**9
_PATIENCE = 60.0  # seconds that a drop waits for readers
_LOCK_WAIT = "300ms"  # less than Postgres waits before it ends one of two who wait for each other


def promote(settings: Settings, database: Database, model: EmbeddingIdentity) -> int | None:
    """Make a model's table the active one in one statement, and return the corpus version since which it is.

    The indexes that its first search needs are built just before. Searches continue; ingests wait for it.

    Returns:
        None if it is active already.

    Raises:
        ConfigError: If it lacks the current content of a stored document; nothing is changed then.
    """
    store = build_vector_store(settings, database, model)
    table, models = store.table, tables.embedding_models.c
    with writing(store.engine, f"promoting {model.label}") as connection:
        lock_families(connection)  # locks are taken in the order of all writers
        own = select(models.active).where(models.node_table == table).with_for_update(key_share=True)
        row = connection.execute(own).one_or_none()
        if row is None:
            raise ConfigError(f"{model.label} was dropped meanwhile.", hint=f"Run `footnote models add {model.label}`.")
        if row.active:
            return None
        connection.execute(select(tables.corpus_version.c.version).with_for_update())
        if missing := count_missing(connection, table):
            stored = connection.execute(select(func.count()).select_from(tables.documents)).scalar_one()
            raise ConfigError(
                f"{model.label} lacks {missing} of {stored} documents and cannot be promoted.",
                hint=f"Run `footnote models add {model.label}`.",
            )
        if wrong := miscounted(connection, table):
            raise ConfigError(
                f"The table of {model.label} lacks nodes of {len(wrong)} documents and cannot be promoted.",
                hint=f"Run `footnote doctor --fix`, then `footnote models add {model.label}`.",
            )
        _rewrite_derived(connection, store)
        version = raise_version(connection, [""])  # no document changed
        activate(connection, table, version)
        build_indexes(settings, database, store, read_mark(connection))
    return version


def _rewrite_derived(connection: Connection, store: FootnoteVectorStore) -> None:
    """Make facts and families from the new nodes of each document that was parsed under another recipe."""
    new, old = aliased(tables.document_indexes), aliased(tables.document_indexes)
    d, n, o = tables.documents.c, new.c, old.c
    differing = (
        select(d.id, d.mime)
        .join(new, (n.document_id == d.id) & (n.node_table == store.table))
        .outerjoin(old, (o.document_id == d.id) & (o.node_table == active_table(connection)))
        .where(o.recipe.is_distinct_from(n.recipe))
        .order_by(d.id)
    )
    for row in connection.execute(differing).all():
        nodes = store.window(row.id, 0, _ALL_NEIGHBOURS, filters=Filters(), audience="owner")
        write_facts(connection, {row.id: nodes})
        write_families(connection, [row.id], list(members_of(row.id, row.mime, nodes)))


def drop(engine: Engine, model: StoredModel, *, cached: bool = False) -> None:
    """Drop an inactive table with all that is derived from it; waits for its readers.

    With `cached`, the cached vectors, from which it could be filled again, are deleted too.

    Raises:
        ConfigError: If it is active.
        ServiceUnavailable: If others still read it after a minute.
    """
    label, patience = model.identity.label, time.monotonic() + _PATIENCE
    models, table = tables.embedding_models, checked(model.table)
    while True:
        try:
            with engine.begin() as connection:
                connection.execute(text("SELECT set_config('lock_timeout', :wait, true)"), {"wait": _LOCK_WAIT})
                own = select(models.c.active).where(models.c.node_table == table).with_for_update()
                if connection.execute(own).scalar():
                    raise ConfigError(
                        f"{label} is the active model and cannot be dropped.",
                        hint="`footnote models promote` another one first.",
                    )
                for rows in (tables.lexical_segments, tables.document_indexes, models):
                    connection.execute(delete(rows).where(rows.c.node_table == table))
                if cached:
                    slug, cache = model.identity.slug, tables.embedding_cache
                    connection.execute(delete(cache).where(cache.c.model.in_((slug, f"{slug}?questions"))))
                connection.execute(text(f"DROP TABLE IF EXISTS data_{table}, {table}_windows"))
            return
        except DBAPIError as error:
            if getattr(error.orig, "pgcode", "") not in LOCKED_BY_OTHERS:
                raise translate(error, f"dropping {label}") from error
            if time.monotonic() > patience:
                raise ServiceUnavailable(f"{label} is still in use by a query.", hint="Try again.") from error
            time.sleep(0.1)
