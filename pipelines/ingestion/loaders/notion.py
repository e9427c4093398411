"""Load Notion pages and databases: the envelope of the API's blocks as Markdown-like text."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import urljoin

from config.settings import Limits
from pipelines.errors import LoadError
from pipelines.headings import MAX_TITLE
from pipelines.ingestion.envelope import Envelope, unpack
from pipelines.ingestion.loaders.base import Content, as_document, parse_datetime
from pipelines.ingestion.loaders.rendering import RenderedPart, Rendering, pipe_table
from pipelines.ingestion.loaders.sniff import MARKDOWN
from pipelines.types import Document, SourceItem

Block = Mapping[str, Any]
RichText = Sequence[Sequence[str]]  # [text, link target] each; an empty target = no link

SITE = "https://www.notion.so"

_CHILD_PREFIX = {
    "bulleted_list_item": "    ",
    "numbered_list_item": "    ",
    "to_do": "    ",
    "quote": "> ",
    "callout": "> ",
}
_QUOTED = frozenset({"quote", "callout"})
_WITHOUT_TEXT = frozenset(
    {"divider", "breadcrumb", "table_of_contents", "column_list", "column", "synced_block", "tab", "table_row"}
)
_FILES = frozenset({"image", "file", "pdf", "video", "audio"})


def load_notion(data: bytes, item: SourceItem, limits: Limits) -> Document:
    """The page under its title: its properties, then its blocks; for a database, a table of its rows.

    If not every block could be read, `metadata["partial"]` has the counts of fetched and rendered blocks, the types of
    the unread ones, and the blocks whose children Notion refused.

    Raises:
        LoadError: If the bytes are not an envelope of Notion's.
    """
    envelope = unpack(data, item.name)
    try:
        content = _content(envelope)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        hint = "Ingest it again with --verify."
        raise LoadError(f"The fetched data of {item.name} is damaged.", hint=hint) from error
    return as_document(content, data, item, MARKDOWN)


def _content(envelope: Envelope) -> Content:
    facts, body = envelope.facts, json.loads(envelope.body)
    rendering = Rendering()
    rendering.add(f"# {facts['title'] or 'Untitled'}", "heading", 1)
    rendering.add(facts.get("description", ""), "paragraph")
    rendering.add("\n".join(f"{name}: {_line(value)}" for name, value in facts["properties"]), "paragraph")
    metadata: dict[str, Any] = {"properties": dict(facts["properties"])} if facts["properties"] else {}
    if facts["what"] == "database":
        for table in body:
            if len(body) > 1 and table["name"].strip():
                rendering.add(f"## {_line(table['name'])}", "heading", 2)
            rendering.add(_table_text([table["columns"], *table["rows"]]) if table["rows"] else "", "table")
    else:
        tally = Counter[str]()
        for prefix, part in page_parts(body, tally):
            marks = prefix.lstrip(" ")  # white space before the first line stays outside of its span
            first, *others = part.text.strip("\n").split("\n")
            text = "\n".join([marks + first, *(f"{prefix}{line}" for line in others)])
            rendering.add(text, part.kind, part.level, indent=prefix[: len(prefix) - len(marks)])
        metadata |= {"blocks": facts["blocks"], **_partial(facts, tally)}
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        title=_line(facts["title"]) or "Untitled",
        author=facts["by"],
        published_at=parse_datetime(facts["created"]),
        modified_at=parse_datetime(facts["edited"]),
        metadata=metadata,
    )


def unread_block_types(blocks: Sequence[Block]) -> Mapping[str, int]:
    """The number of blocks that cannot be read, by type."""
    tally = Counter[str]()
    for _ in page_parts(blocks, tally):
        pass
    return _unread(tally)


def _unread(tally: Counter[str]) -> dict[str, int]:
    return {kind: tally[kind] for kind in sorted(tally) if kind}


def _partial(facts: Mapping[str, Any], tally: Counter[str]) -> dict[str, Any]:
    fetched, rendered, refused = facts["blocks"], tally[""], facts["missing"]
    if fetched == rendered and not refused:
        return {}
    return {"partial": {"fetched": fetched, "rendered": rendered, "unread": _unread(tally), "refused": refused}}


def _line(text: str) -> str:
    return " ".join(text.split())


def page_parts(blocks: Sequence[Block], tally: Counter[str], prefix: str = "") -> Iterator[tuple[str, RenderedPart]]:
    """(line prefix, part) of these blocks and all below them, in reading order.

    Lists are indented by four spaces a level and quotations prefixed by `> `; the title of the page has level 1, so a
    heading 1 has level 2. `tally` counts the blocks that were read under "", and the unreadable ones under their types.
    """
    number = 0
    for block in blocks:
        number = number + 1 if block["type"] == "numbered_list_item" else 0
        part, children = _part(block, number), block.get("children", ())
        tally[block["type"] if part is None and not children else ""] += 1
        own_prefix = prefix + "> " if block["type"] in _QUOTED else prefix
        if part and part.text.strip():
            yield own_prefix, RenderedPart(part.text) if part.kind == "heading" and ">" in own_prefix else part
        if block["type"] == "table":
            tally[""] += len(children)
        else:
            yield from page_parts(children, tally, prefix + _CHILD_PREFIX.get(block["type"], ""))


def _part(block: Block, number: int) -> RenderedPart | None:
    """The text of a block without its children; None if its type is unknown and it has no text."""
    kind, text = block["type"], rich_text(block.get("text", ()))
    if kind in _WITHOUT_TEXT:
        return RenderedPart("")
    if kind in _WRITERS:
        return _WRITERS[kind](block, text)
    if kind == "numbered_list_item":
        return _list_item(f"{number}.", text)
    if kind.startswith("heading_"):
        return _heading(kind, text)
    if kind in _FILES:
        return RenderedPart(_file(block), "caption")
    shown = text or rich_text(block.get("caption", ())) or markdown_link(block.get("title", ""), block.get("url", ""))
    return RenderedPart(shown) if shown.strip() else None


def _list_item(marker: str, text: str) -> RenderedPart:
    return RenderedPart(f"{marker} {text}" if text.strip() else "", "list")


def _heading(kind: str, text: str) -> RenderedPart:
    level, line = kind.removeprefix("heading_"), _line(text)
    if not line or len(line) > MAX_TITLE or not level.isdecimal():
        return RenderedPart(text)
    depth = min(int(level) + 1, 6)
    return RenderedPart(f"{'#' * depth} {line}", "heading", depth)


def _code(block: Block, text: str) -> RenderedPart:
    source, caption = plain_rich_text(block.get("text", ())), rich_text(block.get("caption", ()))
    fence = "````" if "```" in source else "```"
    shown = f"{fence}{block.get('language', '')}\n{source}\n{fence}" if source.strip() else ""
    return RenderedPart(f"{shown}\n{caption}".strip("\n"), "code")


def _equation(block: Block, text: str) -> RenderedPart:
    expression = block.get("expression", "")
    return RenderedPart(f"$$\n{expression}\n$$" if expression.strip() else "", "code")


def _link(block: Block, text: str) -> RenderedPart:
    address, caption = block.get("url", ""), rich_text(block.get("caption", ()))
    return RenderedPart(markdown_link(caption, address) if caption.strip() else address)


def _file(block: Block) -> str:
    caption, address = rich_text(block.get("caption", ())), block.get("url", "")
    shown = caption if caption.strip() else block.get("name", "")
    return markdown_link(shown, address) if shown.strip() and block["type"] != "image" else shown


def _table(block: Block, text: str) -> RenderedPart:
    rows = [[rich_text(cell) for cell in row.get("cells", ())] for row in block.get("children", ())]
    return RenderedPart(_table_text(rows), "table")


def _table_text(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose first row is its header; empty if no cell has text."""
    if not any(cell.strip() for row in rows for cell in row):
        return ""
    width = max(len(row) for row in rows)
    return pipe_table([[*row, *[""] * (width - len(row))] for row in rows], keep_blank=True)


