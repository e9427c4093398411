"""LOAD: bytes to a Document with exact text, blocks and page map."""

from collections.abc import Callable
from pathlib import PurePosixPath

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Limits, Loader, as_document
from pipelines.ingestion.loaders.delimited import load_delimited
from pipelines.ingestion.loaders.html import load_html
from pipelines.ingestion.loaders.image import load_image
from pipelines.ingestion.loaders.markdown import load_markdown
from pipelines.ingestion.loaders.notion import load_notion
from pipelines.ingestion.loaders.odf_tables import load_odf_sheets
from pipelines.ingestion.loaders.office import load_docx, load_odf_slides, load_odf_text, load_slides
from pipelines.ingestion.loaders.pdf.load import load_pdf
from pipelines.ingestion.loaders.repository import load_repository
from pipelines.ingestion.loaders.restructured import is_restructured, load_restructured
from pipelines.ingestion.loaders.sheets import load_workbook
from pipelines.ingestion.loaders.sniff import (
    BINARY,
    CSV,
    DOCX,
    HTML,
    IMAGES,
    MARKDOWN,
    MIME_OF_SUFFIX,
    ODP,
    ODS,
    ODT,
    PDF,
    PLAIN,
    PPTX,
    XLSX,
    sniff,
)
from pipelines.ingestion.loaders.text import load_text
from pipelines.ingestion.loaders.web import load_web
from pipelines.types import Document, SourceItem

__all__ = ["LOADERS", "SUFFIXES", "Limits", "Loader", "load"]

LOADERS: dict[str, Loader] = {
    PLAIN: load_text,
    MARKDOWN: load_markdown,
    HTML: load_html,
    PDF: load_pdf,
    DOCX: load_docx,
    PPTX: load_slides,
    XLSX: load_workbook,
    ODT: load_odf_text,
    ODP: load_odf_slides,
    ODS: load_odf_sheets,
    CSV: load_delimited,
    **dict.fromkeys(IMAGES, load_image),
}
SUFFIXES = frozenset(MIME_OF_SUFFIX)

Unwrap = Callable[[bytes, SourceItem, Limits], Document]
REMOTE: dict[str, Unwrap] = {  # by kind of source: what makes a document of an envelope
    "github": load_repository,
    "notion": load_notion,
    "web": load_web,
}


def load(data: bytes, item: SourceItem, *, limits: Limits | None = None) -> Document:
    """The Document that these bytes hold: canonical text, blocks, pages, and what the file says of itself.

    The type is told by the content first and the suffix second; of a remote source the bytes are an envelope. The id is
    the item's URI until the runner mints one.

    Raises:
        LoadError: If the bytes are empty, too large, broken, protected, or without text.
    """
    limits = limits or Limits()
    if not data:
        raise LoadError(f"{item.name} is empty.", hint="Fill it or remove it.")
    if len(data) > limits.most_bytes:  # it was read no further, so its size and type are not known
        likely = MIME_OF_SUFFIX.get(PurePosixPath(item.name).suffix.lower(), PLAIN)
        raise _too_large("is", item.name, likely, limits)
    document = REMOTE[item.source_kind](data, item, limits) if item.source_kind in REMOTE else _of(data, item, limits)
    if not document.text.strip():
        raise LoadError(f"{item.name} is empty: it holds no text.", hint="Fill it or remove it.")
    return document


def _of(data: bytes, item: SourceItem, limits: Limits) -> Document:
    mime = sniff(data, item.name)
    if len(data) > limits.of(binary=mime in BINARY):
        raise _too_large(f"has {len(data):,} bytes,", item.name, mime, limits)
    loader = load_restructured if mime == PLAIN and is_restructured(item.name) else LOADERS[mime]
    return as_document(loader(data, item, limits), data, item, mime)


def _too_large(says: str, name: str, mime: str, limits: Limits) -> LoadError:
    binary = mime in BINARY
    setting = f"FOOTNOTE_INGESTION__MAX_{'BINARY' if binary else 'TEXT'}_BYTES"
    return LoadError(
        f"{name} {says} over the limit of {limits.of(binary=binary):,} bytes.", hint=f"Split it, or raise {setting}."
    )
