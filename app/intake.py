"""The upload box: files in, a progress bar, and what became of each."""

from collections.abc import Sequence

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from app import session
from app.chat_engine import ChatEngine
from app.conversation import Intake
from app.typeset import literal
from pipelines.errors import FootnoteError
from pipelines.types import IngestItem


def upload_box(engine: ChatEngine, label: str) -> None:
    """A box for files that takes them in at once; what it came to is shown by the next run."""
    files = st.file_uploader(
        label,
        accept_multiple_files=True,
        key=session.fresh("upload"),
        max_upload_size=engine.settings.chat.max_upload_mb,
        help="PDF, Word, Markdown, HTML and plain text",
    )
    if files:
        session.remember_intake(take_in(engine, files))
        session.empty("upload")
        st.rerun()


def take_in(engine: ChatEngine, files: Sequence[UploadedFile]) -> Intake:
    """Ingest uploaded files under a progress bar."""
    bar = st.progress(0.0, text=f"Taking in {literal(files[0].name)} …")
    done: list[IngestItem] = []

    def advance(count: int, total: int, item: IngestItem) -> None:
        done.append(item)
        bar.progress(count / total, text=f"{count} of {total}: {literal(item.document)}")

    try:
        items = engine.take_in([(file.name, file.getvalue()) for file in files], advance)
    except FootnoteError as error:
        return Intake(tuple(done), (error.message, error.hint))
    finally:
        bar.empty()
    return Intake(items)
