"""Databases as older releases left them: rows that they wrote, put back by plain SQL into the tables of their time."""

import json
import shutil
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

from pipelines.store.database import migrate

TABLE = "nodes_hashed_hashed_256_v1"
_RELEASES = Path(__file__).parents[1] / "fixtures" / "upgrade"
KEPT = _RELEASES / "files"  # what they had ingested at last
_NODES = (
    f"CREATE TABLE data_{TABLE} (id BIGSERIAL PRIMARY KEY, text VARCHAR NOT NULL, metadata_ JSONB, node_id VARCHAR, "
    "embedding VECTOR(256))",
    f"CREATE UNIQUE INDEX data_{TABLE}_id ON data_{TABLE} (node_id)",
    f"CREATE TABLE {TABLE}_windows (node_id VARCHAR REFERENCES data_{TABLE} (node_id) ON DELETE CASCADE, "
    "place SMALLINT, embedding VECTOR(256) NOT NULL, PRIMARY KEY (node_id, place))",
    f"CREATE INDEX {TABLE}_hnsw ON {TABLE}_windows USING hnsw (embedding vector_cosine_ops) "
    "WITH (m = 16, ef_construction = 64)",
)
_COLUMNS = (
    "SELECT table_name, column_name, data_type, udt_name, is_nullable, "
    "regexp_replace(column_default, '^nextval.*', 'serial') FROM information_schema.columns "
    "WHERE table_schema = 'public' AND table_name <> 'alembic_version' ORDER BY 1, 2"
)
_INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'alembic_version' ORDER BY 1"
_CONSTRAINTS = (
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = 'public'::regnamespace AND conrelid <> to_regclass('alembic_version') AND contype <> 'n' "
    "ORDER BY 1, 2"
)


def fill(engine: Engine, revision: str, folder: Path) -> None:
    """Make the database what that release had stored of the fixture's files, which now lie in `folder`.

    It had ingested a first state of them, then this one: crane.md and garden.md changed, tram.md came, ferry.txt went,
    broken.pdf failed. In between and afterwards it was asked.
    """
    shutil.copytree(KEPT, folder)
    rows = json.loads((_RELEASES / f"{revision}.json").read_text().replace("{folder}", str(folder)))
    migrate(engine, "base")
    migrate(engine, revision)
    with engine.begin() as connection:
        made = ("corpus_version", "corpus_changes")  # in which the migrations write a row
        for statement in (*_NODES, *(f"DELETE FROM {table}" for table in made if table in rows)):
            connection.execute(text(statement))
        for table in sorted(rows, key=lambda name: name not in ("documents", "ingest_runs")):  # what others point at
            insert = f"INSERT INTO {table} SELECT * FROM jsonb_populate_recordset(NULL::{table}, CAST(:rows AS jsonb))"
            connection.execute(text(insert), {"rows": json.dumps(rows[table])})
            if table != "corpus_version" and isinstance(rows[table][0].get("id"), int):
                last = f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"
                connection.execute(text(last))
        connection.execute(text(f"INSERT INTO {TABLE}_windows SELECT node_id, 0, embedding FROM data_{TABLE}"))


def shape(engine: Engine) -> list[Any]:
    """Every column, index and constraint of the database, but for those of Alembic's own table."""
    with engine.connect() as connection:
        return [tuple(row) for each in (_COLUMNS, _INDEXES, _CONSTRAINTS) for row in connection.execute(text(each))]


def contents(engine: Engine) -> dict[str, list[str]]:
    """Every row of the database, by table."""
    with engine.connect() as connection:
        names = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).scalars().all()
        return {
            name: sorted(connection.execute(text(f'SELECT to_jsonb(t)::text FROM "{name}" AS t')).scalars())
            for name in names
        }


def rows(engine: Engine, statement: str) -> list[tuple[Any, ...]]:
    """What a statement finds."""
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]
