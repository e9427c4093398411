"""COPY in binary: rows reach Postgres without being written out as text and read again, vectors above all."""

import io
import json
import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import psycopg2
from numpy.typing import NDArray
from sqlalchemy import Connection, Table
from sqlalchemy.exc import DBAPIError

_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TAIL = struct.pack(">h", -1)


def copy_rows(connection: Connection, table: Table, columns: Sequence[str], rows: Iterable[Sequence[bytes]]) -> None:
    """Append rows to a table, in the transaction of the connection; each value as its type's binary form.

    Args:
        connection: Of psycopg2.
        table: Where they go.
        columns: Which columns the values are for; the others get their defaults.
        rows: In order; see the functions below for the forms of values.

    Raises:
        DBAPIError: If the database refuses them.
    """
    out, fields = bytearray(_HEAD), struct.pack(">h", len(columns))
    for row in rows:
        out += fields
        for value in row:
            out += struct.pack(">i", len(value))
            out += value
    out += _TAIL
    quote = connection.dialect.identifier_preparer.quote
    into = f"{connection.dialect.identifier_preparer.format_table(table)} ({', '.join(map(quote, columns))})"
    statement = f"COPY {into} FROM STDIN (FORMAT binary)"
    driver: Any = connection.connection.driver_connection
    try:
        with driver.cursor() as cursor:
            cursor.copy_expert(statement, io.BytesIO(out))
    except psycopg2.Error as error:
        raise DBAPIError.instance(statement, None, error, psycopg2.Error) from error


def as_text(value: str) -> bytes:
    """The form of a text or varchar."""
    return value.encode()


def as_jsonb(value: Any) -> bytes:
    """The form of a JSONB value."""
    return b"\x01" + json.dumps(value).encode()


def as_smallint(value: int) -> bytes:
    """The form of a smallint."""
    return struct.pack(">h", value)


def as_integer(value: int) -> bytes:
    """The form of an integer."""
    return struct.pack(">i", value)


def as_bigints(values: Sequence[int]) -> bytes:
    """The form of an array of bigints, not empty."""
    # one dimension, no nulls, the type's number, how many, from 1; then each behind its length
    head = struct.pack(">iiiii", 1, 0, 20, len(values), 1)
    return head + b"".join(struct.pack(">iq", 8, value) for value in values)


def as_vector(vector: NDArray[np.float32], *, half: bool) -> bytes:
    """The form of a pgvector vector, or of a halfvec."""
    return struct.pack(">hh", len(vector), 0) + vector.astype(">f2" if half else ">f4").tobytes()
