"""The pair index: BM25 of terms that stand next to each other, in arrays that are mapped into memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer[Any]]
_DISTANCES = (1, 2)


def with_pairs(weights: Mapping[str, float], order: Sequence[str]) -> dict[str, float]:
    """These term weights, and under `first second` each pair of neighbours in `order`, as heavy as its lighter term.

    Terms hold no space, so that a pair is never mistaken for a term. A pair of a term without weight is left out.
    """
    pairs = {
        f"{first} {second}": min(weights[first], weights[second])
        for first, second in pairwise(order)
        if first in weights and second in weights
    }
    return {**weights, **pairs}


@dataclass(frozen=True, slots=True)
class PairIndex:
    """Ordered pairs of terms that stand one or two places apart in a field of a node, and their BM25.

    Attributes:
        keys: `first * terms + second` of each pair that stands anywhere, ascending; term ids are the term index's.
        starts: Where each pair's nodes begin in `rows` and `scores`, and the end of the last.
        rows: The nodes' positions.
        scores: Their BM25 for the pair.
        terms: How many terms there are, as an array of one.

    Source: sequential dependence, Metzler, Croft, SIGIR 2005, doi:10.1145/1076034.1076115, with BM25 for the ordered
    window as in Rasolofo, Savoy, ECIR 2003, doi:10.1007/3-540-36618-0_15.
    """

    keys: Integers
    starts: Integers
    rows: Integers
    scores: NDArray[np.float32]
    terms: Integers

    @classmethod
    def build(cls, nodes: Sequence[Sequence[Sequence[int]]], terms: int, *, k1: float, b: float) -> "PairIndex":
        """Index nodes, each a sequence of fields, each a sequence of term ids below `terms`; no pair spans fields."""
        keys, rows = _pairs(nodes, terms)
        lengths = np.bincount(rows, minlength=len(nodes))
        kept, pair = np.unique(keys, return_inverse=True)
        posting, frequency = np.unique(pair * len(nodes) + rows, return_counts=True)
        pair, row = np.divmod(posting, max(len(nodes), 1))
        df = np.bincount(pair, minlength=len(kept))
        idf = np.log1p((len(nodes) - df + 0.5) / (df + 0.5))
        norm = k1 * (1 - b + b * lengths / max(lengths.mean() if len(nodes) else 1.0, 1e-9))
        scores = idf[pair] * frequency / (frequency + norm[row])
        starts = np.concatenate([[0], np.cumsum(df)])
        return cls(
            kept, starts.astype(np.int64), row.astype(np.int32), scores.astype(np.float32), np.array([terms], np.int64)
        )

    def postings(self, first: int, second: int) -> tuple[Integers, NDArray[np.float32]]:
        """The positions of the nodes that hold a pair, and their scores; none for an unknown pair."""
        key = first * int(self.terms[0]) + second
        place = int(np.searchsorted(self.keys, key))
        if place == len(self.keys) or int(self.keys[place]) != key:
            return self.rows[:0], self.scores[:0]
        held = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.rows[held], self.scores[held]

    def save(self, folder: Path) -> None:
        """Write one file an array."""
        folder.mkdir()
        for field in fields(self):
            np.save(folder / f"{field.name}.npy", getattr(self, field.name))

    @classmethod
    def load(cls, folder: Path) -> "PairIndex":
        """Map the arrays of a folder into memory."""
        return cls(*(np.load(folder / f"{field.name}.npy", mmap_mode="r") for field in fields(cls)))


def _pairs(nodes: Sequence[Sequence[Sequence[int]]], terms: int) -> tuple[Integers, Integers]:
    """The key and the node of every pair, as often as it stands."""
    sizes = np.array([len(field) for node in nodes for field in node], dtype=np.int64)
    owners = np.array([row for row, node in enumerate(nodes) for _ in node], dtype=np.int64)
    flat = np.fromiter((term for node in nodes for field in node for term in field), np.int64, count=int(sizes.sum()))
    field_of = np.repeat(np.arange(len(sizes)), sizes)
    keys, rows = [flat[:0]], [flat[:0]]
    for distance in _DISTANCES:
        together = field_of[:-distance] == field_of[distance:]
        keys.append((flat[:-distance] * terms + flat[distance:])[together])
        rows.append(owners[field_of[:-distance]][together])
    return np.concatenate(keys), np.concatenate(rows)
