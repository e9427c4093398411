"""Files that are added, and the tray: the jobs of the worker with their progress, on every page."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from html import escape

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from app import render, session
from app.chat_engine import ChatEngine
from app.typeset import literal
from pipelines.store.jobs import JobFile, JobStatus
from pipelines.wording import with_hint

_DOING = {
    "upload": "Taking in",
    "ingest": "Taking in",
    "refresh": "Looking again at",
    "reread": "Reading again",
    "undo": "Undoing",
    "reindex": "Making again",
    "evaluate": "Asking the questions of",
}
_OUTCOMES = {
    "added": "added",
    "updated": "replaced by this version",
    "metadata": "its facts were updated",
    "unchanged": "already here, unchanged",
    "failed": "not taken in",
}
_SHOWN_FOR = timedelta(hours=12)  # after it was asked for, when it is over
_ALL_LISTED = 5  # files; of more, only what failed is listed
_MOST_LISTED = 50


def upload_box(engine: ChatEngine, label: str) -> None:
    """A box for files, which the worker takes in; the tray shows how far it is."""
    key = session.fresh("upload")
    st.file_uploader(
        label,
        accept_multiple_files=True,
        key=key,
        max_upload_size=engine.settings.chat.max_upload_mb,
        help="PDF, Word, Markdown, HTML and plain text",
        on_change=_uploaded,
        args=(engine, key),
    )


def _uploaded(engine: ChatEngine, key: str) -> None:
    submit_files(engine, st.session_state[key])
    session.empty("upload")


def submit_files(engine: ChatEngine, files: Sequence[UploadedFile]) -> int:
    """Keep uploaded files and let the worker take them in: the job; 0 if they could not be kept, which is shown."""
    job = 0
    with render.attempting():
        job = engine.jobs.upload([(file.name, file.getvalue()) for file in files])
    return job  # noqa: RET504 - it stays 0 where that failed


def tray(engine: ChatEngine) -> set[str]:
    """Show the jobs that run or ended lately, and return the files named as failed; an end makes the page again."""
    jobs = _recent(engine)
    if jobs:
        is_running = any(not job.is_over for job in jobs)
        st.fragment(_jobs, run_every=1.0 if is_running else None)(engine)
    over = [file for job in jobs if job.is_over and job.failed for file in _listed(engine, job)]
    return {file.name for file in over if file.outcome == "failed"}


def _recent(engine: ChatEngine) -> list[JobStatus]:
    since, jobs = datetime.now(UTC) - _SHOWN_FOR, list[JobStatus]()
    with session.tolerating("the jobs could not be read"):
        jobs = engine.jobs.recent()
    return [job for job in jobs if not job.is_over or job.created_at > since]


def _jobs(engine: ChatEngine) -> None:
    jobs = _recent(engine)
    running = {job.id for job in jobs if not job.is_over}
    before: set[int] = st.session_state.get("running_jobs", set())
    st.session_state["running_jobs"] = running
    if before - running:
        st.rerun()
    with st.container(key="tray", gap="small"):
        for job in jobs:
            (_over if job.is_over else _under_way)(engine, job)


def _under_way(engine: ChatEngine, job: JobStatus) -> None:
    what = f"{_DOING[job.kind]} {literal(job.title)}"
    if job.state == "waiting":
        text = f"{what}: waiting"
    elif job.cancelled:
        text = f"{what}: stopping after the document under way"
    else:
        text = f"{what}: {job.ended} of {job.files}" if job.files else f"{what} …"
        text += ", trying questions about it" if 0 < job.files == job.ended and job.kind != "undo" else ""
    with st.container(key=f"job_{job.id}", horizontal=True, vertical_alignment="center"):
        st.progress(job.ended / job.files if job.files else 0.0, text=text)
        st.button("Cancel", key=f"cancel_{job.id}", type="tertiary", disabled=job.cancelled,
                  on_click=render.attempt, args=(engine.jobs.cancel, job.id))  # fmt: skip


def _over(engine: ChatEngine, job: JobStatus) -> None:
    with st.container(key=f"job_{job.id}", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(_summary(job), width="stretch")
            if job.kind != "undo" and job.runs:
                st.button("Undo", key=f"undo_{job.id}", type="tertiary", icon=":material/undo:",
                          on_click=render.attempt, args=(engine.jobs.undo, job))  # fmt: skip
            if job.failed or job.state != "done":
                st.button("Try again", key=f"retry_{job.id}", type="tertiary", icon=":material/refresh:",
                          on_click=render.attempt, args=(engine.jobs.retry, job.id))  # fmt: skip
            st.button("Close", key=f"dismiss_{job.id}", type="tertiary", icon=":material/close:",
                      on_click=render.attempt, args=(engine.jobs.dismiss, job.id))  # fmt: skip
        if job.message:
            render.problem(job.message, job.hint)
        if rows := "".join(map(_row, _listed(engine, job))) if job.failed or 0 < job.files <= _ALL_LISTED else "":
            st.html(f'<ul class="fn-intake">{rows}</ul>')


def _summary(job: JobStatus) -> str:
    title = literal(job.title)
    if job.state != "done":
        return f"{title}: {'cancelled' if job.state == 'cancelled' else 'not finished'}"
    if job.kind in ("undo", "evaluate"):
        return f"{title}: {'undone' if job.kind == 'undo' else 'done'}"
    failed = f", {job.failed} of them failed" if job.failed else ""
    return f"{title}: {job.ended} of {job.files} done{failed}" if job.files else f"{title}: nothing to do"


def _listed(engine: ChatEngine, job: JobStatus) -> list[JobFile]:
    """The files of a job that are named under it."""
    files: list[JobFile] = []
    with session.tolerating("a job could not be read"):
        files = engine.jobs.files(job.id)
    return [file for file in files if file.outcome == "failed" or job.files <= _ALL_LISTED][:_MOST_LISTED]


def _row(file: JobFile) -> str:
    """The outcome of a file, and the reason for a failure."""
    reason = f'<div class="fn-reason">{escape(with_hint(file.message, file.hint))}</div>' if file.message else ""
    outcome = _OUTCOMES.get(file.outcome, file.outcome)
    return f'<li class="fn-{file.outcome}"><strong>{escape(file.name)}</strong> {outcome}{reason}</li>'
