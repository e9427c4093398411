"""Which type a file's bytes are, its suffix being only a hint."""

import io
import zipfile
from pathlib import PurePosixPath

from pipelines.errors import LoadError

MARKDOWN = "text/markdown"
HTML = "text/html"
PLAIN = "text/plain"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

MIME_OF_SUFFIX = {
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".txt": PLAIN,
    ".text": PLAIN,
    ".rst": PLAIN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".pdf": PDF,
    ".docx": DOCX,
}
BINARY = frozenset({PDF, DOCX})

_HEAD = 1_024
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def sniff(data: bytes, name: str) -> str:
    """The type of the bytes: by their signature, else by the suffix, else plain text.

    Raises:
        LoadError: If they are an Office file of a kind, or with a password, that no loader reads.
    """
    suffix = PurePosixPath(name).suffix.lower()
    mime = MIME_OF_SUFFIX.get(suffix, "")
    head = data[:_HEAD]
    if b"%PDF-" in head and (mime == PDF or head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"%PDF-")):
        return PDF
    if head.startswith(_OLE):
        raise LoadError(
            f"{name} is an old or password-protected Office file.",
            hint="Save it as .docx without a password, or as PDF.",
        )
    if head.startswith(b"PK\x03\x04"):
        return _office_type(data, name)
    if mime in ("", PLAIN) and head.lstrip(b"\xef\xbb\xbf \t\r\n")[:15].lower().startswith(
        (b"<!doctype html", b"<html")
    ):
        return HTML
    return mime or PLAIN


def _office_type(data: bytes, name: str) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.namelist()
    except zipfile.BadZipFile as error:
        raise LoadError(
            f"{name} is broken: its ZIP container is damaged or truncated.", hint="Copy it again."
        ) from error
    if "word/document.xml" in members:
        return DOCX
    raise LoadError(
        f"{name} is a ZIP container of a kind that is not read.", hint="Unpack it, or save it as .docx, PDF or text."
    )
