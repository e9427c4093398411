"""Files and folders as a source."""

import hashlib
import os
import stat
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

from pipelines.errors import SourceError
from pipelines.ingestion.loaders import SUFFIXES
from pipelines.ingestion.sources.base import Access, Listing, Read, Remark
from pipelines.ingestion.sources.exports import Export, export_of, inner_uri
from pipelines.ingestion.sources.paths import printable, read_path, where_it_may_be
from pipelines.store.originals import keep_original, named_uri, path_of
from pipelines.types import SourceItem

_PASSED_OVER = {"node_modules", "__pycache__", "venv"}  # beside every name that starts with a dot
_LONGEST = 1_800  # characters of a URI: an index of Postgres takes no more
_LEGAL = {"license", "licence", "copying"}  # the same text everywhere, about nobody's work


class Files:
    """Files and folders of this machine."""

    def __init__(self, access: Access) -> None:
        self._most_bytes, self._home = access.most_bytes, access.settings.home
        self._exports: dict[Path, Export] = {}

    def list(self, location: str) -> Listing:
        """A file, or a folder with all below it; see `list_files`."""
        return list_files(location)

    def read(self, item: SourceItem) -> Read:
        """The hash of a file; what lies in an export is kept, so that nobody has to open that once more.

        Raises:
            SourceError: If the file is gone or may not be read.
            StoreError: If what lies in an export cannot be kept.
        """
        path, _, place = item.uri.partition("#")
        if not place:
            return Read(hashlib.sha256(read_file(item, self._most_bytes)).hexdigest())
        data = self._export(path_of(path)).read(unquote(place), self._most_bytes)
        sha, is_whole = hashlib.sha256(data).hexdigest(), len(data) <= self._most_bytes
        if is_whole:
            keep_original(self._home, sha, data, name=item.name)
        return Read(sha, kept=is_whole)

    def close(self) -> None:
        """Let go of the exports."""
        for export in self._exports.values():
            export.close()

    def _export(self, path: Path) -> Export:
        if path not in self._exports:
            self._exports[path] = Export(path)
        return self._exports[path]


def list_files(location: str) -> Listing:
    """The listing of a file or of a folder with all below it.

    A folder lists the kinds that we load; a file that is named itself is always taken. Hidden files and folders and
    licence texts are passed over. A folder that cannot be read makes the listing incomplete. A ZIP that Notion exported
    is like a folder; one of another kind is no document.
    """
    shown = printable(location)
    try:
        path = read_path(location).resolve(strict=True)
        if path.is_dir():
            return _list_folder(path)
        if exported := _exported(path, "", path.as_uri()):
            items, skipped, problems, is_whole = exported
            return Listing(path.as_uri(), "file", tuple(items), is_whole, tuple(skipped), tuple(problems))
        if len(path.as_uri()) > _LONGEST:
            return Listing(f"file:{path.name[-60:]}", "file", (), False, problems=(_too_long(path.name),))
        return Listing(path.as_uri(), "file", (_item(path, path.name, path.as_uri()),), False)
    except FileNotFoundError:
        error = SourceError(f"{shown} does not exist.", hint=where_it_may_be(shown))
    except (OSError, ValueError, RuntimeError) as cause:  # the last of a link to itself
        error = SourceError(f"{shown} cannot be read: {cause}.", hint="Check its permissions.")
    except SourceError as cause:
        error = cause
    return Listing(_source_of(location), "file", (), False, problems=((shown, error),))


def _source_of(location: str) -> str:
    """The URI of a place that cannot be listed, as when it can be; else what was asked for."""
    try:
        read_path(location)
        uri = named_uri(location)
    except (SourceError, OSError, ValueError):
        uri = ""
    return uri if 0 < len(uri) <= _LONGEST else f"file:{printable(location)[-60:]}"


