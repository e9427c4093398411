"""The BM25 and vector indexes that are in step with the database, and the snapshots of them that are kept on disk."""

import shutil
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import FootnoteError
from pipelines.observe import log, log_failure
from pipelines.store.index_files import UNFINISHED, checksums
from pipelines.store.lexical_index import BM25Parameters, LexicalIndex
from pipelines.store.node_reader import NodeReader
from pipelines.store.read_snapshot import Mark, ReadSnapshot
from pipelines.store.vector_index import FORMAT, VectorIndex
from pipelines.types import Audience, Filters

_KEPT = 2  # snapshots of one shape: the newest, and one that another process may be reading
_KEPT_IN_ALL = 12  # an evaluation uses many parameters
_HOUR = 3_600.0  # seconds: a snapshot that was begun before is not being written any more
_UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError)  # errors of a damaged file
IN_MEMORY = 100_000_000  # numbers of vectors, 400 MB: more are searched by the HNSW index
# Stored vectors for each that HNSW examines: 800 of a million find .97 of the nearest ten, 100 .85.
_EXAMINED_OF = 1_250


Kept = TypeVar("Kept", bound=LexicalIndex | VectorIndex)


class IndexSnapshots(ABC, Generic[Kept]):
    """The index of each audience, always of exactly the nodes that the corpus has when the question is asked.

    What changed since the last question is read and added to the index, in the same read snapshot. If much has changed
    since the saved snapshot, a new one is built in a background thread. Only a process that finds no usable snapshot
    waits for one.
    """

    kind: ClassVar[str]
    cached: ClassVar[int] = 8  # indexes at different marks, for the questions in progress

    def __init__(self, folder: Path, corpus: NodeReader, shape: str) -> None:
        """`shape` is the part of a snapshot's name for what changes its content."""
        self._folder = folder
        self._corpus = corpus
        self._shape = shape
        self._cached: dict[Audience, list[Kept]] = {"owner": [], "visitor": []}
        self._stepping = {"owner": threading.RLock(), "visitor": threading.RLock()}
        self._building = {"owner": threading.Lock(), "visitor": threading.Lock()}

    @property
    def corpus(self) -> NodeReader:
        """The nodes that are indexed."""
        return self._corpus

    @abstractmethod
    def _made(self, audience: Audience, mark: Mark) -> Kept:
        """A new index of all nodes."""

    @abstractmethod
    def _later(self, index: Kept, mark: Mark, audience: Audience, changed: Collection[str]) -> Kept:
        """The index at a later mark, of which the documents are known that changed."""

    @abstractmethod
    def _read(self, path: Path) -> Kept:
        """A saved index."""

    def current(self, audience: Audience) -> Kept:
        """The index of the corpus as it is now, or in the open read snapshot."""
        index = self._look(audience)
        if index.is_far and not self._building[audience].locked():
            threading.Thread(
                target=self._refresh_quietly, args=(audience,), name=f"{self.kind} snapshot", daemon=True
            ).start()
        return index

    def refresh(self, audience: Audience) -> Kept:
        """The index of the corpus as it is now, with a new snapshot if much has changed since the last one."""
        with self._building[audience]:
            index = self._look(audience)
            if index.is_far:  # another process may have saved a newer snapshot
                newer = (path for path, version in self._saved(audience) if version > index.base_mark.version)
                if found := next(filter(None, map(self._load, newer)), None):
                    with self._stepping[audience]:
                        self._cached[audience].append(found)
                    index = self._look(audience)
            if not index.is_far:
                return index
            with self._corpus.read_snapshot() as snapshot:
                index = self.build(audience, snapshot)
        try:
            self._corpus.forget_changes()
        except FootnoteError as error:
            log_failure("old changes not forgotten", error)
        return index

    def examine(self) -> tuple[list[Path], list[Path]]:
        """The snapshots on disk, and those of them that are damaged or differ from the database.

        One of the present state is compared with a new build; one of an earlier state only with its own checksums.
        """
        saved: list[Path] = []
        wrong: list[Path] = []
        audiences: tuple[Audience, ...] = ("owner", "visitor")
        for audience in audiences:
            with self._corpus.read_snapshot() as snapshot, tempfile.TemporaryDirectory() as scratch:
                for path, _ in self._saved(audience):
                    saved.append(path)
                    try:
                        index = self._read(path)
                    except _UNREADABLE:
                        wrong.append(path)
                        continue
                    if index.mark == snapshot.mark:
                        anew = Path(scratch) / path.name
                        self._made(audience, index.mark).save(anew)
                        if checksums(anew) != checksums(path):
                            wrong.append(path)
        return saved, wrong

    def repair(self) -> None:
        """Delete the snapshots that are damaged or wrong; the next search makes a new one."""
        for path in self.examine()[1]:
            shutil.rmtree(path, ignore_errors=True)

    def _look(self, audience: Audience) -> Kept:
        with self._corpus.read_snapshot() as snapshot:
            index: Kept = snapshot.once((self, audience), lambda: self._at(snapshot, audience))
            return index

    def _at(self, snapshot: ReadSnapshot, audience: Audience) -> Kept:
        with self._stepping[audience]:
            for start in self._candidates(audience, snapshot.mark):
                index = self._stepped(start, snapshot, audience)
                if index is not None:
                    self._cache(audience, index, snapshot)
                    return index
                self._cached[audience] = [other for other in self._cached[audience] if other is not start]
            return self.build(audience, snapshot)

    def _candidates(self, audience: Audience, mark: Mark) -> Iterator[Kept]:
        """The indexes to start from, best first: the cached ones by snapshot and mark, then those on disk."""
        cached = [index for index in self._cached[audience] if index.mark.version <= mark.version]
        yield from sorted(cached, key=lambda index: (index.base_mark, index.mark), reverse=True)
        for path, version in self._saved(audience):
            if version <= mark.version and (index := self._load(path)) is not None:
                yield index

    def _stepped(self, index: Kept, snapshot: ReadSnapshot, audience: Audience) -> Kept | None:
        """The index at this read snapshot; None if the changes are not known, or a snapshot on disk is too old."""
        if index.mark == snapshot.mark:
            return index
        changed = self._corpus.changed_since(index.mark)
        if changed is None:
            return None
        stepped = self._later(index, snapshot.mark, audience, changed)
        return stepped if index in self._cached[audience] or not stepped.is_far else None

    def build(self, audience: Audience, snapshot: ReadSnapshot) -> Kept:
        """Build the index of all nodes at a read snapshot, and save it."""
        index = self._made(audience, snapshot.mark)
        if snapshot.failed:
            return index
        path = self._folder / f"{audience}-{self._shape}-{index.mark.version}-{index.mark.at}"
        try:
            index.save(path)
            self._sweep(audience, keep=path)
            index = self._load(path) or index  # mapped, so that the memory of the built one is given back
        except OSError as error:
            log_failure(f"{self.kind} snapshot not kept", error, path=str(path))
        self._cache(audience, index, snapshot)
        log("info", f"{self.kind} index built", audience=audience, nodes=len(index), version=index.mark.version)
        return index

    def _cache(self, audience: Audience, index: Kept, snapshot: ReadSnapshot) -> None:
        """Cache an index for later questions, unless parts of it may be of another state."""
        with self._stepping[audience]:
            if not snapshot.failed and index not in self._cached[audience]:
                self._cached[audience] = [*self._cached[audience], index][-self.cached :]

    def _refresh_quietly(self, audience: Audience) -> None:
        try:
            self.refresh(audience)
        except Exception as error:  # noqa: BLE001 - a background build must not end the process; the next query tries again
            log_failure(f"{self.kind} index not rebuilt", error, audience=audience)

    def _saved(self, audience: Audience) -> list[tuple[Path, int]]:
        """The snapshots on disk with their corpus versions, newest first."""
        found = self._folder.glob(f"{audience}-{self._shape}-*-*")
        marks = ((path, path.name.rsplit("-", 2)[1:]) for path in found)
        named = [(path, Mark(*map(int, mark))) for path, mark in marks if all(number.isdecimal() for number in mark)]
        return [(path, mark.version) for path, mark in sorted(named, key=lambda name: name[1], reverse=True)]

    def _load(self, path: Path) -> Kept | None:
        try:
            return self._read(path)
        except _UNREADABLE as error:
            if not path.exists():  # another process has just swept it
                return None
            log_failure(f"{self.kind} snapshot unreadable, building it again", error, path=str(path))
            shutil.rmtree(path, ignore_errors=True)
            return None

    def _sweep(self, audience: Audience, keep: Path) -> None:
        """Delete the oldest snapshots, beyond two of one shape and twelve of all, and what killed processes left."""
        newest = sorted(self._folder.glob(f"{audience}-*"), key=lambda path: path.stat().st_mtime, reverse=True)
        shape = f"{audience}-{self._shape}-"
        old = [path for path in newest if path.name.startswith(shape)][_KEPT:]
        unfinished = filter(_is_left, self._folder.glob(f"{UNFINISHED}*"))
        for path in {*old, *newest[_KEPT_IN_ALL:], *unfinished} - {keep}:
            shutil.rmtree(path, ignore_errors=True)


