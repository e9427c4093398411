"""LOAD DOCX, PPTX, ODT and ODP: docling's reading of the document."""

import html
import re
from collections.abc import Mapping

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, Limits
from pipelines.ingestion.loaders.docling_text import convert
from pipelines.ingestion.loaders.package import CORE, META, broken, read_parts, with_properties
from pipelines.ingestion.loaders.runs import PARAGRAPH_END
from pipelines.types import SourceItem

_WORD = re.compile(r"word/document\d*\.xml")
_SLIDE = re.compile(r"ppt/slides/slide\d+\.xml")
CONTENT = "content.xml"
_MANIFEST = "META-INF/manifest.xml"

_TAG = re.compile(r"<[^<>]*>")
_RUNNING = re.compile(r"[\r\n\t]+")
_BREAKS = re.compile(r"<(/[wa]:p|/text:[ph]|[wa]:(?:tab|br|cr)|text:(?:tab|line-break|s))(?=[\s/>])[^<>]*>")
_BREAK = {"tab": "\t", "br": "\n", "cr": "\n", "line-break": "\n", "s": " "}
_DRAWN = re.compile(r"<(?:wp:docPr|pic:cNvPr|a:blip|v:imagedata)\b[^<>]*>")
_DESCRIBED = re.compile(r'\s(?:descr|o:title)="([^"]*)"')
_PICTURE = re.compile(r"<p:pic\b.{0,400}?<p:cNvPr\b([^<>]*)>", re.DOTALL)


def load_docx(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The Word document's text; title, author and last change from its properties."""
    parts = read_parts(data, item.name, lambda name: name == CORE or bool(_WORD.fullmatch(name)), limits)
    document = _joined(parts, item.name)
    rendering = convert(data, item.name, ".docx", words(document), _described(document))
    return with_properties(rendering, parts)


def load_slides(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The presentation's text: a slide is a page, its title a heading, what its speaker notes say follows."""
    parts = read_parts(data, item.name, lambda name: name == CORE or bool(_SLIDE.fullmatch(name)), limits)
    slides = _joined(parts, item.name)
    pictured = [_description(match[1]) for match in _PICTURE.finditer(slides)]
    return with_properties(convert(data, item.name, ".pptx", words(slides), pictured), parts)


def load_odf_text(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The OpenDocument text."""
    return _load_odf(data, item, limits, ".odt")


def load_odf_slides(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The OpenDocument presentation's text: a slide is a page, its title a heading."""
    return _load_odf(data, item, limits, ".odp")


def read_odf(data: bytes, name: str, limits: Limits) -> dict[str, str]:
    """The content and the properties of an OpenDocument file.

    Raises:
        LoadError: If it is damaged, too large unpacked, or has a password.
    """
    parts = read_parts(data, name, lambda part: part in (CONTENT, META, _MANIFEST), limits)
    if "encryption-data" in parts.get(_MANIFEST, ""):
        raise LoadError(f"{name} has a password.", hint="Save it without a password, or as PDF.")
    if CONTENT not in parts:
        raise broken(name)
    return parts


def _load_odf(data: bytes, item: SourceItem, limits: Limits, suffix: str) -> Content:
    parts = read_odf(data, item.name, limits)
    content = parts[CONTENT]
    rendering = convert(data, item.name, suffix, words(content))
    return with_properties(rendering, parts)


def _joined(parts: Mapping[str, str], name: str) -> str:
    body = "".join(text for part, text in parts.items() if part != CORE)
    if not body:
        raise broken(name)
    return body


def words(xml: str) -> str:
    """The bare text of an office file, with a tab, a line break and the end of a paragraph where it has one."""
    return html.unescape(_TAG.sub("", _BREAKS.sub(_break, _RUNNING.sub(" ", xml))))


def _break(match: re.Match[str]) -> str:
    return PARAGRAPH_END if match[1][0] == "/" else _BREAK[match[1].partition(":")[2]]


def _described(document: str) -> list[str]:
    """The alternative text of each picture of a Word document, in order, "" where there is none."""
    found: list[str] = []
    waiting = ""
    first, *rest = document.split("<mc:Fallback>")  # where the same pictures stand once more
    for match in _DRAWN.finditer("".join([first, *(part.partition("</mc:Fallback>")[2] for part in rest)])):
        if match[0].startswith(("<a:blip", "<v:imagedata")):
            found.append(_description(match[0]) or waiting)
            waiting = ""
        else:
            waiting = _description(match[0]) or waiting
    return found


def _description(attributes: str) -> str:
    match = _DESCRIBED.search(attributes)
    return " ".join(html.unescape(match[1]).split()) if match else ""
