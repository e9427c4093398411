"""The BM25 indexes that are in step with the database, and the snapshots of them that are kept on disk."""

import shutil
import threading
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from pipelines.errors import FootnoteError
from pipelines.observe import log, log_failure
from pipelines.store.lexical_index import BM25Parameters, LexicalIndex, Segment
from pipelines.store.read_snapshot import Mark, ReadSnapshot
from pipelines.types import Audience

_KEPT = 2  # snapshots of one shape: the newest, and the one that another process may just be reading
_KEPT_IN_ALL = 12  # an evaluation goes through many parameters
_HELD = 8  # indexes at different marks, for the questions that are under way
_FEW, _MANY, _SHARE = 200, 2000, 0.1  # nodes that may have changed since a snapshot: 200, then a tenth, at most 2,000

_UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError)  # what a damaged file may raise


class Corpus(Protocol):
    """What the indexes read."""

    def read_snapshot(self) -> AbstractContextManager[ReadSnapshot]:
        """One state of the corpus, which the other reads see until it ends."""

    def changed_since(self, mark: Mark) -> Collection[str] | None:
        """The documents that changed since; None when that is not known."""

    def segments(self, audience: Audience, documents: Collection[str] | None = None) -> list[Segment]:
        """What the nodes that an audience may see hold, of all documents or of these."""

    def forget_changes(self) -> None:
        """Let go of changes that lie so far back that no snapshot needs them."""


class LexicalIndexes:
    """The BM25 index of each audience, always of exactly the nodes that the corpus has when the question is asked.

    What changed since the last question is read and added to the index, in the same read snapshot. When much has
    changed since the saved snapshot below it, a new one is built in a thread beside the queries. Only a process that
    finds no usable snapshot waits for one.
    """

    def __init__(self, folder: Path, corpus: Corpus, parameters: BM25Parameters) -> None:
        self._folder = folder
        self._corpus = corpus
        self.parameters = parameters
        self._held: dict[Audience, list[LexicalIndex]] = {"owner": [], "visitor": []}
        self._stepping = {"owner": threading.RLock(), "visitor": threading.RLock()}
        self._building = {"owner": threading.Lock(), "visitor": threading.Lock()}

    def current(self, audience: Audience) -> LexicalIndex:
        """The index of the corpus as it is now; inside an open read snapshot, as that sees it."""
        index = self._look(audience)
        if _is_far(index) and not self._building[audience].locked():
            threading.Thread(
                target=self._refresh_quietly, args=(audience,), name="lexical snapshot", daemon=True
            ).start()
        return index

    def refresh(self, audience: Audience) -> LexicalIndex:
        """The index of the corpus as it is now, on a new snapshot if much has changed since the last one."""
        with self._building[audience]:
            index = self._look(audience)
            if _is_far(index) and self._take_newer(audience, index):
                index = self._look(audience)
            if not _is_far(index):
                return index
            with self._corpus.read_snapshot() as snapshot:
                segments = self._corpus.segments(audience)
            index = self._built(audience, segments, snapshot)
        self._forget_changes()
        return index

    def examine(self) -> tuple[list[Path], list[Path]]:
        """The snapshots on disk, and those of them that are damaged or do not hold what the database holds."""
        saved: list[Path] = []
        wrong: list[Path] = []
        audiences: tuple[Audience, ...] = ("owner", "visitor")
        for audience in audiences:
            with self._corpus.read_snapshot() as snapshot:
                segments: list[Segment] | None = None
                for path, _ in self._saved(audience):
                    saved.append(path)
                    try:
                        index = LexicalIndex.load(path, self.parameters)
                    except _UNREADABLE:
                        wrong.append(path)
                        continue
                    if (changed := self._corpus.changed_since(index.mark)) is None:
                        continue  # no search goes on from it
                    if segments is None:
                        segments = self._corpus.segments(audience)
                    own = [segment for segment in segments if segment.document_id in changed]
                    anew = LexicalIndex.build(segments, replace(self.parameters, pair_weight=0.0))
                    if not index.stepped(snapshot.mark, changed, own).holds_as(anew):
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
            for held in self._begun(audience, snapshot.mark):
                index = self._stepped(held, snapshot, audience)
                if index is not None:
                    self._hold(audience, index, snapshot)
                    return index
                self._held[audience] = [other for other in self._held[audience] if other is not held]
            return self._built(audience, self._corpus.segments(audience), snapshot)

    def _begun(self, audience: Audience, mark: Mark) -> Iterator[LexicalIndex]:
        """The indexes to go on from, best first: those at hand, on the newest snapshot; if none will do, from disk."""
        held = [index for index in self._held[audience] if index.mark.version <= mark.version]
        yield from sorted(held, key=lambda index: (index.base_mark, index.mark), reverse=True)
        for path, version in self._saved(audience):
            if version <= mark.version and (index := self._load(path)) is not None:
                yield index

    def _stepped(self, index: LexicalIndex, snapshot: ReadSnapshot, audience: Audience) -> LexicalIndex | None:
        """The index at this read snapshot; None when the changes are not known, or a snapshot on disk is too old."""
        if index.mark == snapshot.mark:
            return index
        changed = self._corpus.changed_since(index.mark)
        if changed is None:
            return None
        stepped = index.stepped(snapshot.mark, changed, self._corpus.segments(audience, changed))
        return stepped if index in self._held[audience] or not _is_far(stepped) else None

    def _take_newer(self, audience: Audience, index: LexicalIndex) -> bool:
        """Take up a snapshot that another process has made since this index's; whether there is one."""
        for path, version in self._saved(audience):
            if version > index.base_mark.version and (newer := self._load(path)) is not None:
                with self._stepping[audience]:
                    self._held[audience].append(newer)
                return True
        return False

    def _built(self, audience: Audience, segments: list[Segment], snapshot: ReadSnapshot) -> LexicalIndex:
        index = LexicalIndex.build(segments, self.parameters, snapshot.mark)
        if snapshot.failed:
            return index
        self._hold(audience, index, snapshot)
        path = self._folder / f"{audience}-{self.parameters.shape}-{index.mark.version}-{index.mark.at}"
        try:
            index.save(path)
            self._sweep(audience, keep=path)
        except OSError as error:
            log_failure("lexical snapshot not kept", error, path=str(path))
        log("info", "lexical index built", audience=audience, nodes=len(index), version=index.version)
        return index

    def _hold(self, audience: Audience, index: LexicalIndex, snapshot: ReadSnapshot) -> None:
        """Keep an index for later questions, unless parts of it may have been read of another state."""
        with self._stepping[audience]:
            if not snapshot.failed and index not in self._held[audience]:
                self._held[audience] = [*self._held[audience], index][-_HELD:]

    def _refresh_quietly(self, audience: Audience) -> None:
        try:
            self.refresh(audience)
        except Exception as error:  # noqa: BLE001 - a background build must not end the process; the next query tries again
            log_failure("lexical index not rebuilt", error, audience=audience)

    def _forget_changes(self) -> None:
        try:
            self._corpus.forget_changes()
        except FootnoteError as error:
            log_failure("old changes not forgotten", error)

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


def _is_far(index: LexicalIndex) -> bool:
    return index.behind > max(_FEW, min(_MANY, int(index.base_size * _SHARE)))
