"""The original bytes of documents, kept once each under FOOTNOTE_HOME/originals."""

import os
import tempfile
from pathlib import Path


def keep_original(home: Path, sha: str, data: bytes) -> Path:
    """Where the bytes are kept now; written whole or not at all, and only when they are new."""
    target = original_path(home, sha)
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
    return target


def original_path(home: Path, sha: str) -> Path:
    """The place of the bytes with this SHA-256."""
    return home / "originals" / sha[:2] / sha
