"""The spaces between the runs of a paragraph, which docling drops: read off the source."""

import re
from collections.abc import Sequence

PARAGRAPH_END = "\f"

_WINDOW = 100_000
_CONTEXT = 40
_SPACES = re.compile(r"\s+")
_PLAIN = str.maketrans("\f\n\t", "   ")
_CLOSES = re.compile(r"[.,;:!?…%)\]}”’»]")
_OPENS = re.compile(r"[(\[{“‘«#$/]$")


class Source:
    """The words of a file in order, read along with its rendering.

    Tabs and line breaks in them are meant, and a form feed ends a paragraph.
    """

    def __init__(self, words: str) -> None:
        self._marked = _SPACES.sub(_mark, words.strip())
        self._words = self._marked.translate(_PLAIN)
        self._at = 0

    def pass_by(self, text: str) -> None:
        """Move on to where this text stands."""
        start = " ".join(text[: 2 * _CONTEXT].split())[:_CONTEXT]
        self._at = max(self._at, self._words.find(start, self._at, self._at + _WINDOW))

    def join(self, runs: Sequence[str]) -> str:
        """The runs as one text, spaced as they are in the file; by punctuation where the file does not tell."""
        return " ".join(self.paragraphs(runs))

    def paragraphs(self, runs: Sequence[str]) -> list[str]:
        """The runs as the paragraphs that they are in the file."""
        joined: list[str] = []
        for run in [text for run in runs if (text := run.strip())]:
            gap = self._between(joined[-1], run) if joined else PARAGRAPH_END
            if gap == PARAGRAPH_END:
                joined.append(run)
            else:
                joined[-1] += gap + run
        return joined

    def _between(self, before: str, after: str) -> str:
        tail = " ".join(before[-_CONTEXT:].split())
        head = " ".join(after[:_CONTEXT].split())
        end = self._at + _WINDOW
        places = {gap: self._words.find(tail + gap + head, self._at, end) for gap in ("", " ")}
        found = {gap: place for gap, place in places.items() if place >= 0}
        if not found:
            return "" if _CLOSES.match(after) or _OPENS.search(before) else " "
        gap = min(found, key=lambda gap: found[gap])
        self._at = found[gap]
        return gap and self._marked[self._at + len(tail)]


def _mark(spaces: re.Match[str]) -> str:
    """One character for a run of white space: the end of a paragraph before a line break before a tab."""
    return next((mark for mark in "\f\n\t" if mark in spaces[0]), " ")