_WRITERS: dict[str, Callable[[Block, str], RenderedPart]] = {
    **dict.fromkeys(("paragraph", "toggle", "quote", "callout", "template"), lambda block, text: RenderedPart(text)),
    **dict.fromkeys(("bookmark", "embed", "link_preview"), _link),
    **dict.fromkeys(
        ("child_page", "child_database"),
        lambda block, text: RenderedPart(markdown_link(block.get("title") or "Untitled", f"{SITE}/{block['id']}")),
    ),
    "bulleted_list_item": lambda block, text: _list_item("-", text),
    "to_do": lambda block, text: _list_item(f"- [{'x' if block.get('checked') else ' '}]", text),
    "code": _code,
    "equation": _equation,
    "link_to_page": lambda block, text: RenderedPart(f"{SITE}/{block['to']}" if block.get("to") else ""),
    "table": _table,
}


def rich_text(runs: RichText) -> str:
    """The text; a link as `[text](target)`, unless the text is the target."""
    parts = ((target, "".join(text for text, _ in run)) for target, run in groupby(runs, key=lambda piece: piece[1]))
    return "".join(markdown_link(text, target) for target, text in parts)


def plain_rich_text(runs: RichText) -> str:
    """The text without link targets, for code and titles."""
    return "".join(text for text, _ in runs)


def markdown_link(text: str, target: str) -> str:
    """The text as a link, white space outside of it; unchanged without target or words, or if both are the same."""
    shown = text.strip()
    if not target or not shown or _address(shown) == _address(target):
        return text
    start = text.index(shown)
    return f"{text[:start]}[{shown}]({urljoin(SITE, target)}){text[start + len(shown) :]}"


def _address(text: str) -> str:
    for scheme in ("https://", "http://", "mailto:"):
        text = text.removeprefix(scheme)
    return text.rstrip("/")
