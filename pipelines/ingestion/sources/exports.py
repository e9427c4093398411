"""An export of Notion as a ZIP: its pages and tables, without unpacking it anywhere.

Nothing in it is trusted: names are never used as paths, sizes are checked before anything is read, archives within
archives are opened to a depth of three and only where Notion names its parts so. Attachments may have such names too:
what lies in the folder of a page or table is none of the parts.
"""

import lzma
import re
import struct
import tempfile
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple
from urllib.parse import quote

from pipelines.errors import SourceError
from pipelines.ingestion.sources.base import Remark
from pipelines.ingestion.sources.export_names import folder_of, has_id, place_of, readable

_TAKEN = frozenset({".md", ".csv", ".html"})
_OTHER = "only pages and tables of an export are read"
_PART = re.compile(r"(?:Export[^/]*|[^/]*Part-\d{1,4})\.zip", re.IGNORECASE)
_MOST_ABOVE = 3  # folders that a part lies in
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


class _Part(NamedTuple):
    place: str
    member: _Member
    depth: int


class Export:
    """An open export; `problems` and `skipped` name what in it is not taken.

    Raises:
        SourceError: If it is damaged, protected, or unpacks to too much.
    """

    def __init__(self, path: Path) -> None:
        self.problems: list[Problem] = []
        self.skipped: list[Remark] = []
        self._path, self._open = path, ExitStack()
        self._members: dict[str, _Member] = {}
        self._folders: set[str] = set()  # of pages and tables
        self._waiting: deque[_Part] = deque()  # those in folders, until all pages are known that others hold
        self._seen = self._unpacked = 0
        try:
            self._scan(self._opened(path), 0)
            while self._waiting:
                part = self._waiting.popleft()
                try:
                    self._take(part)
                except _BROKEN:  # a part, or an attachment whose page is none of these: nobody can tell
                    said = f"{part.place} in {path.name} is damaged or no ZIP at all."
                    self.problems.append((part.place, SourceError(said, hint="Export it again.")))
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
        return any(has_id(place) for place in self._members)

    def places(self) -> Iterator[tuple[str, str]]:
        """(place within the export, readable name without ids) of each page and table, by place.

        Of a table that Notion exports twice, as it is filtered and with all rows, the one with all rows.
        """
        for place in sorted(self._members):
            whole = f"{place.removesuffix('.csv')}_all.csv"
            if not (place.endswith(".csv") and whole in self._members):
                yield place, readable(place)

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
            place = place_of(info)
            if not place or info.is_dir():
                continue
            suffix = PurePosixPath(place).suffix.lower()
            above, _, name = place.rpartition("/")
            if depth < _DEEPEST and above.count("/") < _MOST_ABOVE and _PART.fullmatch(name):
                part = _Part(place, _Member(archive, info), depth)
                if above:
                    self._waiting.append(part)
                else:
                    self._take(part)
            elif suffix not in _TAKEN or place in self._members:
                why = "the export holds it twice" if suffix in _TAKEN else _OTHER
                self.skipped.append(Remark(readable(place), why))
            else:
                self._folders.add(folder_of(place))
                if self._is_sound(place, info):
                    self._members[place] = _Member(archive, info)

    def _take(self, part: _Part) -> None:
        """What a part holds; an attachment is passed over."""
        archive, info = part.member
        if any(readable(str(above)) in self._folders for above in PurePosixPath(part.place).parents[:-1]):
            self.skipped.append(Remark(readable(part.place), _OTHER))
        elif self._is_sound(part.place, info):
            self._scan(self._opened(self._unpack(archive, info)), part.depth + 1)

    def _is_sound(self, place: str, info: zipfile.ZipInfo) -> bool:
        """Whether a member can be read; why not, is among the problems."""
        if wrong := _wrong(info):
            self.problems.append((place, SourceError(f"{place} in {self._path.name} {wrong}", hint="Unpack it.")))
            return False
        self._unpacked += info.file_size
        if self._unpacked > _MOST_BYTES:
            raise SourceError(f"{self._path.name} unpacks to more than {_MOST_BYTES:,} bytes.", hint="Split it.")
        return True

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


def _wrong(info: zipfile.ZipInfo) -> str:
    """Why a member is not read; nothing where it is."""
    if info.flag_bits & 1:
        return "has a password."
    if info.file_size > max(_SMALL, _MOST_RATIO * info.compress_size):
        return f"unpacks to more than {_MOST_RATIO} times its size."
    return ""
