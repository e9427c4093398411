"""What is kept under FOOTNOTE_HOME and needed by nobody any more: originals, and files that were never finished."""

import time
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select

from pipelines.errors import StoreError
from pipelines.store.tables import document_versions, documents

_A_DAY = 86_400.0  # seconds; a run keeps an original before it writes its document


@dataclass(frozen=True, slots=True)
class Unused:
    """Files that can go, and their size in bytes."""

    paths: tuple[Path, ...]
    size: int

    def __str__(self) -> str:
        return f"{len(self.paths):,} files, {self.size / 1e6:,.1f} MB"


def unused(connection: Connection, home: Path) -> Unused:
    """The originals that no document and no kept version names, by path, and whatever was never written to its end.

    Nothing that was touched in the last day, because a run may be about to need it. What a remote source was fetched
    for and never became a document is fetched again. Another database that shares the home is not asked.
    """
    needed = _needed(connection)
    before = time.time() - _A_DAY
    paths, size = [], 0
    for path in sorted([*(home / "originals").glob("*/*"), *(home / "fetched").glob("**/.new-*")]):
        try:
            held = path.stat()
        except OSError:
            continue  # another process finished with it
        if path.name not in needed and held.st_mtime < before:
            paths.append(path)
            size += held.st_size
    return Unused(tuple(paths), size)


def sweep(connection: Connection, home: Path, agreed: Unused) -> Unused:
    """Delete what was agreed to and is still unused, as a run may have needed it meanwhile; what was deleted.

    Raises:
        StoreError: If a file cannot be deleted.
    """
    still, meant = unused(connection, home), set(agreed.paths)
    gone = tuple(path for path in still.paths if path in meant)
    size = 0
    for path in gone:
        try:
            size += path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            continue  # somebody else swept, too
        except OSError as error:
            hint = "Check the permissions of FOOTNOTE_HOME."
            raise StoreError(f"{path} cannot be deleted: {error.strerror}.", hint=hint) from error
    return Unused(gone, size)


def _needed(connection: Connection) -> set[str]:
    """The SHA-256 of every original that a document or a kept version names."""
    version = document_versions.c.row["file_sha"].astext
    return {
        *connection.execute(select(documents.c.file_sha).distinct()).scalars(),
        *connection.execute(select(version).distinct()).scalars(),
    }
