"""The context header of a node: what it is about, embedded and indexed before its text."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import BaseNode, TransformComponent

from pipelines.text import fold

HEADER_VERSION = 1

_MAX_CHARACTERS = 300


def header_of(title: str, section_path: Sequence[str] = (), *, year: int | None = None) -> str:
    """One line such as `Field notes (2024) > Kitchen > Stove`: title, year, headings; no name twice in a row.

    At most 300 characters: headings in the middle go first, then the end of the line.
    """
    parts: list[str] = []
    for name in (title, *section_path):
        if name and (not parts or fold(name) != fold(parts[-1])):
            parts.append(name)
    if year and parts and str(year) not in parts[0]:
        parts[0] = f"{parts[0]} ({year})"
    while len(parts) > 2 and len(" > ".join(parts)) > _MAX_CHARACTERS:
        parts.pop(-2)
    return " > ".join(parts)[:_MAX_CHARACTERS]


class Contextualise(TransformComponent):
    """Gives every node its header, made of its own metadata."""

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """Copies of the nodes with `metadata["header"]` set."""
        return [_with_header(node) for node in nodes]


def _with_header(node: BaseNode) -> BaseNode:
    known = node.metadata
    header = header_of(known["title"], known["section_path"], year=known["year"])
    return node.model_copy(update={"metadata": {**known, "header": header}})
