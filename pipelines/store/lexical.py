"""The BM25 index: immutable snapshots, and the one that is in step with the database."""

import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.observe import log, log_failure
from pipelines.store.tokens import TOKENISER_VERSION
from pipelines.types import Audience


@dataclass(frozen=True, slots=True)
class Parameters:
    """BM25's: term saturation `k1` and length normalisation `b` (Lucene's form)."""

    k1: float = 1.2
    b: float = 0.75


class LexicalIndex:
    """An immutable BM25 snapshot of one audience's nodes at one corpus version.

    Source: Robertson, Zaragoza, FnTIR 2009, doi:10.1561/1500000019; Lucene's idf as in bm25s.
    """

    def __init__(self, version: int, ids: Sequence[str], model: Any | None) -> None:
        self.version = version
        self.ids = ids
        self._model = model
        self._row = {node_id: row for row, node_id in enumerate(ids)}

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def build(cls, version: int, rows: Iterable[tuple[str, str]], parameters: Parameters) -> "LexicalIndex":
        """Index (node id, space-joined terms) rows; nodes without a term can never be found and are left out."""
        import bm25s

        kept = [(node_id, tokens.split(" ")) for node_id, tokens in rows if tokens]
        if not kept:
            return cls(version, [], None)
        model = bm25s.BM25(method="lucene", k1=parameters.k1, b=parameters.b)
        model.index([tokens for _, tokens in kept], show_progress=False)
        return cls(version, [node_id for node_id, _ in kept], model)

    def save(self, folder: Path) -> None:
        """Write the snapshot to a folder, whole or not at all."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-", ignore_cleanup_errors=True) as scratch:
            target = Path(scratch) / "index"
            target.mkdir()
            if self._model is not None:
                self._model.save(target)
            (target / "ids.json").write_text(json.dumps({"version": self.version, "ids": list(self.ids)}))
            try:
                os.replace(target, folder)
            except OSError:
                if not folder.exists():  # else another process has written the same snapshot
                    raise

    @classmethod
    def load(cls, folder: Path) -> "LexicalIndex":
        """Map a saved snapshot into memory."""
        import bm25s

        held = json.loads((folder / "ids.json").read_text())
        model = bm25s.BM25.load(folder, mmap=True) if held["ids"] else None
        return cls(held["version"], held["ids"], model)

    def document_frequency(self, term: str) -> int:
        """In how many nodes a term stands."""
        if self._model is None or (column := self._model.vocab_dict.get(term)) is None:
            return 0
        bounds = self._model.scores["indptr"]
        return int(bounds[column + 1]) - int(bounds[column])

    def idf(self, term: str) -> float:
        """Lucene's idf, ln(1 + (N - df + 0.5) / (df + 0.5)); a term that is nowhere has the largest."""
        df = self.document_frequency(term)
        return float(np.log1p((len(self.ids) - df + 0.5) / (df + 0.5)))

    def scores(self, terms: Sequence[str]) -> np.ndarray:
        """BM25 of every node, in the order of `ids`; zeros where no term matches."""
        known = [term for term in terms if self.document_frequency(term)]
        if self._model is None or not known:
            return np.zeros(len(self.ids), dtype=np.float32)
        return np.asarray(self._model.get_scores(known), dtype=np.float32)

    def search(self, terms: Sequence[str], k: int, allowed: set[str] | None = None) -> list[tuple[str, float]]:
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

    def score_of(self, terms: Sequence[str], node_ids: Iterable[str]) -> Mapping[str, float]:
        """BM25 of these nodes; nodes that the snapshot does not know score 0."""
        scores = self.scores(terms)
        return {node_id: float(scores[self._row[node_id]]) if node_id in self._row else 0.0 for node_id in node_ids}


class LexicalIndexes:
    """The snapshots that follow the corpus, one an audience, kept on disk between processes.

    A process that holds a snapshot goes on with it while a newer one is built beside the queries; only a process
    that has none yet waits. Nodes that are gone meanwhile are dropped when they are fetched from the database.
    """

    def __init__(
        self,
        folder: Path,
        version: Callable[[], int],
        segments: Callable[[Audience], list[tuple[str, str]]],
        parameters: Parameters,
    ) -> None:
        self._folder = folder
        self._version = version
        self._segments = segments
        self._parameters = parameters
        self._current: dict[Audience, LexicalIndex] = {}
        self._building = {"owner": threading.Lock(), "visitor": threading.Lock()}

    def current(self, audience: Audience) -> LexicalIndex:
        """The newest snapshot to be had without waiting for a build, unless there is none at all."""
        version = self._version()
        held = self._current.get(audience)
        if held is not None and held.version == version:
            return held
        if held is None or self._path(audience, version).exists():
            return self.refresh(audience)
        threading.Thread(target=self._refresh_quietly, args=(audience,), daemon=True).start()
        return held

    def refresh(self, audience: Audience) -> LexicalIndex:
        """The snapshot of the corpus as it is now: held, loaded, or built and saved."""
        with self._building[audience]:
            version = self._version()
            held = self._current.get(audience)
            if held is not None and held.version == version:
                return held
            path = self._path(audience, version)
            index = _load(path)
            if index is None:
                index = LexicalIndex.build(version, self._segments(audience), self._parameters)
                index.save(path)
                log("info", "lexical index built", audience=audience, nodes=len(index), version=version)
                self._sweep(audience, keep=path)
            self._current[audience] = index
            return index

    def _refresh_quietly(self, audience: Audience) -> None:
        lock = self._building[audience]
        if lock.locked():
            return
        try:
            self.refresh(audience)
        except Exception as error:  # noqa: BLE001 - a background build must not end the process; the next query tries again
            log_failure("lexical index not rebuilt", error, audience=audience)

    def _path(self, audience: Audience, version: int) -> Path:
        shape = f"k{self._parameters.k1:g}-b{self._parameters.b:g}-t{TOKENISER_VERSION}"
        return self._folder / f"{audience}-{shape}-{version}"

    def _sweep(self, audience: Audience, keep: Path) -> None:
        snapshots = sorted(self._folder.glob(f"{audience}-*"), key=lambda path: path.stat().st_mtime)
        for path in snapshots[:-2]:
            if path != keep:
                shutil.rmtree(path, ignore_errors=True)


def _load(path: Path) -> LexicalIndex | None:
    if not path.exists():
        return None
    try:
        return LexicalIndex.load(path)
    except (OSError, ValueError, KeyError) as error:
        log_failure("lexical snapshot unreadable, building it again", error, path=str(path))
        shutil.rmtree(path, ignore_errors=True)
        return None
