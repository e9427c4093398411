"""The BM25 index: a snapshot of all nodes' terms and term pairs, and deltas for the documents that changed since."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import accumulate, chain, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.store.index_files import is_far, load_index, save_index
from pipelines.store.read_snapshot import Mark
from pipelines.store.tokens import TOKENISER_VERSION, Spelling, nearest

Integers = NDArray[np.integer[Any]]
Counts = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Postings:
    """The nodes of each key with their counts, and the number of keys of each node.

    Attributes:
        keys: Ascending.
        starts: The start of each key's nodes in `rows` and `counts`, and the end of the last.
        rows: The rows of the nodes, ascending for each key.
        counts: The number of occurrences of the key in that node.
        lengths: The number of keys of each node.
    """

    keys: Integers
    starts: Integers
    rows: Integers
    counts: Counts
    lengths: Integers

    @classmethod
    def build(cls, keys: Integers, rows: Integers, nodes: int) -> "Postings":
        """Count the occurrences of keys in `nodes` nodes; `rows` has the node of each."""
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

    @classmethod
    def joined(cls, parts: Sequence["Postings"]) -> "Postings":
        """The postings of the nodes of all parts, whose rows follow one another."""
        if len(parts) == 1:
            return parts[0]
        keys = np.unique(np.concatenate([part.keys for part in parts]))
        sizes = np.zeros(len(keys), np.int64)
        for part in parts:
            sizes[keys.searchsorted(part.keys)] += np.diff(part.starts)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows, counts = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
        filled, before = starts[:-1].copy(), 0
        for part in parts:
            places, own = keys.searchsorted(part.keys), np.diff(part.starts)
            into = np.arange(len(part.rows)) + np.repeat(filled[places] - part.starts[:-1], own)
            rows[into], counts[into] = part.rows + np.int32(before), part.counts
            filled[places] += own
            before += len(part.lengths)
        return cls(keys, starts, rows, counts, np.concatenate([part.lengths for part in parts]))

    def of(self, key: int) -> tuple[Integers, Counts]:
        """The rows of the nodes with a key, and its counts; empty for an unknown key."""
        # A number of a term is most often its own place.
        place = key if 0 <= key < len(self.keys) and self.keys[key] == key else int(self.keys.searchsorted(key))
        if place == len(self.keys) or self.keys[place] != key:
            return self.rows[:0], self.counts[:0]
        span = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.rows[span], self.counts[span]


_DISTANCES = (1, 2)
_SECOND = 32  # bits


def with_pairs(weights: Mapping[str, float], order: Sequence[str]) -> dict[str, float]:
    """These term weights, and for each pair of neighbours in `order`, as `first second`, the smaller of its weights.

    Terms have no spaces, so a pair never equals a term. A pair with a term without weight is left out.
    """
    pairs = {
        f"{first} {second}": min(weights[first], weights[second])
        for first, second in pairwise(order)
        if first in weights and second in weights
    }
    return {**weights, **pairs}


def pairs_of(nodes: Sequence[Sequence[Sequence[int]]]) -> tuple[Integers, Integers]:
    """The key and the node of every occurrence of an ordered pair of terms at a distance of one or two.

    A node is a sequence of fields, and a field of term ids; no pair spans fields.

    Source: sequential dependence, Metzler, Croft, SIGIR 2005, doi:10.1145/1076034.1076115, with BM25 for the ordered
    window as in Rasolofo, Savoy, ECIR 2003, doi:10.1007/3-540-36618-0_15.
    """
    sizes = np.array([len(field) for node in nodes for field in node], dtype=np.int64)
    owners = np.array([row for row, node in enumerate(nodes) for _ in node], dtype=np.int64)
    flat = np.fromiter((term for node in nodes for field in node for term in field), np.int64, count=int(sizes.sum()))
    field_of = np.repeat(np.arange(len(sizes)), sizes)
    keys, rows = [flat[:0]], [flat[:0]]
    for distance in _DISTANCES:
        together = field_of[:-distance] == field_of[distance:]
        keys.append((flat[:-distance] << _SECOND | flat[distance:])[together])
        rows.append(owners[field_of[:-distance]][together])
    return np.concatenate(keys), np.concatenate(rows)


FORMAT = 3  # of a saved part
_COUNTED = 20_000  # nodes whose terms are counted at a time


class Segment(NamedTuple):
    """A node's index terms, joined by spaces; those of its header come first, with a tab after them."""

    node_id: str
    document_id: str
    terms: str


