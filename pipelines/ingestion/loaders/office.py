"""Load DOCX, PPTX, ODT and ODP: docling reads the document; title, author and date are its properties."""

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from config.settings import Limits
from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import (
    ZIP_ERRORS,
    Content,
    damaged_file,
    first_heading,
    parse_datetime,
    stated_words,
)
from pipelines.ingestion.loaders.docling_reader import PARAGRAPH_END, read_with_docling
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.ingestion.loaders.sniff import WORD_PART, is_part
from pipelines.text import digit_runs, one_line
from pipelines.types import SourceItem

CONTENT = "content.xml"
CORE = "docProps/core.xml"
META = "meta.xml"

_SLIDE_PART = "ppt/slides/slide"
_MANIFEST = "META-INF/manifest.xml"
_ENDS = frozenset(("p", "h"))  # elements whose end is that of a paragraph
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "line-break": "\n", "s": " "}
_ONE_LINE = str.maketrans("\r\n\t", "   ")
_UNPACKED_FACTOR = 10
_TITLE, _AUTHOR = ("title",), ("creator", "initial-creator")
_MODIFIED = ("modified", "date")


def load_docx(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The Word document's text; title, author and last change from its properties."""
    parts = read_parts(data, item.name, lambda name: name == CORE or is_part(name, WORD_PART), limits)
    trees = _trees(parts, item.name)
    described = [words for tree in trees for words in _picture_descriptions(tree)]
    rendering = read_with_docling(data, item.name, ".docx", _bare_text(trees), described)
    return content_with_properties(rendering, parts)


def load_slides(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The presentation's text: a slide is a page, its title a heading, followed by its speaker notes."""
    parts = read_parts(data, item.name, lambda name: name == CORE or is_part(name, _SLIDE_PART), limits)
    slides = _trees(parts, item.name)
    pictures = [picture for slide in slides for picture in slide.iter("{*}pic")]
    described = [_description(named) for picture in pictures for named in picture.iter("{*}cNvPr")]
    return content_with_properties(read_with_docling(data, item.name, ".pptx", _bare_text(slides), described), parts)


def load_odf(data: bytes, item: SourceItem, limits: Limits, *, suffix: str) -> Content:
    """The OpenDocument text (.odt) or presentation (.odp: a slide is a page, its title a heading)."""
    parts = read_odf(data, item.name, limits)
    trees = _trees({CONTENT: parts[CONTENT]}, item.name)
    return content_with_properties(read_with_docling(data, item.name, suffix, _bare_text(trees)), parts)


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
                key=lambda name: ([int(digits[:9]) for digits in digit_runs(name)], name),
            )
            return {part: archive.read(part).decode("utf-8", "replace") for part in names}
    except ZIP_ERRORS as error:
        raise damaged_file(name) from error


def _trees(parts: Mapping[str, str], name: str) -> list[Any]:
    """The element trees of the parts with text, in order."""
    trees = [tree for part, xml in parts.items() if part != CORE and (tree := parse_xml(xml)) is not None]
    if not trees:
        raise damaged_file(name)
    for tree in trees:
        declared = tree.getroottree().docinfo.internalDTD
        if declared is not None and declared.entities():
            raise LoadError(
                f"{name} declares entities, which may name other files; no office program writes them.",
                hint="Open it in an office program and save it again.",
            )
    return trees


def parse_xml(xml: str) -> Any:
    """The element tree of a part; None if it has no elements. Nothing that it names is read."""
    from lxml import etree

    parser = etree.XMLParser(recover=True, huge_tree=True, resolve_entities=False, no_network=True)
    return etree.fromstring(xml.encode(), parser) if xml.strip() else None


def _bare_text(trees: Iterable[Any]) -> str:
    """The text of an office file, with a tab, line break or end of paragraph where it has one."""
    from lxml import etree

    kept: list[str] = []
    for tree in trees:
        for event, element in etree.iterwalk(tree, events=("start", "end")):
            name = str(element.tag).rpartition("}")[2]
            if event == "start":
                kept += [_BREAKS.get(name, ""), (element.text or "").translate(_ONE_LINE)]
            else:
                kept += [PARAGRAPH_END if name in _ENDS else "", (element.tail or "").translate(_ONE_LINE)]
    return "".join(kept)


def _picture_descriptions(document: Any) -> list[str]:
    """The alternative text of each picture of a Word document in order, empty where it has none."""
    found: list[str] = []
    pending = ""
    for element in document.iter("{*}docPr", "{*}cNvPr", "{*}blip", "{*}imagedata"):
        if any(True for _ in element.iterancestors("{*}Fallback")):  # it repeats the same pictures
            continue
        if element.tag.endswith(("}blip", "}imagedata")):
            found.append(_description(element) or pending)
            pending = ""
        else:
            pending = _description(element) or pending
    return found


def _description(element: Any) -> str:
    stated = (value for name, value in element.attrib.items() if name == "descr" or name.endswith("office}title"))
    return " ".join(next(stated, "").split())


def content_with_properties(rendering: Rendering, parts: Mapping[str, str], title: str = "") -> Content:
    """The rendering, with author and last change from the file's properties.

    The title is the one given, else the only heading of level 1, else the first heading, else the property.
    """
    properties = parts.get(CORE) or parts.get(META) or ""
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        title=title or _heading(rendering) or property_title(parts),
        author=stated_words(_property(properties, _AUTHOR)),
        modified_at=parse_datetime(_property(properties, _MODIFIED)),
        pages=rendering.pages,
    )


def _heading(rendering: Rendering) -> str:
    top = [block for block in rendering.blocks if block.kind == "heading" and block.level == 1]
    return first_heading(rendering.text, top if len(top) == 1 else rendering.blocks)


def property_title(parts: Mapping[str, str]) -> str:
    """The title in the file's properties, unless a program made it up."""
    return stated_words(_property(parts.get(CORE) or parts.get(META) or "", _TITLE))


def _property(xml: str, names: tuple[str, ...]) -> str:
    tree = parse_xml(xml)
    named = {} if tree is None else {name: next(tree.iter(f"{{*}}{name}"), None) for name in names}
    return next((one_line(one.text) for one in named.values() if one is not None), "")
