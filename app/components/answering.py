"""A question while it is answered, by this tab or by another one."""

import time

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import render, session
from app.chat_engine import ChatEngine
from app.conversation import Exchange
from app.typeset import literal
from pipelines.answers import Preview
from pipelines.errors import FootnoteError

_PACE = 0.1  # seconds between two pictures of an answer that is written
_PATIENCE = 120.0  # seconds that a question waits for the files that came with it


def answer_question(engine: ChatEngine, exchange: Exchange) -> None:
    """Stream one answer, and store it; one that is interrupted is asked again, unless the reader stopped it."""
    session.close_source()
    stored = session.archive(engine)
    slot = st.empty()
    render.running(slot, exchange)
    st.button("Stop", key="stop", icon=":material/stop_circle:", type="tertiary", on_click=session.stop, args=(stored,))
    exchange.begin()
    with session.answering(exchange.id):
        _wait_for_files(engine, exchange, slot)
        shown = time.monotonic()
        events = engine.answer(exchange.question, history=exchange.before, filters=exchange.filters)
        for event in exchange.follow(events):
            is_due = isinstance(event, Preview) or time.monotonic() >= shown + _PACE
            if is_due and exchange.answer is None:
                render.running(slot, exchange)
                shown = time.monotonic()
    exchange.is_stopped = exchange.is_unanswered  # or it would be asked again without end
    session.store_outcome(stored, exchange)


def _wait_for_files(engine: ChatEngine, exchange: Exchange, slot: DeltaGenerator) -> None:
    """Wait until the files that came with a question are taken in, or for two minutes."""
    until = time.monotonic() + _PATIENCE
    while exchange.waits_for and time.monotonic() < until:
        try:
            job = engine.jobs.find(exchange.waits_for)
        except FootnoteError:
            return
        if job is None or job.is_over or job.ended == job.files:
            return
        slot.caption(f"Taking in {literal(job.title)}: {job.ended} of {job.files}")
        time.sleep(0.3)


@st.fragment(run_every=1.0)
def wait_for_the_other_tab(engine: ChatEngine) -> None:
    """Show the answer once the other tab has it."""
    if session.is_answered_elsewhere():
        if left := session.interrupted():
            render.question(left.question)
        st.caption("This question is being answered in another tab.")
    else:
        session.reopen(session.archive(engine))
        st.rerun()
