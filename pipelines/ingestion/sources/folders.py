"""Which files and folders changed: told by the operating system where it can, else found by looking."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pipelines.ingestion.loaders import SUFFIXES
from pipelines.ingestion.sources.files import is_passed_over, list_files
from pipelines.store.originals import named_path

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch

_LISTED = SUFFIXES | {".zip"}
_LOOK_SECONDS = 2.0
_SHARE = 20  # at most a twentieth of the time is spent on looking
_MOST_SETTLES = 10  # a folder that is never quiet is taken as it is after so many times the time it should be
_TELLING = frozenset({"created", "modified", "attrib", "moved", "deleted", "closed"})  # not that somebody reads
# The changes that other machines make are not told there; a folder of the host in a virtual machine is the same.
_REMOTE = ("nfs", "cifs", "smb", "9p", "fuse", "drvfs", "vboxsf", "virtiofs", "afs", "ceph", "glusterfs", "lustre")


@dataclass(slots=True)
class _Spot:
    """A location and how it is watched: by the operating system, else by comparing what it `held`."""

    location: str
    path: Path
    root: Any = None
    watch: "ObservedWatch | None" = None
    held: Any = None


class Folders:
    """Watches files and folders, each for the changes that would change what is listed of it.

    Args:
        locations: As on the command line.
        settle: Seconds without a change after which a location counts as changed.
        apart_from: A folder whose changes are our own.
        look: Least seconds between two looks at what the operating system does not tell of.
        told: Whether the operating system is asked to tell.
        now: Seconds, of a clock that never goes back.
    """

    def __init__(
        self,
        locations: Sequence[str],
        *,
        settle: float,
        apart_from: Path,
        look: float = _LOOK_SECONDS,
        told: bool = True,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settle, self._apart_from, self._look, self._now = settle, apart_from.resolve(), look, now
        self._lock, self._touched = Lock(), dict[str, tuple[float, float]]()
        self._observer = _observer() if told else None
        self._spots = [_Spot(location, named_path(location)) for location in locations]
        for spot in self._spots:
            self._attend(spot)
        self._look_at = now() + look

    def changed(self) -> set[str]:
        """The locations that changed since they were told of last, and are quiet now."""
        now = self._now()
        if now >= self._look_at:
            for spot in self._spots:
                if self._differs(spot):
                    self._touch(spot.location)
            spent = self._now() - now
            self._look_at = now + max(self._look, _SHARE * spent)
        with self._lock:
            quiet = {
                location
                for location, (first, last) in self._touched.items()
                if now - last >= self._settle or now - first >= _MOST_SETTLES * self._settle
            }
            for location in quiet:
                del self._touched[location]
        return quiet

    def __enter__(self) -> "Folders":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._observer:
            self._observer.stop()
            self._observer.join()

    def _attend(self, spot: _Spot) -> None:
        """Have the changes of a location told from now on, or know what it holds now."""
        from watchdog.events import FileSystemEventHandler

        spot.root, spot.watch, spot.held = _identity(spot.path), None, None
        if self._observer and spot.path.is_dir() and not is_remote(spot.path):
            handler = FileSystemEventHandler()
            handler.on_any_event = lambda event: self._told(spot, event)  # type: ignore[method-assign]
            try:
                spot.watch = self._observer.schedule(handler, str(spot.path.resolve()), recursive=True)
            except OSError:  # as many folders are watched as the system allows
                spot.watch = None
        if spot.watch is None:
            spot.held = _held(spot.location)

    def _differs(self, spot: _Spot) -> bool:
        """Whether a location is another folder than it was, or what is not told of it is no longer as it was."""
        if _identity(spot.path) != spot.root:
            if self._observer and spot.watch:
                self._observer.unschedule(spot.watch)
            self._attend(spot)
            return True
        if spot.watch:
            return False
        held, spot.held = spot.held, _held(spot.location)
        return bool(held != spot.held)

    def _told(self, spot: _Spot, event: "FileSystemEvent") -> None:
        if event.event_type not in _TELLING or (event.is_directory and event.event_type == "modified"):
            return
        root = spot.path.resolve()
        paths = [Path(str(path)) for path in (event.src_path, event.dest_path) if path]
        if any(self._matters(path, root, is_folder=event.is_directory) for path in paths):
            self._touch(spot.location)

    def _matters(self, path: Path, root: Path, *, is_folder: bool) -> bool:
        if path.is_relative_to(self._apart_from) or not path.is_relative_to(root):
            return False
        parts = path.relative_to(root).parts
        if any(map(is_passed_over, parts if is_folder else parts[:-1])):
            return False
        return is_folder or path.suffix.lower() in _LISTED

    def _touch(self, location: str) -> None:
        now = self._now()
        with self._lock:
            first, _ = self._touched.get(location, (now, now))
            self._touched[location] = first, now


def is_remote(path: Path, mounts: Path = Path("/proc/self/mounts")) -> bool:
    """Whether a folder is on a file system that others change without the operating system telling of it."""
    try:
        rows = [line.split()[1:3] for line in mounts.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return False
    above = [(point.replace("\\040", " "), kind) for point, kind in rows]
    kinds = [(len(point), kind) for point, kind in above if path.resolve().is_relative_to(point)]
    return max(kinds, default=(0, ""))[1].startswith(_REMOTE)


def _observer() -> "BaseObserver | None":
    """What the operating system tells through; None where it tells nothing."""
    from watchdog.observers import Observer

    try:
        observer = Observer()
        observer.start()
    except OSError:
        return None
    return observer


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _held(location: str) -> frozenset[tuple[str, str]]:
    return frozenset((item.uri, item.stamp) for item in list_files(location).items)
