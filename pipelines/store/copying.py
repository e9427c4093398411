"""COPY in binary: rows reach Postgres without being written out as text and read again, vectors above all."""

import io
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg2
from pgvector.sqlalchemy import HALFVEC, Vector
from sqlalchemy import BigInteger, Connection, DateTime, Float, Integer, LargeBinary, SmallInteger, String, Table
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TAIL, _NULL = struct.pack(">h", -1), struct.pack(">i", -1)
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)  # of Postgres
_INT8 = 20  # the number of that type


def append_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append rows to a table, in the transaction of the connection; all have the columns of the first.

    Columns that are not given get their defaults.

    Raises:
        DBAPIError: If the database refuses them.
    """
    if not rows:
        return
    columns = [table.c[name] for name in rows[0]]
    forms = [(column.name, _form(column.type)) for column in columns]
    out, fields, length = bytearray(_HEAD), struct.pack(">h", len(columns)), struct.Struct(">i")
    for row in rows:
        out += fields
        for name, form in forms:
            value = row[name]
            if value is None:
                out += _NULL
            else:
                held = form(value)
                out += length.pack(len(held))
                out += held
    out += _TAIL
    names = connection.dialect.identifier_preparer
    into = f"{names.format_table(table)} ({', '.join(names.quote(column.name) for column in columns)})"
    statement = f"COPY {into} FROM STDIN (FORMAT binary)"
    driver: Any = connection.connection.driver_connection
    try:
        with driver.cursor() as cursor:
            cursor.copy_expert(statement, io.BytesIO(out))
    except psycopg2.Error as error:
        raise DBAPIError.instance(statement, None, error, psycopg2.Error) from error


def _form(kind: TypeEngine[Any]) -> Callable[[Any], bytes]:
    return next(_FORMS[each] for each in type(kind).__mro__ if each in _FORMS)


def _jsonb(value: Any) -> bytes:
    return b"\x01" + json.dumps(value).encode()


def _moment(value: datetime) -> bytes:
    return struct.pack(">q", (value - _EPOCH) // timedelta(microseconds=1))


def _bigints(values: Sequence[int]) -> bytes:
    if not values:
        return struct.pack(">iii", 0, 0, _INT8)
    head = struct.pack(">iiiii", 1, 0, _INT8, len(values), 1)  # dimensions, nulls, type, how many, from which number
    return head + b"".join(struct.pack(">iq", 8, value) for value in values)


def _packed(form: str) -> Callable[[Any], bytes]:
    return struct.Struct(form).pack


def _vector(value: Any) -> bytes:
    return struct.pack(">hh", len(value), 0) + bytes(value.astype(">f4").tobytes())


def _half_vector(value: Any) -> bytes:
    return struct.pack(">hh", len(value), 0) + bytes(value.astype(">f2").tobytes())


_FORMS: dict[type, Callable[[Any], bytes]] = {
    String: str.encode,
    SmallInteger: _packed(">h"),
    Integer: _packed(">i"),
    BigInteger: _packed(">q"),
    Float: _packed(">d"),
    DateTime: _moment,
    LargeBinary: bytes,
    JSONB: _jsonb,
    ARRAY: _bigints,
    Vector: _vector,
    HALFVEC: _half_vector,
}
