"""LOAD DOCX: docling's reading of the document."""

import html
import io
import re
import zipfile
import zlib

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, Limits, first_heading
from pipelines.ingestion.loaders.docling_text import convert
from pipelines.ingestion.loaders.front_matter import moment
from pipelines.text import canonical
from pipelines.types import SourceItem

_UNPACKED_FACTOR = 10
_SPACED = re.compile(r"</w:p>|<w:(?:tab|br|cr)\b[^<>]*>")
_TAG = re.compile(r"<[^<>]*>")
_NO_TITLE = re.compile(r"(?:untitled|word document|document\d*|\W*)", re.IGNORECASE)
_NO_AUTHOR = re.compile(r"(?:python-docx|un-named|unknown|\W*)", re.IGNORECASE)


def load_docx(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The document as Markdown-like text; title, author and last change from its properties."""
    document, core = _parts(data, item.name, limits.max_binary_bytes)
    rendering = convert(data, item.name, ".docx", html.unescape(_TAG.sub("", _SPACED.sub(" ", document))))
    title, author = _property(core, "dc:title"), _property(core, "dc:creator")
    title = first_heading(rendering.text, rendering.blocks) or ("" if _NO_TITLE.fullmatch(title) else title)
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        title=title,
        author="" if _NO_AUTHOR.fullmatch(author) else author,
        modified_at=moment(_property(core, "dcterms:modified")),
    )


def _parts(data: bytes, name: str, max_bytes: int) -> tuple[str, str]:
    """The text and the properties as XML, after a look at how large everything is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
            if unpacked > _UNPACKED_FACTOR * max_bytes:
                raise LoadError(
                    f"{name} unpacks to {unpacked:,} bytes, over the limit of {_UNPACKED_FACTOR * max_bytes:,}.",
                    hint="Split it, or raise FOOTNOTE_INGESTION__MAX_BINARY_BYTES.",
                )
            document = archive.read("word/document.xml")
            core = archive.read("docProps/core.xml") if "docProps/core.xml" in archive.namelist() else b""
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error) as error:
        raise LoadError(
            f"{name} is broken: it is no readable .docx.", hint="Open it in Word and save it again."
        ) from error
    return document.decode("utf-8", "replace"), core.decode("utf-8", "replace")


def _property(core: str, name: str) -> str:
    match = re.search(rf"<{name}\b[^<>]*>([^<]*)</{name}>", core)
    return " ".join(canonical(html.unescape(match[1])).split()) if match else ""
