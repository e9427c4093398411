"""The BM25 index: a snapshot of the nodes' terms and of the pairs that stand together, and what changed since."""

import os
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.store.changes import Mark
from pipelines.store.lexical_part import FORMAT, Part, Segment
from pipelines.store.pairs import with_pairs
from pipelines.store.postings import Counts, Integers, Postings
from pipelines.store.tokens import TOKENISER_VERSION
from pipelines.store.typos import Spelling, nearest

Terms = Sequence[str] | Mapping[str, float]
_NOWHERE = Mark(0, 0)
_MERGED = 8  # of two deltas, the factor between their sizes below which they become one


@dataclass(frozen=True, slots=True)
class Parameters:
    """BM25's: saturation `k1` and length normalisation `b` (Lucene's form); what headers and pairs count.

    A term of a header counts `header_weight` times. The BM25 of neighbouring question terms that stand together is
    added `pair_weight` times; at 0 no pair is indexed.
    """

    k1: float = 1.2
    b: float = 0.75
    header_weight: int = 1
    pair_weight: float = 0.0

    @property
    def shape(self) -> str:
        """What tells apart the snapshots that these parameters make; the others only say how one is read."""
        return f"h{self.header_weight}-p{int(self.pair_weight > 0)}-t{TOKENISER_VERSION}-f{FORMAT}"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part, which of its rows are of documents that changed since, and what else it was built of (deltas only)."""

    part: Part
    gone: NDArray[np.bool_] | None = None
    segments: tuple[Segment, ...] = ()

    def without(self, documents: Collection[str]) -> "_Piece":
        spans = [self.part.documents[document] for document in documents if document in self.part.documents]
        if not spans:
            return self
        gone = np.zeros(len(self.part), dtype=bool) if self.gone is None else self.gone.copy()
        for start, end in spans:
            gone[start:end] = True
        left = tuple(segment for segment in self.segments if segment.document_id not in documents)
        return _Piece(self.part, gone, left)

    def left(self, rows: Integers) -> int:
        return len(rows) if self.gone is None else len(rows) - int(np.count_nonzero(self.gone[rows]))

    def missing(self) -> int:
        return 0 if self.gone is None else int(np.count_nonzero(self.gone))

    def words(self, postings: Postings) -> int:
        return int(postings.lengths.sum() if self.gone is None else postings.lengths[~self.gone].sum())


class LexicalIndex:
    """An immutable BM25 index of one audience's nodes as they were at a mark of the corpus.

    It is a snapshot of all nodes, and for the documents that changed since their nodes instead. All scores are of the
    nodes that are left: they are the same, bit for bit, as those of an index that is built anew.

    Where it takes terms, a sequence counts each term as often as it stands there, and its neighbours as pairs; a
    mapping gives each term its weight, and a pair under `first second` (see `with_pairs`).

    Source: Robertson, Zaragoza, FnTIR 2009, doi:10.1561/1500000019; idf and length as in Lucene.
    """

    def __init__(self, mark: Mark, base_mark: Mark, pieces: Sequence[_Piece], parameters: Parameters) -> None:
        self.mark = mark
        self.base_mark = base_mark
        self.parameters = parameters
        self._pieces = tuple(pieces)
        self._starts = list(accumulate((len(piece.part) for piece in pieces), initial=0))
        self._count = self._starts[-1] - sum(piece.missing() for piece in pieces)
        self._norms = self._normalised([piece.part.terms for piece in pieces])
        paired = [piece.part.pairs for piece in pieces if piece.part.pairs is not None]
        self._pair_norms = self._normalised(paired) if paired else self._norms

    @classmethod
    def build(cls, segments: Iterable[Segment], parameters: Parameters, mark: Mark = _NOWHERE) -> "LexicalIndex":
        """Index these nodes; those without a term can never be found and are left out."""
        return cls(mark, mark, [_Piece(_part(segments, parameters))], parameters)

    @classmethod
    def load(cls, folder: Path, parameters: Parameters) -> "LexicalIndex":
        """Map a saved snapshot into memory."""
        part, mark = Part.load(folder)
        return cls(mark, mark, [_Piece(part)], parameters)

    def save(self, folder: Path) -> None:
        """Write the snapshot to a folder, whole or not at all; without what changed since."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-", ignore_cleanup_errors=True) as scratch:
            target = Path(scratch) / "index"
            target.mkdir()
            self._pieces[0].part.save(target, self.base_mark)
            try:
                os.replace(target, folder)
            except OSError:
                if not folder.exists():  # else another process has written the same snapshot
                    raise

    def stepped(self, mark: Mark, changed: Collection[str], segments: Iterable[Segment]) -> "LexicalIndex":
        """The index at a later mark: without what it holds of the documents that changed, with their nodes as they are.

        Its cost grows with what changed, not with the index: of the deltas, those are counted again that are at most
        so many times larger than what is added, so that there are few.
        """
        base, *deltas = (piece.without(changed) for piece in self._pieces)
        deltas = [piece for piece in deltas if piece.segments]
        added = tuple(segments)
        while deltas and len(deltas[-1].segments) <= _MERGED * len(added):
            added = (*deltas.pop().segments, *added)
        if added:
            deltas.append(_Piece(_part(added, self.parameters), segments=added))
        return LexicalIndex(mark, self.base_mark, [base, *deltas], self.parameters)

    def __len__(self) -> int:
        return self._count

    @property
    def version(self) -> int:
        """The corpus version."""
        return self.mark.version

    @property
    def base_size(self) -> int:
        """How many nodes the snapshot has."""
        return len(self._pieces[0].part)

    @property
    def behind(self) -> int:
        """How many nodes were taken from the snapshot or came to it."""
        base, *deltas = self._pieces
        return base.missing() + sum(len(piece.part) - piece.missing() for piece in deltas)

    def document_frequency(self, term: str) -> int:
        """In how many nodes a term stands."""
        return sum(piece.left(piece.part.holding(term)[0]) for piece in self._pieces)

    def idf(self, term: str) -> float:
        """Lucene's idf, ln(1 + (N - df + 0.5) / (df + 0.5)); a term that is nowhere has the largest."""
        return self._idf(self.document_frequency(term))

    def nearest(self, word: str) -> list[Spelling]:
        """What a word in lower case that no node holds may have been meant for, likeliest first; see `typos`."""
        parts = [piece.part for piece in self._pieces]

        def terms(letter: str) -> list[str]:
            return list(dict.fromkeys(chain.from_iterable(part.by_letter.get(letter, ()) for part in parts)))

        return nearest(word, self.document_frequency, terms)

    def search(self, terms: Terms, k: int, allowed: set[str] | None = None) -> list[tuple[str, float]]:
        """The best k (node id, BM25 score > 0), best first, ties by id; only `allowed` nodes when given."""
        scores = self._scores(terms)
        if allowed is not None:
            mask = np.zeros(len(scores), dtype=bool)
            for start, piece in zip(self._starts, self._pieces, strict=False):
                mask[[start + piece.part.row[node_id] for node_id in piece.part.row.keys() & allowed]] = True
            scores = np.where(mask, scores, 0.0)
        positive = int(np.count_nonzero(scores > 0))
        if not positive:
            return []
        take = min(k, positive)
        floor = np.partition(scores, -take)[-take]
        rows = np.flatnonzero((scores >= floor) & (scores > 0))
        hits = sorted(((self._id(row), float(scores[row])) for row in rows.tolist()), key=lambda hit: (-hit[1], hit[0]))
        return hits[:take]

    def score_of(self, terms: Terms, node_ids: Iterable[str]) -> Mapping[str, float]:
        """BM25 of these nodes; nodes that the index does not know score 0."""
        scores = self._scores(terms)
        return {node_id: float(sum(scores[row] for row in self._rows(node_id))) for node_id in node_ids}

    def _scores(self, terms: Terms) -> NDArray[np.float32]:
        """BM25 of every row; zeros where no term matches, and where the node is gone."""
        total = np.zeros(self._starts[-1], dtype=np.float32)
        for term, weight in _weights(terms).items():
            paired = " " in term
            if paired and self.parameters.pair_weight <= 0:
                continue
            found = [piece.part.holding(term) for piece in self._pieces]
            df = sum(piece.left(rows) for piece, (rows, _) in zip(self._pieces, found, strict=True))
            factor = np.float32(weight * (self.parameters.pair_weight if paired else 1.0) * self._idf(df))
            norms = self._pair_norms if paired else self._norms
            for start, (rows, counts) in zip(self._starts, found, strict=False):
                if len(rows):
                    at = rows + start if start else rows
                    total[at] += factor * counts / (counts + norms[at])
        for start, piece in zip(self._starts, self._pieces, strict=False):
            if piece.gone is not None:
                total[start : start + len(piece.part)][piece.gone] = 0.0
        return total

    def _idf(self, df: int) -> float:
        return float(np.log1p((self._count - df + 0.5) / (df + 0.5)))

    def _normalised(self, postings: Sequence[Postings]) -> Counts:
        """What BM25 adds to a count in each row: k1 (1 - b + b length / mean length)."""
        words = sum(piece.words(held) for piece, held in zip(self._pieces, postings, strict=True))
        mean = max(words / max(self._count, 1), 1e-9)
        lengths = np.concatenate([held.lengths for held in postings])
        k1, b = self.parameters.k1, self.parameters.b
        return (k1 * (1 - b + b * lengths / mean)).astype(np.float32)

    def _rows(self, node_id: str) -> list[int]:
        """Where a node stands: in the snapshot, and again where its document changed but it did not."""
        places = (
            (start, piece.part.row.get(node_id)) for start, piece in zip(self._starts, self._pieces, strict=False)
        )
        return [start + row for start, row in places if row is not None]

    def _id(self, row: int) -> str:
        place = next(place for place in reversed(range(len(self._pieces))) if self._starts[place] <= row)
        return self._pieces[place].part.ids[row - self._starts[place]]


def _part(segments: Iterable[Segment], parameters: Parameters) -> Part:
    return Part.build(segments, header_weight=parameters.header_weight, pairs=parameters.pair_weight > 0)


def _weights(terms: Terms) -> Mapping[str, float]:
    return terms if isinstance(terms, Mapping) else with_pairs(Counter(terms), terms)
