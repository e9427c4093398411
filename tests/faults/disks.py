"""Disks that can be filled: a small tmpfs where mounting is allowed, else a limit on how large a file may grow."""

import contextlib
import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psycopg2

from pipelines.store.embedded import Account

_BLOCK = 1 << 16


class Disk(Protocol):
    """Something that holds a folder and has an end."""

    def fill(self, room: int) -> None:
        """Leave so many bytes and no more."""

    def free(self) -> None:
        """Give back what `fill` took."""


@dataclass(frozen=True)
class Tmpfs:
    """A file system of its own in memory."""

    folder: Path

    def fill(self, room: int) -> None:
        with (self.folder / "ballast").open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
            while ballast.write(bytes(_BLOCK)) == _BLOCK:
                pass
        with (self.folder / "ballast").open("rb+") as ballast:
            ballast.truncate(max(ballast.seek(0, os.SEEK_END) - room, 0))

    def free(self) -> None:
        (self.folder / "ballast").unlink(missing_ok=True)


@dataclass(frozen=True)
class ServerLimit:
    """The processes of a Postgres server may write no file beyond a length; `account` is who they run as."""

    dsn: str
    account: Account

    def fill(self, room: int) -> None:
        self._limit(str(room))

    def free(self) -> None:
        with contextlib.suppress(psycopg2.OperationalError):  # it fell, and is started again without the limit
            self._limit("unlimited")

    def _limit(self, most: str) -> None:
        connection = psycopg2.connect(self.dsn)
        with contextlib.closing(connection), connection.cursor() as cursor:
            cursor.execute("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
            for (number,) in cursor.fetchall():
                self._as_the_server("prlimit", f"--fsize={most}:", "--pid", str(number))

    def _as_the_server(self, *command: str) -> None:
        who = {"user": self.account.uid, "group": self.account.gid, "extra_groups": []} if self.account.switch else {}
        subprocess.run(command, check=False, cwd="/", capture_output=True, **who)  # type: ignore[call-overload]


@dataclass(frozen=True)
class OwnLimit:
    """This process may write no file beyond a length, for the rest of its life."""

    def fill(self, room: int) -> None:
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))

    def free(self) -> None:
        """Nothing to do: the limit went with the process."""


def has_server_limits() -> bool:
    """Whether this system can limit another process."""
    return shutil.which("prlimit") is not None


@contextlib.contextmanager
def mounted(folder: Path, megabytes: int) -> Iterator[bool]:
    """Have a tmpfs of that size at a folder, which is made; False where this user may not mount."""
    folder.mkdir(parents=True)
    options = f"size={megabytes}m,mode=0755"
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, check=False
    ) if os.geteuid() == 0 else None  # fmt: skip
    try:
        yield done is not None and done.returncode == 0
    finally:
        if done is not None and done.returncode == 0:
            subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=False)
