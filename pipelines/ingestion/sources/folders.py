"""Watches files and folders for changes: by the operating system's notifications if possible, else by comparing."""

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.ingestion.loaders import SUFFIXES
from pipelines.ingestion.sources.files import is_ignored_folder, list_files
from pipelines.store.originals import named_path

if TYPE_CHECKING:
    from watchfiles import Change

    Notifications = Generator[set[tuple[Change, str]], None, None]

_LISTED = SUFFIXES | {".zip"}
_LOOK_SECONDS = 2.0
_SHARE = 20  # at most a twentieth of the time is spent on comparing
_MOST_SETTLES = 10  # a folder that is never quiet counts as changed after this many times the settle time
# The changes that other machines make are not notified there; a folder of the host in a virtual machine is the same.
_REMOTE = ("nfs", "cifs", "smb", "9p", "fuse", "drvfs", "vboxsf", "virtiofs", "afs", "ceph", "glusterfs", "lustre")


@dataclass(slots=True)
class _Watched:
    """A location and how it is watched: by notifications, else by comparing its listing with what it `held`."""

    location: str
    path: Path
    identity: tuple[int, int] | None = None
    notifications: "Notifications | None" = None
    listing: Any = None


class Folders:
    """Watches files and folders for the changes that would change their listing.

    Args:
        locations: As on the command line.
        settle: Seconds without a change after which a location counts as changed.
        apart_from: A folder whose changes are our own.
        look: Least seconds between two comparisons of what is not notified.
        notified: Whether the operating system's notifications are used.
        now: A monotonic clock, in seconds.
    """

    def __init__(
        self,
        locations: Sequence[str],
        *,
        settle: float,
        apart_from: Path,
        look: float = _LOOK_SECONDS,
        notified: bool = True,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settle, self._apart_from, self._look, self._now = settle, apart_from.resolve(), look, now
        self._notified, self._touched = notified, dict[str, tuple[float, float]]()
        self._watched = [_Watched(location, named_path(location)) for location in locations]
        for watched in self._watched:
            self._attach(watched)
        self._look_at = now() + look

    def changed(self) -> set[str]:
        """The locations that changed since the last call, and are quiet now."""
        now = self._now()
        changed = [watched.location for watched in self._watched if self._was_notified(watched)]
        if now >= self._look_at:
            changed += [watched.location for watched in self._watched if self._differs(watched)]
            self._look_at = now + max(self._look, _SHARE * (self._now() - now))
        last = self._now()
        self._touched |= {location: (self._touched.get(location, (last, last))[0], last) for location in changed}
        quiet = {
            location
            for location, (first, last) in self._touched.items()
            if now - last >= self._settle or now - first >= _MOST_SETTLES * self._settle
        }
        for location in quiet:
            del self._touched[location]
        return quiet

    def close(self) -> None:
        """Watch nothing any more."""
        for watched in self._watched:
            _stop(watched)

    def _attach(self, watched: _Watched) -> None:
        """Begin to watch a location, as it is now."""
        _stop(watched)
        watched.identity, watched.listing = _identity(watched.path), None
        if self._notified and watched.path.is_dir() and not is_remote(watched.path):
            watched.notifications = _notifications(watched.path.resolve())
        if watched.notifications is None:
            watched.listing = _listing(watched.location)

    def _was_notified(self, watched: _Watched) -> bool:
        """True if a change of the location was notified since the last call."""
        if watched.notifications is None:
            return False
        root = watched.path.resolve()
        try:
            changes = next(watched.notifications)
        except (OSError, RuntimeError, StopIteration):  # compare from now on
            _stop(watched)
            return True
        return any(self._matters(change.raw_str(), Path(path), root) for change, path in changes)

    def _differs(self, watched: _Watched) -> bool:
        """True if a location is another folder than before, or its listing differs where nothing is notified."""
        if _identity(watched.path) != watched.identity:
            self._attach(watched)
            return True
        if watched.notifications:
            return False
        before, watched.listing = watched.listing, _listing(watched.location)
        return bool(before != watched.listing)

    def _matters(self, change: str, path: Path, root: Path) -> bool:
        """True if a change can change the listing; a deleted path of no listed kind may have been a folder."""
        if path.is_relative_to(self._apart_from) or not path.is_relative_to(root):
            return False
        is_file = path.suffix.lower() in _LISTED and not path.is_dir()
        if not is_file and (change == "modified" or not (change == "deleted" or path.is_dir())):
            return False
        parts = path.relative_to(root).parts
        return not any(map(is_ignored_folder, parts[:-1] if is_file else parts))


def _notifications(folder: Path) -> "Notifications | None":
    """The changes below a folder since the last `next`, which does not wait; None if the system allows no more."""
    from watchfiles import watch

    changes = watch(
        folder, watch_filter=None, debounce=10, step=1, rust_timeout=1, yield_on_timeout=True,
        ignore_permission_denied=True,
    )  # fmt: skip
    try:
        next(changes)  # the watch exists from here on
    except (OSError, RuntimeError, StopIteration):
        return None
    return changes


def _stop(watched: _Watched) -> None:
    if watched.notifications is not None:
        watched.notifications.close()
        watched.notifications = None


def is_remote(path: Path, mounts: Path = Path("/proc/self/mounts")) -> bool:
    """True if a folder is on a file system that others can change without a notification on this machine."""
    try:
        rows = [line.split()[1:3] for line in mounts.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return False
    above = [(point.replace("\\040", " "), kind) for point, kind in rows]
    kinds = [(len(point), kind) for point, kind in above if path.resolve().is_relative_to(point)]
    return max(kinds, default=(0, ""))[1].startswith(_REMOTE)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _listing(location: str) -> frozenset[tuple[str, str]]:
    return frozenset((item.uri, item.stamp) for item in list_files(location).items)
