"""The vectors of a corpus that is small enough to compare a question with all of them, in memory."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.store.index_files import Arrays, is_far, load_index, save_index
from pipelines.store.read_snapshot import Mark

FORMAT = 1  # of a saved index
Vector = Sequence[float] | NDArray[np.float32]


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
class VectorIndex:
    """An immutable index of the vectors of one audience's nodes as they were at a mark of the corpus.

    A similarity of a node is that of the nearest of its windows. It is the same, bit for bit, whatever other nodes are
    indexed.

    Attributes:
        mark: The state of the corpus.
        base_mark: That of the saved index of which it was made.
        ids: The node of each row.
        documents: The document of each row.
        starts: The first window of each row, and the end of the last.
        vectors: (windows, dimension), of length 1.
        saved: The number of rows of the saved index.
        left: The number of these that are still there; they come first.
    """

    mark: Mark
    base_mark: Mark
    ids: Sequence[str]
    documents: Sequence[str]
    starts: NDArray[np.int64]
    vectors: NDArray[np.float32]
    saved: int
    left: int

    @classmethod
    def build(cls, windows: Iterable[Window], mark: Mark) -> "VectorIndex":
        """Index these windows; those of a node are adjacent."""
        found = list(windows)
        nodes: dict[str, str] = {window.node_id: window.document_id for window in found}
        firsts = {window.node_id: place for place, window in reversed(list(enumerate(found)))}
        starts = np.array([*(firsts[node_id] for node_id in nodes), len(found)], dtype=np.int64)
        vectors = vectors_of([window.vector for window in found])
        lengths = np.sqrt(np.vecdot(vectors, vectors))
        vectors /= np.where(lengths > 0, lengths, np.float32(1))[:, None]
        count = len(nodes)
        return cls(mark, mark, list(nodes), list(nodes.values()), starts, vectors, count, count)

    @classmethod
    def load(cls, folder: Path) -> "VectorIndex":
        """A saved index, mapped into memory.

        Raises:
            ValueError: If its files are not those that were saved.
        """
        mark, arrays, content = load_index(folder)
        ids, documents = content["ids"], content["documents"]
        return cls(mark, mark, ids, documents, arrays["starts"], arrays["vectors"], len(ids), len(ids))

    def save(self, folder: Path) -> None:
        """Write the index to a folder, whole or not at all."""
        arrays: Arrays = {"starts": self.starts, "vectors": self.vectors}
        save_index(folder, self.mark, arrays, {"ids": self.ids, "documents": self.documents})

    def stepped(self, mark: Mark, changed: Collection[str], windows: Iterable[Window]) -> "VectorIndex":
        """The index at a later mark, with the present windows of the documents that changed."""
        kept = np.array([document not in changed for document in self.documents], dtype=bool)
        if not kept.all():
            return self._without(kept).stepped(mark, (), windows)
        added = VectorIndex.build(windows, mark)
        if not len(added):
            return replace(self, mark=mark)
        return replace(
            self,
            mark=mark,
            ids=[*self.ids, *added.ids],
            documents=[*self.documents, *added.documents],
            starts=np.concatenate([self.starts[:-1], added.starts + self.starts[-1]]),
            vectors=np.concatenate([self.vectors, added.vectors]) if len(self) else added.vectors,
        )

    def _without(self, kept: NDArray[np.bool_]) -> "VectorIndex":
        """The rows of a mask."""
        sizes, rows = np.diff(self.starts), np.flatnonzero(kept).tolist()
        return replace(
            self,
            ids=[self.ids[row] for row in rows],
            documents=[self.documents[row] for row in rows],
            starts=np.concatenate([[0], np.cumsum(sizes[kept])]),
            vectors=self.vectors[np.repeat(kept, sizes)],
            left=int(kept[: self.left].sum()),
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_far(self) -> bool:
        """True if so much changed since the saved index that a new one is due."""
        return is_far(self.saved - self.left + len(self) - self.left, self.saved)

    @cached_property
    def row(self) -> dict[str, int]:
        """The row of each node."""
        return {node_id: row for row, node_id in enumerate(self.ids)}

    def nearest(self, vector: Vector, k: int, allowed: Collection[str] | None = None) -> list[tuple[str, float]]:
        """The k nodes nearest to a vector with their cosine similarities (-1..1), best first, ties by id.

        Only `allowed` nodes, if given. All are compared, so that none is missed.
        """
        rows, scores = np.arange(len(self)), _nearest_windows(self.vectors, self.starts[:-1], vector)
        if allowed is not None:
            rows = np.array([self.row[node_id] for node_id in allowed if node_id in self.row], dtype=np.int64)
            scores = scores[rows]
        if not (take := min(k, len(rows))):
            return []
        best = np.flatnonzero(scores >= np.partition(scores, -take)[-take])
        hits = zip((self.ids[row] for row in rows[best].tolist()), scores[best].tolist(), strict=True)
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:take]

    def some(self, limit: int) -> NDArray[np.float32]:
        """At most `limit` vectors, (n, d), by node id: the sample that `NodeReader.some_vectors` draws."""
        rows = np.array(sorted(range(len(self)), key=self.ids.__getitem__)[:limit], dtype=np.int64)
        windows, _ = self._windows_of(rows)
        return self.vectors[windows[:limit]]

    def similarities(self, vectors: Sequence[Vector], node_ids: Iterable[str]) -> list[dict[str, float]]:
        """By vector, the cosine similarity (-1..1) of each of these nodes; unknown ones are missing."""
        known = [node_id for node_id in node_ids if node_id in self.row]
        rows = np.array([self.row[node_id] for node_id in known], dtype=np.int64)
        return [dict(zip(known, self._similarities(vector, rows).tolist(), strict=True)) for vector in vectors]

    def _similarities(self, vector: Vector, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The similarity of each of these rows."""
        windows, firsts = self._windows_of(rows)
        return _nearest_windows(self.vectors[windows], firsts, vector)

    def _windows_of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The windows of these rows, in their order, and where those of each begin among them."""
        sizes = np.diff(self.starts)[rows]
        firsts = np.cumsum(sizes) - sizes
        return np.arange(int(sizes.sum())) + np.repeat(self.starts[rows] - firsts, sizes), firsts


def _nearest_windows(vectors: NDArray[np.float32], firsts: NDArray[np.int64], vector: Vector) -> NDArray[np.float32]:
    """The largest inner product with a vector, scaled to length 1, of each run of vectors that starts at `firsts`.

    A product by rows, for a product of matrices gives a row other last bits beside other rows, and its threads wait for
    a busy machine.
    """
    if not len(firsts):
        return np.zeros(0, dtype=np.float32)
    asked = np.asarray(vector, dtype=np.float32)
    products = np.vecdot(vectors, asked / (np.linalg.norm(asked) or 1.0))
    return products if len(firsts) == len(vectors) else np.maximum.reduceat(products, firsts)
