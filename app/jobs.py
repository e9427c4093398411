"""Jobs that the pages give to the worker: uploads, links, refreshes; progress, cancelling, undoing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from app.serialise import serialise
from app.uploads import keep_uploads
from pipelines.errors import NotFound, SourceError
from pipelines.ingestion.sources.locations import unique_locations
from pipelines.store import jobs as stored
from pipelines.store.jobs import JobFile, JobStatus
from pipelines.wording import format_count


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs of this database; uploads are kept under `folder`."""

    engine: Engine
    folder: Path
    private_hosts: tuple[str, ...] = ()

    def upload(self, files: Sequence[tuple[str, bytes]]) -> int:
        """Keep files, then ask that they be ingested; returns the job.

        Raises:
            SourceError: If a file cannot be kept; nothing is asked then.
        """
        paths = keep_uploads(self.folder, files)
        title = paths[0].name if len(paths) == 1 else format_count(len(paths), "file")
        return stored.add_job(self.engine, "upload", title, {}, [(path.name, path.as_uri()) for path in paths])

    def ingest(self, location: str) -> int:
        """Ask that a link, `github:OWNER` or a Notion page be ingested.

        Raises:
            SourceError: If it is none of these, or an address that is never fetched.
        """
        place = location.strip()
        if not place.startswith(("https://", "http://", "github:", "notion:")):
            raise SourceError("This is no link.", hint="Write https://..., github:OWNER or notion:PAGE.")
        return stored.add_job(
            self.engine, "ingest", place, {"locations": list(unique_locations([place], self.private_hosts))}
        )

    def refresh(self) -> int:
        """Ask that every source of a stored document be looked at again."""
        return stored.add_job(self.engine, "refresh", "All sources", {})

    def reindex(self, collection: str = "") -> int:
        """Ask that every document, or those of a collection, be made again where today's rules make other nodes."""
        return stored.add_job(self.engine, "reindex", collection or "Documents", {"collection": collection})

    def evaluate(self) -> int:
        """Ask that the judged questions be asked, and the report be kept."""
        return stored.add_job(self.engine, "evaluate", "Evaluation", {})

    def reread(self, document_id: str, name: str, *, category: str = "", collection: str = "") -> int:
        """Ask that a document be made again, with another category or collection where one is given."""
        overrides = {"category": category} if category else {}
        task = {"document": document_id, "overrides": overrides, "collection": collection}
        return stored.add_job(self.engine, "reread", name, task)

    def restore(self, document_id: str, name: str, run_id: int) -> int:
        """Ask that a document become again what it was before this run."""
        return stored.add_job(self.engine, "undo", name, {"runs": [run_id], "document": document_id})

    def undo(self, job: JobStatus) -> int:
        """Ask that all runs of a job be undone."""
        stored.dismiss_job(self.engine, job.id)
        return stored.add_job(self.engine, "undo", job.title, {"runs": list(job.runs)})

    def cancel(self, job_id: int) -> None:
        """Stop a job after the documents that are under way."""
        stored.cancel_job(self.engine, job_id)

    def retry(self, job_id: int) -> None:
        """Try again what failed or was cancelled."""
        stored.retry_job(self.engine, job_id)

    def dismiss(self, job_id: int) -> None:
        """Show a job that is over no more."""
        stored.dismiss_job(self.engine, job_id)

    def recent(self) -> list[JobStatus]:
        """The jobs that were not dismissed, the latest first."""
        return stored.list_jobs(self.engine)

    def find(self, job_id: int) -> JobStatus | None:
        """One job."""
        return next(iter(stored.list_jobs(self.engine, ids=[job_id])), None)

    def progress(self, job_id: int) -> dict[str, Any]:
        """A job and the outcome of each of its files, as plain data.

        Raises:
            NotFound: If there is no such job.
        """
        status = self.find(job_id)
        if status is None:
            raise NotFound(f"There is no job {job_id}.", hint="Taking something in returns one.")
        return {**serialise(status), "outcomes": serialise(self.files(job_id))}

    def files(self, job_id: int) -> list[JobFile]:
        """The files of a job."""
        return stored.files_of_job(self.engine, job_id)
