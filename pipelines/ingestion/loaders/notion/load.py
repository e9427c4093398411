"""A Document of what Notion says of a page or a database."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.errors import LoadError
from pipelines.ingestion.envelope import Envelope, unpack
from pipelines.ingestion.loaders.base import Content, Limits, as_document
from pipelines.ingestion.loaders.front_matter import moment
from pipelines.ingestion.loaders.notion.blocks import Block, Laid, laid_out, table_text
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.ingestion.loaders.sniff import MARKDOWN
from pipelines.types import Document, SourceItem


def load_notion(data: bytes, item: SourceItem, limits: Limits) -> Document:
    """The page under its title: its properties, then its blocks; of a database, a table of its rows.

    A page of which not every block is read is marked: `metadata["partial"]` has the counts of those fetched and
    rendered, the types of the unread ones, and the blocks whose children Notion refuses.

    Raises:
        LoadError: If the bytes are no envelope of Notion's.
    """
    envelope = unpack(data, item.name)
    try:
        content = _content(envelope)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        hint = "Ingest it again with --verify."
        raise LoadError(f"What was fetched of {item.name} is damaged.", hint=hint) from error
    return as_document(content, data, item, MARKDOWN)


def _content(envelope: Envelope) -> Content:
    told, body = envelope.told, json.loads(envelope.body)
    rendering = Rendering()
    rendering.add(f"# {told['title'] or 'Untitled'}", "heading", 1)
    rendering.add(told.get("description", ""), "paragraph")
    rendering.add("\n".join(f"{name}: {_line(value)}" for name, value in told["properties"]), "paragraph")
    metadata: dict[str, Any] = {"properties": dict(told["properties"])} if told["properties"] else {}
    if told["what"] == "database":
        _add_tables(rendering, body)
    else:
        tally = Counter[str]()
        for part in laid_out(body, tally):
            _add(rendering, part)
        metadata |= {"blocks": told["blocks"], **_partial(told, tally)}
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        title=" ".join(told["title"].split()) or "Untitled",
        author=told["by"],
        published_at=moment(told["created"]),
        modified_at=moment(told["edited"]),
        metadata=metadata,
    )


def unread(blocks: Sequence[Block]) -> Mapping[str, int]:
    """How many blocks of each type cannot be read, by type."""
    tally = Counter[str]()
    for _ in laid_out(blocks, tally):
        pass
    return {kind: tally[kind] for kind in sorted(tally) if kind}


def _partial(told: Mapping[str, Any], tally: Counter[str]) -> dict[str, Any]:
    if told["blocks"] == tally[""] and not told["missing"]:
        return {}
    left = {kind: tally[kind] for kind in sorted(tally) if kind}
    return {
        "partial": {"fetched": told["blocks"], "rendered": tally[""], "unread": left, "refused": told["missing"]},
    }


def _add(rendering: Rendering, part: Laid) -> None:
    """Add a part, its marks before every line; white space before the first stays outside of its span."""
    marks = part.before.lstrip(" ")
    indent = part.before[: len(part.before) - len(marks)]
    first, *others = part.text.strip("\n").split("\n")
    lines = [marks + first, *(f"{part.before}{line}" for line in others)]
    rendering.add("\n".join(lines), part.kind, part.level, indent=indent)


def _add_tables(rendering: Rendering, tables: Sequence[Mapping[str, Any]]) -> None:
    """Add each table; where there are several, under their names."""
    for table in tables:
        if len(tables) > 1 and table["name"].strip():
            rendering.add(f"## {_line(table['name'])}", "heading", 2)
        rendering.add(table_text([table["columns"], *table["rows"]]) if table["rows"] else "", "table")


def _line(text: str) -> str:
    return " ".join(text.split())
