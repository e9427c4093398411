"""The worker: a process beside the chat that does the jobs of the database, one after the other."""

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from app.settings import read_settings
from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError
from pipelines.observe import configure_logging, log, log_failure
from pipelines.store.database import open_database
from pipelines.store.jobs import ClaimedJob, JobState, claim_job, end_job, release_job, renew_claim

if TYPE_CHECKING:
    from app.chat_engine import ChatEngine

_POLL, _BEAT, _AGAIN = 0.5, 2.0, 5.0  # seconds: between looks for a job, heartbeats, and tries after an error
_NICE = 5  # questions come first
_BUG = "This is a fault of Footnote; the log of the chat has its details."


class JobWorker:
    """Does jobs until it is told to stop; what it needs to ingest is loaded with the first job."""

    def __init__(self, settings: Settings, latest: Callable[[], Settings] | None = None) -> None:
        self._settings, self._latest = settings, latest or (lambda: settings)
        self._database = open_database(settings).engine
        self._chat: ChatEngine | None = None
        self._name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"

    def work(self, stop: threading.Event) -> None:
        """Do jobs as they come until `stop` is set; the job under way goes back then, with what it has done."""
        while not stop.is_set():
            try:
                if not self.work_once(stop):
                    stop.wait(_POLL)
            except FootnoteError as error:  # the database is away
                log_failure("the worker waits", error)
                stop.wait(_AGAIN)

    def work_once(self, stop: threading.Event | None = None) -> bool:
        """Do one job; False if there is none."""
        job = claim_job(self._database, self._name)
        if job is None:
            return False
        leaving = stop or threading.Event()
        with self._beating(job, leaving) as (halt, verdict):
            state, message, hint = self._done(job, halt)
        if verdict[-1] == "cancelled":
            end_job(self._database, job, "cancelled")
        elif leaving.is_set() and verdict[-1] == "go on":
            release_job(self._database, job)
        else:
            end_job(self._database, job, state, message, hint)
        return True

    def close(self) -> None:
        """Close the database connections."""
        if self._chat:
            self._chat.close()
        self._database.dispose()

    @contextmanager
    def _beating(self, job: ClaimedJob, leaving: threading.Event) -> Iterator[tuple[threading.Event, list[str]]]:
        """Renew the claim while the job is done: (set once it should end early, what the renewals said)."""
        halt, over, verdict = threading.Event(), threading.Event(), ["go on"]

        def beat() -> None:
            last = 0.0
            while not over.wait(0.1):
                if leaving.is_set():
                    halt.set()
                if time.monotonic() - last < _BEAT:
                    continue
                try:
                    verdict.append(renew_claim(self._database, job))
                except FootnoteError as error:
                    log_failure("a claim was not renewed", error)
                last = time.monotonic()
                if verdict[-1] != "go on":
                    halt.set()

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield halt, verdict
        finally:
            over.set()
            thread.join()

    def _done(self, job: ClaimedJob, halt: threading.Event) -> tuple[JobState, str, str]:
        """Do a job: (its state, what went wrong, what to do)."""
        try:
            from app.chat_engine import build_chat_engine
            from app.job_run import JobRun

            if self._chat and self._latest() != self._settings:  # a page has written `.env`
                self._chat.close()
                self._chat = None
            self._settings = self._latest()
            self._chat = self._chat or build_chat_engine(self._settings)
            JobRun(self._chat, job, halt).do()
            if job.kind not in ("undo", "evaluate") and not halt.is_set():
                self._chat.try_questions()
        except FootnoteError as error:
            log_failure(f"job {job.id} failed", error)
            return "failed", error.message, error.hint
        except Exception as error:  # noqa: BLE001 - one job must not end the worker of all
            log("error", "a job failed", job=job.id, error=f"{type(error).__name__}: {error}")
            return "failed", f"{type(error).__name__}: {error}", _BUG
        return "done", "", ""


class WorkerProcess:
    """Keeps one worker running beside the server, and starts another one when it dies; ends with the context."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper = threading.Thread(target=self._keep, daemon=True)

    def __enter__(self) -> "WorkerProcess":
        self._keeper.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        self._keeper.join()

    def _keep(self) -> None:
        while not self._stop.is_set():
            # In a group of its own: Ctrl-C in a terminal is for the server, which closes the worker's input.
            command = [sys.executable, "-m", "app.worker"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, process_group=0)
            while self._process.poll() is None and not self._stop.is_set():
                self._stop.wait(0.2)
            if not self._stop.is_set():
                log("warning", "the worker ended and is started again", code=self._process.returncode)
                self._stop.wait(1.0)
        if self._process and self._process.poll() is None:
            assert self._process.stdin
            self._process.stdin.close()  # which tells it to leave
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def _wait_for_the_end(stop: threading.Event) -> None:
    os.read(0, 1)  # returns when the process at the other end closes it or dies
    stop.set()


def main() -> None:
    """Work until the process that started this one closes its input, or is gone; SIGTERM ends it, too."""
    stop = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the chat, which tells the worker
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    threading.Thread(target=_wait_for_the_end, args=(stop,), daemon=True).start()
    os.nice(_NICE)
    while not stop.is_set():
        try:
            settings = read_settings()
            configure_logging(settings.log.level, settings.log.format)
            worker = JobWorker(settings, read_settings)
        except (ConfigError, FootnoteError) as error:
            log_failure("the worker waits", error)
            stop.wait(_AGAIN)
            continue
        worker.work(stop)
        worker.close()
    gc.freeze()  # the interpreter would look through everything once more before it goes


if __name__ == "__main__":
    main()