@dataclass(frozen=True)
class IndexPart:
    """The postings of some nodes, one row a node; the rows of a document are adjacent.

    Attributes:
        ids: The node ids, by row.
        documents: The first row of each document, and the one after its last.
        vocabulary: The number of each term.
        terms: By the numbers of terms.
        pairs: By the keys of pairs; None if pairs are not indexed.
    """

    ids: Sequence[str]
    documents: Mapping[str, tuple[int, int]]
    vocabulary: Mapping[str, int]
    terms: Postings
    pairs: Postings | None

    @classmethod
    def build(cls, segments: Iterable[Segment], *, header_weight: int, pairs: bool) -> "IndexPart":
        """Index these nodes, those of a document adjacent; a term of the header counts `header_weight` times.

        Nodes without terms can never be found and are left out. The nodes are read once, and not held: their terms are
        counted for 20,000 at a time.
        """
        ids: list[str] = []
        sizes: Counter[str] = Counter()
        vocabulary: dict[str, int] = {}
        terms, paired = [], []
        left = iter(segments)
        while some := list(islice(left, _COUNTED)):
            parts = ((segment, segment.terms.rpartition("\t")) for segment in some)
            split = [(segment, (header.split(), body.split())) for segment, (header, _, body) in parts]
            kept = [(segment, fields) for segment, fields in split if any(fields)]
            ids += [segment.node_id for segment, _ in kept]
            sizes.update(segment.document_id for segment, _ in kept)
            numbered = [
                [[vocabulary.setdefault(term, len(vocabulary)) for term in field] for field in fields]
                for _, fields in kept
            ]
            counted = [header * header_weight + body for header, body in numbered]
            rows = np.repeat(np.arange(len(counted)), [len(numbers) for numbers in counted])
            keys = np.fromiter(chain.from_iterable(counted), np.int64, count=len(rows))
            terms.append(Postings.build(keys, rows, len(kept)))
            if pairs:
                paired.append(Postings.build(*pairs_of(numbered), len(kept)))
        nothing = np.zeros(0, np.int64)
        joined = Postings.joined(terms or [Postings.build(nothing, nothing, 0)])
        together = Postings.joined(paired or [Postings.build(nothing, nothing, 0)]) if pairs else None
        return cls(ids, _spans(sizes), vocabulary, joined, together)

    def __len__(self) -> int:
        return len(self.ids)

    def holding(self, term: str) -> tuple[Integers, Counts]:
        """The rows with a term, or with a pair `first second`, and the counts."""
        numbers = [self.vocabulary.get(part, -1) for part in term.split(" ")]
        if len(numbers) == 1:
            return self.terms.of(numbers[0])
        if self.pairs is None or -1 in numbers:
            return self.terms.rows[:0], self.terms.counts[:0]
        return self.pairs.of(numbers[0] << _SECOND | numbers[1])

    @cached_property
    def row(self) -> Mapping[str, int]:
        """The row of each node."""
        return {node_id: row for row, node_id in enumerate(self.ids)}

    @cached_property
    def by_letter(self) -> Mapping[str, Sequence[str]]:
        """The terms that are all letters, by their first letter."""
        grouped: dict[str, list[str]] = {}
        for term in self.vocabulary:
            if term.isalpha():
                grouped.setdefault(term[0], []).append(term)
        return grouped

    def save(self, folder: Path, mark: Mark) -> None:
        """Write the part to a folder, as the index of all nodes at a mark, whole or not at all."""
        named = [("terms", self.terms), *([("pairs", self.pairs)] if self.pairs else [])]
        arrays = {f"{name}/{field.name}": getattr(each, field.name) for name, each in named for field in fields(each)}
        documents = {document: end - start for document, (start, end) in self.documents.items()}
        content = {"ids": self.ids, "documents": documents, "vocabulary": list(self.vocabulary)}
        save_index(folder, mark, arrays, content)

    @classmethod
    def load(cls, folder: Path) -> "tuple[IndexPart, Mark]":
        """A saved part, mapped into memory, with its mark.

        Raises:
            ValueError: If its files are not those that were saved.
        """
        mark, arrays, content = load_index(folder)

        def postings(name: str) -> Postings:
            return Postings(*(arrays[f"{name}/{field.name}"] for field in fields(Postings)))

        vocabulary = {term: number for number, term in enumerate(content["vocabulary"])}
        pairs = postings("pairs") if "pairs/keys" in arrays else None
        return cls(content["ids"], _spans(content["documents"]), vocabulary, postings("terms"), pairs), mark


