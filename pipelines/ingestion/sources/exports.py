"""An export of Notion as a ZIP: its pages and tables, without unpacking it anywhere.

Nothing in it is trusted: names are never used as paths, sizes are checked before anything is read, archives within
archives are opened to a depth of three and only where Notion puts its parts and names them so: outside of all folders,
as those of pages and tables hold attachments. One that is named as a part in any other folder is a problem.
"""

import re
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path, PurePosixPath
from string import hexdigits
from typing import IO, NamedTuple
from urllib.parse import quote

from pipelines.errors import SourceError
from pipelines.ingestion.loaders.base import ZIP_ERRORS
from pipelines.ingestion.sources.base import Remark
from pipelines.text import canonical

_SUFFIXES = frozenset({".md", ".csv", ".html"})
_NOT_A_PAGE = "only pages and tables of an export are read"
_PART = re.compile(r"(?:Export[^/]*|[^/]*Part-\d{1,4})\.zip", re.IGNORECASE)
_MAX_DEPTH = 3
_MAX_PART_FOLDERS = 3  # that an archive lies in which may be a part
_MAX_MEMBERS = 100_000
_MAX_PAGES = 20_000
_MAX_BYTES = 4_000_000_000  # of all that is taken, unpacked
_MAX_RATIO, _SMALL_BYTES = 200, 1_000_000

_ID = re.compile(r"(?:^|[ -])[0-9a-f]{32}(?=$|\.|_all\.)")
_TOP, _TOP_LENGTH = "export-", 43

Problem = tuple[str, SourceError]


class _Member(NamedTuple):
    archive: zipfile.ZipFile
    info: zipfile.ZipInfo


