"""The blocks of a Notion page as the parts of a Markdown-like text."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pipelines.ingestion.heading_styles import MAX_TITLE
from pipelines.ingestion.loaders.notion.words import SITE, bare, linked, words
from pipelines.types import BlockKind

Block = Mapping[str, Any]


class Laid(NamedTuple):
    """A part of the text: what stands before each of its lines, its words, what it is, and a heading's level."""

    before: str
    text: str
    kind: BlockKind = "paragraph"
    level: int = 0


class _Own(NamedTuple):
    text: str
    kind: BlockKind = "paragraph"
    level: int = 0


_UNDER = {"bulleted_list_item": "    ", "numbered_list_item": "    ", "to_do": "    ", "quote": "> ", "callout": "> "}
_QUOTED = frozenset({"quote", "callout"})
_SILENT = frozenset(
    {"divider", "breadcrumb", "table_of_contents", "column_list", "column", "synced_block", "tab", "table_row"}
)
_FILES = frozenset({"image", "file", "pdf", "video", "audio"})


def laid_out(blocks: Sequence[Block], tally: Counter[str], before: str = "") -> Iterator[Laid]:
    """The parts of the text of these blocks and all below them, in reading order.

    Lists are indented by four spaces a level and quotations marked by `> `; the title of the page has level 1, so that
    a heading 1 has level 2. `tally` counts the blocks that were read under "", those that cannot be under their types.
    """
    number = 0
    for block in blocks:
        number = number + 1 if block["type"] == "numbered_list_item" else 0
        own, children = _own(block, number), block.get("children", ())
        if own is None and not children:
            tally[block["type"]] += 1
        else:
            tally[""] += 1
        quoted = before + "> " if block["type"] in _QUOTED else before
        if own and own.text.strip():
            heading = own.kind == "heading" and ">" in quoted
            yield Laid(quoted, own.text, "paragraph" if heading else own.kind, 0 if heading else own.level)
        if block["type"] == "table":
            tally[""] += len(children)
        else:
            yield from laid_out(children, tally, before + _UNDER.get(block["type"], ""))


def _own(block: Block, number: int) -> _Own | None:
    """What a block says without those below it; None where its kind is not known and it has no words."""
    kind, text = block["type"], words(block.get("text", ()))
    if kind in _SILENT:
        return _Own("")
    if kind in _WRITERS:
        return _WRITERS[kind](block, text)
    if kind == "numbered_list_item":
        return _Own(f"{number}. {text}" if text.strip() else "", "list")
    if kind.startswith("heading_"):
        return _heading(kind, text)
    if kind in _FILES:
        return _Own(_file(block), "caption")
    shown = text or words(block.get("caption", ())) or linked(block.get("title", ""), block.get("url", ""))
    return _Own(shown) if shown.strip() else None


def _heading(kind: str, text: str) -> _Own:
    level, line = kind.removeprefix("heading_"), " ".join(text.split())
    if not line or len(line) > MAX_TITLE or not level.isdecimal():
        return _Own(text)
    depth = min(int(level) + 1, 6)
    return _Own(f"{'#' * depth} {line}", "heading", depth)


def _item(block: Block, text: str) -> _Own:
    return _Own(f"- {text}" if text.strip() else "", "list")


def _to_do(block: Block, text: str) -> _Own:
    return _Own(f"- [{'x' if block.get('checked') else ' '}] {text}" if text.strip() else "", "list")


def _code(block: Block, text: str) -> _Own:
    source, caption = bare(block.get("text", ())), words(block.get("caption", ()))
    fence = "````" if "```" in source else "```"
    shown = f"{fence}{block.get('language', '')}\n{source}\n{fence}" if source.strip() else ""
    return _Own(f"{shown}\n{caption}".strip("\n"), "code")


def _equation(block: Block, text: str) -> _Own:
    expression = block.get("expression", "")
    return _Own(f"$$\n{expression}\n$$" if expression.strip() else "", "code")


def _link(block: Block, text: str) -> _Own:
    address, caption = block.get("url", ""), words(block.get("caption", ()))
    return _Own(linked(caption, address) if caption.strip() else address)


def _below(block: Block, text: str) -> _Own:
    return _Own(linked(block.get("title") or "Untitled", f"{SITE}/{block['id']}"))


def _to_page(block: Block, text: str) -> _Own:
    return _Own(f"{SITE}/{block['to']}" if block.get("to") else "")


def _file(block: Block) -> str:
    caption, address = words(block.get("caption", ())), block.get("url", "")
    shown = caption if caption.strip() else block.get("name", "")
    return linked(shown, address) if shown.strip() and block["type"] != "image" else shown


def _table(block: Block, text: str) -> _Own:
    rows = [[words(cell) for cell in row.get("cells", ())] for row in block.get("children", ())]
    return _Own(table_text(rows), "table")


def table_text(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose first row is its head; nothing where no cell has words."""
    if not any(cell.strip() for row in rows for cell in row):
        return ""
    width = max(len(row) for row in rows)
    lines = [_row([*row, *[""] * (width - len(row))]) for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(' '.join(cell.replace('|', chr(92) + '|').split()) for cell in cells)} |"


_WRITERS: dict[str, Callable[[Block, str], _Own]] = {
    "paragraph": lambda block, text: _Own(text),
    "toggle": lambda block, text: _Own(text),
    "quote": lambda block, text: _Own(text),
    "callout": lambda block, text: _Own(text),
    "template": lambda block, text: _Own(text),
    "bulleted_list_item": _item,
    "to_do": _to_do,
    "code": _code,
    "equation": _equation,
    "bookmark": _link,
    "embed": _link,
    "link_preview": _link,
    "link_to_page": _to_page,
    "child_page": _below,
    "child_database": _below,
    "table": _table,
}
