"""Detect a file's type from its bytes; the suffix is only a hint."""

import io
import json
import zipfile
from pathlib import PurePosixPath

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import ZIP_ERRORS
from pipelines.ingestion.loaders.career_data import is_json_resume, is_linkedin_archive, is_rendercv

MARKDOWN = "text/markdown"
HTML = "text/html"
PLAIN = "text/plain"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ODT = "application/vnd.oasis.opendocument.text"
ODP = "application/vnd.oasis.opendocument.presentation"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
CSV = "text/csv"
JSON_RESUME, RENDERCV = "application/resume+json", "application/rendercv+yaml"
LINKEDIN = "application/x-linkedin-archive+zip"
NOTEBOOK, EPUB = "application/x-ipynb+json", "application/epub+zip"
PNG, JPEG, TIFF, WEBP = "image/png", "image/jpeg", "image/tiff", "image/webp"
IMAGES = frozenset({PNG, JPEG, TIFF, WEBP})

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
    ".pptx": PPTX,
    ".xlsx": XLSX,
    ".odt": ODT,
    ".odp": ODP,
    ".ods": ODS,
    ".csv": CSV,
    ".tsv": CSV,
    ".png": PNG,
    ".jpg": JPEG,
    ".jpeg": JPEG,
    ".tif": TIFF,
    ".tiff": TIFF,
    ".webp": WEBP,
    ".ipynb": NOTEBOOK,
    ".epub": EPUB,
}
BINARY = frozenset({PDF, DOCX, PPTX, XLSX, ODT, ODP, ODS, EPUB, LINKEDIN}) | IMAGES
CAREER_SUFFIXES = {".json": JSON_RESUME, ".yaml": RENDERCV, ".yml": RENDERCV}  # of files that may state a career

_HEAD = 1_024
_RTF = b"{\\rtf"
_IMAGE = {b"\x89PNG\r\n\x1a\n": PNG, b"\xff\xd8\xff": JPEG, b"II*\x00": TIFF, b"MM\x00*": TIFF}
WORD_PART = "word/document"
_MAIN_PARTS = {DOCX: WORD_PART, PPTX: "ppt/presentation", XLSX: "xl/workbook"}
_UNREAD_PARTS = {
    "xl/workbook.bin": "a binary Excel workbook (.xlsb)",
    "Index/Document.iwa": "an Apple iWork file",
    "index.apxl": "an Apple iWork file",
}
_OLE_STREAMS = {
    "EncryptedPackage": "password",
    "WordDocument": "Word",
    "PowerPoint Document": "PowerPoint",
    "Workbook": "Excel",
    "__properties_version1.0": "Outlook",
    "Book": "Excel",
}
# Suffixes of files that are no prose, whatever their bytes: a folder passes them over, one that is named is refused.
_NO_PROSE = frozenset(
    ".json .jsonl .ndjson .geojson .json5 .tex .latex .ltx .sty .cls .bib .xml .svg .rss .atom .plist .yaml .yml .toml"
    " .ini .cfg .conf .env .lock .py .js .mjs .ts .jsx .tsx .css .scss .c .h .cpp .hpp .cc .java .kt .swift .go .rs .rb"
    " .php .pl .r .jl .sh .bash .ps1 .bat .sql .lua .scala .cs .vue .ex .hs .clj .dart .bin .dat .exe .dll .so .o"
    " .class .jar .pyc .wasm .iso .img .db .sqlite .sqlite3 .parquet .pkl .pickle .npy .npz .h5 .pt .onnx .eml .mbox"
    " .ics .vcf .srt .vtt".split()
)
_LATEX = (".tex", ".latex", ".ltx")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def sniff(data: bytes, name: str) -> str:
    """The MIME type of the bytes: by their signature, else by the suffix, else plain text.

    Raises:
        LoadError: If they are an office file with a password, or of a kind that no loader reads.
    """
    suffix = PurePosixPath(name).suffix.lower()
    mime = MIME_OF_SUFFIX.get(suffix, "")
    head = data[:_HEAD]
    if b"%PDF-" in head and (mime == PDF or head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"%PDF-")):
        return PDF
    if head.startswith(_OLE):
        raise _old_office(data, name)
    if head.startswith(_RTF):
        raise LoadError(f"{name} is an RTF file, which is not read.", hint="Save it as .docx or PDF.")
    if head.startswith(b"PK\x03\x04"):
        return _office_type(data, name)
    image = next((kind for signature, kind in _IMAGE.items() if head.startswith(signature)), "")
    if image or (head.startswith(b"RIFF") and head[8:12] == b"WEBP"):
        return image or WEBP
    if mime in ("", PLAIN) and head.lstrip(b"\xef\xbb\xbf \t\r\n")[:15].lower().startswith(
        (b"<!doctype html", b"<html")
    ):
        return HTML
    if career := career_type(data, suffix):
        return career
    if not mime and (suffix in _NO_PROSE or _is_no_prose(data)):
        kind = f"a {suffix} file, " if suffix else ""
        hint = "Say in sentences what it holds, as Markdown, text or PDF, or export it as .csv."
        if suffix in _LATEX:
            hint = "Give the PDF that it makes."
        raise LoadError(f"{name} is {kind}source code, data or markup, which is not read.", hint=hint)
    return mime or PLAIN


