"""LOAD HTML: docling's reading of the page, navigation apart."""

import html
import re
from collections.abc import Iterator

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, Limits
from pipelines.ingestion.loaders.docling_text import HTML_SUFFIX, convert
from pipelines.ingestion.loaders.front_matter import moment
from pipelines.ingestion.loaders.html_source import TAG, is_too_deep, sound
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.ingestion.loaders.text import decode
from pipelines.markup import INLINE_TAGS, without_comments
from pipelines.text import canonical
from pipelines.types import SourceItem

_UNREAD = ("script", "style", "template", "noscript")
_TITLE = re.compile(r"<title\b[^<>]*>([^<]*)</title", re.IGNORECASE)
_META = re.compile(r"<meta\b[^<>]{0,5000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([a-zA-Z:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_CHARSET = re.compile(rb"""<meta[^<>]{0,300}charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_HEAD = 4_096
_MAX_DEPTH = 500
_PUBLISHED = ("article:published_time", "date", "dc.date", "dcterms.date", "pubdate", "datepublished")
_BOM = b"\xef\xbb\xbf"
_FIGURE = re.compile(r"<figure\b[^<>]{0,2000}>", re.IGNORECASE)
_FIGURE_END = re.compile(r"</figure\s*>", re.IGNORECASE)
_IMAGE = re.compile(r"<img\b[^<>]{0,10000}>", re.IGNORECASE)


def load_html(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The page's text; `<title>` is its title, `<meta>` gives author, date and description."""
    source = _with_alternatives(without_comments(_decode(data, item.name)))
    meta = dict(_meta(source))
    rendering = _render(_without(source, "nav", *_UNREAD), item.name)
    if not rendering.text:
        rendering = _render(_without(source, *_UNREAD), item.name)
    title = _TITLE.search(source)
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        title=" ".join(canonical(html.unescape(title[1])).split()) if title else "",
        author=meta.get("author", ""),
        published_at=next((found for key in _PUBLISHED if (found := moment(meta.get(key)))), None),
        metadata={"description": meta["description"]} if meta.get("description") else {},
    )


def _decode(data: bytes, name: str) -> str:
    """UTF-8 or a byte order mark, else the encoding that the page declares, else what plain text may be in."""
    declared = _CHARSET.search(data[:_HEAD])
    try:
        return canonical(data.decode("utf-8")) if b"\x00" not in data else canonical(decode(data, name)[0])
    except UnicodeDecodeError:
        if declared is None:
            return canonical(decode(data, name)[0])
    try:
        return canonical(data.decode(declared[1].decode("ascii")))
    except (LookupError, UnicodeDecodeError) as error:
        encoding = declared[1].decode("ascii", "replace")
        raise LoadError(
            f"{name} says it is in {encoding} but is not.", hint="Save it as UTF-8 and say so in its <meta charset>."
        ) from error


def _render(source: str, name: str) -> Rendering:
    page = sound(source)
    if is_too_deep(page, _MAX_DEPTH):
        raise LoadError(
            f"{name} nests more than {_MAX_DEPTH} elements, or leaves them open.", hint="Save it again from a browser."
        )
    return convert(_BOM + page.encode(), name, HTML_SUFFIX, _words(page))


def _without(source: str, *names: str) -> str:
    """The page without these elements; one that is never closed stays."""
    opening = re.compile(rf"<({'|'.join(names)})\b[^<>]*>", re.IGNORECASE)
    kept, start = [], 0
    unclosed: set[str] = set()
    while opened := opening.search(source, start):
        name = opened[1].lower()
        closed = None
        if name not in unclosed:
            closed = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(source, opened.end())
        if closed is None:
            unclosed.add(name)
        kept.append(source[start : opened.start() if closed else opened.end()])
        start = closed.end() if closed else opened.end()
    kept.append(source[start:])
    return "".join(kept)


def _with_alternatives(source: str) -> str:
    """The page with a paragraph of what an image shows before each figure, whose caption alone docling reads."""
    kept, start = [], 0
    while opened := _FIGURE.search(source, start):
        closed = _FIGURE_END.search(source, opened.end())
        if closed is None:
            break
        figure = source[opened.start() : closed.end()]
        shown = (_attributes(image[0]).get("alt", "").strip() for image in _IMAGE.finditer(figure))
        told = [alt for alt in shown if alt and "<figcaption" in figure.lower() and figure.count(alt) == 1]
        kept += [source[start : opened.start()], *(f"<p>{alt}</p>" for alt in told), figure]
        start = closed.end()
    kept.append(source[start:])
    return "".join(kept)


def _words(source: str) -> str:
    """The bare text: nothing stands for an inline tag, a line break for one, a space for every other."""
    return html.unescape(TAG.sub(_space, " ".join(source.split())))


def _space(tag: re.Match[str]) -> str:
    name = (tag[1] or "").lower()
    return "" if name in INLINE_TAGS else "\n" if name == "br" else " "


def _attributes(tag: str) -> dict[str, str]:
    return {found[1].lower(): found[2] or found[3] or found[4] or "" for found in _ATTRIBUTE.finditer(tag)}


def _meta(source: str) -> Iterator[tuple[str, str]]:
    for match in _META.finditer(source):
        attributes = _attributes(match[0])
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop")
        if name and attributes.get("content"):
            yield name.lower(), " ".join(html.unescape(attributes["content"]).split())
