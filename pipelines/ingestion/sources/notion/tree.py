"""The blocks of a page, at every depth."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelines.errors import SourceError, as_source_error
from pipelines.ingestion.envelope import kept_envelope
from pipelines.ingestion.sources.notion.api import Api
from pipelines.ingestion.sources.notion.asking import Gone, Refused
from pipelines.ingestion.sources.notion.reduce import block_of, is_gone, synced_from
from pipelines.store.fetched import Fetched

_DEEPEST = 100
_MOST = 50_000
_BELOW = {"child_page": "page", "child_database": "database"}


@dataclass(slots=True)
class Tree:
    """The blocks of a page.

    Attributes:
        blocks: Those right below it, each with its `children`.
        fetched: How many there are at all depths.
        below: [`page` or `database`, id] of each child page and database, once each.
        left: The same of those that earlier listings knew there and this one does not.
        missing: The blocks whose children Notion refuses: id, type, and why.
    """

    blocks: list[dict[str, Any]] = field(default_factory=list)
    fetched: int = 0
    below: list[list[str]] = field(default_factory=list)
    left: list[list[str]] = field(default_factory=list)
    missing: list[dict[str, str]] = field(default_factory=list)


def fetch_tree(api: Api, page_id: str) -> Tree:
    """All blocks of a page; what a synced block repeats is fetched once a page.

    Raises:
        SourceError: If one request fails: no part of a page passes for the whole.
    """
    fetching = _Fetching(api, page_id)
    fetching.tree.blocks = fetching.children(page_id, 0)
    return fetching.tree


def kept_tree(home: Path, held: Fetched) -> Tree | None:
    """The blocks of a page as they were when it was fetched; None where they can no longer be read."""
    envelope = kept_envelope(home, held.sha, held.uri)
    if envelope is None:
        return None
    blocks = json.loads(envelope.body)
    return Tree(blocks, envelope.told["blocks"], held.more["below"], held.more.get("left", []), held.more["missing"])


class _Fetching:
    """A page whose blocks are being fetched; `_opened` are the blocks whose children were asked for."""

    def __init__(self, api: Api, page_id: str) -> None:
        self.tree = Tree()
        self._api = api
        self._opened = {page_id}
        self._named = set[str]()

    def children(self, block_id: str, depth: int) -> list[dict[str, Any]]:
        """The blocks right below a block, each with its own."""
        found = []
        for told in self._api.children(block_id):
            if is_gone(told):
                continue
            self.tree.fetched += 1
            if self.tree.fetched > _MOST:
                raise SourceError(f"A page of Notion has more than {_MOST:,} blocks.", hint="Split it.")
            found.append(self._with_children(told, depth))
        return found

    def _with_children(self, told: Mapping[str, Any], depth: int) -> dict[str, Any]:
        block = block_of(told)
        if what := _BELOW.get(block["type"]):
            if block["id"] not in self._named:
                self._named.add(block["id"])
                self.tree.below.append([what, block["id"]])
            return block
        if block["type"] == "unsupported":  # of its children, Notion only says whether there are any
            return block
        original = synced_from(told)
        below = self._below(block, original, depth) if told.get("has_children") or original else []
        return {**block, "children": below} if below else block

    def _below(self, block: Mapping[str, Any], original: str, depth: int) -> list[dict[str, Any]]:
        """The blocks below one, once a page; those of a repeating block are asked of the original, else of itself."""
        if (original or block["id"]) in self._opened:
            return []
        self._opened |= {block["id"], original or block["id"]}
        why = f"it lies more than {_DEEPEST} levels deep."
        for asked in dict.fromkeys(filter(None, (original, block["id"]))) if depth < _DEEPEST else ():
            before = self.tree.fetched
            try:
                return self.children(asked, depth + 1)
            except (Gone, Refused) as error:
                if self.tree.fetched != before:  # a cursor is no longer taken: that may go well the next time
                    raise as_source_error(error) from error
                why = error.message
        self.tree.missing.append({"id": block["id"], "type": block["type"], "why": why})
        return []
