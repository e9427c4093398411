"""The stored collections, kinds, authors and documents, by which a filter that fits nothing is refused."""

from difflib import get_close_matches

from sqlalchemy import Connection, Engine, func, select

from pipelines.errors import RetrievalError
from pipelines.store.database import reading
from pipelines.store.filters import seen_by
from pipelines.store.node_reader import NodeReader
from pipelines.store.schema import documents
from pipelines.types import Audience, Filters

_NAMED = 5  # values in a message


def assert_known(reader: NodeReader, filters: Filters, audience: Audience) -> None:
    """Refuse a collection, kind, author or document that nothing has which this audience sees.

    Raises:
        RetrievalError: For the first of them; it names the nearest that there is.
    """
    if not (filters.collection or filters.kind or filters.author or filters.document):
        return
    with reading(reader.engine, "reading what is stored") as connection:
        if not connection.execute(select(documents.c.id).where(seen_by(audience)).limit(1)).first():
            return
        _assert_among("collection", filters.collection, _values(connection, "collection", audience))
        authors = _values(connection, "author", audience)
        lowered = {author.lower() for author in authors}  # filters compare authors whatever their case
        same = {name for name in filters.author if name.lower() in lowered}
        _assert_among("author", filters.author, authors | same)
        if filters.document:
            d = documents.c
            rows = connection.execute(select(d.id, d.name, d.title).where(seen_by(audience))).all()
            parts = [(row.id, row.name, row.title, row.name.rpartition("/")[2]) for row in rows]
            names = {name for each in parts for name in each if name}
            ends = {name for name in filters.document if any(row.name.endswith(f"/{name}") for row in rows)}
            shown = names - {row.id for row in rows}
            _assert_among("document", filters.document, names | ends, shown)
    if filters.kind:
        _assert_among("kind", filters.kind, reader.kinds())


def assert_collection(engine: Engine, name: str) -> None:
    """Refuse a collection in which nothing is stored; raises as `assert_known`."""
    with reading(engine, "reading what is stored") as connection:
        _assert_among("collection", (name,), _values(connection, "collection", "owner"))


def _values(connection: Connection, column: str, audience: Audience) -> set[str]:
    value = documents.c[column]
    return set(connection.execute(select(value).where(seen_by(audience), func.length(value) > 0).distinct()).scalars())


def _assert_among(what: str, wanted: tuple[str, ...], known: set[str], shown: set[str] | None = None) -> None:
    for value in wanted:
        if value not in known:
            offered = {each.lower(): each for each in (known if shown is None else shown)}
            near = get_close_matches(value.lower(), offered, 1, 0.5)
            listed = ", ".join(sorted(offered.values())[:_NAMED]) or "none"
            hint = f"Did you mean {offered[near[0]]!r}?" if near else f"There are: {listed}."
            raise RetrievalError(f"There is no {what} {value!r}.", hint=hint)
