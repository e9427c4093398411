"""The BM25 indexes that are in step with the database, and the snapshots of them that are kept on disk."""

import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from pipelines.errors import FootnoteError
from pipelines.observe import log, log_failure
from pipelines.store.lexical_index import BM25Parameters, LexicalIndex, checksums
from pipelines.store.node_reader import NodeReader
from pipelines.store.read_snapshot import Mark, ReadSnapshot
from pipelines.types import Audience

_KEPT = 2  # snapshots of one shape: the newest, and one that another process may be reading
_KEPT_IN_ALL = 12  # an evaluation uses many parameters
_CACHED = 8  # indexes at different marks, for the questions in progress
_UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError)  # errors of a damaged file


class LexicalIndexes:
    """The BM25 index of each audience, always of exactly the nodes that the corpus has when the question is asked.

    What changed since the last question is read and added to the index, in the same read snapshot. If much has changed
    since the saved snapshot, a new one is built in a background thread. Only a process that finds no usable snapshot
    waits for one.
    """

    def __init__(self, folder: Path, corpus: NodeReader, parameters: BM25Parameters) -> None:
        self._folder = folder
        self._corpus = corpus
        self.parameters = parameters
        self._cached: dict[Audience, list[LexicalIndex]] = {"owner": [], "visitor": []}
        self._stepping = {"owner": threading.RLock(), "visitor": threading.RLock()}
        self._building = {"owner": threading.Lock(), "visitor": threading.Lock()}

    def current(self, audience: Audience) -> LexicalIndex:
        """The index of the corpus as it is now, or in the open read snapshot."""
        index = self._look(audience)
        if index.is_far and not self._building[audience].locked():
            threading.Thread(
                target=self._refresh_quietly, args=(audience,), name="lexical snapshot", daemon=True
            ).start()
        return index

    def refresh(self, audience: Audience) -> LexicalIndex:
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
                        index = LexicalIndex.load(path, self.parameters)
                    except _UNREADABLE:
                        wrong.append(path)
                        continue
                    if index.mark == snapshot.mark:
                        anew = Path(scratch) / path.name
                        LexicalIndex.build(self._corpus.segments(audience), self.parameters, index.mark).save(anew)
                        if checksums(anew) != checksums(path):
                            wrong.append(path)
        return saved, wrong

    def repair(self) -> None:
        """Delete the snapshots that are damaged or wrong; the next search makes a new one."""
        for path in self.examine()[1]:
            shutil.rmtree(path, ignore_errors=True)

    def _look(self, audience: Audience) -> LexicalIndex:
        with self._corpus.read_snapshot() as snapshot:
            index: LexicalIndex = snapshot.once((self, audience), lambda: self._at(snapshot, audience))
            return index

    def _at(self, snapshot: ReadSnapshot, audience: Audience) -> LexicalIndex:
        with self._stepping[audience]:
            for start in self._candidates(audience, snapshot.mark):
                index = self._stepped(start, snapshot, audience)
                if index is not None:
                    self._cache(audience, index, snapshot)
                    return index
                self._cached[audience] = [other for other in self._cached[audience] if other is not start]
            return self.build(audience, snapshot)

    def _candidates(self, audience: Audience, mark: Mark) -> Iterator[LexicalIndex]:
        """The indexes to start from, best first: the cached ones by snapshot and mark, then those on disk."""
        cached = [index for index in self._cached[audience] if index.mark.version <= mark.version]
        yield from sorted(cached, key=lambda index: (index.base_mark, index.mark), reverse=True)
        for path, version in self._saved(audience):
            if version <= mark.version and (index := self._load(path)) is not None:
                yield index

    def _stepped(self, index: LexicalIndex, snapshot: ReadSnapshot, audience: Audience) -> LexicalIndex | None:
        """The index at this read snapshot; None if the changes are not known, or a snapshot on disk is too old."""
        if index.mark == snapshot.mark:
            return index
        changed = self._corpus.changed_since(index.mark)
        if changed is None:
            return None
        stepped = index.stepped(snapshot.mark, changed, self._corpus.segments(audience, changed))
        return stepped if index in self._cached[audience] or not stepped.is_far else None

    def build(self, audience: Audience, snapshot: ReadSnapshot) -> LexicalIndex:
        """Build the index of all nodes at a read snapshot, and save it."""
        index = LexicalIndex.build(self._corpus.segments(audience), self.parameters, snapshot.mark)
        if snapshot.failed:
            return index
        self._cache(audience, index, snapshot)
        path = self._folder / f"{audience}-{self.parameters.shape}-{index.mark.version}-{index.mark.at}"
        try:
            index.save(path)
            self._sweep(audience, keep=path)
        except OSError as error:
            log_failure("lexical snapshot not kept", error, path=str(path))
        log("info", "lexical index built", audience=audience, nodes=len(index), version=index.version)
        return index

    def _cache(self, audience: Audience, index: LexicalIndex, snapshot: ReadSnapshot) -> None:
        """Cache an index for later questions, unless parts of it may be of another state."""
        with self._stepping[audience]:
            if not snapshot.failed and index not in self._cached[audience]:
                self._cached[audience] = [*self._cached[audience], index][-_CACHED:]

    def _refresh_quietly(self, audience: Audience) -> None:
        try:
            self.refresh(audience)
        except Exception as error:  # noqa: BLE001 - a background build must not end the process; the next query tries again
            log_failure("lexical index not rebuilt", error, audience=audience)

    def _saved(self, audience: Audience) -> list[tuple[Path, int]]:
        """The snapshots on disk with their corpus versions, newest first."""
        found = self._folder.glob(f"{audience}-{self.parameters.shape}-*-*")
        marks = ((path, path.name.rsplit("-", 2)[1:]) for path in found)
        named = [(path, Mark(*map(int, mark))) for path, mark in marks if all(number.isdecimal() for number in mark)]
        return [(path, mark.version) for path, mark in sorted(named, key=lambda name: name[1], reverse=True)]

    def _load(self, path: Path) -> LexicalIndex | None:
        try:
            return LexicalIndex.load(path, self.parameters)
        except _UNREADABLE as error:
            log_failure("lexical snapshot unreadable, building it again", error, path=str(path))
            shutil.rmtree(path, ignore_errors=True)
            return None

    def _sweep(self, audience: Audience, keep: Path) -> None:
        """Delete the oldest snapshots: beyond two of one shape, and beyond twelve of all shapes."""
        newest = sorted(self._folder.glob(f"{audience}-*"), key=lambda path: path.stat().st_mtime, reverse=True)
        shape = f"{audience}-{self.parameters.shape}-"
        old = [path for path in newest if path.name.startswith(shape)][_KEPT:]
        for path in {*old, *newest[_KEPT_IN_ALL:]} - {keep}:
            shutil.rmtree(path, ignore_errors=True)
