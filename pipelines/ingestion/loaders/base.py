"""Types shared by the loaders, and the Document built from a loader's content."""

import hashlib
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import PurePosixPath
from typing import Any

from config.settings import Limits
from pipelines.blocks import title_of
from pipelines.errors import LoadError
from pipelines.ingestion.loaders.titles import heading_title
from pipelines.months import without_date
from pipelines.text import has_words
from pipelines.types import Block, Document, Furniture, LineBox, SourceItem

# What reading a damaged ZIP raises; a password and an unknown method are RuntimeErrors.
ZIP_ERRORS = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError, struct.error,
    RuntimeError, EOFError, OSError, ValueError, LookupError,
)  # fmt: skip
YEARS = range(2, 9999)  # every year in which a datetime is valid in every time zone

_DATE_FORMATS = ("%Y/%m/%d", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%d.%m.%Y")
_ISO_LENGTHS = (19, 16, 10)  # of a date with seconds, with minutes, alone
# What programs put where an author or a title is missing.
_MADE_UP = frozenset({
    "untitled", "anonymous", "unknown", "un-named", "word document", "powerpoint presentation", "document",
    "presentation", "python-docx", "python-pptx", "openpyxl",
})  # fmt: skip
_FILE_ENDINGS = (".doc", ".docx", ".indd", ".pdf", ".tex", ".rtf", ".odt", ".dvi")


@dataclass(frozen=True, slots=True)
class Content:
    """The text, structure and metadata that a loader reads from a file."""

    text: str
    blocks: tuple[Block, ...]
    title: str = ""
    author: str = ""
    published_at: datetime | None = None
    modified_at: datetime | None = None
    first_line: int = 1
    furniture: tuple[Furniture, ...] = ()
    pages: tuple[int, ...] = ()
    pages_without_text: tuple[int, ...] = ()
    boxes: tuple[LineBox, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


Loader = Callable[[bytes, SourceItem, Limits], Content]


def as_document(content: Content, data: bytes, item: SourceItem, mime: str) -> Document:
    """Build the Document; its id is the URI until the ingestion run assigns one."""
    loaded = {part.name: getattr(content, part.name) for part in fields(content)}
    loaded["title"] = content.title or heading_title(content.text, content.blocks) or title_from_name(item.name)
    return Document(
        id=item.uri,
        source_uri=item.uri,
        source=item.source,
        source_kind=item.source_kind,
        name=item.name,
        mime=mime,
        bytes=len(data),
        file_sha=hashlib.sha256(data).hexdigest(),
        stamp=item.stamp,
        **loaded,
    )


def first_heading(text: str, blocks: Sequence[Block]) -> str:
    """The words of the first heading, or an empty string."""
    heading = next((block for block in blocks if block.kind == "heading"), None)
    return title_of(text, heading.start, heading.end) if heading else ""


def title_from_name(name: str) -> str:
    """A title from a file name: no suffix, no leading date, spaces for hyphens; a README gets its folder's name."""
    path = PurePosixPath(name)
    stem = path.stem
    if stem.lower() in ("readme", "index") and path.parent.name:
        stem = path.parent.name
    return " ".join(without_date(stem).replace("-", " ").replace("_", " ").split()) or name


def stated_words(words: str) -> str:
    """A title or an author that a file's properties state; "" if a program made it up."""
    bare = words.lower().strip("() ")
    is_made = bare.rstrip("0123456789") in _MADE_UP or bare.startswith("microsoft word") or bare.endswith(_FILE_ENDINGS)
    return "" if is_made or not has_words(words) else words


def damaged_file(name: str) -> LoadError:
    """The error for a file whose container or parts cannot be read."""
    return LoadError(
        f"{name} is broken: its parts are damaged or missing.", hint="Open it in an office program and save it again."
    )


def size_error(subject: str, limits: Limits, *, binary: bool) -> LoadError:
    """The error for a file over its limit; the setting that raises it is in the hint."""
    setting = f"FOOTNOTE_INGESTION__MAX_{'BINARY' if binary else 'TEXT'}_BYTES"
    return LoadError(
        f"{subject} over the limit of {limits.max_bytes(binary=binary):,} bytes.", hint=f"Split it, or raise {setting}."
    )


def check_size(name: str, size: int, limits: Limits, *, binary: bool) -> None:
    """Raise LoadError if a binary or a text file has too many bytes."""
    if size > limits.max_bytes(binary=binary):
        raise size_error(f"{name} has {size:,} bytes,", limits, binary=binary)


def check_page_count(name: str, count: int, limits: Limits) -> None:
    """Raise LoadError if a document has too many pages."""
    if count > limits.max_pages:
        raise LoadError(
            f"{name} has {count:,} pages, over the limit of {limits.max_pages:,}.",
            hint="Split it, or raise FOOTNOTE_INGESTION__MAX_PAGES.",
        )


def parse_datetime(value: object) -> datetime | None:
    """Parse a date or time in text, as its author's clock showed it; None if it is not a valid date.

    The day that a document states is the day that it is shown with and filtered by, wherever the reader is: a stated
    offset is dropped, and the result is labelled UTC.
    """
    if not isinstance(value, str) or not value.strip():
        return None
    found = _parse(value.strip())
    return None if found is None or found.year not in YEARS else found.replace(tzinfo=UTC)


def _parse(value: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        pass
    for form in _DATE_FORMATS:
        try:
            return datetime.strptime(value, form)
        except ValueError:
            continue
    for length in _ISO_LENGTHS:  # before a zone in words
        if value[4:5] == "-" and not value[length : length + 1].isdigit():
            try:
                return datetime.fromisoformat(value[:length])
            except ValueError:
                continue
    try:
        return parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError):
        return None
