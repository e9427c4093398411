"""Load DOCX, PPTX, ODT and ODP: docling reads the document; title, author and date are its properties."""

import html
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, Limits, damaged_file, first_heading, parse_datetime
from pipelines.ingestion.loaders.docling_reader import PARAGRAPH_END, read_with_docling
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.text import canonical
from pipelines.types import SourceItem

CONTENT = "content.xml"
CORE = "docProps/core.xml"
META = "meta.xml"

_WORD = re.compile(r"word/document\d*\.xml")
_SLIDE = re.compile(r"ppt/slides/slide\d+\.xml")
_MANIFEST = "META-INF/manifest.xml"
_TAG = re.compile(r"<[^<>]*>")
_LINE_SPACE = re.compile(r"[\r\n\t]+")
_BREAKS = re.compile(r"<(/[wa]:p|/text:[ph]|[wa]:(?:tab|br|cr)|text:(?:tab|line-break|s))(?=[\s/>])[^<>]*>")
_BREAK = {"tab": "\t", "br": "\n", "cr": "\n", "line-break": "\n", "s": " "}
_PICTURE_TAG = re.compile(r"<(?:wp:docPr|pic:cNvPr|a:blip|v:imagedata)\b[^<>]*>")
_ALT_TEXT = re.compile(r'\s(?:descr|o:title)="([^"]*)"')
_PICTURE = re.compile(r"<p:pic\b.{0,400}?<p:cNvPr\b([^<>]*)>", re.DOTALL)
_UNPACKED_FACTOR = 10
_NUMBERS = re.compile(r"\d+")
_NO_TITLE = re.compile(
    r"(?:untitled|word document|powerpoint presentation|document\d*|presentation\d*|\W*)", re.IGNORECASE
)
_NO_AUTHOR = re.compile(r"(?:python-docx|python-pptx|openpyxl|un-named|unknown|\W*)", re.IGNORECASE)
_TITLE, _AUTHOR = ("dc:title",), ("dc:creator", "meta:initial-creator")
_MODIFIED = ("dcterms:modified", "dc:date")


def load_docx(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The Word document's text; title, author and last change from its properties."""
    parts = read_parts(data, item.name, lambda name: name == CORE or bool(_WORD.fullmatch(name)), limits)
    document = _joined(parts, item.name)
    rendering = read_with_docling(data, item.name, ".docx", _bare_text(document), _picture_descriptions(document))
    return content_with_properties(rendering, parts)


def load_slides(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The presentation's text: a slide is a page, its title a heading, followed by its speaker notes."""
    parts = read_parts(data, item.name, lambda name: name == CORE or bool(_SLIDE.fullmatch(name)), limits)
    slides = _joined(parts, item.name)
    pictured = [_description(match[1]) for match in _PICTURE.finditer(slides)]
    return content_with_properties(read_with_docling(data, item.name, ".pptx", _bare_text(slides), pictured), parts)


def load_odf(data: bytes, item: SourceItem, limits: Limits, *, suffix: str) -> Content:
    """The OpenDocument text (.odt) or presentation (.odp: a slide is a page, its title a heading)."""
    parts = read_odf(data, item.name, limits)
    return content_with_properties(read_with_docling(data, item.name, suffix, _bare_text(parts[CONTENT])), parts)


def read_odf(data: bytes, name: str, limits: Limits) -> dict[str, str]:
    """The content, properties and manifest of an OpenDocument file, by part name.

    Raises:
        LoadError: If it is damaged, too large unpacked, or has a password.
    """
    parts = read_parts(data, name, lambda part: part in (CONTENT, META, _MANIFEST), limits)
    if "encryption-data" in parts.get(_MANIFEST, ""):
        raise LoadError(f"{name} has a password.", hint="Save it without a password, or as PDF.")
    if CONTENT not in parts:
        raise damaged_file(name)
    return parts


def read_parts(data: bytes, name: str, wanted: Callable[[str], bool], limits: Limits) -> dict[str, str]:
    """The wanted parts of an office file (a ZIP container) as text, by name, sorted with numbers as numbers.

    Raises:
        LoadError: If the container is damaged, or unpacks to more than ten times the limit of a file.
    """
    allowed = _UNPACKED_FACTOR * limits.max_binary_bytes
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
            if unpacked > allowed:
                raise LoadError(
                    f"{name} unpacks to {unpacked:,} bytes, over the limit of {allowed:,}.",
                    hint="Split it, or raise FOOTNOTE_INGESTION__MAX_BINARY_BYTES.",
                )
            names = sorted(
                filter(wanted, archive.namelist()),
                key=lambda name: ([int(digits[:9]) for digits in _NUMBERS.findall(name)], name),
            )
            return {part: archive.read(part).decode("utf-8", "replace") for part in names}
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error, RuntimeError, NotImplementedError) as error:
        raise damaged_file(name) from error


def _joined(parts: Mapping[str, str], name: str) -> str:
    body = "".join(text for part, text in parts.items() if part != CORE)
    if not body:
        raise damaged_file(name)
    return body


def _bare_text(xml: str) -> str:
    """The text of an office file, with a tab, line break or end of paragraph where it has one."""
    return html.unescape(_TAG.sub("", _BREAKS.sub(_break, _LINE_SPACE.sub(" ", xml))))


def _break(match: re.Match[str]) -> str:
    return PARAGRAPH_END if match[1][0] == "/" else _BREAK[match[1].partition(":")[2]]


def _picture_descriptions(document: str) -> list[str]:
    """The alternative text of each picture of a Word document in order, empty where it has none."""
    found: list[str] = []
    pending = ""
    first, *rest = document.split("<mc:Fallback>")  # a fallback repeats the same pictures
    for match in _PICTURE_TAG.finditer("".join([first, *(part.partition("</mc:Fallback>")[2] for part in rest)])):
        if match[0].startswith(("<a:blip", "<v:imagedata")):
            found.append(_description(match[0]) or pending)
            pending = ""
        else:
            pending = _description(match[0]) or pending
    return found


def _description(attributes: str) -> str:
    match = _ALT_TEXT.search(attributes)
    return " ".join(html.unescape(match[1]).split()) if match else ""


def content_with_properties(rendering: Rendering, parts: Mapping[str, str], title: str = "") -> Content:
    """The rendering, with author and last change from the file's properties.

    The title is the one given, else the only heading of level 1, else the first heading, else the property.
    """
    properties = parts.get(CORE) or parts.get(META) or ""
    author = _property(properties, _AUTHOR)
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        title=title or _heading(rendering) or property_title(parts),
        author="" if _NO_AUTHOR.fullmatch(author) else author,
        modified_at=parse_datetime(_property(properties, _MODIFIED)),
        pages=rendering.pages,
    )


def _heading(rendering: Rendering) -> str:
    top = [block for block in rendering.blocks if block.kind == "heading" and block.level == 1]
    return first_heading(rendering.text, top if len(top) == 1 else rendering.blocks)


def property_title(parts: Mapping[str, str]) -> str:
    """The title in the file's properties, unless a program made it up."""
    title = _property(parts.get(CORE) or parts.get(META) or "", _TITLE)
    return "" if _NO_TITLE.fullmatch(title) else title


def _property(xml: str, names: tuple[str, ...]) -> str:
    for name in names:
        match = re.search(rf"<{name}\b[^<>]*>([^<]*)</{name}>", xml)
        if match:
            return " ".join(canonical(html.unescape(match[1])).split())
    return ""
