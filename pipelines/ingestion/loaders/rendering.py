"""A text that is put together block by block, with the exact span of each."""

from pipelines.text import canonical
from pipelines.types import Block, BlockKind


class Rendering:
    """Collects blocks; list items follow each other line by line, everything else after a blank line."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks so far, ascending and apart."""
        return tuple(self._blocks)

    def add(self, text: str, kind: BlockKind, level: int = 0, *, indent: str = "") -> int | None:
        """Where the block starts; None if nothing of it can be read, and nothing is added."""
        text = canonical(text).strip()
        if not text:
            return None
        if self._blocks:
            self._append("\n" if kind == "list" and self._blocks[-1].kind == "list" else "\n\n")
        self._append(indent)
        start = self._length
        self._append(text)
        self._blocks.append(Block(start, self._length, kind, level))
        return start

    def _append(self, part: str) -> None:
        self._parts.append(part)
        self._length += len(part)
