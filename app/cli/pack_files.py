"""Answer packs in files: Markdown for people and JSON for programs, side by side or in one archive."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

from app.answer_markdown import PACK_NAME, pack_archive, pack_markdown
from pipelines.errors import PackError
from pipelines.query.pack import MAX_BYTES, Pack, pack_json, read_pack
from pipelines.store.originals import named_path

_SUFFIXES = (".md", ".json")


def files_of(named: str) -> tuple[Path, ...]:
    """The files of a pack of this name: FILE.md and FILE.json, or one archive if FILE ends with .zip.

    Raises:
        PackError: If nothing can be written there.
    """
    path = named_path(named)
    stem = path.with_suffix("") if path.suffix.lower() in _SUFFIXES else path
    paths = (path,) if path.suffix.lower() == ".zip" else tuple(stem.with_name(stem.name + end) for end in _SUFFIXES)
    taken = next((each for each in paths if each.is_dir()), None)
    if not stem.name or taken or not path.parent.is_dir():
        reason = (
            f"{taken} is a folder"
            if taken
            else f"{path.parent} is not an existing folder"
            if stem.name
            else "it names a folder, not a file"
        )
        raise PackError(
            f"No answer pack can be written to {named!r}: {reason}.",
            hint="Name a file in a folder that you may write to.",
        )
    return paths


def write_pack(pack: Pack, paths: Sequence[Path]) -> None:
    """Write a pack to the files that `files_of` gave; what stood there is replaced.

    Raises:
        PackError: If a file cannot be written.
    """
    try:
        if len(paths) == 1:
            paths[0].write_bytes(pack_archive(pack))
        else:
            paths[0].write_text(pack_markdown(pack), encoding="utf-8")
            paths[1].write_text(pack_json(pack), encoding="utf-8")
    except OSError as error:
        raise PackError(f"The answer pack could not be written: {error.strerror or error}.") from error


def load_pack(named: str) -> Pack:
    """The pack in a file: its JSON or its archive; FILE and FILE.md stand for FILE.json.

    Raises:
        PackError: If there is no such file, or it is damaged or not an answer pack.
    """
    path = named_path(named)
    if path.suffix.lower() == ".md" or not path.is_file():
        stem = path.with_suffix("") if path.suffix.lower() in _SUFFIXES else path
        paths = (stem.with_name(stem.name + end) for end in (".json", ".zip"))
        path = next((each for each in paths if each.is_file()), path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise PackError(
            f"{named} cannot be read: {error.strerror or error}.", hint="Name a file that `footnote ask --pack` wrote."
        ) from error
    return read_pack(_unpacked(raw, named) if raw.startswith(b"PK") else raw, named)


def _unpacked(raw: bytes, named: str) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive, archive.open(f"{PACK_NAME}.json") as file:
            return file.read(MAX_BYTES + 1)
    except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, EOFError, NotImplementedError, ValueError) as error:
        raise PackError(
            f"{named} is damaged or not an answer pack: it holds no {PACK_NAME}.json.", hint="Create it again."
        ) from error
