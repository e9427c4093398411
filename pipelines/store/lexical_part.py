"""A part of the BM25 index: some documents' nodes with their terms and pairs counted, once and for all."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipelines.store.changes import Mark
from pipelines.store.pairs import pair_key, pairs_of
from pipelines.store.postings import Counts, Integers, Postings

FORMAT = 2  # of a saved part


class Segment(NamedTuple):
    """A node's index terms, joined by spaces; those of its header come first, parted from the text's by a tab."""

    node_id: str
    document_id: str
    terms: str


@dataclass(frozen=True)
class Part:
    """What stands in which nodes, one row a node; a document's rows stand together.

    Attributes:
        ids: The nodes, by row.
        documents: The rows of each document, from and to.
        vocabulary: A number for each term.
        terms: By the terms' numbers.
        pairs: By the pairs' keys; None where pairs were not counted.
    """

    ids: Sequence[str]
    documents: Mapping[str, tuple[int, int]]
    vocabulary: Mapping[str, int]
    terms: Postings
    pairs: Postings | None

    @classmethod
    def build(cls, segments: Iterable[Segment], *, header_weight: int, pairs: bool) -> "Part":
        """Count what these nodes hold, a term of the header so many times.

        Nodes without a term can never be found and are left out.
        """
        ordered = sorted(segments, key=lambda segment: (segment.document_id, segment.node_id))
        split = [(segment, _fields(segment.terms)) for segment in ordered]
        kept = [(segment, fields) for segment, fields in split if any(fields)]
        vocabulary: dict[str, int] = {}
        numbered = [
            [[vocabulary.setdefault(term, len(vocabulary)) for term in field] for field in fields] for _, fields in kept
        ]
        counted = [header * header_weight + body for header, body in numbered]
        rows = np.repeat(np.arange(len(counted)), [len(terms) for terms in counted])
        keys = np.fromiter((term for terms in counted for term in terms), np.int64, count=len(rows))
        return cls(
            [segment.node_id for segment, _ in kept],
            _spans([segment.document_id for segment, _ in kept]),
            vocabulary,
            Postings.build(keys, rows, len(kept)),
            Postings.build(*pairs_of(numbered), len(kept)) if pairs else None,
        )

    def __len__(self) -> int:
        return len(self.ids)

    def holding(self, term: str) -> tuple[Integers, Counts]:
        """The rows that hold a term, or a pair under `first second`, and how often."""
        numbers = [self.vocabulary.get(part, -1) for part in term.split(" ")]
        if len(numbers) == 1:
            return self.terms.of(numbers[0])
        if self.pairs is None or -1 in numbers:
            return self.terms.rows[:0], self.terms.counts[:0]
        return self.pairs.of(pair_key(*numbers))

    @cached_property
    def row(self) -> Mapping[str, int]:
        """The row of each node."""
        return {node_id: row for row, node_id in enumerate(self.ids)}

    @cached_property
    def by_letter(self) -> Mapping[str, Sequence[str]]:
        """The terms of letters alone, by the first."""
        grouped: dict[str, list[str]] = {}
        for term in self.vocabulary:
            if term.isalpha():
                grouped.setdefault(term[0], []).append(term)
        return grouped

    def save(self, folder: Path, mark: Mark) -> None:
        """Write it into an empty folder, as the index of all nodes at a mark."""
        self.terms.save(folder / "terms")
        if self.pairs is not None:
            self.pairs.save(folder / "pairs")
        held = {
            "mark": mark,
            "ids": self.ids,
            "documents": {document: end - start for document, (start, end) in self.documents.items()},
            "vocabulary": list(self.vocabulary),
        }
        (folder / "ids.json").write_text(json.dumps(held))

    @classmethod
    def load(cls, folder: Path) -> "tuple[Part, Mark]":
        """Map a saved part into memory; with it, the mark at which it was all nodes."""
        held = json.loads((folder / "ids.json").read_text())
        ends = np.cumsum(list(held["documents"].values()), dtype=np.int64).tolist()
        part = cls(
            held["ids"],
            dict(zip(held["documents"], zip([0, *ends], ends, strict=False), strict=True)),
            {term: number for number, term in enumerate(held["vocabulary"])},
            Postings.load(folder / "terms"),
            Postings.load(folder / "pairs") if (folder / "pairs").exists() else None,
        )
        return part, Mark(*held["mark"])


def _fields(terms: str) -> tuple[list[str], list[str]]:
    header, _, body = terms.rpartition("\t")
    return header.split(), body.split()


def _spans(documents: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The first row of each document and the one after its last."""
    rows = groupby(enumerate(documents), key=lambda placed: placed[1])
    spans = {document: [row for row, _ in held] for document, held in rows}
    return {document: (held[0], held[-1] + 1) for document, held in spans.items()}