def career_type(data: bytes, suffix: str) -> str:
    """The type of a file that states a career (JSON Resume, rendercv's YAML); empty for any other."""
    if suffix in (".json", "") and is_json_resume(data):
        return JSON_RESUME
    return RENDERCV if suffix in (".yaml", ".yml") and is_rendercv(data) else ""


def _is_no_prose(data: bytes) -> bool:
    """True for LaTeX, XML and JSON."""
    text = data.removeprefix(b"\xef\xbb\xbf").strip()
    if text[:1] + text[-1:] not in (b"{}", b"[]"):
        return text.startswith((b"\\documentclass", b"\\begin{document}", b"<?xml"))
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _office_type(data: bytes, name: str) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = set(archive.namelist())
            declared = ""
            if "mimetype" in members:
                with archive.open("mimetype") as file:
                    declared = file.read(_HEAD).decode("ascii", "replace")
    except ZIP_ERRORS as error:
        raise LoadError(
            f"{name} is broken: its ZIP container is damaged or truncated.", hint="Copy it again."
        ) from error
    declared = declared.strip().removesuffix("-template")
    if declared in (ODT, ODP, ODS):
        return declared
    if declared == EPUB or "META-INF/container.xml" in members:
        return EPUB
    if is_linkedin_archive(members):
        return LINKEDIN
    for mime, part in _MAIN_PARTS.items():
        if any(is_part(member, part) for member in members):
            return mime
    kind = next((kind for part, kind in _UNREAD_PARTS.items() if part in members), "a ZIP container of a kind")
    raise LoadError(f"{name} is {kind} that is not read.", hint="Unpack it, or save it as .docx, PDF or text.")


def is_part(member: str, part: str) -> bool:
    """True for a part of an office file, maybe numbered: "word/document.xml", "word/document2.xml"."""
    number = member.removeprefix(part).removesuffix(".xml")
    return member in (f"{part}.xml", f"{part}{number}.xml") and (not number or number.isdecimal())


def _old_office(data: bytes, name: str) -> LoadError:
    """The error for a file in the old Microsoft (OLE) container, by the names of the streams in it."""
    found = next((kind for stream, kind in _OLE_STREAMS.items() if stream.encode("utf-16-le") in data), "")
    if found == "password":
        return LoadError(f"{name} has a password.", hint="Save it without a password, or as PDF.")
    kind = f"an old {found} file" if found else "an old Office file"
    new = {"Excel": ".xlsx", "PowerPoint": ".pptx"}.get(found, ".docx")
    return LoadError(f"{name} is {kind}, which is not read.", hint=f"Save it as {new} or PDF.")
