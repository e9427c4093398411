"""PARSE where the subject changes: neighbouring groups of sentences whose vectors are least alike are parted."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pipelines.errors import ConfigError
from pipelines.ingestion.parsers.cuts import Piece, Span, cut
from pipelines.ingestion.parsers.nodes import EmbedTexts, SpanParser
from pipelines.ingestion.parsers.sections import stretches, whole_sentences, windows
from pipelines.ingestion.structure import blocks_of
from pipelines.types import Block, Document

FEWEST_SENTENCES = 5
PLAIN_CHARACTERS = 1024
PLAIN_OVERLAP = 128

Grouped = tuple[tuple[str, ...], list[Span]]


def split_semantic(
    text: str,
    embed: EmbedTexts,
    blocks: Sequence[Block] | None = None,
    *,
    group: int = 3,
    percentile: float = 25.0,
    min_characters: int = 200,
    max_characters: int = 2048,
) -> list[Piece]:
    """Pieces that part where neighbouring groups of sentences are least alike, in order, covering all of the text.

    No piece crosses a heading. A text of fewer than five sentences is cut into windows of 1,024 characters that
    overlap by 128.

    Args:
        text: Canonical text.
        embed: Called once, with all groups; gives each a normalised vector.
        blocks: The text's blocks; None = those of plain text.
        group: How many sentences are embedded together.
        percentile: Of the similarities of neighbours in the text; below it they are parted.
        min_characters: Of a piece, where its section is so long.
        max_characters: The most that a piece holds.

    Source: after Kamradt, "5 Levels of Text Splitting", 2023, with groups in place of a sliding window.
    """
    grouped = sentence_groups(text, blocks, group=group, most=max_characters)
    if not grouped:
        return _plain(text, blocks, min(PLAIN_CHARACTERS, max_characters))
    vectors = embed([text[start:end] for _, groups in grouped for start, end in groups])
    alike = _alike(vectors, [len(groups) for _, groups in grouped])
    found = np.concatenate(alike)
    below = np.percentile(found, percentile) if len(found) else 0.0
    return [
        Piece(*span, path)
        for (path, groups), row in zip(grouped, alike, strict=True)
        for span in _parted(groups, (row < below).tolist(), min_characters, max_characters)
    ]


def sentence_groups(text: str, blocks: Sequence[Block] | None = None, *, group: int, most: int) -> list[Grouped]:
    """What `split_semantic` embeds: the path and the groups of each section; none for too few sentences."""
    found = [(path, whole_sentences(text, span)) for path, span in stretches(text, blocks)]
    if sum(len(spoken) for _, spoken in found) < FEWEST_SENTENCES:
        return []
    return [(path, _groups(text, spoken, group, most)) for path, spoken in found]


def _plain(text: str, blocks: Sequence[Block] | None, limit: int) -> list[Piece]:
    return [
        Piece(*window, path)
        for path, span in stretches(text, blocks)
        for window in windows(text, span, limit, PLAIN_OVERLAP)
    ]


def _groups(text: str, found: Sequence[Span], group: int, limit: int) -> list[Span]:
    """The sentences, `group` of them together; what is over the limit is cut."""
    together = [(found[at][0], found[min(at + group, len(found)) - 1][1]) for at in range(0, len(found), group)]
    return [part for span in together for part in cut(text, span, limit, len)]


def _alike(vectors: NDArray[np.float32], sizes: Sequence[int]) -> list[NDArray[np.float32]]:
    """For each section of so many groups, the cosine similarity of each group with the next."""
    sections = np.split(vectors, np.cumsum(sizes)[:-1])
    return [np.sum(rows[:-1] * rows[1:], axis=1) for rows in sections]


def _parted(groups: Sequence[Span], parts: Sequence[bool], least: int, most: int) -> Iterator[Span]:
    """The groups of one section put together, up to where they part; the last ones join what precedes if too short."""
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
    """Nodes of one subject each, for long text without headings."""

    embeds: ClassVar[bool] = True
    name: str = "semantic"
    version: int = 2
    group: int = Field(default=3, ge=1)
    percentile: float = Field(default=25.0, ge=0, le=100)
    min_characters: int = Field(default=200, ge=1)
    max_characters: int = Field(default=2048, ge=50)

    def fits(self, text: str) -> bool:
        """Whether the text has at most `max_characters` characters."""
        return len(text) <= self.max_characters

    def texts_to_embed(self, document: Document) -> list[str]:
        """The texts that `split` embeds, for a plan that tells its cost."""
        return [document.text[piece.start : piece.end] for piece in self.finest(document)]

    def finest(self, document: Document) -> list[Piece]:
        """A piece for each group that `split` embeds: there are never more; none where it embeds nothing."""
        grouped = sentence_groups(document.text, blocks_of(document), group=self.group, most=self.max_characters)
        return [Piece(start, end, path) for path, groups in grouped for start, end in groups]

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document.

        Raises:
            ConfigError: If the parser was built without `embed`.
        """
        if self.embed is None:
            raise ConfigError(
                f"{document.name}: the semantic parser needs an embedding model, and was built without one.",
                hint="Give `embed`, or choose another parser.",
            )
        return split_semantic(
            document.text,
            self.embed,
            blocks_of(document),
            group=self.group,
            percentile=self.percentile,
            min_characters=self.min_characters,
            max_characters=self.max_characters,
        )
