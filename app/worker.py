"""The worker: a process beside the chat that does the jobs of the database, one after the other."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType

from app.chat_engine import ChatEngine, build_chat_engine
from app.settings import SAMPLE, read_settings
from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError, SourceError
from pipelines.evaluation.reports import evaluate_and_keep
from pipelines.ingestion.plan import Plan
from pipelines.ingestion.reindex import plan_reindex
from pipelines.ingestion.rollback import RollbackPlan, plan_rollback
from pipelines.ingestion.run import Overrides, Progress
from pipelines.observe import configure_logging, log, log_failure
from pipelines.store.database import open_database, reading
from pipelines.store.jobs import (
    ClaimedJob,
    JobState,
    add_run,
    claim_job,
    end_files,
    end_job,
    expect_files,
    release_job,
    renew_claim,
    waiting_files,
)
from pipelines.store.originals import named_place, path_of
from pipelines.store.runs import logged_items
from pipelines.types import IngestItem, RunKind


class JobRun:
    """One job while it is done: outcomes are stored by file as they come."""

    def __init__(self, chat: ChatEngine, job: ClaimedJob, halt: threading.Event) -> None:
        self._chat, self._job, self._halt = chat, job, halt
        self._ingestion = chat.ingestion(halt)
        self._engine = self._ingestion.database.engine

    def do(self) -> None:
        """Do the job as far as it is not done, until it ends or is told to."""
        task = self._job.task
        self._recall()
        match self._job.kind:
            case "upload":
                self._upload()
            case "ingest":
                self._ingest(self._ingestion.plan(task["locations"], overrides=self._overrides), self._overrides)
            case "refresh":
                self._ingest(self._ingestion.plan(self._sources()), Overrides())
            case "reindex":
                self._ingest(self._reindex(str(task.get("collection", ""))), Overrides())
            case "evaluate":
                evaluate_and_keep(self._chat.settings, self._engine, SAMPLE, self._go_on)
            case "reread":
                self._reread(str(task["document"]))
            case "undo":
                for run_id in reversed(task["runs"]):
                    undo = _only(plan_rollback(self._ingestion.database, run_id), str(task.get("document", "")))
                    self._expect(undo.plan)
                    self._chat.roll_back(self._ingestion, undo, self._progress(undo.plan))

    def _go_on(self, _label: str, _done: int, _total: int) -> None:
        if self._halt.is_set():
            raise SourceError("It was stopped.", hint="Ask for it again.")

    @property
    def _overrides(self) -> Overrides:
        return Overrides(**self._job.task.get("overrides", {}))

    def _recall(self) -> None:
        """Take over what the runs of a worker that died had stored; what failed is tried again."""
        uris = [file.uri for file in waiting_files(self._engine, self._job)]
        for run_id in self._job.runs if uris else ():
            with reading(self._engine, "reading what a job has done") as connection:
                done = logged_items(connection, run_id, uris)
            stored = {uri: item for uri, item in done.items() if item.outcome != "failed"}
            end_files(self._engine, self._job, stored)

    def _upload(self) -> None:
        files = waiting_files(self._engine, self._job)
        gone = {file.uri: _lost(file.name) for file in files if not path_of(file.uri).is_file()}
        end_files(self._engine, self._job, gone)
        locations = [str(path_of(file.uri)) for file in files if file.uri not in gone]
        if not locations:
            return
        plan = self._ingestion.plan(locations)
        reasons = {remark.name: remark.reason for remark in plan.skipped}
        planned = {step.item.uri for step in plan.steps}
        unread = {
            file.uri: _unread(file.name, reasons.get(file.name, "it is of no kind that can be read"))
            for file in files
            if file.uri not in planned and file.uri not in gone
        }
        end_files(self._engine, self._job, unread)
        self._run(plan, Overrides())

    def _ingest(self, plan: Plan, overrides: Overrides) -> None:
        self._expect(plan)
        self._run(plan, overrides)

    def _reread(self, document_id: str) -> None:
        """Make one document again: from its file as it is now, else from its stored original, with what is stated."""
        document = next((each for each in self._ingestion.known() if each.id == document_id), None)
        if document is None:
            raise SourceError("The document is no longer there.", hint="Restore it first.")
        overrides, wanted = self._overrides, self._job.task.get("collection", "")
        is_file = document.source_uri.startswith("file://") and path_of(document.source_uri).is_file()
        if is_file and not (overrides.stated or wanted):
            plan = self._ingestion.plan([named_place(document.source_uri)], verify=True)
            if plan.count("update"):
                self._ingest(plan, overrides)
                return
        steps = [step for step in plan_reindex(self._ingestion, document.source_uri).steps
                 if step.document_id == document_id]  # fmt: skip
        if wanted:
            steps = [replace(step, collection=wanted) for step in steps]
        self._ingest(Plan(tuple(steps), (), ()), overrides)

    def _reindex(self, collection: str) -> Plan:
        """Every document made again, or those of a collection."""
        plan = plan_reindex(self._ingestion, "")
        chosen = {document.id for document in self._ingestion.known(collection or None)}
        return replace(plan, steps=tuple(step for step in plan.steps if step.document_id in chosen))

    def _sources(self) -> Sequence[str]:
        known = dict.fromkeys(document.source for document in self._ingestion.known())
        return [named_place(source) for source in known if not source.startswith("llamaindex:")]

    def _expect(self, plan: Plan) -> None:
        expect_files(self._engine, self._job, [(step.item.name, step.item.uri) for step in plan.steps])

    def _run(self, plan: Plan, overrides: Overrides) -> None:
        kind: RunKind = "reindex" if any(step.original for step in plan.steps) else "ingest"
        self._ingestion.run(
            plan, overrides=overrides, on_progress=self._progress(plan), kind=kind,
            on_run=lambda run_id: add_run(self._engine, self._job, run_id),
        )  # fmt: skip

    def _progress(self, plan: Plan) -> Progress:
        """Stores the outcome of each document with its file."""
        uris = defaultdict[str, list[str]](list)
        for step in plan.steps:
            uris[step.item.name].append(step.item.uri)

        def ended(_done: int, _total: int, item: IngestItem) -> None:
            if left := uris[item.document]:
                end_files(self._engine, self._job, {left.pop(0): item})

        return ended


def _only(undo: RollbackPlan, document_id: str) -> RollbackPlan:
    """The part of a rollback that is about one document; all of it if none is named."""
    pairs = zip(undo.steps, undo.changes, strict=True)
    kept = [pair for pair in pairs if document_id in ("", pair[1].document_id)]
    return RollbackPlan(undo.undoes, tuple(step for step, _ in kept), tuple(change for _, change in kept))


def _lost(name: str) -> IngestItem:
    return IngestItem(name, "failed", message=f"The file of {name} is gone.", hint="Add it again.")


def _unread(name: str, reason: str) -> IngestItem:
    return IngestItem(name, "failed", message=f"{name} was not read: {reason}.", hint="Save it as PDF or text.")


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
            self._process = subprocess.Popen([sys.executable, "-m", "app.worker"], stdin=subprocess.PIPE)
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


if __name__ == "__main__":
    main()
