"""Files and folders as a source, and the paths that name them."""

import hashlib
import os
import re
import stat
import zipfile
from codecs import BOM_UTF8
from contextlib import closing, suppress
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote, unquote_to_bytes

from pipelines.errors import SourceError
from pipelines.ingestion.loaders import SUFFIXES
from pipelines.ingestion.loaders.career_data import is_linkedin_archive
from pipelines.ingestion.loaders.markdown import is_front_matter_alone
from pipelines.ingestion.loaders.sniff import CAREER_SUFFIXES, MARKDOWN, MIME_OF_SUFFIX, career_type
from pipelines.ingestion.sources.base import Access, Listing, Read, Remark
from pipelines.ingestion.sources.exports import Export, inner_uri, open_notion_export
from pipelines.store.originals import keep_original, named_path, named_uri, path_of
from pipelines.text import canonical, printable
from pipelines.types import SourceItem

_IGNORED_FOLDERS = {"node_modules", "__pycache__", "venv"}  # beside every name that starts with a dot
_MAX_URI = 1_800  # characters: an index of Postgres takes no more
_OF_CAREER, _MAX_CAREER = ("resume", "cv"), 1_000_000
_LEGAL = {"license", "licence", "copying"}  # the same text everywhere, about nobody's work
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}://|[A-Za-z]{2,30}:(?!\s)")
_LEAST_SIMILARITY = 0.8  # of 1: gihtub is meant for github, gitlab is not
_LOCATION_HINT = "Name a file, a folder, github:OWNER, notion:ID or an address that begins with https://."
_MAX_FRONT_MATTER = 8_192  # bytes
_BLOCK = 65_536  # bytes: room for as much as a file may have costs more than reading a small one
_PERMISSIONS = "Check its permissions."

Problem = tuple[str, SourceError]
Shas = dict[tuple[str, str], str]  # by URI and stamp


class Files:
    """Files and folders of this machine."""

    def __init__(self, access: Access) -> None:
        self._most_bytes, self._home = access.most_bytes, access.settings.home
        self._exports: dict[Path, Export] = {}
        self._shas: Shas = {}

    def list(self, location: str) -> Listing:
        """List a file, or a folder with all below it; see `list_files`."""
        return list_files(location, self._shas)

    def read(self, item: SourceItem) -> Read:
        """Return the hash of a file; the bytes of a member of an export are kept, so that it is unpacked once.

        Raises:
            SourceError: If the file is gone or may not be read.
            StoreError: If a member of an export cannot be kept.
        """
        path, _, place = item.uri.partition("#")
        if sha := self._shas.pop((item.uri, item.stamp), ""):
            return Read(sha)
        if not place:
            return Read(hashlib.sha256(read_file(item, self._most_bytes)).hexdigest())
        data = self._export(path_of(path)).read(unquote(place), self._most_bytes)
        sha, is_whole = hashlib.sha256(data).hexdigest(), len(data) <= self._most_bytes
        if is_whole:
            keep_original(self._home, sha, data, name=item.name)
        return Read(sha, kept=is_whole)

    def close(self) -> None:
        """Close the exports."""
        for export in self._exports.values():
            export.close()

    def _export(self, path: Path) -> Export:
        if path not in self._exports:
            self._exports[path] = Export(path)
        return self._exports[path]


def list_files(location: str, shas: Shas | None = None) -> Listing:
    """List a file, or a folder with all below it; `shas` receives the hashes of the files that are read for that.

    A folder lists the kinds of files that a loader reads; a file that is named itself is always listed. Hidden files,
    hidden folders, licence texts and Markdown files of front matter alone are skipped. A folder that cannot be read
    makes the listing incomplete. A ZIP that Notion exported is listed like a folder; another ZIP is not a document.
    """
    shown = printable(location)
    try:
        path = read_path(location).resolve(strict=True)
        if path.is_dir():
            return _FolderListing(path, {} if shas is None else shas).listing()
        if export := _list_export(path, "", path.as_uri()):
            return export
        if len(path.as_uri()) > _MAX_URI:
            return Listing(f"file:{path.name[-60:]}", "file", (), False, problems=(_too_long(path.name),))
        item = SourceItem(path.as_uri(), printable(path.name), path.as_uri(), "file", _stamp(path.stat()))
        return Listing(item.uri, "file", (item,), False)
    except FileNotFoundError:
        error = missing_path_error(location)
    except (OSError, ValueError, RuntimeError) as cause:  # RuntimeError: a link to itself
        error = SourceError(f"{shown} cannot be read: {cause}.", hint=_PERMISSIONS)
    except SourceError as cause:
        error = cause
    return Listing(_source_uri(location), "file", (), False, problems=((shown, error),))


