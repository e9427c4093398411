import errno

import psycopg2
import pytest
from sqlalchemy.exc import DatabaseError, OperationalError

from pipelines.errors import ServiceUnavailable
from pipelines.store.database import translate
from pipelines.store.originals import is_full, says_full

PANIC = (
    'PANIC:  could not write to file "pg_wal/xlogtemp.7": No space left on device\n'
    "server closed the connection unexpectedly"
)


class DiskFull(psycopg2.OperationalError):
    """What psycopg2 raises of a server that speaks another language."""

    pgcode = "53100"


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EFBIG, "File too large"), True),
        (OSError(errno.EACCES, "Permission denied"), False),
        (DiskFull("konnte Datei nicht erweitern"), True),
        (psycopg2.OperationalError(PANIC), True),
        (psycopg2.OperationalError("connection refused"), False),
        (None, False),
    ],
)
def test_a_full_disk_is_known_by_its_number_its_code_or_its_words(error: object, full: bool) -> None:
    assert is_full(error) is full


def test_a_full_disk_is_known_by_a_programs_output() -> None:
    assert says_full("initdb: error: could not write: No space left on device\ninitdb: removing data directory")
    assert not says_full("initdb: error: directory exists but is not empty")


def test_a_full_disk_is_not_called_a_database_that_cannot_be_reached() -> None:
    error = translate(OperationalError("INSERT", {}, psycopg2.OperationalError(PANIC)), "writing a.md")
    assert isinstance(error, ServiceUnavailable)
    assert error.message.startswith("The disk of the database is full while writing a.md: PANIC")
    assert "Free some space" in error.hint


def test_a_connection_that_broke_off_is_a_lost_service_whatever_class_the_driver_gives_it() -> None:
    gone = psycopg2.DatabaseError("server closed the connection unexpectedly")
    error = translate(DatabaseError("INSERT", {}, gone, connection_invalidated=True), "logging a document")
    assert isinstance(error, ServiceUnavailable)
    assert error.message.startswith("The database could not be reached while logging a document")
