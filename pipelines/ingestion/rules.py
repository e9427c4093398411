"""What the rules of the settings say of a document, by its name, its address or its source."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from config.settings import SourceRule
from pipelines.types import SourceItem


def ruled(item: SourceItem, rules: Sequence[SourceRule]) -> dict[str, Any]:
    """The category, parser, visibility and year that rules give the document; of two that match, the later one wins.

    A rule's glob must match the whole name, address or source; its `*` reaches over `/`.
    """
    told: dict[str, Any] = {}
    for rule in rules:
        if any(fnmatchcase(place, rule.match) for place in (item.name, item.uri, item.source)):
            told |= {name: value for name, value in rule.model_dump(exclude={"match"}).items() if value}
    return told