def read_path(location: str) -> Path:
    """Return the path that a location names; nothing has to be there.

    Raises:
        SourceError: If it is empty, holds a zero byte, or begins with a scheme that is no kind of source and no file
            has that name. With `./` before it, it is a path all the same.
    """
    if not location.strip():
        raise SourceError("An empty location names no source.", hint=_LOCATION_HINT)
    if "\0" in location:
        raise SourceError(
            f"The path {location!r} holds a zero byte, which no path can contain.", hint="Check the path."
        )
    path, text = named_path(location), printable(location).strip()
    if _SCHEME.match(text) and not os.path.lexists(path):
        kind, _, rest = text.partition(":")
        problem = f"{text} names no source: {kind}: is no kind of source, and no file is called so."
        raise SourceError(problem, hint=_scheme_hint(kind.lower(), rest))
    return path


def is_missing(location: str) -> bool:
    """Return True if nothing is at a path; False where that cannot be looked up."""
    try:
        named_path(location).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        pass
    return False


def missing_path_error(location: str) -> SourceError:
    """Return the error of a path where nothing is: it may be meant for the web, or lie elsewhere."""
    shown = printable(location)
    path = named_path(shown)
    if shown.lower().startswith("www."):
        hint = f"Did you mean https://{shown}?"
    elif path.parts[:1] and path.parts[0].startswith("~"):
        hint = f"No user is called {path.parts[0][1:]}."
    else:
        hint = "Check the path." if path.is_absolute() else f"Check the path; it was looked for in {Path.cwd()}."
    return SourceError(f"{shown} does not exist.", hint=hint)


def is_ignored_folder(name: str) -> bool:
    """Return True if folders of this name are not entered."""
    return name.startswith(".") or name in _IGNORED_FOLDERS


def is_unchanged(item: SourceItem) -> bool:
    """Return True if a file has the size and time that it was listed with; one without a stamp was not there."""
    try:
        return _stamp(path_of(item.uri).stat()) == item.stamp
    except OSError:
        return not item.stamp


def read_file(item: SourceItem, limit: int) -> bytes:
    """Return the bytes of a file, at most `limit` + 1, so that a file over the limit is noticed without reading it all.

    Raises:
        SourceError: If the file is gone or may not be read.
    """
    path, _, place = item.uri.partition("#")
    if place:
        with closing(Export(path_of(path))) as export:
            return export.read(unquote(place), limit)
    try:
        with open(unquote_to_bytes(path.removeprefix("file://")), "rb") as file:
            data = file.read(min(_BLOCK, limit + 1))
            return data + file.read(limit + 1 - len(data)) if len(data) == _BLOCK else data
    except OSError as error:
        raise SourceError(f"{item.name} cannot be read: {error.strerror}.", hint=_PERMISSIONS) from error


class _FolderListing:
    """Collects what a folder holds; `shas` receives the hashes of the files that are read for that."""

    def __init__(self, folder: Path, shas: Shas) -> None:
        self._folder, self._source, self._shas = folder, folder.as_uri(), shas
        self._items: list[SourceItem] = []
        self._skipped: list[Remark] = []
        self._closed: list[Problem] = []  # folders and files that may not be looked at: the listing is incomplete
        self._refused: list[Problem] = []
        self._unread: list[str] = []

    def listing(self) -> Listing:
        """Walk the folder."""
        folders = [(str(self._folder), "", self._source.rstrip("/"))]
        while folders:
            folders += self._add_folder(*folders.pop())
        items = tuple(sorted(self._items, key=lambda item: item.name))
        problems = (*self._closed, *self._refused)
        return Listing(
            self._source, "file", items, not self._closed, tuple(self._skipped), problems, tuple(self._unread)
        )

    def _add_folder(self, folder: str, above: str, uri: str) -> list[tuple[str, str, str]]:
        """Add the files of a folder, their names after `above`; return the folders to enter, likewise, last one first.

        Paths are joined as text: `pathlib` takes four times as long as the system calls.
        """
        below = []
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            self._note_closed(error)
            return []
        for entry in entries:
            name, place = above + entry.name, f"{uri}/{quote_from_bytes(os.fsencode(entry.name))}"
            if _is_folder(entry):
                if is_ignored_folder(entry.name):
                    continue
                if entry.is_symlink():
                    self._skipped.append(Remark(printable(name), "it is a link to a folder"))
                else:
                    below.append((entry.path, f"{name}/", place))
            elif not entry.name.startswith("."):
                self._add(entry, name, place)
        return below[::-1]

    def _add(self, entry: "os.DirEntry[str]", name: str, uri: str) -> None:
        stem, dot, suffix = entry.name.lower().rpartition(".")
        stem, suffix = (stem, dot + suffix) if stem and suffix else (entry.name.lower(), "")
        try:
            info = _file_status(entry, self._folder)
            if info is None:
                self._skipped.append(Remark(printable(name), "it is no file, or a link out of the folder"))
            elif suffix == ".zip" and (export := _list_export(Path(entry.path), f"{name}/", self._source)):
                self._items += export.items
                self._skipped += export.skipped
                self._refused += export.problems
                self._unread += [] if export.complete else [uri]
            elif reason := _skip_reason(stem, suffix, entry.path) or self._without_text(entry.path, suffix, uri, info):
                self._skipped.append(Remark(printable(name), reason))
            elif len(uri) > _MAX_URI:
                self._refused.append(_too_long(name))
            else:
                self._items.append(SourceItem(uri, printable(name), self._source, "file", _stamp(info)))
        except OSError as error:
            self._note_closed(error)
        except SourceError as error:  # an export that is being copied holds everything again soon
            self._refused.append((name, error))
            self._unread.append(uri)

    def _without_text(self, path: str, suffix: str, uri: str, info: os.stat_result) -> str:
        """Return why a small Markdown file is not listed: it has no text, as that of a section of a web site."""
        if MIME_OF_SUFFIX.get(suffix) != MARKDOWN or info.st_size > _MAX_FRONT_MATTER:
            return ""
        with open(path, "rb", buffering=0) as file:
            data = file.read(_MAX_FRONT_MATTER + 1)
        if len(data) == info.st_size:  # it is read whole, and need not be read again for its hash
            self._shas[uri, _stamp(info)] = hashlib.sha256(data).hexdigest()
        is_likely = data.removeprefix(BOM_UTF8).startswith((b"---", b"+++"))
        is_alone = is_likely and is_front_matter_alone(canonical(data.decode("utf-8", "replace")))
        return "it holds front matter alone" if is_alone else ""

    def _note_closed(self, error: OSError) -> None:
        name = os.path.relpath(error.filename, self._folder)
        self._closed.append((name, SourceError(f"{name} cannot be listed: {error.strerror}.", hint=_PERMISSIONS)))


