"""The HNSW index of a node table: set aside while a table is filled, and made of the whole at once afterwards.

Adding 12,000 vectors of 384 dimensions one by one costs five times what making the index of them costs. While there is
none, a search compares all vectors, and finds the same and more.
"""

from sqlalchemy import Connection, Engine, func, literal, select, text
from sqlalchemy import table as sql_table
from sqlalchemy.exc import DBAPIError

from pipelines.observe import log
from pipelines.store.database import writing
from pipelines.store.node_table import checked, hnsw_statement

_MANY = 256  # documents: fewer are added to the index that there is
_MOST_HELD = 5000  # vectors, which are compared in a few milliseconds
_PATIENCE = "1s"  # for searches that are under way to end


def set_vector_index_aside(engine: Engine, table: str, coming: int) -> None:
    """Drop the index when so many documents are coming that making it anew afterwards is cheaper than keeping it.

    It stays where the table holds much already, and where somebody goes on reading it.
    """
    if coming < _MANY:
        return
    try:
        with engine.begin() as connection:
            some = select(literal(1)).select_from(sql_table(f"{checked(table)}_windows")).limit(_MOST_HELD + 1)
            held = connection.execute(select(func.count()).select_from(some.subquery())).scalar_one()
            if held <= min(coming, _MOST_HELD) and _is_there(connection, table):
                connection.execute(text(f"SET LOCAL lock_timeout = '{_PATIENCE}'"))
                connection.execute(text(f"DROP INDEX IF EXISTS {table}_hnsw"))
                log("info", "vector index set aside", table=table, vectors=held)
    except DBAPIError as error:
        log("info", "vector index kept", table=table, error=type(error.orig).__name__)


def make_vector_index(engine: Engine, table: str, dimension: int) -> bool:
    """Make the index where it is missing, whoever set it aside; whether it was missing. Searches go on meanwhile."""
    with writing(engine, "making the vector index") as connection:
        if _is_there(connection, table):
            return False
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:t, 0))"), {"t": f"{table}_hnsw"})
        connection.execute(text(hnsw_statement(table, dimension)))
    log("info", "vector index made", table=table)
    return True


def _is_there(connection: Connection, table: str) -> bool:
    return connection.execute(text("SELECT to_regclass(:name)"), {"name": f"{table}_hnsw"}).scalar() is not None
