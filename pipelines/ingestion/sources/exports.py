"""An export of Notion as a ZIP: its pages and tables, without unpacking it anywhere.

Nothing in it is trusted: names are never used as paths, sizes are checked before anything is read, archives within
archives are opened to a depth of three and only where Notion puts and names its parts so; the others are attachments.
"""

import lzma
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple
from urllib.parse import quote

from pipelines.errors import SourceError
from pipelines.text import canonical

_TAKEN = frozenset({".md", ".csv", ".html"})
_ID = re.compile(r"(?:^|[ -])[0-9a-f]{32}(?=$|\.|_all\.)")
_PART = re.compile(r"(?:Export[^/]*|[^/]*Part-\d{1,4})\.zip", re.IGNORECASE)
_TOP = re.compile(r"Export-[0-9a-f-]{36}", re.IGNORECASE)
_DEEPEST = 3
_MOST_MEMBERS = 100_000
_MOST_BYTES = 4_000_000_000  # of all that is taken, unpacked
_MOST_RATIO, _SMALL = 200, 1_000_000
_BROKEN = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError, struct.error,
    RuntimeError, EOFError, OSError, ValueError, LookupError,
)  # fmt: skip

Problem = tuple[str, SourceError]


class _Member(NamedTuple):
    archive: zipfile.ZipFile
    info: zipfile.ZipInfo


class Export:
    """An open export; `problems` and `skipped` name what in it is not taken.

    Raises:
        SourceError: If it is damaged, protected, or unpacks to too much.
    """

    def __init__(self, path: Path) -> None:
        self.problems: list[Problem] = []
        self.skipped: list[str] = []
        self._path, self._open = path, ExitStack()
        self._members: dict[str, _Member] = {}
        self._seen = self._unpacked = 0
        try:
            self._scan(self._opened(path), 0)
        except _BROKEN as error:
            self.close()
            refused = error.strerror if isinstance(error, OSError) else None
            said = f"cannot be read: {refused}" if refused else "is damaged or no ZIP at all"
            raise SourceError(f"{path.name} {said}.", hint="Copy or export it again.") from error
        except SourceError:
            self.close()
            raise

    @property
    def is_notion(self) -> bool:
        """Whether the names of what it holds end in ids, as Notion writes them."""
        return any(_ID.search(PurePosixPath(place).name) for place in self._members)

    def places(self) -> Iterator[tuple[str, str]]:
        """(place within the export, readable name without ids) of each page and table, by place.

        Of a table that Notion exports twice, as it is filtered and with all rows, the one with all rows.
        """
        for place in sorted(self._members):
            whole = f"{place.removesuffix('.csv')}_all.csv"
            if not (place.endswith(".csv") and whole in self._members):
                yield place, "/".join(_readable(part) for part in place.split("/"))

    def read(self, place: str, limit: int) -> bytes:
        """The bytes at a place, at most `limit` + 1.

        Raises:
            SourceError: If there are none, or they are damaged.
        """
        if place not in self._members:
            raise SourceError(f"{self._path.name} holds no {place} any more.", hint="Ingest it again.")
        archive, info = self._members[place]
        try:
            with archive.open(info) as file:
                return file.read(limit + 1)
        except _BROKEN as error:
            raise SourceError(
                f"{place} in {self._path.name} is damaged or protected.", hint="Export it again, without a password."
            ) from error

    def close(self) -> None:
        """Let go of the files."""
        self._open.close()

    def _opened(self, file: Path | IO[bytes]) -> zipfile.ZipFile:
        return self._open.enter_context(zipfile.ZipFile(file))

    def _scan(self, archive: zipfile.ZipFile, depth: int) -> None:
        for info in archive.infolist():
            self._seen += 1
            if self._seen > _MOST_MEMBERS:
                raise SourceError(f"{self._path.name} holds more than {_MOST_MEMBERS:,} files.", hint="Split it.")
            place = _place(_name(info))
            if not place or info.is_dir():
                continue
            suffix = PurePosixPath(place).suffix.lower()
            nested = depth < _DEEPEST and _PART.fullmatch(place)
            if not (nested or suffix in _TAKEN) or place in self._members:
                self.skipped.append(place)
            elif wrong := _wrong(info):
                self.problems.append((place, SourceError(f"{place} in {self._path.name} {wrong}", hint="Unpack it.")))
            else:
                self._weigh(info)
                if nested:
                    self._scan(self._opened(self._unpack(archive, info)), depth + 1)
                else:
                    self._members[place] = _Member(archive, info)

    def _weigh(self, info: zipfile.ZipInfo) -> None:
        self._unpacked += info.file_size
        if self._unpacked > _MOST_BYTES:
            raise SourceError(f"{self._path.name} unpacks to more than {_MOST_BYTES:,} bytes.", hint="Split it.")

    def _unpack(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
        """An archive within the archive, in a temporary file without a name."""
        target = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - it is closed with the export
        with archive.open(info) as source:
            while piece := source.read(1 << 20):
                target.write(piece)
        return target


def export_of(path: Path) -> Export | None:
    """The export that a ZIP is, opened; None where it is another one.

    Raises:
        SourceError: If it cannot be read as a ZIP.
    """
    found = Export(path)
    if found.is_notion:
        return found
    found.close()
    return None


def inner_uri(path: Path, place: str) -> str:
    """The URI of what lies at a place within an archive; a `#` of the path itself is quoted there."""
    return f"{path.as_uri()}#{quote(place)}"


def _name(info: zipfile.ZipInfo) -> str:
    """A member's name; Notion writes UTF-8, but does not always say so."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.orig_filename.partition("\0")[0].encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _wrong(info: zipfile.ZipInfo) -> str:
    """Why a member is not read; nothing where it is."""
    if info.flag_bits & 1:
        return "has a password."
    if info.file_size > max(_SMALL, _MOST_RATIO * info.compress_size):
        return f"unpacks to more than {_MOST_RATIO} times its size."
    return ""


def _place(name: str) -> str:
    """A member's name as a path that leads nowhere else; empty where nothing is left of it, and for hidden files."""
    parts = [canonical(part).strip() for part in name.replace("\\", "/").split("/")]
    kept = [part for part in parts if part not in ("", ".", "..")]
    if kept and _TOP.fullmatch(kept[0]):
        kept = kept[1:]
    return "" if any(part.startswith((".", "__MACOSX")) for part in kept) else "/".join(kept)


def _readable(part: str) -> str:
    """A part of a path without Notion's id."""
    bare = _ID.sub("", part, count=1).replace("_all.", ".") if _ID.search(part) else part
    return f"Untitled{bare}" if not bare or bare.startswith(".") else bare
