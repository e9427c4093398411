"""Parse by topic: cut between neighbouring groups of sentences with the lowest similarity."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pipelines.blocks import blocks_of
from pipelines.errors import ConfigError
from pipelines.ingestion.parsers.nodes import Limit, SpanParser
from pipelines.ingestion.parsers.pieces import Piece, Span, cut_span
from pipelines.ingestion.parsers.sections import SectionsParser, section_spans, sentence_spans
from pipelines.types import Block, Document

_MIN_SENTENCES = 5
_FALLBACK_CHARACTERS = 1024
_FALLBACK_OVERLAP = 128


def _groups(text: str, found: Sequence[Span], group: int, limit: int) -> list[Span]:
    """The spans of `group` sentences each; a group over the limit is cut."""
    together = [(found[at][0], found[min(at + group, len(found)) - 1][1]) for at in range(0, len(found), group)]
    return [part for span in together for part in cut_span(text, span, limit, len)]


def _merge_groups(groups: Sequence[Span], parts: Sequence[bool], least: int, most: int) -> Iterator[Span]:
    """The groups of one section merged between the cuts; a short remainder joins the piece before it."""
    done: Span | None = None
    start, end = groups[0]
    for (begin, finish), apart in zip(groups[1:], parts, strict=True):
        if (apart and end - start >= least) or finish - start > most:
            if done:
                yield done
            done, start = (start, end), begin
        end = finish
    if done and (end - start >= least or end - done[0] > most):
        yield done
        done = None
    yield (done[0] if done else start), end


class SemanticParser(SpanParser):
    """Parse long text without headings into nodes of one topic each.

    The text is cut between its least similar neighbouring groups of sentences; no node crosses a heading. A text of
    fewer than five sentences is cut into windows of 1,024 characters that overlap by 128.

    Attributes:
        group: Number of sentences that are embedded together.
        percentile: Percentile (0 to 100) of the similarities in the text below which neighbours are separated.
        min_characters: Minimum size of a node, if its section is that long.
        max_characters: Maximum size of a node.

    Source: after Kamradt, "5 Levels of Text Splitting", 2023, with groups in place of a sliding window.
    """

    embeds: ClassVar[bool] = True
    limit: ClassVar[Limit] = ("max_characters", len)
    name: str = "semantic"
    version: int = 3
    group: int = Field(default=3, ge=1)
    percentile: float = Field(default=25.0, ge=0, le=100)
    min_characters: int = Field(default=200, ge=1)
    max_characters: int = Field(default=2048, ge=50)

    def finest(self, document: Document) -> list[Piece]:
        """One piece for each group that `split` embeds: the maximum number of pieces; empty if it embeds nothing."""
        grouped = self._grouped(document.text, blocks_of(document))
        return [Piece(start, end, path) for path, groups in grouped for start, end in groups]

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document; `embed` is called once, with all groups.

        Raises:
            ConfigError: If the parser was built without `embed`.
        """
        if self.embed is None:
            raise ConfigError(
                f"{document.name}: the semantic parser needs an embedding model.",
                hint="Give `embed`, or choose another parser.",
            )
        text, blocks = document.text, blocks_of(document)
        grouped = self._grouped(text, blocks)
        if not grouped:
            size = min(_FALLBACK_CHARACTERS, self.max_characters)
            return SectionsParser(characters=size, overlap=_FALLBACK_OVERLAP).pieces(text, blocks)
        vectors = self.embed([text[start:end] for _, groups in grouped for start, end in groups])
        # of each group with the next one, by section
        sections = np.split(vectors, np.cumsum([len(groups) for _, groups in grouped])[:-1])
        alike = [np.sum(rows[:-1] * rows[1:], axis=1) for rows in sections]
        found = np.concatenate(alike)
        below = np.percentile(found, self.percentile) if len(found) else 0.0
        return [
            Piece(*span, path)
            for (path, groups), row in zip(grouped, alike, strict=True)
            for span in _merge_groups(groups, (row < below).tolist(), self.min_characters, self.max_characters)
        ]

    def _grouped(self, text: str, blocks: Sequence[Block]) -> list[tuple[tuple[str, ...], list[Span]]]:
        """The path of each section with its groups of sentences; empty for fewer than five sentences."""
        found = [(path, sentence_spans(text, span)) for path, span in section_spans(text, blocks)]
        if sum(len(sentences) for _, sentences in found) < _MIN_SENTENCES:
            return []
        return [(path, _groups(text, sentences, self.group, self.max_characters)) for path, sentences in found]