def _is_left(unfinished: Path) -> bool:
    try:
        return unfinished.stat().st_mtime < time.time() - _HOUR
    except OSError:  # another process has just finished it
        return False


class LexicalIndexes(IndexSnapshots[LexicalIndex]):
    """The BM25 index of each audience."""

    kind = "lexical"

    def __init__(self, folder: Path, corpus: NodeReader, parameters: BM25Parameters) -> None:
        super().__init__(folder, corpus, parameters.shape)
        self.parameters = parameters

    def _made(self, audience: Audience, mark: Mark) -> LexicalIndex:
        return LexicalIndex.build(self._corpus.segments(audience), self.parameters, mark)

    def _later(self, index: LexicalIndex, mark: Mark, audience: Audience, changed: Collection[str]) -> LexicalIndex:
        return index.stepped(mark, changed, self._corpus.segments(audience, changed))

    def _read(self, path: Path) -> LexicalIndex:
        return LexicalIndex.load(path, self.parameters)


def examined(least: int, stored: int) -> int:
    """The number of vectors, `least` or more, that an HNSW index of so many stored ones examines: one of 1,250."""
    return max(least, stored // _EXAMINED_OF)


class SearchedVectors(NamedTuple):
    """The vectors of an audience at one state of the corpus: in memory up to a limit, else in the database."""

    corpus: NodeReader
    audience: Audience
    stored: int
    in_memory: VectorIndex | None

    def nearest(self, vector: Sequence[float], k: int, *, look: int, filters: Filters) -> list[tuple[str, float]]:
        """The ids of the k nodes nearest to `vector`, best first, with their cosine similarities (-1..1).

        At least `look` vectors are examined by the HNSW index, more of many stored ones, 1,000 at most; in memory see
        `VectorIndex.nearest`.
        """
        if self.in_memory is None:
            look = examined(look, self.stored)
            return self.corpus.nearest(vector, k, look=look, filters=filters, audience=self.audience)
        return self.in_memory.nearest(vector, k, self.corpus.matching_ids(filters, self.audience) if filters else None)

    def similarities(self, vectors: Sequence[Sequence[float]], node_ids: Sequence[str]) -> list[dict[str, float]]:
        """By vector, the cosine similarity (-1..1) of each of these nodes' nearest window; gone nodes are missing."""
        return (self.corpus if self.in_memory is None else self.in_memory).similarities(vectors, node_ids)


class VectorIndexes(IndexSnapshots[VectorIndex]):
    """The vectors of each audience."""

    kind = "vector"
    cached = 2

    def __init__(self, folder: Path, corpus: NodeReader, most: int = IN_MEMORY) -> None:
        """More than `most` numbers of vectors are searched in the database."""
        super().__init__(folder, corpus, f"vectors-f{FORMAT}")
        self._windows = most // corpus.dimension
        self._counted: tuple[Mark | None, int] = (None, 0)

    def _made(self, audience: Audience, mark: Mark) -> VectorIndex:
        return VectorIndex.build(self._corpus.windows(audience), mark)

    def _later(self, index: VectorIndex, mark: Mark, audience: Audience, changed: Collection[str]) -> VectorIndex:
        return index.stepped(mark, changed, self._corpus.windows(audience, changed))

    def _read(self, path: Path) -> VectorIndex:
        return VectorIndex.load(path)

    def build_kept(self, audience: Audience, snapshot: ReadSnapshot) -> None:
        """Build and save the index at a read snapshot, if its vectors are kept in memory."""
        if self._corpus.count_windows(self._windows) <= self._windows:
            self.build(audience, snapshot)

    def prepare(self, audience: Audience) -> None:
        """Save the index of a corpus whose vectors are kept in memory, if much has changed since the last one."""
        if self.searched(audience).in_memory is not None:
            self.refresh(audience)

    def searched(self, audience: Audience) -> SearchedVectors:
        """The vectors of the corpus as it is now, or in the open read snapshot; they are counted once for a state."""
        with self._corpus.read_snapshot() as snapshot:
            mark, count = self._counted
            if mark != snapshot.mark:
                count = self._corpus.count_windows(self._windows)
                if not snapshot.failed:
                    self._counted = snapshot.mark, count
            if count <= self._windows:
                return SearchedVectors(self._corpus, audience, count, self.current(audience))
            with self._stepping[audience]:
                self._cached[audience] = []
            return SearchedVectors(self._corpus, audience, count, None)

    def some(self, audience: Audience, limit: int) -> NDArray[np.float32]:
        """A random but repeatable sample of at most `limit` vectors that this audience may search, (n, d)."""
        index = self.searched(audience).in_memory
        return index.some(limit) if index is not None else self._corpus.some_vectors(audience, limit)
