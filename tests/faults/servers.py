"""A server of one's own, that may be stopped, crashed and filled without hurting other tests."""

from dataclasses import dataclass
from pathlib import Path

from pipelines.store.database import open_database
from pipelines.store.embedded import EmbeddedServer
from tests.faults.disks import Disk, ServerLimit, Tmpfs
from tests.faults.plays import Stage


@dataclass
class OwnServer:
    """A durable embedded server on a disk that can be filled."""

    home: Path
    disk: Disk
    server: EmbeddedServer

    @classmethod
    def start(cls, folder: Path, *, tmpfs: bool) -> "OwnServer":
        """The running server under a folder, on a tmpfs or not."""
        server = EmbeddedServer(folder / "home")
        server.acquire()
        own = cls(folder / "home", Tmpfs(folder), server)
        return own if tmpfs else cls(own.home, ServerLimit(own.address, server.account), server)

    @property
    def address(self) -> str:
        """That of its own database, for libpq."""
        return f"postgresql://footnote@/postgres?host={self.server.socket_dir}"

    def start_again(self) -> None:
        """Have it running as the next command would, if it does not run."""
        next_command = EmbeddedServer(self.home)
        next_command.acquire()
        next_command.release()

    def stage(self, homes: Path) -> Stage:
        """Where plays are played on this server."""

        def dsn(name: str) -> str:
            return f"postgresql://footnote@/{name}?host={self.server.socket_dir}"

        stage = Stage(dsn, "migrated", homes, strategy="file_copy")
        stage.administer("CREATE DATABASE migrated")
        open_database(stage.settings("migrated")).engine.dispose()
        return stage
