"""The card that connects a language model: it finds servers, tries a model, and writes `.env` when confirmed."""

from functools import partial
from html import escape
from urllib.parse import urlsplit

import streamlit as st
from pydantic import SecretStr

from app import render
from app.chat_engine import ChatEngine
from app.typeset import literal
from config.env_file import ENV_FILE
from config.settings import OPENROUTER_BASE
from pipelines.errors import FootnoteError
from pipelines.models.connect import ModelChoice


def model_card(engine: ChatEngine) -> None:
    """Show which language model answers, and offer those of this machine or of an address."""
    st.subheader("Language model")
    writes = f"Answers are written by {literal(engine.model_name)}."
    st.caption(writes if engine.model_name else "No language model: answers are quoted sentences.")
    if "servers" not in st.session_state:
        with st.spinner("Looking for servers on this machine …"):
            st.session_state["servers"] = engine.health.servers()
    with st.container(border=True, key="connect"):
        st.markdown("**Connect a language model**")
        for server in st.session_state["servers"]:
            with st.container(horizontal=True, vertical_alignment="bottom"):
                names = [model.name for model in server.models]
                model = st.selectbox(
                    f"{server.name}, port {urlsplit(server.url).port}", names, key=f"model_{server.name}"
                )
                st.button("Try", key=f"try_{server.name}", on_click=_try, args=(engine, ModelChoice(server.url, model)))
        if not st.session_state["servers"]:
            st.caption("No Ollama, llama.cpp or LM Studio answers on this machine.")
        st.button("Look again", key="look_again", type="tertiary", icon=":material/refresh:",
                  on_click=partial(st.session_state.pop, "servers", None))  # fmt: skip
        with st.expander("Another server", key="other_server"), st.form("other_form", border=False):
            st.text_input("Address", placeholder=OPENROUTER_BASE, key="other_url")
            st.text_input("Model", key="other_model")
            st.text_input("Key", type="password", key="other_key", autocomplete="off")
            st.form_submit_button("Try", key="try_other", on_click=_try_other, args=(engine,))
        _outcome(engine)


def _try(engine: ChatEngine, choice: ModelChoice) -> None:
    try:
        ok, said, hint = engine.health.try_model(choice)
    except FootnoteError as error:
        ok, said, hint = False, error.message, error.hint
    st.session_state["tried"] = choice, ok, said, hint


def _try_other(engine: ChatEngine) -> None:
    url, model, key = (str(st.session_state[f"other_{name}"]).strip() for name in ("url", "model", "key"))
    st.session_state["other_key"] = ""  # which leaves the page with that
    _try(engine, ModelChoice(url, model, SecretStr(key) if key else None))


def _outcome(engine: ChatEngine) -> None:
    """What the model said; if it answered, the lines that would be written, and a button that writes them."""
    if "tried" not in st.session_state:
        return
    choice, ok, said, hint = st.session_state["tried"]
    if not ok:
        render.problem(said, hint)
        return
    secret = choice.key and choice.key.get_secret_value()
    lines = (f"{name}={'…' if value == secret else value}" for name, value in
             choice.variables(engine.settings).items())  # fmt: skip
    st.html(f'<p class="fn-note">{escape(said)}.</p>')
    st.markdown(f"These lines go into `{ENV_FILE.resolve()}`, and from the next question on it writes the answers:")
    st.code("\n".join(lines), language=None)
    st.button("Write them", key="write_env", type="primary", on_click=_connect, args=(engine, choice))


def _connect(engine: ChatEngine, choice: ModelChoice) -> None:
    try:
        engine.health.connect(choice)
    except FootnoteError as error:
        st.session_state["tried"] = choice, False, error.message, error.hint
        return
    for held in ("tried", "checks"):
        st.session_state.pop(held, None)
    st.toast(f"{choice.model} is connected.")