def _spans(sizes: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """The first row of each document and the one after its last, from the number of its rows."""
    ends = accumulate(sizes.values())
    return {document: (end - size, end) for (document, size), end in zip(sizes.items(), ends, strict=True)}


Terms = Sequence[str] | Mapping[str, float]
_NOWHERE = Mark(0, 0)
_KNOWN_TERMS, _KNOWN_WORDS = 50_000, 5_000  # of an index whose frequencies and spellings are kept
_MERGED = 8  # two deltas are merged if their sizes differ by less than this factor


@dataclass(frozen=True, slots=True)
class BM25Parameters:
    """The saturation `k1` and length normalisation `b` of BM25 (Lucene's form), and the weights of headers and pairs.

    A term of a header counts `header_weight` times. The BM25 of pairs of neighbouring question terms is added
    `pair_weight` times; at 0 no pair is indexed.
    """

    k1: float = 1.2
    b: float = 0.75
    header_weight: int = 1
    pair_weight: float = 0.0

    @property
    def shape(self) -> str:
        """The part of a snapshot's name for the parameters that change its content."""
        return f"h{self.header_weight}-p{int(self.pair_weight > 0)}-t{TOKENISER_VERSION}-f{FORMAT}"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part, a mask of its rows whose documents changed since, and for a delta the segments it was built from."""

    part: IndexPart
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


def _places(holding: Integers, rows: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """The place of each row among those that hold a term, one at least; and whether it is one of them."""
    at = np.minimum(holding.searchsorted(rows), len(holding) - 1)
    return at, holding[at] == rows


class LexicalIndex:
    """An immutable BM25 index of one audience's nodes as they were at a mark of the corpus.

    It is a snapshot of all nodes, and deltas for the documents that changed since. Scores are equal, bit for bit, to
    those of a new index of the present nodes.

    Terms are a sequence, which counts each term as often as it occurs, and its neighbours as pairs; or a mapping from
    terms, and pairs `first second`, to weights (see `with_pairs`).

    Source: Robertson, Zaragoza, FnTIR 2009, doi:10.1561/1500000019; idf and length as in Lucene.
    """

    def __init__(self, mark: Mark, base_mark: Mark, pieces: Sequence[_Piece], parameters: BM25Parameters) -> None:
        self.mark = mark
        self.base_mark = base_mark
        self.parameters = parameters
        self._pieces = tuple(pieces)
        self._starts = list(accumulate((len(piece.part) for piece in pieces), initial=0))
        self._count = self._starts[-1] - sum(piece.missing() for piece in pieces)
        self._norms = self._normalised([piece.part.terms for piece in pieces])
        paired = [piece.part.pairs for piece in pieces if piece.part.pairs is not None]
        self._pair_norms = self._normalised(paired) if paired else self._norms
        self._frequencies: dict[str, int] = {}  # no lru_cache: it would hold the index by its own method
        self._spellings: dict[str, list[Spelling]] = {}

    @classmethod
    def build(cls, segments: Iterable[Segment], parameters: BM25Parameters, mark: Mark = _NOWHERE) -> "LexicalIndex":
        """Index these nodes, those of a document adjacent; those without terms can never be found and are left out."""
        part = IndexPart.build(segments, header_weight=parameters.header_weight, pairs=parameters.pair_weight > 0)
        return cls(mark, mark, [_Piece(part)], parameters)

    @classmethod
    def load(cls, folder: Path, parameters: BM25Parameters) -> "LexicalIndex":
        """Map a saved snapshot into memory."""
        part, mark = IndexPart.load(folder)
        return cls(mark, mark, [_Piece(part)], parameters)

    def save(self, folder: Path) -> None:
        """Write the snapshot, without its deltas, to a folder, whole or not at all."""
        self._pieces[0].part.save(folder, self.base_mark)

    def stepped(self, mark: Mark, changed: Collection[str], segments: Iterable[Segment]) -> "LexicalIndex":
        """The index at a later mark, with the present nodes of the documents that changed.

        Its cost grows with what changed, not with the index. Deltas that are at most eight times as large as what is
        added are merged with it, so that there are few.
        """
        base, *deltas = (piece.without(changed) for piece in self._pieces)
        deltas = [piece for piece in deltas if piece.segments]
        added = tuple(segments)
        while deltas and len(deltas[-1].segments) <= _MERGED * len(added):
            added = (*deltas.pop().segments, *added)
        if added:
            (delta,) = LexicalIndex.build(added, self.parameters)._pieces
            deltas.append(replace(delta, segments=added))
        return LexicalIndex(mark, self.base_mark, [base, *deltas], self.parameters)

    def __len__(self) -> int:
        return self._count

    @property
    def behind(self) -> int:
        """The number of nodes that were removed from or added to the snapshot."""
        base, *deltas = self._pieces
        return base.missing() + sum(len(piece.part) - piece.missing() for piece in deltas)

    @property
    def is_far(self) -> bool:
        """True if so much changed since the snapshot that a new one is due."""
        return is_far(self.behind, len(self._pieces[0].part))

    def document_frequency(self, term: str) -> int:
        """The number of nodes with a term."""
        if (known := self._frequencies.get(term)) is None:
            known = sum(piece.left(piece.part.holding(term)[0]) for piece in self._pieces)
            if len(self._frequencies) < _KNOWN_TERMS:
                self._frequencies[term] = known
        return known

    def idf(self, term: str) -> float:
        """Lucene's idf, ln(1 + (N - df + 0.5) / (df + 0.5)); largest for an unknown term."""
        return self._idf(self.document_frequency(term))

    def nearest(self, word: str) -> list[Spelling]:
        """The likely spellings of an unknown word in lower case, best first; see `tokens.nearest`."""
        parts = [piece.part for piece in self._pieces]

        def terms(letter: str) -> list[str]:
            return list(dict.fromkeys(chain.from_iterable(part.by_letter.get(letter, ()) for part in parts)))

        if (known := self._spellings.get(word)) is None:
            known = nearest(word, self.document_frequency, terms)
            if len(self._spellings) < _KNOWN_WORDS:
                self._spellings[word] = known
        return known

    def search(self, terms: Terms, k: int, allowed: set[str] | None = None) -> list[tuple[str, float]]:
        """The best k (node id, BM25 score > 0), best first, ties by id; only `allowed` nodes if given."""
        return self.best(self.scores(terms), k, allowed)

    def best(self, scores: Counts, k: int, allowed: set[str] | None = None) -> list[tuple[str, float]]:
        """As `search`, of the scores of every row."""
        if allowed is not None:
            mask = np.zeros(len(scores), dtype=bool)
            for start, piece in zip(self._starts, self._pieces, strict=False):
                mask[[start + piece.part.row[node_id] for node_id in piece.part.row.keys() & allowed]] = True
            scores = np.where(mask, scores, 0.0)
        rows = np.flatnonzero(scores > 0)
        if not len(rows):
            return []
        found = scores[rows]
        take = min(k, len(rows))
        best = found >= np.partition(found, -take)[-take]
        hits = zip(map(self._id, rows[best].tolist()), found[best].tolist(), strict=True)
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:take]

    def score_of(self, terms: Terms, node_ids: Iterable[str]) -> Mapping[str, float]:
        """BM25 of these nodes; unknown nodes score 0."""
        ids = list(node_ids)
        total = np.zeros(len(ids), np.float32)
        own = [(start, self._rows(piece, ids)) for start, piece in zip(self._starts, self._pieces, strict=False)]
        for factor, norms, found in self._weighted(terms):
            for (start, rows), (holding, counts) in zip(own, found, strict=True):
                if len(holding):
                    at, held = _places(holding, rows)
                    counted = counts[at[held]]
                    total[held] += factor * counted / (counted + norms[rows[held] + start])
        return dict(zip(ids, total.tolist(), strict=True))

    def _rows(self, piece: _Piece, node_ids: Sequence[str]) -> Integers:
        """The row of each node that is in a piece and not gone; else -1."""
        rows = np.array([piece.part.row.get(node_id, -1) for node_id in node_ids], dtype=np.int32)
        return rows if piece.gone is None or not len(rows) else np.where(piece.gone[rows], -1, rows)

    def those_of(self, scores: Counts, node_ids: Iterable[str]) -> Mapping[str, float]:
        """As `score_of`, of the scores of every row."""
        ids = list(node_ids)
        scores, found = np.append(scores, np.float32(0)), np.zeros(len(ids), np.float32)
        for start, piece in zip(self._starts, self._pieces, strict=False):  # one of them has the node
            row = piece.part.row
            found += scores[[start + row[node_id] if node_id in row else -1 for node_id in ids]]
        return dict(zip(ids, found.tolist(), strict=True))

    def holders(self, terms: Iterable[str], node_ids: Collection[str]) -> set[str]:
        """Those of these nodes that hold one of the terms."""
        wanted, ids, held = list(terms), list(node_ids), set[str]()
        for piece in self._pieces:
            rows = self._rows(piece, ids)
            found = np.zeros(len(ids), dtype=bool)
            for term in wanted:
                holding = piece.part.holding(term)[0]
                if len(holding):
                    found |= _places(holding, rows)[1]
            held.update(node_id for node_id, is_held in zip(ids, found.tolist(), strict=True) if is_held)
        return held

    def scores(self, terms: Terms) -> Counts:
        """BM25 of every row; 0 if no term matches, or the node is gone."""
        total = np.zeros(self._starts[-1], dtype=np.float32)
        for factor, norms, found in self._weighted(terms):
            for start, (rows, counts) in zip(self._starts, found, strict=False):
                if len(rows):
                    at = rows + start if start else rows
                    total[at] += factor * counts / (counts + norms[at])
        for start, piece in zip(self._starts, self._pieces, strict=False):
            if piece.gone is not None:
                total[start : start + len(piece.part)][piece.gone] = 0.0
        return total

    def _weighted(self, terms: Terms) -> Iterator[tuple[np.float32, Counts, list[tuple[Integers, Counts]]]]:
        """Of each term that counts: its weight, the summand of each row, and by piece the rows that hold it."""
        weights = terms if isinstance(terms, Mapping) else with_pairs(Counter(terms), terms)
        for term, weight in weights.items():
            paired = " " in term
            if paired and self.parameters.pair_weight <= 0:
                continue
            found = [piece.part.holding(term) for piece in self._pieces]
            df = sum(piece.left(rows) for piece, (rows, _) in zip(self._pieces, found, strict=True))
            factor = np.float32(weight * (self.parameters.pair_weight if paired else 1.0) * self._idf(df))
            yield factor, self._pair_norms if paired else self._norms, found

    def _idf(self, df: int) -> float:
        return float(np.log1p((self._count - df + 0.5) / (df + 0.5)))

    def _normalised(self, postings: Sequence[Postings]) -> Counts:
        """The summand of BM25's denominator in each row: k1 (1 - b + b length / mean length)."""
        words = sum(piece.words(each) for piece, each in zip(self._pieces, postings, strict=True))
        mean = max(words / max(self._count, 1), 1e-9)
        lengths = np.concatenate([each.lengths for each in postings])
        k1, b = self.parameters.k1, self.parameters.b
        return (k1 * (1 - b + b * lengths / mean)).astype(np.float32)

    def _id(self, row: int) -> str:
        place = next(place for place in reversed(range(len(self._pieces))) if self._starts[place] <= row)
        return self._pieces[place].part.ids[row - self._starts[place]]
