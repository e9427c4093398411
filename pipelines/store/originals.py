"""Files under FOOTNOTE_HOME: originals kept once each, paths and URIs, and the errors of a full disk."""

import errno
import os
import uuid
from pathlib import Path
from urllib.parse import unquote_to_bytes

from pipelines.errors import StoreError
from pipelines.text import printable

_NUMBERS = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_WORDS = ("No space left on device", "Disk quota exceeded", "File too large")
_POSTGRES = "53100"
HINT = "Free some space there; what was finished stays, and the next run goes on."


def is_full(error: object) -> bool:
    """True if an error of the system or of psycopg2 means a full disk; some say so only in their text."""
    if isinstance(error, OSError):
        return error.errno in _NUMBERS
    return getattr(error, "pgcode", None) == _POSTGRES or says_full(str(error))


def says_full(text: str) -> bool:
    """True if a program's output says that the disk is full."""
    return any(words in text for words in _WORDS)


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def keep_original(home: Path, sha: str, data: bytes, *, name: str) -> Path:
    """Keep the bytes of a document, written whole or not at all, unless they are kept already; returns their path.

    Raises:
        StoreError: If they cannot be written: the disk is full, or the folder is closed.
    """
    target = original_path(home, sha)
    try:
        if is_kept(home, sha, len(data)):
            os.utime(target)  # so that it is not swept now
            return target
        write_whole(target, data)
    except OSError as error:
        reason, hint = error.strerror or str(error), "Check the permissions of FOOTNOTE_HOME."
        if is_full(error):
            full = f"The original of {name} cannot be kept: the disk of {home} is full ({reason})."
            raise StoreError(full, hint=HINT) from error
        raise StoreError(f"The original of {name} cannot be stored in {home}: {reason}.", hint=hint) from error
    return target


def write_whole(target: Path, data: bytes) -> None:
    """Write a file wholly or not at all, readable by its owner only.

    Raises:
        OSError: If it cannot be written.
    """
    fresh = target.with_name(f".new-{uuid.uuid4().hex}")
    try:
        handle = os.open(fresh, _NEW, 0o600)
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(fresh, _NEW, 0o600)
    try:
        with open(handle, "wb", buffering=0) as file:
            left = memoryview(data)
            while left:
                left = left[file.write(left) :]
            os.fsync(handle)
        os.replace(fresh, target)
    except BaseException:
        os.unlink(fresh)
        raise


def original_path(home: Path, sha: str) -> Path:
    """The path of the bytes with this SHA-256."""
    return home / "originals" / sha[:2] / sha


def named_path(location: str) -> Path:
    """The path of a location on the command line; the `~` of an unknown user stays as it is, as in a shell."""
    return Path(os.path.expanduser(location))


def named_uri(location: str) -> str:
    """The `file:` URI of a location on the command line, links resolved; it need not exist."""
    return Path(os.path.realpath(named_path(location))).as_uri()


def path_of(uri: str) -> Path:
    """The path of a `file:` URI; for a member of an archive (after a `#`), the archive's."""
    return Path(os.fsdecode(unquote_to_bytes(uri.removeprefix("file://").partition("#")[0])))


def named_place(source: str) -> str:
    """A source as on the command line: the path of a `file:` URI, else the source itself."""
    return printable(str(path_of(source))) if source.startswith("file://") else source


def is_kept(home: Path, sha: str, length: int) -> bool:
    """True if a file for this SHA-256 is kept in full length; its bytes are checked when they are read."""
    try:
        return original_path(home, sha).stat().st_size == length
    except OSError:
        return False
