"""What a file states, and the words by which it is found again."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pipelines.ingestion.loaders.rows import is_unnamed
from pipelines.text import canonical, fold

IN_CELL = "inside a table cell, whose words it is"

_NEW_SHEET = "the name that every new sheet is given"

_WORD = re.compile(r"[^\W_]+")
_NUMBERING = re.compile(r"^(?:\d+ )+(?=.)")
_REPEATED = re.compile(r" \(\d+\)$")


@dataclass(frozen=True, slots=True)
class Stated:
    """A heading or a table cell of a file.

    Attributes:
        text: Its words.
        level: A heading's, from 1; 0 for a cell.
        why: Why it need not divide the text, or need not be read at all; empty for most.
        also: Other ways in which a cell's value may be shown.
    """

    text: str
    level: int = 0
    why: str = ""
    also: tuple[str, ...] = ()


def sheet(title: str, *, alone: bool) -> Stated:
    """The name of a sheet, which says nothing if it is the only one and was never named."""
    return Stated(title, 1, _NEW_SHEET if alone and is_unnamed(title) else "")


def words(text: str) -> str:
    """The words without case, accents, marks and punctuation, one space between them; without any, the marks."""
    folded = fold(canonical(text))
    return " ".join(_WORD.findall(folded)) or _marks(folded)


def _marks(folded: str) -> str:
    """What stands between spaces, without the stops after it."""
    return " ".join(mark.rstrip(".;") or mark for mark in folded.split())


def title_words(title: str) -> str:
    """The words of a heading without the number before it or, in a section path, the `(2)` of a repeated one."""
    return _NUMBERING.sub("", words(_REPEATED.sub("", title)))


class Said:
    """Texts in which words are counted."""

    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self._words = "\n".join(_apart(words(text)) for text in texts)
        self._marks = "\n".join(_apart(_marks(fold(canonical(text)))) for text in texts)

    def count(self, text: str) -> int:
        """How often the text stands in them, word for word, whatever is between the words."""
        sought = words(text)
        return (self._words if _WORD.search(sought) else self._marks).count(_apart(sought)) if sought else 0


def _apart(sought: str) -> str:
    return f" {sought.replace(' ', '  ')} "
