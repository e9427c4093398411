"""Uploaded files: kept under safe names, set aside when their documents are removed, brought back with them."""

import os
import re
import time
import unicodedata
from collections.abc import Collection, Sequence
from pathlib import Path

from pipelines.errors import SourceError

_NAME_BYTES = 120
_ASIDE = ".removed"
KEPT_REMOVED = 86_400  # seconds for which the file of a removed upload can be brought back


def keep_uploads(folder: Path, files: Sequence[tuple[str, bytes]]) -> list[Path]:
    """Write files under safe names, whole or not at all; an earlier upload of the same name is replaced.

    Raises:
        SourceError: If one cannot be written.
    """
    paths: list[Path] = []
    for name, data in files:
        path = folder / _unused(safe_name(name), {path.name for path in paths})
        part = path.with_name(f".{path.name}.part")
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            part.write_bytes(data)
            os.replace(part, path)
        except OSError as error:
            raise SourceError(
                f"{path.name} cannot be kept: {error.strerror}.", hint=f"Check the space and permissions of {folder}."
            ) from error
        paths.append(path)
    return paths


def safe_name(name: str) -> str:
    """A file name without folders, control characters or leading dots, at most 120 bytes, its suffix kept."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    clean = "".join(char for char in last if char.isprintable() and char not in '<>:"|?*').strip(" .")
    stem, dot, suffix = clean.rpartition(".")
    if not dot or len(suffix) > 10:
        stem, dot, suffix = clean, "", ""
    room = _NAME_BYTES - len((dot + suffix).encode("utf-8", "ignore"))
    return (stem.encode("utf-8", "ignore")[:room].decode("utf-8", "ignore") or "document") + dot + suffix


def _unused(name: str, taken: set[str]) -> str:
    stem, dot, suffix = name.rpartition(".")
    numbered = (f"{stem} ({n}){dot}{suffix}" if dot else f"{name} ({n})" for n in range(2, len(taken) + 3))
    return name if name not in taken else next(other for other in numbered if other not in taken)


def set_aside(folder: Path, uris: Collection[str]) -> None:
    """Move the uploads of these addresses aside; delete those that were moved long ago."""
    aside = folder / _ASIDE
    for path in aside.glob("*"):
        if time.time() - path.stat().st_ctime > KEPT_REMOVED:
            path.unlink(missing_ok=True)
    for path in folder.glob("*"):
        if path.is_file() and path.as_uri() in uris:
            aside.mkdir(mode=0o700, exist_ok=True)
            path.replace(aside / path.name)


def bring_back(folder: Path, uris: Collection[str]) -> None:
    """Move uploads of these addresses back, where no other file has their name by now."""
    for path in (folder / _ASIDE).glob("*"):
        home = folder / path.name
        if home.as_uri() in uris and not home.exists():
            path.replace(home)
