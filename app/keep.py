"""The button that hands an answer out as a pack, made when it is pressed."""

from functools import partial

import streamlit as st

from app.conversation import Exchange
from app.engine import ChatEngine


def pack_button(engine: ChatEngine, said: Exchange, key: str) -> None:
    """Offer the pack of a finished answer."""
    if said.answer is None:
        return
    st.download_button(
        "Answer pack",
        partial(engine.pack, said.answer, said.before, said.filters),
        file_name="answer.zip",
        mime="application/zip",
        key=f"download_pack_{key}",
        type="tertiary",
        icon=":material/inventory_2:",
        on_click="ignore",
        help="The answer as Markdown and JSON, with all that it takes to check it: `footnote replay` asks it again "
        "and says what changed.",
    )
