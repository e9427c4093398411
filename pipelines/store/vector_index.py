"""The vectors of a corpus in memory, with which a question is compared: all of them, or those whose signs are near."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.store.index_files import Arrays, is_far, load_index, save_index
from pipelines.store.read_snapshot import Mark

FORMAT = 2  # of a saved index
Vector = Sequence[float] | NDArray[np.float32]
Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]

_ALL_COMPARED = 16_000_000  # numbers of vectors; of more, those are compared whose signs are nearest
_NEAREST_SIGNS = 2_000  # windows of these, and 20 for each node that is asked for
_FOR_EACH = 20
_READ_AT_ONCE = 5_000  # windows


class Window(NamedTuple):
    """A vector that is searched, with its node and document; see `vectors_of`."""

    node_id: str
    document_id: str
    vector: Any


def vectors_of(sent: Sequence[Any]) -> NDArray[np.float32]:
    """(n, d) of vectors as pgvector sends them: 4 bytes, then the numbers, the most significant byte first."""
    numbers = np.frombuffer(b"".join(vector[4:] for vector in sent), dtype=">f4").astype(np.float32)
    return numbers.reshape(len(sent), -1) if sent else numbers.reshape(0, 0)


@dataclass(frozen=True, eq=False)
class VectorPart:
    """The vectors of some nodes, a row a node.

    Attributes:
        ids: The node of each row.
        documents: The document of each row.
        starts: The first window of each row, and the end of the last.
        vectors: (windows, dimension), of length 1.
        signs: (words, windows), a bit a number: whether it is above 0.
    """

    ids: Sequence[str]
    documents: Sequence[str]
    starts: Rows
    vectors: NDArray[np.float32]
    signs: NDArray[np.uint64]

    @classmethod
    def build(cls, windows: Iterable[Window]) -> "VectorPart":
        """The part of these windows; those of a node are adjacent. They are read once, and not held."""
        nodes: dict[str, str] = {}
        starts: list[int] = []
        numbers, bits, count, left = bytearray(), bytearray(), 0, iter(windows)
        while some := list(islice(left, _READ_AT_ONCE)):
            for place, window in enumerate(some, start=count):
                if window.node_id not in nodes:
                    nodes[window.node_id] = window.document_id
                    starts.append(place)
            vectors = vectors_of([window.vector for window in some])
            lengths = np.sqrt(np.vecdot(vectors, vectors))
            vectors /= np.where(lengths > 0, lengths, np.float32(1))[:, None]
            numbers += vectors.tobytes()
            bits += _signs(vectors).tobytes()
            count += len(some)
        held = np.frombuffer(numbers, np.float32).reshape(count, -1 if count else 0)
        signs = np.frombuffer(bits, np.uint64).reshape(count, -1 if count else 0)
        return cls([*nodes], [*nodes.values()], np.array([*starts, count], np.int64), held, signs.T.copy())

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def row(self) -> dict[str, int]:
        """The row of each node."""
        return {node_id: row for row, node_id in enumerate(self.ids)}

    @cached_property
    def of_window(self) -> NDArray[np.int32]:
        """The row of each window."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))

    def with_added(self, kept: Mask, other: "VectorPart") -> "VectorPart":
        """The rows of a mask, and those of another part."""
        parts = [(part, own) for part, own in ((self, kept), (other, np.ones(len(other), bool))) if len(part)]
        if not parts:
            return other
        sizes = np.concatenate([np.diff(part.starts)[own] for part, own in parts])
        windows = [np.repeat(own, np.diff(part.starts)) for part, own in parts]
        return VectorPart(
            [node_id for part, own in parts for node_id, is_kept in zip(part.ids, own, strict=True) if is_kept],
            [document for part, own in parts for document, is_kept in zip(part.documents, own, strict=True) if is_kept],
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([part.vectors[own] for (part, _), own in zip(parts, windows, strict=True)]),
            np.concatenate([part.signs[:, own] for (part, _), own in zip(parts, windows, strict=True)], axis=1),
        )

    def known(self, node_ids: Collection[str], left: Mask) -> Rows:
        """The rows of those of these nodes that are left."""
        rows = np.array([self.row[node_id] for node_id in node_ids if node_id in self.row], np.int64)
        return rows[left[rows]]

    def similarities(self, asked: NDArray[np.float32], rows: Rows | None = None) -> NDArray[np.float32]:
        """The similarity of each of these rows, or of all, to a vector of length 1: the largest of its windows.

        The products are made by rows, for a product of matrices gives a row other last bits beside other rows, and its
        threads wait for a busy machine.
        """
        if rows is None:
            vectors, firsts = self.vectors, self.starts[:-1]
        else:
            sizes = np.diff(self.starts)[rows]
            firsts = np.cumsum(sizes) - sizes
            vectors = self.vectors[np.arange(int(sizes.sum())) + np.repeat(self.starts[rows] - firsts, sizes)]
        if not len(firsts):
            return np.zeros(0, dtype=np.float32)
        products: NDArray[np.float32] = np.vecdot(vectors, asked)
        return products if len(firsts) == len(vectors) else np.maximum.reduceat(products, firsts)

    def differing(self, asked: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """The number of signs in which each window differs from a vector."""
        count = np.zeros(len(self.vectors), np.uint16)
        for held, own in zip(self.signs, asked, strict=False):  # an empty part has none
            count += np.bitwise_count(held ^ own)
        return count


@dataclass(frozen=True, eq=False)
class VectorIndex:
    """An immutable index of the vectors of one audience's nodes as they were at a mark of the corpus.

    It consists of the saved rows that are `left`, and of those that were `added` since. A similarity of a node is that
    of the nearest of its windows; it is the same, bit for bit, whatever other nodes are indexed.
    """

    mark: Mark
    base_mark: Mark
    saved: VectorPart
    left: Mask
    added: VectorPart

    @classmethod
    def build(cls, windows: Iterable[Window], mark: Mark) -> "VectorIndex":
        """Index these windows; those of a node are adjacent."""
        return cls._whole(VectorPart.build(windows), mark)

    @classmethod
    def _whole(cls, part: VectorPart, mark: Mark) -> "VectorIndex":
        return cls(mark, mark, part, np.ones(len(part), bool), VectorPart.build(()))

    @classmethod
    def load(cls, folder: Path) -> "VectorIndex":
        """A saved index, mapped into memory.

        Raises:
            ValueError: If its files are not those that were saved.
        """
        mark, arrays, content = load_index(folder)
        held = VectorPart(content["ids"], content["documents"], arrays["starts"], arrays["vectors"], arrays["signs"])
        return cls._whole(held, mark)

    def save(self, folder: Path) -> None:
        """Write the saved rows, without what changed since, to a folder, whole or not at all."""
        part = self.saved
        arrays: Arrays = {"starts": part.starts, "vectors": part.vectors, "signs": part.signs}
        save_index(folder, self.base_mark, arrays, {"ids": part.ids, "documents": part.documents})

    def stepped(self, mark: Mark, changed: Collection[str], windows: Iterable[Window]) -> "VectorIndex":
        """The index at a later mark, with the present windows of the documents that changed.

        Its cost grows with what changed since the index was saved: no saved vector is copied.
        """
        left, others = (
            np.array([document not in changed for document in part.documents], bool)
            for part in (self.saved, self.added)
        )
        added = self.added.with_added(others, VectorPart.build(windows))
        return VectorIndex(mark, self.base_mark, self.saved, self.left & left, added)

    def __len__(self) -> int:
        return int(self.left.sum()) + len(self.added)

    @property
    def ids(self) -> list[str]:
        """The indexed nodes."""
        return [*(node_id for node_id, left in zip(self.saved.ids, self.left, strict=True) if left), *self.added.ids]

    @property
    def is_far(self) -> bool:
        """True if so much changed since the saved index that a new one is due."""
        return is_far(len(self.saved) - int(self.left.sum()) + len(self.added), len(self.saved))

    @property
    def _parts(self) -> tuple[tuple[VectorPart, Mask], ...]:
        """The parts that are not empty, each with a mask of the rows that are left."""
        parts = (self.saved, self.left), (self.added, np.ones(len(self.added), bool))
        return tuple(each for each in parts if len(each[0]))

    def nearest(self, vector: Vector, k: int, allowed: Collection[str] | None = None) -> list[tuple[str, float]]:
        """The k nodes nearest to a vector with their cosine similarities (-1..1), best first, ties by id.

        Only `allowed` nodes, if given. Up to 16 million numbers all are compared, so that none is missed. Of more, the
        nodes of the 2,000 windows, or 20 k, whose signs differ least from the vector's: .998 of the nearest ten of
        100,000 nodes.
        """
        asked, parts = _unit(vector), self._parts
        if allowed is not None:
            parts = tuple((part, _mask(part.known(allowed, left), len(part))) for part, left in parts)
        if sum(part.vectors.size for part, _ in parts) <= _ALL_COMPARED:
            chosen = [np.flatnonzero(left) for _, left in parts]
            found = [part.similarities(asked)[rows] for (part, _), rows in zip(parts, chosen, strict=True)]
        else:
            chosen = _likely(asked, parts, max(_NEAREST_SIGNS, _FOR_EACH * k))
            found = [part.similarities(asked, rows) for (part, _), rows in zip(parts, chosen, strict=True)]
        scores = np.concatenate([*found, np.zeros(0, np.float32)])
        if not (take := min(k, len(scores))):
            return []
        least = np.partition(scores, -take)[-take]
        hits = [
            (part.ids[row], score)
            for (part, _), rows, own in zip(parts, chosen, found, strict=True)
            for row, score in zip(rows[own >= least].tolist(), own[own >= least].tolist(), strict=True)
        ]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:take]

    def some(self, limit: int) -> NDArray[np.float32]:
        """At most `limit` vectors, (n, d), by node id: the sample that `NodeReader.some_vectors` draws."""
        found = [self._vectors_of(node_id) for node_id in nsmallest(limit, self.ids)]
        return np.concatenate(found or [self.saved.vectors[:0]])[:limit]

    def _vectors_of(self, node_id: str) -> NDArray[np.float32]:
        part = self.added if node_id in self.added.row else self.saved
        first, end = part.starts[(row := part.row[node_id]) : row + 2]
        return part.vectors[first:end]

    def similarities(self, vectors: Sequence[Vector], node_ids: Iterable[str]) -> list[dict[str, float]]:
        """By vector, the cosine similarity (-1..1) of each of these nodes; unknown ones are missing."""
        wanted = list(node_ids)
        chosen = [(part, part.known(wanted, left)) for part, left in self._parts]
        return [
            {
                part.ids[row]: score
                for part, rows in chosen
                for row, score in zip(rows.tolist(), part.similarities(asked, rows).tolist(), strict=True)
            }
            for asked in map(_unit, vectors)
        ]


