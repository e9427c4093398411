"""A text that is put together block by block, with the exact span of each."""

from collections.abc import Iterable
from typing import NamedTuple

from pipelines.text import canonical
from pipelines.types import Block, BlockKind


class Part(NamedTuple):
    """A block to be: its text, its kind, for a heading its level, and whether it follows on the very next line."""

    text: str
    kind: BlockKind = "paragraph"
    level: int = 0
    close: bool = False


class Rendering:
    """Collects blocks; list items follow each other line by line, everything else after a blank line."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._pages: list[int] = []
        self._opened = 0
        self._line = self._first_line = 1

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks so far, ascending and apart."""
        return tuple(self._blocks)

    @property
    def first_line(self) -> int:
        """The line of the file that the text begins on, from 1."""
        return self._first_line

    @property
    def pages(self) -> tuple[int, ...]:
        """Where each page that was opened begins; a page without a block begins where the next one does."""
        return (*self._pages, *[self._length] * self._opened)

    def open_page(self) -> None:
        """Let the next block begin a page."""
        self._opened += 1

    def add(
        self, text: str, kind: BlockKind, level: int = 0, *, indent: str = "", close: bool = False, line: int = 0
    ) -> int | None:
        """Where the block starts; None if nothing of it can be read, and nothing is added.

        Args:
            text: Its words; white space at both ends is dropped.
            kind: What it is.
            level: A heading's, from 1.
            indent: White space before it, outside of its span.
            close: Whether it follows on the very next line, as the items of a list always do.
            line: Of the file, from 1, that it stands on; the text is spaced out for it where it comes too early.
        """
        text = canonical(text).strip()
        if not text:
            return None
        if self._blocks:
            close = close or (kind == "list" and self._blocks[-1].kind == "list")
            self._append("\n" * max(1 if close else 2, line - self._line))
        else:
            self._line = self._first_line = max(line, 1)
        self._pages.extend([self._length] * self._opened)
        self._opened = 0
        self._append(indent)
        start = self._length
        self._append(text)
        self._blocks.append(Block(start, self._length, kind, level))
        return start

    def extend(self, parts: Iterable[Part]) -> None:
        """Add these blocks in order."""
        for part in parts:
            self.add(part.text, part.kind, part.level, close=part.close)

    def as_parts(self) -> list[Part]:
        """The blocks so far, to be added elsewhere."""
        text, parts, done = self.text, list[Part](), 0
        for block in self._blocks:
            close = bool(parts) and block.kind != "list" and text.count("\n", done, block.start) == 1
            parts.append(Part(text[block.start : block.end], block.kind, block.level, close))
            done = block.end
        return parts

    def _append(self, part: str) -> None:
        self._parts.append(part)
        self._length += len(part)
        self._line += part.count("\n")
