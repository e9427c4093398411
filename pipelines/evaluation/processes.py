"""What a command costs: its seconds, its processor time, and its memory with its children's; Postgres told apart."""

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PAUSE, _LONGEST_PAUSE = 0.2, 2.0  # seconds between two looks at the memory, which cost the system some milliseconds
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that ended.

    Attributes:
        seconds: From its start to its end.
        cpu_seconds: Of the command and of every child that it waited for.
        postgres_cpu_seconds: Of the embedded server, as far as the last look saw it.
        memory_mb: The most that the command and its children held at once: PSS, where a page that several processes
            share counts once. 0 where the system does not tell.
        postgres_mb: Likewise of the server.
    """

    code: int
    output: str
    errors: str
    seconds: float
    cpu_seconds: float
    postgres_cpu_seconds: float
    memory_mb: float
    postgres_mb: float


def run_measured(command: Sequence[str], environment: Mapping[str, str], pid_file: Path) -> Ran:
    """Run a command to its end; `pid_file` is where the embedded server writes its number."""
    before = _cpu_seconds(_server(pid_file))
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=output, stderr=errors, stdin=subprocess.DEVNULL, env=environment)
        watch = _Watch(child.pid, pid_file)
        watch.start()
        _, status, spent = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        watch.end()
        output.seek(0)
        errors.seek(0)
        return Ran(
            code=child.returncode,
            output=output.read(),
            errors=errors.read(),
            seconds=round(seconds, 3),
            cpu_seconds=round(spent.ru_utime + spent.ru_stime, 2),
            postgres_cpu_seconds=round(max(watch.postgres_cpu - before, 0.0), 2),
            memory_mb=round(watch.memory / 1e6, 1),
            postgres_mb=round(watch.postgres / 1e6, 1),
        )


class _Watch(threading.Thread):
    """Looks at the processes of a command until it is told to end."""

    def __init__(self, root: int, pid_file: Path) -> None:
        super().__init__(daemon=True)
        self.memory = self.postgres = 0
        self.postgres_cpu = 0.0
        self._root, self._pid_file = root, pid_file
        self._ended = threading.Event()

    def run(self) -> None:
        began = time.perf_counter()
        while not self._ended.wait(min(max(_PAUSE, (time.perf_counter() - began) / 20), _LONGEST_PAUSE)):
            server = _server(self._pid_file)
            self.memory = max(self.memory, sum(map(_pss, set(_family(self._root)) - set(server))))
            self.postgres = max(self.postgres, sum(map(_pss, server)))
            self.postgres_cpu = max(self.postgres_cpu, _cpu_seconds(server))

    def end(self) -> None:
        self._ended.set()
        self.join()


def _server(pid_file: Path) -> list[int]:
    try:
        return _family(int(pid_file.read_text().split()[0]))
    except (OSError, ValueError, IndexError):
        return []


def _family(root: int) -> list[int]:
    """A process and all below it."""
    found = [root]
    for pid in found:
        try:
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                found += map(int, children.read_text().split())
        except OSError:
            continue
    return found


def _pss(pid: int) -> int:
    """The proportional share of memory of a process, in bytes; 0 when it has gone."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def _cpu_seconds(pids: Sequence[int]) -> float:
    """What these processes and the children that they waited for have computed."""
    spent = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        spent += sum(map(int, fields[11:15]))
    return spent / _TICKS
