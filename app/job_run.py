"""One job of the worker while it is done."""

import threading
from collections import defaultdict
from dataclasses import replace
from functools import partial

from app.chat_engine import ChatEngine
from app.settings import SAMPLE
from pipelines.errors import SourceError
from pipelines.evaluation.reports import evaluate_and_keep
from pipelines.ingestion.plan import Overrides, Plan
from pipelines.ingestion.reindex import plan_reindex
from pipelines.ingestion.rollback import plan_rollback
from pipelines.ingestion.run import Progress
from pipelines.store.database import reading
from pipelines.store.jobs import ClaimedJob, add_run, end_files, expect_files, waiting_files
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
                self._ingest(self._ingestion.plan(task["locations"], overrides=self._overrides))
            case "refresh":
                self._ingest(self._ingestion.plan(()))
            case "reindex":
                self._ingest(plan_reindex(self._ingestion, collection=str(task.get("collection", ""))))
            case "evaluate":
                evaluate_and_keep(self._chat.settings, self._engine, SAMPLE, self._go_on)
            case "reread":
                self._reread(str(task["document"]))
            case "undo":
                for run_id in reversed(task["runs"]):
                    undo, only = plan_rollback(self._ingestion.database, run_id), task.get("document", "")
                    undo = replace(undo, steps=tuple(step for step in undo.steps if only in ("", step.document_id)))
                    self._expect(undo)
                    self._chat.roll_back(self._ingestion, undo, self._progress(undo))

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
            stored = {uri: item for (_, uri), item in done.items() if item.outcome != "failed"}
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
        self._run(plan)

    def _ingest(self, plan: Plan) -> None:
        self._expect(plan)
        self._run(plan)

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
                self._ingest(plan)
                return
        steps = [step for step in plan_reindex(self._ingestion, document.source_uri).steps
                 if step.document_id == document_id]  # fmt: skip
        if wanted:
            steps = [replace(step, collection=wanted) for step in steps]
        self._ingest(Plan(tuple(steps), overrides=overrides))

    def _expect(self, plan: Plan) -> None:
        expect_files(self._engine, self._job, [(step.item.name, step.item.uri) for step in plan.steps])

    def _run(self, plan: Plan) -> None:
        kind: RunKind = "reindex" if any(step.original for step in plan.steps) else "ingest"
        noted = partial(add_run, self._engine, self._job)
        self._ingestion.run(plan, on_progress=self._progress(plan), kind=kind, on_run=noted)

    def _progress(self, plan: Plan) -> Progress:
        """Stores the outcome of each document with its file."""
        uris = defaultdict[str, list[str]](list)
        for step in plan.steps:
            uris[step.item.name].append(step.item.uri)

        def ended(_done: int, _total: int, item: IngestItem) -> None:
            if left := uris[item.document]:
                end_files(self._engine, self._job, {left.pop(0): item})

        return ended


def _lost(name: str) -> IngestItem:
    return IngestItem(name, "failed", message=f"The file of {name} is gone.", hint="Add it again.")


def _unread(name: str, reason: str) -> IngestItem:
    return IngestItem(name, "failed", message=f"{name} was not read: {reason}.", hint="Save it as PDF or text.")
