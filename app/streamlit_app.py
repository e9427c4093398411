"""The chat's entrance: page settings and navigation only."""

from pathlib import Path

import streamlit as st

from app.session import is_visitor

ICON = Path(__file__).parent / "assets" / "icon.svg"

st.set_page_config(
    page_title="Footnote",
    page_icon=ICON,
    layout="wide",
    initial_sidebar_state=240,
    menu_items={"About": "Footnote answers from your documents, with a checked footnote under every sentence."},
)
st.logo(ICON, size="large")
chat = st.Page("app_pages/chat.py", title="Chat", icon=":material/forum:", default=True)
library = st.Page("app_pages/library.py", title="Library", icon=":material/library_books:")
career = st.Page("app_pages/career.py", title="Career", icon=":material/timeline:")
inspect = st.Page("app_pages/inspect.py", title="Inspect", icon=":material/troubleshoot:")
health = st.Page("app_pages/health.py", title="Health", icon=":material/monitor_heart:")
persona = st.Page("app_pages/persona.py", title="Persona", icon=":material/badge:")
if is_visitor() or "a" in st.query_params:  # who opens a share link sees that answer and nothing else
    st.navigation([chat], position="hidden").run()
else:
    st.navigation([chat, library, career, inspect, health, persona]).run()
