"""What every loader takes and makes."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Literal

from pipelines.ingestion.structure import title_of
from pipelines.types import Block, Document, Furniture, LineBox, SourceItem

_DATE_PREFIX = re.compile(r"\d{4}-\d{1,2}-\d{1,2}[-_ ]+(?=\S)")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a document may cost, and whether images are read; the names are those of `Settings.ingestion`.

    `document_seconds` and `document_memory_mb` hold in worker processes only.
    """

    max_text_bytes: int = 10_000_000
    max_binary_bytes: int = 100_000_000
    max_pages: int = 2_000
    ocr: Literal["auto", "off"] = "auto"
    ocr_languages: str = "eng"
    ocr_seconds: float = 120.0
    document_seconds: float = 180.0
    document_memory_mb: int = 2_000

    @property
    def most_bytes(self) -> int:
        """How large a file of any type may be."""
        return max(self.max_text_bytes, self.max_binary_bytes)

    def of(self, *, binary: bool) -> int:
        """How many bytes a file may have."""
        return self.max_binary_bytes if binary else self.max_text_bytes


@dataclass(frozen=True, slots=True)
class Content:
    """What a loader reads out of a file."""

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
    """The Document of this content; its id is the URI until the runner mints one."""
    return Document(
        id=item.uri,
        text=content.text,
        source_uri=item.uri,
        source=item.source,
        source_kind=item.source_kind,
        name=item.name,
        mime=mime,
        bytes=len(data),
        file_sha=hashlib.sha256(data).hexdigest(),
        title=content.title or first_heading(content.text, content.blocks) or title_of_name(item.name),
        author=content.author,
        published_at=content.published_at,
        modified_at=content.modified_at,
        stamp=item.stamp,
        first_line=content.first_line,
        furniture=content.furniture,
        pages=content.pages,
        pages_without_text=content.pages_without_text,
        blocks=content.blocks,
        boxes=content.boxes,
        metadata=content.metadata,
    )


def first_heading(text: str, blocks: Sequence[Block]) -> str:
    """The words of the first heading, or nothing."""
    heading = next((block for block in blocks if block.kind == "heading"), None)
    return title_of(text, heading.start, heading.end) if heading else ""


def title_of_name(name: str) -> str:
    """A title from a file's name: no suffix, no leading date, spaces for hyphens; a README has its folder's name."""
    path = PurePosixPath(name)
    stem = path.stem
    if stem.lower() in ("readme", "index") and path.parent.name:
        stem = path.parent.name
    words = _DATE_PREFIX.sub("", stem, count=1)
    return " ".join(re.split(r"[-_\s]+", words)).strip() or name
