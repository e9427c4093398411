"""Postings: which nodes hold a key and how often, in arrays that are mapped into memory."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer[Any]]
Counts = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Postings:
    """Which nodes hold which key, how often, and how many keys each holds.

    Attributes:
        keys: Those that stand anywhere, ascending.
        starts: Where each key's nodes begin in `rows` and `counts`, and the end of the last.
        rows: The nodes' positions, ascending for each key.
        counts: How often the key stands there.
        lengths: How many keys stand in each node.
    """

    keys: Integers
    starts: Integers
    rows: Integers
    counts: Counts
    lengths: Integers

    @classmethod
    def build(cls, keys: Integers, rows: Integers, nodes: int) -> "Postings":
        """Count the keys that stand in so many nodes; `rows` says in which, once for each time."""
        kept, place = np.unique(keys, return_inverse=True)
        posting, counts = np.unique(place * nodes + rows, return_counts=True)
        place, row = np.divmod(posting, max(nodes, 1))
        starts = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=len(kept)))])
        return cls(
            kept,
            starts.astype(np.int64),
            row.astype(np.int32),
            counts.astype(np.float32),
            np.bincount(rows, minlength=nodes).astype(np.int32),
        )

    def of(self, key: int) -> tuple[Integers, Counts]:
        """The positions of the nodes that hold a key, and how often; none for an unknown one."""
        place = int(np.searchsorted(self.keys, key))
        if place == len(self.keys) or int(self.keys[place]) != key:
            return self.rows[:0], self.counts[:0]
        held = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.rows[held], self.counts[held]

    def save(self, folder: Path) -> None:
        """Write one file an array into a new folder."""
        folder.mkdir()
        for field in fields(self):
            np.save(folder / f"{field.name}.npy", getattr(self, field.name))

    @classmethod
    def load(cls, folder: Path) -> "Postings":
        """Map the arrays of a folder into memory."""
        return cls(*(np.load(folder / f"{field.name}.npy", mmap_mode="r") for field in fields(cls)))
