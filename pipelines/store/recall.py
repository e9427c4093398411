"""Whether the vector index finds what comparing every vector finds: at all, through it, and through filters."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, func, select, text

from pipelines.store.node_table import HALFVEC_ABOVE, checked, node_rows, window_rows

_SAMPLE, _FILTERED, _CATEGORIES = 20, 5, 4
_FIRST = 10
_LOOK = "200"  # how many vectors the index looks at, as for a search of ten
_SAME = 1e-6  # distances are computed twice


def uses_index(connection: Connection, name: str, dimension: int) -> bool:
    """Whether the planner can use the vector index at all, small tables apart."""
    kind = "halfvec" if dimension > HALFVEC_ABOVE else "vector"
    with _scanning(connection, "enable_seqscan"):
        rows = connection.execute(
            text(
                f"EXPLAIN SELECT node_id FROM {checked(name)}_windows "  # noqa: S608 - both names are ours
                f"ORDER BY embedding <=> CAST(:v AS {kind}) LIMIT 5"
            ),
            {"v": "[" + ",".join(["0.1"] * dimension) + "]"},
        ).scalars()
        return any("hnsw" in row for row in rows)


def self_recall(connection: Connection, name: str, dimension: int) -> tuple[int, int]:
    """(how many of the sampled vectors find themselves through the index, of how many).

    Many equal vectors can tear an index apart.
    """
    found = 0
    sampled = _sampled(connection, name, dimension, _SAMPLE)
    for vector in sampled:
        near = _nearest(connection, name, dimension, vector, through_index=True)
        found += bool(near) and near[0] <= 1e-3
    return found, len(sampled)


def filtered_recall(connection: Connection, name: str, dimension: int) -> tuple[int, int]:
    """(how many of the first ten of an exact scan a filtered search through the index finds, of how many).

    The filter is each of the rarest categories in turn; what is searched for are vectors of the table.
    """
    found = total = 0
    category = node_rows(name).c.metadata_["category"].astext
    rarest = select(category).group_by(category).order_by(func.count(), category).limit(_CATEGORIES)
    sampled = _sampled(connection, name, dimension, _FILTERED)
    for wanted in connection.execute(rarest).scalars().all():
        for vector in sampled:
            exact = _nearest(connection, name, dimension, vector, wanted, through_index=False)
            near = _nearest(connection, name, dimension, vector, wanted, through_index=True)
            total += len(exact)
            found += sum(distance <= exact[-1] + _SAME for distance in near)
    return found, total


def _sampled(connection: Connection, name: str, dimension: int, count: int) -> Sequence[Any]:
    windows = window_rows(name, dimension).c
    return (
        connection.execute(select(windows.embedding).order_by(func.md5(windows.node_id)).limit(count)).scalars().all()
    )


def _nearest(
    connection: Connection, name: str, dimension: int, vector: Any, category: str = "", *, through_index: bool
) -> Sequence[float]:
    """The distances of the first ten, of one category where one is given, nearest first."""
    windows, rows = window_rows(name, dimension), node_rows(name)
    distance = windows.c.embedding.cosine_distance(vector)
    statement = select(distance).order_by(distance).limit(_FIRST)
    if category:
        statement = statement.join(rows, rows.c.node_id == windows.c.node_id).where(
            rows.c.metadata_["category"].astext == category
        )
    connection.execute(text("SELECT set_config('hnsw.ef_search', :look, true)"), {"look": _LOOK})
    with _scanning(connection, "enable_seqscan" if through_index else "enable_indexscan"):
        return [float(each) for each in connection.execute(statement).scalars()]


@contextmanager
def _scanning(connection: Connection, without: str) -> Iterator[None]:
    """Statements inside do without one way to scan, in this transaction."""
    switch = "SELECT set_config(:name, :value, true)"
    connection.execute(text(switch), {"name": without, "value": "off"})
    yield
    connection.execute(text(switch), {"name": without, "value": "on"})
