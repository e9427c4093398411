"""What documents say differently of one thing, and where each says it, before it is cited."""

from dataclasses import dataclass

from pipelines.types import ConflictKind, Source


@dataclass(frozen=True, slots=True)
class Side:
    """What one document says, and the span of it that says so: offsets in the document, inside of `source`.

    The number of `source` means nothing yet where it is not one that the writer was shown.
    """

    said: str
    source: Source
    start: int
    end: int

    @property
    def quote(self) -> str:
        """The stored text of the span."""
        return self.source.snippet[self.start - self.source.start : self.end - self.source.start]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """At least two sides, each of another document; `about` names what they are about, if it has a name."""

    kind: ConflictKind
    about: str
    sides: tuple[Side, ...]
