"""The list of conversations in the sidebar, and the draft of the question that was not sent yet."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from itertools import groupby
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from app import render, session
from app.answer_markdown import as_markdown
from app.chat_engine import ChatEngine
from app.conversation import Exchange
from app.typeset import literal
from pipelines.store.conversations import MOST_TITLE, Archive, Conversation, ConversationRow, exported

_SHOWN = 40
_ASSETS = Path(__file__).parent.parent / "assets"
_draft = st.components.v2.component("footnote_draft", js=(_ASSETS / "draft.js").read_text("utf-8"))


def conversation_list(engine: ChatEngine) -> None:
    """The conversations by day, with a search; the open one can be renamed, exported and deleted."""
    stored = session.archive(engine)
    st.button("New conversation", key="clear", icon=":material/edit_square:", on_click=session.clear,
              disabled=not session.entries(), width="stretch")  # fmt: skip
    if deleted := st.session_state.get("deleted_conversation"):
        render.undo("deletion", f"Deleted “{literal(deleted.title)}”.", partial(_restore, stored, deleted))
    words, rows = str(st.session_state.get("conversation_search", "")), list[ConversationRow]()
    with session.tolerating("the conversations could not be listed"):
        rows = stored.list(words)
    if not rows and not words:
        return
    st.text_input("Search conversations", key="conversation_search", placeholder="Search conversations",
                  label_visibility="collapsed", icon=":material/search:", max_chars=200)  # fmt: skip
    with st.container(key="conversations", gap=None):
        for day, of_day in by_day(rows[:_SHOWN], datetime.now(UTC), _zone()):
            st.caption(day)
            for row in of_day:
                _row(stored, row)
        if not rows:
            st.caption("No conversation has these words.")
        elif len(rows) > _SHOWN:
            st.caption("Older ones are found by the search.")


def by_day(rows: Sequence[ConversationRow], now: datetime, zone: tzinfo) -> Iterator[tuple[str, list[ConversationRow]]]:
    """Conversations under the names of their days, in the given order."""
    today = now.astimezone(zone).date()
    names = {today: "Today", today - timedelta(days=1): "Yesterday"}
    for day, of_day in groupby(rows, lambda row: row.changed_at.astimezone(zone).date()):
        this_year = f"{day:%A}, {day.day} {day:%B}"
        yield names.get(day, this_year if day.year == today.year else f"{this_year} {day.year}"), list(of_day)


def _row(stored: Archive, row: ConversationRow) -> None:
    is_open = row.id == session.conversation_id()
    with st.container(key=f"conversation_{row.id}", horizontal=True, gap="small", vertical_alignment="center"):
        st.button(literal(row.title), key=f"open_{row.id}", type="secondary" if is_open else "tertiary",
                  on_click=session.choose_conversation, args=(row.id,), width="stretch")  # fmt: skip
        if is_open:
            with st.popover("", icon=":material/more_horiz:", help="Rename, export or delete", key=f"menu_{row.id}"):
                _menu(stored, row)


def _menu(stored: Archive, row: ConversationRow) -> None:
    title = f"title_{row.id}"
    st.text_input("Name", value=row.title, key=title, max_chars=MOST_TITLE, on_change=render.attempt,
                  args=(_rename, stored, row.id, title))  # fmt: skip
    for label, suffix, mime in (("Markdown", "md", "text/markdown"), ("JSON", "json", "application/json")):
        st.download_button(f"Export as {label}", partial(_export, stored, row.id, suffix), key=f"{suffix}_{row.id}",
                           file_name=f"conversation.{suffix}", mime=mime, type="tertiary", on_click="ignore",
                           icon=":material/download:")  # fmt: skip
    st.button("Delete", key=f"delete_{row.id}", icon=":material/delete:", type="tertiary", on_click=render.attempt,
              args=(_delete, stored, row))  # fmt: skip


def _export(stored: Archive, conversation_id: str, suffix: str) -> str:
    found = stored.read(conversation_id)
    if found is None:
        return ""
    return conversation_markdown(found) if suffix == "md" else json.dumps(exported(found), ensure_ascii=False, indent=1)


def conversation_markdown(conversation: Conversation) -> str:
    """A conversation as a Markdown file, each question with its answer and sources."""
    parts = [f"# {literal(conversation.title)}\n"]
    parts += [f"#{as_markdown(Exchange.of(message))}" for message in conversation.messages]
    return "\n".join(parts)


def _rename(stored: Archive, conversation_id: str, widget: str) -> None:
    stored.rename(conversation_id, str(st.session_state[widget]))


def _delete(stored: Archive, row: ConversationRow) -> None:
    stored.delete(row.id)
    st.session_state["deleted_conversation"] = row
    session.clear()


def _restore(stored: Archive, row: ConversationRow) -> None:
    stored.restore(row.id)
    st.session_state.pop("deleted_conversation", None)
    session.choose_conversation(row.id)


def _zone() -> ZoneInfo:
    """The time zone of the browser."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


@st.fragment
def draft_keeper(engine: ChatEngine) -> None:
    """Keep what is typed in the question box with its conversation, and put it back after a reload."""
    named = {"conversation": session.conversation_id(), "draft": st.session_state.get("draft", "")}
    named |= {"cookie": session.VISITOR_COOKIE, "key": session.holder().key}
    named |= {"last": session.entries()[-1].question if session.entries() else ""}
    named |= {"filled": st.session_state.get("filled", (0, ""))}
    _draft(key="typed", data=named, on_typed_change=partial(_keep_draft, engine), height=1)


def _keep_draft(engine: ChatEngine) -> None:
    typed = st.session_state["typed"].get("typed")
    if isinstance(typed, dict) and typed.get("conversation") == session.conversation_id() != "":
        st.session_state["draft"] = str(typed.get("draft", ""))
        with session.tolerating("a draft was not kept"):
            session.archive(engine).keep_draft(session.conversation_id(), st.session_state["draft"])
