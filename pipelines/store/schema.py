"""Which migration the relational tables stand at, and the way to another one."""

import re
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from pipelines.errors import ConfigError

HEAD = "0005"  # the newest migration; a test holds it to the migrations folder
REVISIONS = tuple(f"{number:04d}" for number in range(1, int(HEAD) + 1))
_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x466F6F746E6F7465
_PATIENCE = "30s"  # that a migration waits for those who read or write a table


def prepare(connection: Connection) -> str | None:
    """The migration this database stands at (None = empty), with the vector extension in place.

    Raises:
        ConfigError: If the database is newer than this program or another program's, and nothing is written then; if
            the server has no pgvector, or a pgvector without iterative scans.
    """
    stands = standing(connection)
    present = connection.execute(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")).scalar()
    if present is None:
        present = _create_extension(connection)
    if _numbers(present) < (0, 8):
        raise ConfigError(
            f"The server has pgvector {present}, and filtered search needs 0.8.",
            hint="Install pgvector 0.8 there and run `ALTER EXTENSION vector UPDATE` in this database.",
        )
    return stands


def standing(connection: Connection) -> str | None:
    """The migration this database stands at; None where nothing was migrated yet.

    Raises:
        ConfigError: If it is newer than this program, or none of Footnote's.
    """
    if not connection.execute(text("SELECT to_regclass('alembic_version')")).scalar():
        return None
    held = connection.execute(text("SELECT version_num FROM alembic_version ORDER BY version_num")).scalars().all()
    if not held or held[0] in REVISIONS:
        return str(held[0]) if held else None
    if re.fullmatch(r"[0-9]{4}", held[0]) and held[0] > HEAD:
        raise ConfigError(
            f"The database stands at migration {held[0]}, and this Footnote knows none after {HEAD}.",
            hint=f"Upgrade Footnote, or bring the database down with the newer one (`footnote db migrate --to {HEAD}`),"
            " or use another database (DATABASE_URL or FOOTNOTE_HOME).",
        )
    raise ConfigError(
        f"The database stands at migration {str(held[0])[:40]!r}, and Footnote's go from {REVISIONS[0]} to {HEAD}: "
        "another program made it.",
        hint="Use a database of its own for Footnote (DATABASE_URL).",
    )


def bring(connection: Connection, revision: str) -> str | None:
    """Bring the tables to a revision, up or down, in the transaction of this connection; where they stood.

    One process at a time: another one waits until the transaction ends, and then finds what it did.

    Args:
        connection: With a transaction of its own.
        revision: One of `REVISIONS`, or `base` for no tables at all.

    Raises:
        ConfigError: As for `prepare`, or if there is no such revision.
    """
    from alembic import command

    assert_known(revision)
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    before = prepare(connection)
    connection.execute(text("SELECT set_config('lock_timeout', :wait, true)"), {"wait": _PATIENCE})
    step = command.downgrade if _place(revision) < _place(before) else command.upgrade
    step(alembic_config(connection), revision)
    return before


def assert_known(revision: str) -> None:
    """Refuse a revision that there is not.

    Raises:
        ConfigError: If there is none of that name.
    """
    if revision != "base" and revision not in REVISIONS:
        raise ConfigError(f"There is no migration {revision[:40]!r}.", hint=f"There are {', '.join(REVISIONS)}.")


def losses(before: str | None, revision: str) -> list[str]:
    """What a database loses on its way down to an older revision, a sentence a step; nothing on the way up."""
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(alembic_config())
    steps = REVISIONS[max(_place(revision), 0) : _place(before)]
    said = (scripts.get_revision(step).module.downgrade.__doc__ for step in reversed(steps))
    return [" ".join(str(each).split()) for each in said]


def alembic_config(connection: Connection | None = None) -> Any:
    """Alembic's configuration for the migrations of this package."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _place(revision: str | None) -> int:
    """How many migrations lie behind a revision."""
    return 0 if revision in (None, "base") else REVISIONS.index(str(revision)) + 1


def _create_extension(connection: Connection) -> str:
    try:
        with connection.begin_nested():
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
    except DBAPIError as error:
        raise ConfigError(
            "The Postgres server has no pgvector, or this user may not enable it.",
            hint="Install pgvector there (Debian: postgresql-NN-pgvector) and let a superuser run "
            "`CREATE EXTENSION vector` in this database; or unset DATABASE_URL for the embedded server.",
        ) from error
    return str(connection.execute(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")).scalar())


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
