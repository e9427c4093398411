"""Rows that are copied in binary are those that would be inserted."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from pgvector.sqlalchemy import HALFVEC, Vector
from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    insert,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.exc import DataError, IntegrityError

from config.settings import Settings
from pipelines.store.database import append_rows, open_database

EVERY = Table(
    'every "kind"',
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("text", Text),
    Column("name", String),
    Column("small", SmallInteger),
    Column("big", BigInteger),
    Column("real", Float),
    Column("at", DateTime(timezone=True)),
    Column("bytes", LargeBinary),
    Column("json", JSONB),
    Column("bands", ARRAY(BigInteger)),
    Column("vector", Vector(3)),
    Column("half", HALFVEC(3)),
    Column("noted", Text, server_default="by default"),
)
ROWS: list[dict[str, Any]] = [
    {
        "id": 1, "text": "Zoë said: \\N, \t and \n; 'quoted' 🦦", "name": "", "small": -3, "big": 2**62, "real": 0.1,
        "at": datetime(2024, 2, 29, 23, 59, 59, 999_999, tzinfo=timezone(timedelta(hours=5, minutes=30))),
        "bytes": b"\x00\xff\\x", "json": {"a": [1, None, "é\u2028"], "b": {"c": 1e-7}},
        "bands": [-(2**63), 0, 2**63 - 1],
        "vector": np.array([1e-20, -0.1, 3.3e38], np.float32), "half": np.array([0.1, -2, 60000], np.float32),
    },
    {
        "id": -2, "text": "", "name": "n", "small": 0, "big": -1, "real": -1e300,
        "at": datetime(1969, 7, 20, tzinfo=UTC),
        "bytes": b"", "json": [], "bands": [], "vector": np.zeros(3, np.float32), "half": np.ones(3, np.float32),
    },
    {"id": 3, **{column.name: None for column in EVERY.c if column.name not in ("id", "noted")}},
]  # fmt: skip


@pytest.fixture
def connection(settings: Settings) -> Any:
    with open_database(settings).engine.begin() as connection:
        EVERY.create(connection)
        yield connection
        connection.rollback()


def test_every_kind_of_value_comes_back_as_if_it_had_been_inserted(connection: Any) -> None:
    every = [f'"{column.name}"::text' for column in EVERY.c]
    read = text(f'SELECT {", ".join(every)} FROM "every ""kind""" ORDER BY id')
    append_rows(connection, EVERY, ROWS)
    copied = connection.execute(read).all()
    connection.execute(EVERY.delete())
    connection.execute(insert(EVERY), ROWS[:2])
    connection.execute(insert(EVERY).values(id=3))
    assert copied == connection.execute(read).all()


def test_no_rows_are_no_statement(connection: Any) -> None:
    append_rows(connection, EVERY, [])
    assert connection.execute(select(EVERY.c.id)).all() == []


def test_a_row_that_is_there_already_is_refused_as_an_insert_would_be(connection: Any) -> None:
    append_rows(connection, EVERY, [{"id": 1}])
    with pytest.raises(IntegrityError):
        append_rows(connection, EVERY, [{"id": 1}])


def test_a_text_that_postgres_cannot_hold_is_refused_as_an_insert_would_be(connection: Any) -> None:
    with pytest.raises(DataError):
        append_rows(connection, EVERY, [{"id": 1, "text": "a\x00b"}])
