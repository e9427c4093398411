"""Load notebooks (.ipynb) and e-books (EPUB): the cells and the chapters in order."""

import json
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote

from config.settings import Limits
from pipelines.blocks import markdown_blocks
from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, damaged_file
from pipelines.ingestion.loaders.html import load_html
from pipelines.ingestion.loaders.office import parse_xml, read_parts
from pipelines.ingestion.loaders.rendering import RenderedPart, Rendering
from pipelines.ingestion.loaders.text import decode
from pipelines.text import canonical
from pipelines.types import SourceItem

CONTAINER = "META-INF/container.xml"
_PAGES = (".xhtml", ".html", ".htm", ".xml")
_MOST_OUTPUT = 2_000  # characters of a cell's output


def load_notebook(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The Markdown cells as they stand, code cells as fenced code, and what they printed as text."""
    try:
        held = json.loads(decode(data, item.name)[0])
        cells = held.get("cells") or [cell for sheet in held.get("worksheets", ()) for cell in sheet["cells"]]
        language = held.get("metadata", {}).get("language_info", {}).get("name", "")
        parts = [part for cell in cells for part in _cell(cell, language)]
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError) as error:
        raise LoadError(
            f"{item.name} is not a notebook: {error}.", hint="Open it in Jupyter and save it again."
        ) from error
    text = canonical("\n\n".join(filter(None, parts)) + "\n")
    return Content(text=text, blocks=markdown_blocks(text))


def _cell(cell: dict[str, Any], language: str) -> list[str]:
    source = _joined(cell.get("source", cell.get("input", ""))).strip()
    if cell["cell_type"] != "code":
        return [source]
    printed = "".join(_joined(out.get("text", out.get("data", {}).get("text/plain", ""))) for out in cell["outputs"])
    return [_fenced(source, language), _fenced(printed.strip()[:_MOST_OUTPUT], "")]


def _fenced(text: str, language: str) -> str:
    fence = "~~~" if "```" in text else "```"
    return f"{fence}{language}\n{text}\n{fence}" if text else ""


def _joined(lines: Any) -> str:
    return "".join(lines) if isinstance(lines, list) else str(lines or "")


def load_epub(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The chapters in reading order; title, author and date are the book's."""
    parts = read_parts(data, item.name, lambda name: name == CONTAINER or name.endswith((".opf", *_PAGES)), limits)
    container = parse_xml(parts.get(CONTAINER, ""))
    root = "" if container is None else next((each.get("full-path") for each in container.iter("{*}rootfile")), "")
    package = parse_xml(parts.get(root, ""))
    if package is None:
        raise damaged_file(item.name)
    files = {each.get("id"): each.get("href") for each in package.iter("{*}item")}
    chapters = [normpath(join(dirname(root), unquote(href))) for each in package.iter("{*}itemref")
                if (href := files.get(each.get("idref")))]  # fmt: skip
    rendering = Rendering()
    for name in chapters:
        if name in parts and name.endswith(_PAGES):
            chapter = load_html(parts[name].encode(), item, limits)
            rendering.extend(
                RenderedPart(chapter.text[block.start : block.end], block.kind, block.level) for block in chapter.blocks
            )
    if not rendering.text:
        raise damaged_file(item.name)
    stated = {name: " ".join(next((each.text or "" for each in package.iter(f"{{*}}{name}")), "").split())
              for name in ("title", "creator")}  # fmt: skip
    return Content(text=rendering.text, blocks=rendering.blocks, title=stated["title"], author=stated["creator"])
