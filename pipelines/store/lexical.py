"""The BM25 index: an immutable snapshot of the nodes' terms, and of the pairs of terms that stand together."""

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.store.pairs import Integers, PairIndex, with_pairs
from pipelines.store.tokens import TOKENISER_VERSION
from pipelines.store.typos import Spelling, nearest

Terms = Sequence[str] | Mapping[str, float]
Postings = tuple[Integers, NDArray[np.float32]]


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
        """What tells apart the snapshots that these parameters make; any pair weight reads the same one."""
        pairs = int(self.pair_weight > 0)
        return f"k{self.k1:g}-b{self.b:g}-h{self.header_weight}-p{pairs}-t{TOKENISER_VERSION}"


class LexicalIndex:
    """An immutable BM25 snapshot of one audience's nodes at one corpus version.

    Where it takes terms, a sequence counts each term as often as it stands there, and its neighbours as pairs; a
    mapping gives each term its weight, and a pair under `first second` (see `with_pairs`).

    Source: Robertson, Zaragoza, FnTIR 2009, doi:10.1561/1500000019; Lucene's idf as in bm25s.
    """

    def __init__(
        self,
        version: int,
        ids: Sequence[str],
        model: Any | None,
        pairs: PairIndex | None = None,
        pair_weight: float = 0.0,
    ) -> None:
        self.version = version
        self.ids = ids
        self._model = model
        self._columns: Mapping[str, int] = model.vocab_dict if model is not None else {}
        self._pairs = pairs if pair_weight > 0 else None
        self._pair_weight = pair_weight
        self._row = {node_id: row for row, node_id in enumerate(ids)}

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def build(cls, version: int, rows: Iterable[tuple[str, str]], parameters: Parameters) -> "LexicalIndex":
        """Index (node id, segment) rows; nodes without a term can never be found and are left out.

        A segment is space-joined terms, those of the header first and parted from the text's by a tab.
        """
        import bm25s

        segments = [(node_id, _fields(segment)) for node_id, segment in rows]
        kept = [(node_id, header, body) for node_id, (header, body) in segments if header or body]
        if not kept:
            return cls(version, [], None)
        model = bm25s.BM25(method="lucene", k1=parameters.k1, b=parameters.b)
        model.index([header * parameters.header_weight + body for _, header, body in kept], show_progress=False)
        ids = [node_id for node_id, _, _ in kept]
        if parameters.pair_weight <= 0:
            return cls(version, ids, model)
        of = model.vocab_dict
        numbered = [([of[term] for term in header], [of[term] for term in body]) for _, header, body in kept]
        pairs = PairIndex.build(numbered, max(of.values()) + 1, k1=parameters.k1, b=parameters.b)
        return cls(version, ids, model, pairs, parameters.pair_weight)

    def save(self, folder: Path) -> None:
        """Write the snapshot to a folder, whole or not at all."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-", ignore_cleanup_errors=True) as scratch:
            target = Path(scratch) / "index"
            target.mkdir()
            if self._model is not None:
                self._model.save(target)
            if self._pairs is not None:
                self._pairs.save(target / "pairs")
            (target / "ids.json").write_text(json.dumps({"version": self.version, "ids": list(self.ids)}))
            try:
                os.replace(target, folder)
            except OSError:
                if not folder.exists():  # else another process has written the same snapshot
                    raise

    @classmethod
    def load(cls, folder: Path, *, pair_weight: float = 0.0) -> "LexicalIndex":
        """Map a saved snapshot into memory."""
        import bm25s

        held = json.loads((folder / "ids.json").read_text())
        if not held["ids"]:
            return cls(held["version"], [], None)
        pairs = PairIndex.load(folder / "pairs") if pair_weight > 0 else None
        return cls(held["version"], held["ids"], bm25s.BM25.load(folder, mmap=True), pairs, pair_weight)

    def document_frequency(self, term: str) -> int:
        """In how many nodes a term stands."""
        column = self._columns.get(term)
        if self._model is None or column is None:
            return 0
        bounds = self._model.scores["indptr"]
        return int(bounds[column + 1]) - int(bounds[column])

    def idf(self, term: str) -> float:
        """Lucene's idf, ln(1 + (N - df + 0.5) / (df + 0.5)); a term that is nowhere has the largest."""
        df = self.document_frequency(term)
        return float(np.log1p((len(self.ids) - df + 0.5) / (df + 0.5)))

    def nearest(self, word: str) -> list[Spelling]:
        """What a word in lower case that no node holds may have been meant for, likeliest first; see `typos`."""
        return nearest(word, self.document_frequency, lambda letter: self._by_letter.get(letter, []))

    def scores(self, terms: Terms) -> NDArray[np.float32]:
        """BM25 of every node, in the order of `ids`; zeros where no term matches."""
        total = np.zeros(len(self.ids), dtype=np.float32)
        for term, weight in _weights(terms).items():
            rows, scores = self._postings(term)
            total[rows] += np.float32(weight * (self._pair_weight if " " in term else 1.0)) * scores
        return total

    def search(self, terms: Terms, k: int, allowed: set[str] | None = None) -> list[tuple[str, float]]:
        """The best k (node id, BM25 score > 0), best first, ties by id; only `allowed` nodes when given."""
        scores = self.scores(terms)
        if allowed is not None:
            mask = np.zeros(len(self.ids), dtype=bool)
            mask[[self._row[node_id] for node_id in allowed if node_id in self._row]] = True
            scores = np.where(mask, scores, 0.0)
        positive = int(np.count_nonzero(scores > 0))
        if not positive:
            return []
        take = min(k, positive)
        floor = np.partition(scores, -take)[-take]
        rows = np.flatnonzero((scores >= floor) & (scores > 0))
        hits = sorted(((self.ids[row], float(scores[row])) for row in rows.tolist()), key=lambda hit: (-hit[1], hit[0]))
        return hits[:take]

    def score_of(self, terms: Terms, node_ids: Iterable[str]) -> Mapping[str, float]:
        """BM25 of these nodes; nodes that the snapshot does not know score 0."""
        scores = self.scores(terms)
        return {node_id: float(scores[self._row[node_id]]) if node_id in self._row else 0.0 for node_id in node_ids}

    def _postings(self, term: str) -> Postings:
        if " " in term:
            first, second = (self._columns.get(part) for part in term.split(" "))
            if self._pairs is not None and first is not None and second is not None:
                return self._pairs.postings(first, second)
        elif self._model is not None and (column := self._columns.get(term)) is not None:
            held = self._model.scores
            span = slice(int(held["indptr"][column]), int(held["indptr"][column + 1]))
            return held["indices"][span], held["data"][span]
        return np.zeros(0, np.int32), np.zeros(0, np.float32)

    @cached_property
    def _by_letter(self) -> Mapping[str, Sequence[str]]:
        grouped: dict[str, list[str]] = {}
        for term in self._columns:
            if term.isalpha():
                grouped.setdefault(term[0], []).append(term)
        return grouped


def _fields(segment: str) -> tuple[list[str], list[str]]:
    header, _, body = segment.rpartition("\t")
    return header.split(), body.split()


def _weights(terms: Terms) -> Mapping[str, float]:
    return terms if isinstance(terms, Mapping) else with_pairs(Counter(terms), terms)
