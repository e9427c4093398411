"""Loaders: bytes to a Document with exact text, blocks and page map."""

from collections.abc import Callable
from functools import partial
from pathlib import PurePosixPath

from config.settings import Limits
from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Loader, as_document, check_size, size_error
from pipelines.ingestion.loaders.books import load_epub, load_notebook
from pipelines.ingestion.loaders.career_data import load_json_resume, load_linkedin_archive, load_rendercv
from pipelines.ingestion.loaders.html import load_html
from pipelines.ingestion.loaders.image import load_image
from pipelines.ingestion.loaders.markdown import load_markdown
from pipelines.ingestion.loaders.notion import load_notion
from pipelines.ingestion.loaders.office import load_docx, load_odf, load_slides
from pipelines.ingestion.loaders.pdf.load import load_pdf
from pipelines.ingestion.loaders.repository import load_repository
from pipelines.ingestion.loaders.sniff import (
    BINARY,
    CSV,
    DOCX,
    EPUB,
    HTML,
    IMAGES,
    JSON_RESUME,
    LINKEDIN,
    MARKDOWN,
    MIME_OF_SUFFIX,
    NOTEBOOK,
    ODP,
    ODS,
    ODT,
    PDF,
    PLAIN,
    PPTX,
    RENDERCV,
    XLSX,
    sniff,
)
from pipelines.ingestion.loaders.tables import load_delimited, load_odf_sheets, load_workbook
from pipelines.ingestion.loaders.text import is_restructured, load_restructured, load_text
from pipelines.ingestion.loaders.web import load_web
from pipelines.store.documents import StoredDocument
from pipelines.types import Document, SourceItem

__all__ = ["LOADERS", "SUFFIXES", "VERSIONS", "Loader", "load", "loader_version"]

LOADERS: dict[str, Loader] = {
    PLAIN: load_text,
    MARKDOWN: load_markdown,
    HTML: load_html,
    PDF: load_pdf,
    DOCX: load_docx,
    PPTX: load_slides,
    XLSX: load_workbook,
    ODT: partial(load_odf, suffix=".odt"),
    ODP: partial(load_odf, suffix=".odp"),
    ODS: load_odf_sheets,
    CSV: load_delimited,
    JSON_RESUME: load_json_resume,
    RENDERCV: load_rendercv,
    LINKEDIN: load_linkedin_archive,
    NOTEBOOK: load_notebook,
    EPUB: load_epub,
    **dict.fromkeys(IMAGES, load_image),
}
SUFFIXES = frozenset(MIME_OF_SUFFIX)

RemoteLoader = Callable[[bytes, SourceItem, Limits], Document]
REMOTE: dict[str, RemoteLoader] = {  # by source kind: how its envelopes are loaded
    "github": load_repository,
    "notion": load_notion,
    "web": lambda data, item, limits: load_web(data, item, limits, LOADERS),
}

# Raised whenever a loader makes another document of the same bytes: the documents of its type are then read again.
VERSIONS: dict[str, int] = {
    PLAIN: 8,
    MARKDOWN: 9,
    HTML: 8,
    PDF: 13,
    DOCX: 6,
    PPTX: 6,
    XLSX: 6,
    ODT: 6,
    ODP: 6,
    ODS: 6,
    CSV: 7,
    **dict.fromkeys((LINKEDIN, NOTEBOOK), 1),
    **dict.fromkeys((JSON_RESUME, RENDERCV, EPUB), 2),
    **dict.fromkeys(IMAGES, 7),
    "github": 0,  # of the envelope, beside the version of what is in it
    "notion": 0,
    "web": 0,
}
_OTHERS = 6  # of nodes that another program added, whatever type it states


def loader_version(document: Document | StoredDocument) -> int:
    """The version of what loads a document; it rises with that of its type and with that of its envelope."""
    return VERSIONS.get(document.mime, _OTHERS) + VERSIONS.get(document.source_kind, 0)


def load(data: bytes, item: SourceItem, *, limits: Limits | None = None) -> Document:
    """Load bytes into a Document: canonical text, blocks, pages, and the metadata that the file states.

    The type is detected from the content first and the suffix second; the bytes of a remote source are an envelope. The
    id is the item's URI until the ingestion run assigns one.

    Raises:
        LoadError: If the bytes are empty, too large, broken, protected, or without text.
    """
    limits = limits or Limits()
    if not data:
        raise LoadError(f"{item.name} is empty.", hint="Fill it or remove it.")
    if len(data) > limits.most_bytes:  # the source read no further, so size and type are unknown
        likely = MIME_OF_SUFFIX.get(PurePosixPath(item.name).suffix.lower(), PLAIN)
        raise size_error(f"{item.name} is", limits, binary=likely in BINARY)
    document = REMOTE.get(item.source_kind, _load_file)(data, item, limits)
    if not document.text.strip():
        raise LoadError(f"{item.name} is empty: it holds no text.", hint="Fill it or remove it.")
    return document


def _load_file(data: bytes, item: SourceItem, limits: Limits) -> Document:
    mime = sniff(data, item.name)
    check_size(item.name, len(data), limits, binary=mime in BINARY)
    loader = load_restructured if mime == PLAIN and is_restructured(item.name) else LOADERS[mime]
    return as_document(loader(data, item, limits), data, item, mime)