def _likely(asked: NDArray[np.float32], parts: Sequence[tuple[VectorPart, Mask]], count: int) -> list[Rows]:
    """The rows of each part, of those left, that have one of the `count` windows with the signs nearest to a vector's.

    Source: Charikar, STOC 2002, doi:10.1145/509907.509965 (the angle of two vectors by the share of equal signs).
    """
    signs = _signs(asked[None])[0]
    differing = [np.where(left[part.of_window], part.differing(signs), _FAR) for part, left in parts]
    together = np.concatenate(differing)
    most = np.partition(together, count)[count] if len(together) > count else _FAR
    return [
        np.unique(part.of_window[(own <= most) & (own < _FAR)]).astype(np.int64)
        for (part, _), own in zip(parts, differing, strict=True)
    ]


_FAR = np.uint16(65_535)  # more signs than a vector has


def _signs(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """(n, words) of vectors (n, d): a bit for each number, set if it is above 0."""
    spare = -vectors.shape[1] % 64
    return np.packbits(np.pad(vectors > 0, ((0, 0), (0, spare))), axis=1).view(np.uint64)


def _unit(vector: Vector) -> NDArray[np.float32]:
    asked = np.asarray(vector, dtype=np.float32)
    return asked / np.float32(np.linalg.norm(asked) or 1.0)


def _mask(rows: Rows, count: int) -> Mask:
    mask = np.zeros(count, bool)
    mask[rows] = True
    return mask
