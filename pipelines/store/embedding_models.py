"""The embedding models whose nodes a database holds, side by side, and which of them is active."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Engine, and_, exists, func, select, text, update

from pipelines.errors import ConfigError, RetrievalError
from pipelines.store.database import read_rows, reading, writing
from pipelines.store.node_table import checked, node_table
from pipelines.store.schema import corpus_version, document_indexes, documents, embedding_models
from pipelines.types import SHORT_NAMES, EmbeddingIdentity


@dataclass(frozen=True, slots=True)
class StoredModel:
    """An embedding model's node table.

    Attributes:
        table: Its name, without PGVectorStore's `data_` prefix.
        active: True for the one that is searched.
        documents: The number of stored documents whose current content it holds.
        stored: The number of stored documents.
        nodes: The number of nodes that it holds.
        bytes: Its size on disk, indexes included.
    """

    table: str
    identity: EmbeddingIdentity
    active: bool
    documents: int
    stored: int
    nodes: int
    bytes: int
    added_at: datetime

    @property
    def complete(self) -> bool:
        """True if it holds every stored document, so that it can become active."""
        return self.documents == self.stored


def active_table(connection: Connection) -> str:
    """The node table of the active model; empty if there is none."""
    models = embedding_models.c
    return connection.execute(select(models.node_table).where(models.active)).scalar() or ""


def active_model(engine: Engine) -> EmbeddingIdentity | None:
    """The active model; None if nothing was ingested yet."""
    models = embedding_models.c
    statement = select(models.provider, models.model, models.dimension).where(models.active)
    rows = read_rows(engine, "reading which embedding model serves", statement)
    return EmbeddingIdentity(*rows[0]) if rows else None


def active_since(engine: Engine, table: str) -> int | None:
    """The corpus version since which a node table is active; None if it is not, or was the first."""
    models = embedding_models.c
    statement = select(models.serves_since).where(models.node_table == table)
    rows = read_rows(engine, "reading which embedding model serves", statement)
    return rows[0].serves_since if rows else None


def model_to_use(engine: Engine, wanted: EmbeddingIdentity, *, stated: bool) -> EmbeddingIdentity:
    """The model to search and ingest with: the active one, or `wanted` while no document is stored.

    `wanted` is the model of the settings; unless they have `stated` it, the active one is used.

    Raises:
        ConfigError: If the settings state another model than the active one: their vectors do not compare.
    """
    has_documents = select(exists().where(documents.c.id.is_not(None)))
    active = active_model(engine)
    if active is None or active == wanted:
        return wanted
    if not read_rows(engine, "looking for documents", has_documents)[0][0]:
        with writing(engine, "choosing the embedding model") as connection:  # in place of the first choice
            version = connection.execute(select(corpus_version.c.version).with_for_update()).scalar_one()
            if not connection.execute(has_documents).scalar():
                activate(connection, node_table(wanted.slug), version)
        return wanted
    if not stated:
        return active
    raise ConfigError(mismatch(wanted, active), hint=f"Run {change_over(wanted)}, or {settings_of(active)}.")


def mismatch(wanted: EmbeddingIdentity, active: EmbeddingIdentity) -> str:
    """The message for settings that name another model than the active one."""
    return (
        f"The settings name the embedding model {wanted.model} ({wanted.provider}, {wanted.dimension} d), and "
        f"{active.model} ({active.provider}, {active.dimension} d) serves."
    )


def change_over(wanted: EmbeddingIdentity) -> str:
    """The commands that make a model the active one."""
    return f"`footnote models add {wanted.label}` and `footnote models promote {wanted.label}`"


def settings_of(active: EmbeddingIdentity) -> str:
    """The settings that name the active model."""
    return (
        f"set FOOTNOTE_EMBEDDING__PROVIDER={active.provider}, FOOTNOTE_EMBEDDING__MODEL={active.model} and "
        f"FOOTNOTE_EMBEDDING__DIMENSION={active.dimension}"
    )


def activate(connection: Connection, table: str, version: int) -> None:
    """Make a table the active one from a corpus version on, in one statement; without such a table none is active."""
    models = embedding_models.c
    others = update(embedding_models).where(models.active, models.node_table != table)
    off = others.values(active=False, serves_since=None)
    gone = off.returning(models.node_table).cte("gone")  # first, as at most one may be active at any time
    first = select(func.count()).select_from(gone).scalar_subquery() >= 0
    on = update(embedding_models).where(models.node_table == table, first)
    connection.execute(on.values(active=True, serves_since=version))


def assert_active(connection: Connection, table: str) -> None:
    """Refuse to use a table that is not active.

    After the corpus version was raised, no other model can be promoted before the transaction ends.

    Raises:
        ConfigError: If another model is active.
    """
    if active_table(connection) != table:
        raise ConfigError(
            "Another embedding model was promoted meanwhile; the pending change was not written.",
            hint="Run the same command again: it uses the model that is active now.",
        )


def assert_inactive(connection: Connection, table: str) -> None:
    """Refuse to use a table that is active or gone, and keep it so until the transaction ends.

    Raises:
        ConfigError: If it is active, or is gone.
    """
    models = embedding_models.c
    row = connection.execute(select(models.active).where(models.node_table == table).with_for_update(read=True)).first()
    if row is None:
        raise ConfigError(f"The node table {table} was dropped meanwhile.", hint="Run `footnote models list`.")
    if row.active:
        raise ConfigError("This embedding model is now active.", hint="Run `footnote ingest` to add documents.")


def every_table(connection: Connection) -> list[str]:
    """The node tables of all models; none of them is dropped before the transaction ends."""
    statement = select(embedding_models.c.node_table).order_by(embedding_models.c.node_table)
    return list(connection.execute(statement.with_for_update(read=True, key_share=True)).scalars())


def prevent_drop(engine: Engine, table: str) -> None:
    """Prevent the drop of a node table until the read snapshot ends in which this is called.

    Raises:
        ConfigError: If it is gone.
    """
    with reading(engine, "opening the nodes") as connection:
        connection.execute(text(f"LOCK TABLE data_{checked(table)}, {table}_windows IN ACCESS SHARE MODE"))


# What is there


def stored_models(engine: Engine) -> list[StoredModel]:
    """Every node table, the active one first, then by name."""
    models, i = embedding_models.c, document_indexes.c
    nodes = select(func.coalesce(func.sum(i.nodes), 0)).where(i.node_table == models.node_table).scalar_subquery()
    statement = select(embedding_models, nodes.label("nodes")).order_by(models.active.desc(), models.node_table)
    with reading(engine, "reading the embedding models") as connection:
        stored = connection.execute(select(func.count()).select_from(documents)).scalar_one()
        return [
            StoredModel(
                table=row.node_table,
                identity=EmbeddingIdentity(row.provider, row.model, row.dimension),
                active=row.active,
                documents=stored - count_missing(connection, row.node_table),
                stored=stored,
                nodes=row.nodes,
                bytes=table_bytes(connection, row.node_table),
                added_at=row.added_at,
            )
            for row in connection.execute(statement).all()
        ]


def count_missing(connection: Connection, table: str) -> int:
    """Count the stored documents whose current content a node table does not hold."""
    d, i = documents.c, document_indexes.c
    current = exists().where(and_(i.document_id == d.id, i.node_table == table, i.content_sha == d.content_sha))
    return int(connection.execute(select(func.count()).select_from(documents).where(~current)).scalar_one())


def table_bytes(connection: Connection, table: str) -> int:
    """The size on disk of a node table and its vectors, indexes included; 0 if there is none."""
    names = (f"data_{table}", f"{table}_windows")
    sizes = [func.coalesce(func.pg_total_relation_size(func.to_regclass(name)), 0) for name in names]
    return int(connection.execute(select(sizes[0] + sizes[1])).scalar_one())


def find_model(stored: Sequence[StoredModel], name: str) -> StoredModel:
    """The model of that name: a table's, `model` or `provider/model`, either with `@dimension`, or a short name.

    Raises:
        RetrievalError: If no model or several have it.
    """
    found = [one for one in stored if SHORT_NAMES.get(name, name) in _names(one)]
    labels = ", ".join(one.identity.label for one in found or stored)
    if len(found) > 1:
        raise RetrievalError(f"{name!r} could be {len(found)} embedding models: {labels}.", hint="Give the whole name.")
    if not found:
        known = f"There are: {labels}." if stored else "There is none yet."
        raise RetrievalError(
            f"The database holds no embedding model {name[:100]!r}. {known}", hint="`footnote models add` creates one."
        )
    return found[0]


def _names(one: StoredModel) -> set[str]:
    model = one.identity
    names = {model.model, f"{model.provider}/{model.model}"}
    return {one.table, f"data_{one.table}", *names, *(f"{name}@{model.dimension}" for name in names)}
