"""The BM25 snapshots that are in step with the database, kept on disk between processes."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

from pipelines.observe import log, log_failure
from pipelines.store.lexical import LexicalIndex, Parameters
from pipelines.types import Audience

_KEPT = 2  # of one shape: the newest, and the one that another process may just be reading
_KEPT_IN_ALL = 12  # an evaluation goes through many parameters


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
        self.parameters = parameters
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
            index = self._load(path)
            if index is None:
                index = LexicalIndex.build(version, self._segments(audience), self.parameters)
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
        return self._folder / f"{audience}-{self.parameters.shape}-{version}"

    def _load(self, path: Path) -> LexicalIndex | None:
        if not path.exists():
            return None
        try:
            return LexicalIndex.load(path, pair_weight=self.parameters.pair_weight)
        except (OSError, ValueError, KeyError) as error:
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
