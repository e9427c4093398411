"""A place in Notion: a page or a database, where it lies, and what had been right below it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.ingestion.sources.notion.address import page_address
from pipelines.store.fetched import recall


@dataclass(frozen=True, slots=True)
class Place:
    """What is to be visited: a `page` or a `database`, the titles above it, and what is known of it."""

    what: str
    id: str
    above: tuple[str, ...] = ()
    told: Mapping[str, Any] | None = None
    properties: tuple[list[str], ...] | None = None

    @property
    def depth(self) -> int:
        """How far below the source's own page or database it lies, which is 0."""
        return len(self.above)


def left_since(home: Path, place_id: str, below: Sequence[Sequence[str]]) -> list[list[str]]:
    """[`page` or `database`, id] of what earlier listings knew right below a place and what is not there now."""
    old, now = recall(home, page_address(place_id)), {each[1] for each in below}
    known = [*old.more.get("below", ()), *old.more.get("left", ())] if old else []
    return [each for each in known if each[1] not in now]