def _list_folder(folder: Path) -> Listing:
    source = folder.as_uri()
    items: list[SourceItem] = []
    skipped: list[Remark] = []
    closed: list[tuple[str, SourceError]] = []
    refused: list[tuple[str, SourceError]] = []
    unread: list[str] = []

    def unreadable(error: OSError) -> None:
        name = os.path.relpath(error.filename, folder)
        closed.append((name, SourceError(f"{name} cannot be listed: {error.strerror}.", hint="Check its permissions.")))

    for parent, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not is_passed_over(name))
        inside = [Path(parent) / name for name in folders]
        links = [path.relative_to(folder).as_posix() for path in inside if path.is_symlink()]
        skipped += [Remark(printable(name), "it is a link to a folder") for name in links]
        for name in sorted(names):
            path = Path(parent) / name
            relative = path.relative_to(folder).as_posix()
            if name.startswith("."):
                continue
            try:
                if not _is_own(path, folder):
                    skipped.append(Remark(printable(relative), "it is no file, or a link out of the folder"))
                elif exported := _exported(path, f"{relative}/", source):
                    items += exported[0]
                    skipped += exported[1]
                    refused += exported[2]
                    unread += [] if exported[3] else [path.as_uri()]
                elif why := _why_not_taken(path):
                    skipped.append(Remark(printable(relative), why))
                elif len(path.as_uri()) > _LONGEST:
                    refused.append(_too_long(relative))
                else:
                    items.append(_item(path, relative, source))
            except OSError as error:
                unreadable(error)
            except SourceError as error:  # an export that is copied just now holds everything again soon
                refused.append((relative, error))
                unread.append(path.as_uri())
    in_order = tuple(sorted(items, key=lambda item: item.name))
    return Listing(source, "file", in_order, not closed, tuple(skipped), (*closed, *refused), tuple(unread))


def is_passed_over(folder: str) -> bool:
    """Whether a folder of this name is not looked into."""
    return folder.startswith(".") or folder in _PASSED_OVER


def _is_own(path: Path, folder: Path) -> bool:
    """Whether this is a file of the folder; not through a link out of it, which nobody named.

    Raises:
        OSError: If its folder lets nobody look.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
    except FileNotFoundError:  # a link to nothing
        return False
    return not path.is_symlink() or path.resolve().is_relative_to(folder)


def _why_not_taken(path: Path) -> str:
    """Why a file is not loaded; nothing where it is."""
    if path.stem.lower() in _LEGAL:
        return "it is a licence text"
    if path.suffix.lower() in SUFFIXES:
        return ""
    is_zip = path.suffix.lower() == ".zip"
    return "only a ZIP that Notion exported is opened" if is_zip else "files of its kind are not read"


def _exported(
    path: Path, above: str, source: str
) -> tuple[list[SourceItem], list[Remark], list[tuple[str, SourceError]], bool] | None:
    """(what a ZIP that Notion exported holds, names passed over, what cannot be taken, whether all of it can be read).

    None for another file.

    Raises:
        SourceError: If it cannot be read as a ZIP.
    """
    export = export_of(path) if path.suffix.lower() == ".zip" else None
    if export is None:
        return None
    stamp, items = _stamp(path), list[SourceItem]()
    skipped = [Remark(printable(above + each.name), each.said) for each in export.skipped]
    problems = [(above + place, error) for place, error in export.problems]
    for place, name in export.places():
        uri = inner_uri(path, place)
        if len(uri) > _LONGEST:
            problems.append(_too_long(above + name))
        else:
            items.append(SourceItem(uri, above + name, source, "file", stamp))
    export.close()
    return sorted(items, key=lambda item: item.name), skipped, problems, not export.problems


def _too_long(name: str) -> tuple[str, SourceError]:
    error = SourceError(f"The path of {name[-60:]} is too long.", hint="Move it up, or shorten its folders' names.")
    return name[-60:], error


def is_as_listed(item: SourceItem) -> bool:
    """Whether a file has the size and time that it was listed with; one without a stamp was not there."""
    try:
        return _stamp(path_of(item.uri)) == item.stamp
    except OSError:
        return not item.stamp


def _stamp(path: Path) -> str:
    info = path.stat()
    return f"{info.st_size}:{info.st_mtime_ns}"


def _item(path: Path, name: str, source: str) -> SourceItem:
    stamp = _stamp(path)
    return SourceItem(path.as_uri(), printable(name), source, "file", stamp)


def read_file(item: SourceItem, limit: int) -> bytes:
    """The bytes of a file, at most `limit` + 1, so that one over the limit shows without being read whole.

    Raises:
        SourceError: If the file is gone or may not be read.
    """
    path, _, place = item.uri.partition("#")
    if place:
        with closing(Export(path_of(path))) as export:
            return export.read(unquote(place), limit)
    try:
        with path_of(path).open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        raise SourceError(f"{item.name} cannot be read: {error.strerror}.", hint="Check its permissions.") from error
