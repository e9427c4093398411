"""The spaces between the runs of a paragraph, which docling drops: read off the source."""

import re
from collections.abc import Sequence

_WINDOW = 100_000
_CONTEXT = 40
_CLOSES = re.compile(r"[.,;:!?…%)\]}”’»]")
_OPENS = re.compile(r"[(\[{“‘«#$/]$")


class Source:
    """The words of a file in order, read along with its rendering."""

    def __init__(self, words: str) -> None:
        self._words = " ".join(words.split())
        self._at = 0

    def pass_by(self, text: str) -> None:
        """Move on to where this text stands."""
        start = " ".join(text[: 2 * _CONTEXT].split())[:_CONTEXT]
        self._at = max(self._at, self._words.find(start, self._at, self._at + _WINDOW))

    def join(self, runs: Sequence[str]) -> str:
        """The runs as one text, spaced as they are in the file; by punctuation where the file does not tell."""
        runs = [text for run in runs if (text := run.strip())]
        joined = ""
        for run in runs:
            joined += self._between(joined, run) + run if joined else run
        return joined

    def _between(self, before: str, after: str) -> str:
        tail = " ".join(before[-_CONTEXT:].split())
        head = " ".join(after[:_CONTEXT].split())
        end = self._at + _WINDOW
        places = {gap: self._words.find(tail + gap + head, self._at, end) for gap in ("", " ")}
        found = {gap: place for gap, place in places.items() if place >= 0}
        if found:
            gap = min(found, key=lambda gap: found[gap])
            self._at = found[gap]
            return gap
        return "" if _CLOSES.match(after) or _OPENS.search(before) else " "
