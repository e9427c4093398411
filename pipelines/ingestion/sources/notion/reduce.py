"""What is kept of a block: what it says, and nothing that changes by itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.ingestion.sources.notion.address import digits

Told = Mapping[str, Any]


def pieces(rich_text: object) -> list[list[str]]:
    """The [text, target] of each piece; a mention of a page leads there, an equation is its expression."""
    found = []
    for piece in rich_text if isinstance(rich_text, Sequence) and not isinstance(rich_text, str) else ():
        found.append([str(piece.get("plain_text") or ""), str(piece.get("href") or "")])
    return [piece for piece in found if piece[0]]


def block_of(told: Told) -> dict[str, Any]:
    """A block without those below it: its type and id, and of the rest what it has.

    Addresses of files that Notion itself keeps are left out: they are new at each request.
    """
    kind = told["type"]
    said = told.get(kind) or {}
    hosted = said.get("external") or {}
    found = {
        "text": pieces(said.get("rich_text") or (said.get("title") if isinstance(said.get("title"), list) else None)),
        "caption": pieces(said.get("caption")),
        "cells": [pieces(cell) for cell in said.get("cells") or ()],
        "title": said.get("title") if isinstance(said.get("title"), str) else "",
        "url": said.get("url") or hosted.get("url") or "",
        "name": said.get("name") or "",
        "checked": bool(said.get("checked")),
        "language": said.get("language") or "",
        "expression": said.get("expression") or "",
        "to": _linked(said),
    }
    return {"id": digits(told["id"]), "type": str(kind), **{name: value for name, value in found.items() if value}}


def synced_from(told: Told) -> str:
    """The id of the block that a synced block repeats; nothing for an original, or for another block."""
    source = (told.get("synced_block") or {}).get("synced_from") if told["type"] == "synced_block" else None
    return digits(source["block_id"]) if source else ""


def is_gone(told: Told) -> bool:
    """Whether a page, a database or a block lies in the trash."""
    return bool(told.get("in_trash") or told.get("archived"))


def _linked(said: Told) -> str:
    """Where a link to a page leads."""
    target = next((said[name] for name in ("page_id", "database_id", "comment_id") if said.get(name)), "")
    return digits(target) if target else ""