class Export:
    """An open export; `problems` and `skipped` name what in it is not listed.

    Raises:
        SourceError: If it is damaged, protected, or unpacks to too much.
    """

    def __init__(self, path: Path) -> None:
        self.problems: list[Problem] = []
        self.skipped: list[Remark] = []
        self._path, self._open = path, ExitStack()
        self._members: dict[str, _Member] = {}
        self._in_folders: list[str] = []  # places of archives that are named as parts are
        self._seen = self._unpacked = 0
        try:
            self._scan(self._opened(path), 0)
            self._tell_closed_parts()
        except ZIP_ERRORS as error:
            self.close()
            reason = error.strerror if isinstance(error, OSError) else None
            problem = f"cannot be read: {reason}" if reason else "is damaged or no ZIP at all"
            raise SourceError(f"{path.name} {problem}.", hint="Copy or export it again.") from error
        except SourceError:
            self.close()
            raise

    @property
    def is_notion(self) -> bool:
        """True if names in it end in ids, as Notion writes them."""
        return any(_ID.search(place.rpartition("/")[2]) for place in self._members)

    def places(self) -> Iterator[tuple[str, str]]:
        """Yield (place within the export, name without ids) of each page and table, by place.

        Of a table that Notion exports filtered and with all rows, the one with all rows.
        """
        for place in sorted(self._members):
            whole = f"{place.removesuffix('.csv')}_all.csv"
            if not (place.endswith(".csv") and whole in self._members):
                yield place, readable_name(place)

    def read(self, place: str, limit: int) -> bytes:
        """Return the bytes at a place, at most `limit` + 1.

        Raises:
            SourceError: If there are none, or they are damaged.
        """
        if place not in self._members:
            raise SourceError(f"{self._path.name} holds no {place} any more.", hint="Ingest it again.")
        archive, info = self._members[place]
        try:
            with archive.open(info) as file:
                return file.read(limit + 1)
        except ZIP_ERRORS as error:
            raise SourceError(
                f"{place} in {self._path.name} is damaged or protected.", hint="Export it again, without a password."
            ) from error

    def close(self) -> None:
        """Close the files."""
        self._open.close()

    def _opened(self, file: Path | IO[bytes]) -> zipfile.ZipFile:
        return self._open.enter_context(zipfile.ZipFile(file))

    def _scan(self, archive: zipfile.ZipFile, depth: int) -> None:
        for info in archive.infolist():
            self._seen += 1
            if self._seen > _MAX_MEMBERS:
                raise SourceError(f"{self._path.name} holds more than {_MAX_MEMBERS:,} files.", hint="Split it.")
            place = place_of(info)
            if not place or info.is_dir():
                continue
            suffix = PurePosixPath(place).suffix.lower()
            if depth < _MAX_DEPTH and _PART.fullmatch(place):
                if self._is_sound(place, info):
                    self._scan(self._opened(self._unpack(archive, info)), depth + 1)
            elif suffix not in _SUFFIXES or place in self._members:
                if place.count("/") <= _MAX_PART_FOLDERS and _PART.fullmatch(place.rpartition("/")[2]):
                    self._in_folders.append(place)
                why = "the export holds it twice" if suffix in _SUFFIXES else _NOT_A_PAGE
                self.skipped.append(Remark(readable_name(place), why))
            else:
                if self._is_sound(place, info):
                    self._members[place] = _Member(archive, info)
                if len(self._members) > _MAX_PAGES:
                    raise SourceError(
                        f"{self._path.name} holds more than {_MAX_PAGES:,} pages and tables.",
                        hint="Export a part of the workspace at a time, or unpack it and name its folders.",
                    )

    def _tell_closed_parts(self) -> None:
        """Add to the problems the archives that may be parts: those in no folder of a page or table."""
        folders = {readable_name(page).rpartition(".")[0] for page in self._members}
        for place in self._in_folders:
            above = readable_name(place).split("/")[:-1]
            if folders.isdisjoint(accumulate(above, "{}/{}".format)):
                closed = (
                    f"{place} in {self._path.name} may be a part of the export, and is in a folder: it is not opened."
                )
                self.problems.append((place, SourceError(closed, hint="Unpack it, or pack it outside of all folders.")))

    def _is_sound(self, place: str, info: zipfile.ZipInfo) -> bool:
        """Return True if a member can be read; else add the reason to the problems."""
        if wrong := _defect(info):
            self.problems.append((place, SourceError(f"{place} in {self._path.name} {wrong}", hint="Unpack it.")))
            return False
        self._unpacked += info.file_size
        if self._unpacked > _MAX_BYTES:
            raise SourceError(f"{self._path.name} unpacks to more than {_MAX_BYTES:,} bytes.", hint="Split it.")
        return True

    def _unpack(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
        """Unpack an archive within the archive into a temporary file without a name."""
        target = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - it is closed with the export
        with archive.open(info) as source:
            while piece := source.read(1 << 20):
                target.write(piece)
        return target


def open_notion_export(path: Path) -> Export | None:
    """Open the export that a ZIP is; None if it is no export of Notion.

    Raises:
        SourceError: If it cannot be read as a ZIP.
    """
    found = Export(path)
    if found.is_notion:
        return found
    found.close()
    return None


def inner_uri(path: Path, place: str) -> str:
    """Return the URI of a place within an archive; a `#` in the path itself is quoted."""
    return f"{path.as_uri()}#{quote(place)}"


def _defect(info: zipfile.ZipInfo) -> str:
    """Return why a member is not read; empty if it is."""
    if info.flag_bits & 1:
        return "has a password."
    if info.file_size > max(_SMALL_BYTES, _MAX_RATIO * info.compress_size):
        return f"unpacks to more than {_MAX_RATIO} times its size."
    return ""


def place_of(info: zipfile.ZipInfo) -> str:
    """Return a member's name as a path that leads nowhere else; empty if nothing is left, and for hidden files."""
    parts = [canonical(part).strip() for part in _member_name(info).replace("\\", "/").split("/")]
    kept = [part for part in parts if part not in ("", ".", "..")]
    top = kept[0].lower() if kept else ""
    if top.startswith(_TOP) and len(top) == _TOP_LENGTH and not top.removeprefix(_TOP).strip(f"-{hexdigits}"):
        kept = kept[1:]
    return "" if any(part.startswith((".", "__MACOSX")) for part in kept) else "/".join(kept)


def readable_name(place: str) -> str:
    """Return a place without Notion's ids."""
    return "/".join(_without_id(part) for part in place.split("/"))


def _member_name(info: zipfile.ZipInfo) -> str:
    """Return a member's name; Notion writes UTF-8, but does not always say so."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.orig_filename.partition("\0")[0].encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _without_id(part: str) -> str:
    bare = _ID.sub("", part, count=1).replace("_all.", ".") if _ID.search(part) else part
    return f"Untitled{bare}" if not bare or bare.startswith(".") else bare
