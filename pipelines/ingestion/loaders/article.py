"""Extract the article of a web page with trafilatura, and render its TEI body."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

from pipelines.headings import MAX_TITLE
from pipelines.ingestion.loaders.base import Content, parse_datetime
from pipelines.ingestion.loaders.rendering import Cell, RenderedPart, Rendering, line_parts, table_parts
from pipelines.text import canonical, digit_runs

Emit = Callable[[str], None]

_SHORT = 250  # characters; less is rarely an article, so it is extracted again with higher recall
_LAST_DATE = "2100-01-01"  # the default, today, would make the same bytes load differently later
_BROKEN = (ValueError, TypeError, AttributeError, LookupError, RecursionError, AssertionError)
_ONE_LINE = str.maketrans("\r\n\t", "   ")
_BLOCKS = frozenset({"p", "div", "quote", "head", "list", "item", "table", "row", "cell", "code", "body"})


def extract_article(page: str, url: str) -> Content | None:
    """The article of a page without menus and comments; None if none is found.

    A page that states it is an article is extracted with high precision. Any other page, such as a manual's, is
    extracted with higher recall.

    Args:
        page: The source of the page.
        url: Its address, to resolve relative ones.
    """
    found = _extract(page, url, precise=True)
    if found is None or "article" not in (found.pagetype or "").lower() or len(_body_text(found.body)) < _SHORT:
        documents = [one for one in (found, _extract(page, url, precise=False)) if one is not None]
        found = max(documents, key=lambda one: len(_body_text(one.body)), default=None)
    rendering = Rendering() if found is None else render_tei(found.body)
    if not rendering.text:
        return None
    address = found.url or ""
    facts = {
        "url": _clean(address) if address.startswith(("https://", "http://")) else url,
        "site": _clean(found.sitename),
        "description": _clean(found.description),
        "language": _clean(found.language),
    }
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        title=_clean(found.title),
        author=_clean(", ".join(dict.fromkeys((found.author or "").split("; ")))),
        published_at=parse_datetime(found.date or ""),
        metadata={name: value for name, value in facts.items() if value},
    )


def _clean(text: str | None) -> str:
    return " ".join(canonical(text or "").split())


def _body_text(body: Any) -> str:
    return "".join(body.itertext())


def _extract(page: str, url: str, *, precise: bool) -> Any:
    """trafilatura's document; None if it finds no article or cannot read the page."""
    for name in ("trafilatura", "htmldate"):  # they log pages without an article or a date
        logging.getLogger(name).setLevel(logging.CRITICAL)
    from lxml.etree import LxmlError
    from trafilatura import bare_extraction, load_html

    dates = {"original_date": True, "extensive_search": False, "max_date": _LAST_DATE}
    try:
        tree = _with_plain_headings(load_html(page))
        return bare_extraction(
            tree, url=url or None, favor_precision=precise, include_comments=False, include_tables=True,
            with_metadata=True, date_extraction_params=dates,
        )  # fmt: skip
    except (*_BROKEN, LxmlError):
        return None


def _with_plain_headings(tree: Any) -> Any:
    """The page without links from headings to themselves: trafilatura takes such headings for a menu."""
    for heading in tree.iter("h1", "h2", "h3", "h4", "h5", "h6") if tree is not None else ():
        for link in [one for one in heading.iter("a") if (one.get("href") or "").startswith("#")]:
            if any(map(str.isalnum, link.text_content())):
                link.drop_tag()
            else:  # only a pilcrow or an image
                link.drop_tree()
    return tree


def render_tei(body: Any) -> Rendering:
    """Headings with their levels, lists, tables, code and paragraphs, in order."""
    walk = _TeiWalk()
    walk.inside(body, walk.paragraph)
    return walk.rendering


class _TeiWalk:
    def __init__(self) -> None:
        self.rendering = Rendering()

    def paragraph(self, text: str) -> None:
        self.rendering.extend(line_parts(text))

    def inside(self, element: Any, emit: Emit, depth: int = 0) -> None:
        """Emit each run of text in an element, and render the blocks between; `depth` indents its lists."""
        run = _one_line(element.text)
        for child in element:
            if _is_block(child):
                _emit(run, emit)
                self._block(child, emit, depth)
                run = ""
            else:
                run += _inline(child)
            run += _one_line(child.tail)
        _emit(run, emit)

    def _block(self, element: Any, emit: Emit, depth: int) -> None:
        match element.tag:
            case "head":
                self._heading(element)
            case "list":
                for number, item in enumerate(element.iterchildren("item"), start=1):
                    self._item(item, f"{number}." if element.get("rend") == "ol" else "-", depth)
            case "table":
                self.rendering.extend(_table(element))
            case "code":
                self.rendering.add_code("".join(element.itertext()).strip("\n"))
            case _:
                self.inside(element, emit, depth)

    def _heading(self, element: Any) -> None:
        text = " ".join(_inline(element).split())
        level = digit_runs(element.get("rend") or "")
        if len(text) > MAX_TITLE:
            self.paragraph(text)
        else:
            self.rendering.add(text, "heading", min(int(level[0]), 6) if level else 2)

    def _item(self, item: Any, marker: str, depth: int) -> None:
        """The item's first text after its marker, the rest below, nested lists one step deeper."""
        marks = [marker]

        def emit(text: str) -> None:
            self.rendering.add(" ".join([*marks, *text.split()]), "list", indent="  " * depth)
            marks.clear()

        self.inside(item, emit, depth + 1)


def _emit(run: str, emit: Emit) -> None:
    if run.strip():
        emit(run)


def _is_block(element: Any) -> bool:
    inline_code = element.tag == "code" and "\n" not in "".join(element.itertext())
    return element.tag in _BLOCKS and not inline_code


def _inline(element: Any) -> str:
    """The text of an inline element; a line break for `lb`."""
    if element.tag == "lb":
        return "\n"
    if not isinstance(element.tag, str):  # a comment or an instruction
        return ""
    inner = (_inline(child) + _one_line(child.tail) for child in element)
    return _one_line(element.text) + "".join(inner)


def _one_line(text: str | None) -> str:
    """The text without the source's line breaks, which have no meaning."""
    return text.translate(_ONE_LINE) if text else ""


def _table(element: Any) -> list[RenderedPart]:
    rows = list(element.iter("row"))
    cells = [cell for number, row in enumerate(rows) for cell in _cells(row, number)]
    return table_parts(cells, len(rows), max((cell.column for cell in cells), default=0) + 1)


def _cells(row: Any, number: int) -> Iterator[Cell]:
    for column, cell in enumerate(row.iterchildren("cell")):
        parts = render_tei(cell).as_parts()
        yield Cell(number, column, 1, tuple(parts), cell.get("role") == "head")
