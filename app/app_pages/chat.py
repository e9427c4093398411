"""The conversation: questions, answers with footnotes, and the open source beside them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.uploaded_file_manager import UploadedFile

from app import face, render, session
from app.chat_engine import ChatEngine
from app.components.actions import alone_chip, everywhere_button, under_answer
from app.components.answering import answer_question, wait_for_the_other_tab
from app.components.conversations import conversation_list, draft_keeper
from app.components.feedback import note_opening
from app.components.filters import filter_bar
from app.components.sharing import shared_page
from app.components.source import show_source
from app.components.tray import submit_files, tray, upload_box
from app.conversation import Exchange, read_with
from app.shelf import Shelf, starters
from app.typeset import literal
from app.wording import offers
from config.settings import PersonaSettings
from pipelines.types import MAX_QUESTION_CHARACTERS


@render.page
def page(engine: ChatEngine) -> None:
    """Show the conversation; answer what was asked."""
    if token := st.query_params.get("a"):
        shared_page(engine, token)
        return
    stored = session.archive(engine)
    session.open_conversation(stored)
    left = session.left_to_answer(stored)
    shelf, persona = engine.shelf(), engine.persona()
    st.set_page_config(page_title=face.title(persona))
    render.accent(persona.accent)
    if shelf.documents or session.entries() or engine.audience == "visitor":
        _converse(engine, shelf, persona, left)
    else:
        _welcome(engine)


def _welcome(engine: ChatEngine) -> None:
    with st.container(key="reading"):
        st.html(
            '<div class="fn-welcome"><h1>Nothing to read yet</h1><p>Footnote answers from your documents, and puts a '
            "checked footnote under every sentence. Give it something to read: a resume, a README, notes, blog posts, "
            "a web page you saved.</p></div>"
        )
        upload_box(engine, "Drop files here")
        tray(engine)
        st.caption("Or bring in a folder from a terminal, and reload this page:")
        st.code("footnote ingest ~/portfolio", language="sh")


def _converse(engine: ChatEngine, shelf: Shelf, persona: PersonaSettings, left: Exchange | None) -> None:
    is_owner = engine.audience == "owner"
    filters = filter_bar(shelf)
    typed, files = _question_box(engine, face.placeholder(persona), is_owner=is_owner)
    question, turns = session.pending()
    if typed and session.is_editing():
        session.ask_instead(session.archive(engine), typed, filters)
        typed, left = "", session.left_to_answer(session.archive(engine))
    job = submit_files(engine, files) if files else 0
    if question := question or typed:
        if left:
            session.stop(session.archive(engine))
        before = read_with(question, session.entries()) if turns is None else turns
        left = Exchange(question, filters=filters, before=before, reader=engine.model_name, waits_for=job)
        session.store_question(session.archive(engine), left)
        session.entries().append(left)
    if is_owner:
        _sidebar(engine)
    else:
        render.visitor_bar(face.title(persona), engine.picture(), shelf, session.clear)
    elsewhere = left is None and session.is_answered_elsewhere()
    render.attend(len(session.entries()), "begin")
    draft_keeper(engine)
    with st.container(key="reading"):
        if not session.entries() and not files:
            _greet(engine, shelf, persona)
        answers, running, notices, follow_ups = st.container(), st.empty(), st.container(), st.empty()
        if is_owner:
            with notices:
                tray(engine)
        with answers:
            _show_entries(engine, left, running)
        if left and left.waits_for:  # the files are taken in by now, which the tray says
            st.rerun()
        if elsewhere:
            wait_for_the_other_tab(engine)
        _editing()
    if opened := session.opened():
        show_source(engine, *opened)
    if left:
        render.attend(len(session.entries()), "end")
    with follow_ups.container(key="follow_ups"):
        _follow_ups(engine)


def _question_box(engine: ChatEngine, placeholder: str, *, is_owner: bool) -> tuple[str, Sequence[UploadedFile]]:
    """(the question that was sent, the files that came with it, which only the owner may add)."""
    if not is_owner:
        return (st.chat_input(placeholder, key="question", max_chars=MAX_QUESTION_CHARACTERS) or "").strip(), ()
    submitted = st.chat_input(
        placeholder,
        key="question",
        max_chars=MAX_QUESTION_CHARACTERS,
        accept_file="multiple",
        max_upload_size=engine.settings.chat.max_upload_mb,
    )
    return (submitted.text.strip(), submitted.files) if submitted else ("", ())


def _greet(engine: ChatEngine, shelf: Shelf, persona: PersonaSettings) -> None:
    render.greeting(persona, engine.picture(), len(shelf.documents))
    with st.container(key="starters"):
        for index, text in enumerate(starters(persona.questions, shelf, engine.questions())):
            st.button(literal(text), key=f"starter_{index}", on_click=session.ask, args=(text,), width="stretch")


def _show_entries(engine: ChatEngine, asked: Exchange | None, running: DeltaGenerator) -> None:
    """Show the answers; the one that is asked for comes while it is made in `running`, then in its place."""
    entries = session.entries()
    for index, entry in enumerate(entries):
        if entry.is_unanswered and entry is not asked:  # another tab answers it
            continue
        render.question(entry.question)
        if entry is asked:
            with running.container():
                answer_question(engine, entry)
        key, is_last = f"answer_{index}", entry is entries[-1]
        alone_chip(entry, key)
        render.answer(entry, key, session.opened_in(index), partial(_open, engine, key, index), latest=is_last)
        everywhere_button(entry, key)
        under_answer(engine, entry, key, is_last=is_last)
        if entry is asked:
            running.empty()


def _editing() -> None:
    if session.is_editing():
        with st.container(key="editing", horizontal=True, vertical_alignment="center", gap="small"):
            st.caption("What you send now takes the place of the last question.")
            st.button("Keep it", key="keep", type="tertiary", on_click=session.edit, args=(None,))


def _open(engine: ChatEngine, key: str, index: int) -> None:
    """Open the source whose footnote is pressed, and log that."""
    session.open_pressed(key, index)
    if now := session.opened():
        note_opening(engine, *now)


def _follow_ups(engine: ChatEngine) -> None:
    """Offer what may be asked after the last answer, which is shown before this is looked for."""
    last = session.entries()[-1] if session.entries() else None
    if last is None or last.answer is None:
        return
    if not last.has_follow_ups:
        last.answer = replace(last.answer, follow_ups=engine.suggest(last.answer, last.before, last.filters))
        last.has_follow_ups = True
        session.store_outcome(session.archive(engine), last)
    if last.answer.follow_ups and not last.answer.answered:
        st.caption(f"{offers(last.answer.model, answered=False)}:")
    for index, text in enumerate(last.answer.follow_ups):
        st.button(literal(text), key=f"follow_up_{index}", on_click=session.ask, args=(text,),
                  type="tertiary", icon=":material/subdirectory_arrow_right:")  # fmt: skip


def _sidebar(engine: ChatEngine) -> None:
    with st.sidebar:
        conversation_list(engine)
        if engine.model_name:
            st.caption(f"Answers are written by {literal(engine.model_name)}.")
        else:
            st.caption("Answers are sentences of the documents, quoted verbatim.")
            st.page_link("app_pages/health.py", label="Connect a model", icon=":material/add_link:")


if __name__ == "__main__":
    page()
