"""Files and folders as a source."""

import os
from pathlib import Path

from pipelines.errors import SourceError
from pipelines.ingestion.loaders import SUFFIXES
from pipelines.store.originals import path_of
from pipelines.types import SourceItem

_PASSED_OVER = {"node_modules", "__pycache__", "venv"}  # beside every name that starts with a dot
_LEGAL = {"license", "licence", "copying"}  # the same text everywhere, about nobody's work

Listed = tuple[str, list[SourceItem], bool, list[str], list[tuple[str, SourceError]]]


def list_files(location: str) -> Listed:
    """(source URI, items by name, complete, skipped names, problems) of a file or of a folder with all below it.

    A folder lists the kinds that we load; a file that is named itself is always taken. Hidden files and folders and
    licence texts are passed over. A folder that cannot be read makes the listing incomplete.
    """
    path = Path(location).expanduser()
    shown = location.encode("utf-8", "replace").decode()
    try:
        if not location.strip():
            raise FileNotFoundError
        path = path.resolve(strict=True)
        if path.is_dir():
            return _list_folder(path)
        return path.as_uri(), [_item(path, path.name, path.as_uri())], False, [], []
    except FileNotFoundError:
        error = SourceError(f"{shown or repr(shown)} does not exist.", hint="Check the path.")
    except (OSError, ValueError) as cause:
        error = SourceError(f"{shown} cannot be read: {cause}.", hint="Check its permissions.")
    return f"file:{shown}", [], False, [], [(shown, error)]


def _list_folder(folder: Path) -> Listed:
    source = folder.as_uri()
    items: list[SourceItem] = []
    skipped: list[str] = []
    problems: list[tuple[str, SourceError]] = []

    def unreadable(error: OSError) -> None:
        name = os.path.relpath(error.filename, folder)
        problems.append(
            (name, SourceError(f"{name} cannot be listed: {error.strerror}.", hint="Check its permissions."))
        )

    for parent, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _PASSED_OVER)
        for name in sorted(names):
            path = Path(parent) / name
            relative = path.relative_to(folder).as_posix()
            if name.startswith(".") or not path.is_file():
                continue
            if path.is_symlink() and not path.resolve().is_relative_to(folder):
                skipped.append(relative)  # a link out of the folder brings in what nobody named
                continue
            if path.suffix.lower() not in SUFFIXES or path.stem.lower() in _LEGAL:
                skipped.append(relative)
                continue
            items.append(_item(path, relative, source))
    return source, sorted(items, key=lambda item: item.name), not problems, skipped, problems


def _item(path: Path, name: str, source: str) -> SourceItem:
    info = path.stat()
    # Names that are not UTF-8 would not fit into the database.
    printable = name.encode("utf-8", "replace").decode()
    return SourceItem(path.as_uri(), printable, source, "file", f"{info.st_size}:{info.st_mtime_ns}")


def read_file(item: SourceItem, limit: int) -> bytes:
    """The bytes of a file, at most `limit` + 1, so that one over the limit shows without being read whole.

    Raises:
        SourceError: If the file is gone or may not be read.
    """
    try:
        with path_of(item.uri).open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        raise SourceError(f"{item.name} cannot be read: {error.strerror}.", hint="Check its permissions.") from error