def _list_export(path: Path, above: str, source: str) -> Listing | None:
    """List what a ZIP that Notion exported holds, names after `above`; None for another file.

    Raises:
        SourceError: If it cannot be read as a ZIP.
    """
    if path.suffix.lower() != ".zip" or (export := open_notion_export(path)) is None:
        return None
    stamp, items, is_whole = _stamp(path.stat()), list[SourceItem](), not export.problems
    skipped = tuple(Remark(printable(above + each.name), each.reason) for each in export.skipped)
    problems = [(above + place, error) for place, error in export.problems]
    for place, name in export.places():
        uri = inner_uri(path, place)
        if len(uri) > _MAX_URI:
            problems.append(_too_long(above + name))
        else:
            items.append(SourceItem(uri, above + name, source, "file", stamp))
    export.close()
    items.sort(key=lambda item: item.name)
    return Listing(source, "file", tuple(items), is_whole, skipped, tuple(problems))


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _file_status(entry: "os.DirEntry[str]", folder: Path) -> os.stat_result | None:
    """Return the status of a file of the folder; None for a link out of it, which nobody named, and for no file.

    Raises:
        OSError: If its folder may not be read.
    """
    try:
        info = entry.stat()
    except FileNotFoundError:  # a broken link
        return None
    if not stat.S_ISREG(info.st_mode):
        return None
    return info if not entry.is_symlink() or Path(entry.path).resolve().is_relative_to(folder) else None


def _skip_reason(stem: str, suffix: str, path: str) -> str:
    """Return why a file of this name is not listed; empty if it is.

    Of the kinds that hold anything, those that are called after a resume, and ZIPs, are looked into.
    """
    if stem in _LEGAL:
        return "it is a licence text"
    if suffix in SUFFIXES:
        return ""
    if suffix == ".zip":
        with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            if is_linkedin_archive(archive.namelist()):
                return ""
        return "only a ZIP of Notion or LinkedIn is opened"
    if suffix in CAREER_SUFFIXES and any(word in stem for word in _OF_CAREER) and _states_career(path, suffix):
        return ""
    return "files of its kind are not read"


def _states_career(path: str, suffix: str) -> bool:
    with open(path, "rb") as file:
        return bool(career_type(file.read(_MAX_CAREER), suffix))


def _source_uri(location: str) -> str:
    """Return the URI of a path that cannot be listed, as it would be listed; else what was asked for."""
    try:
        read_path(location)
        uri = named_uri(location)
    except (SourceError, OSError, ValueError):
        uri = ""
    return uri if 0 < len(uri) <= _MAX_URI else f"file:{printable(location)[-60:]}"


def _scheme_hint(kind: str, rest: str) -> str:
    if kind == "file" and rest.startswith("///"):
        return f"Did you mean {path_of(f'file:{rest}')}?"
    near = get_close_matches(kind, ("github", "notion", "https", "http"), 1, _LEAST_SIMILARITY)
    return f"Did you mean {near[0]}:{rest}?" if near else _LOCATION_HINT


def _too_long(name: str) -> Problem:
    error = SourceError(f"The path of {name[-60:]} is too long.", hint="Move it up, or shorten its folders' names.")
    return name[-60:], error


def _stamp(info: os.stat_result) -> str:
    return f"{info.st_size}:{info.st_mtime_ns}"
