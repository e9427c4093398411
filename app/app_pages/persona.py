"""Persona: whose documents these are, as the owner states it; every text of the chat uses it."""

from typing import Any, get_args

import streamlit as st
from pydantic import ValidationError

from app import render
from app.chat_engine import ChatEngine
from app.face import data_url
from app.typeset import literal
from config.settings import PersonaSettings

_VOICES = get_args(PersonaSettings.model_fields["voice"].annotation)
_SPOKEN = {"neutral": "Neutral: “the documents of …”", "first": "First person: “my documents”"}
_ACCENT = "#1d5f66"  # of the style sheet
_PICTURES = ("png", "jpg", "jpeg", "webp")


@render.page
def page(engine: ChatEngine) -> None:
    """Show the persona, and store what the owner changes."""
    persona = engine.persona()
    render.accent(persona.accent)
    st.title("Persona")
    st.caption("Whose documents these are. Visitors read it above their first question, and answers are in its voice.")
    given = engine.settings.persona.model_fields_set
    if given:
        names = ", ".join(f"`FOOTNOTE_PERSONA__{name.upper()}`" for name in sorted(given))
        st.caption(f"The environment sets {names}; here these cannot be changed.")
    with st.form("persona", border=False, width=640):
        said: dict[str, Any] = {
            "name": st.text_input("Name", persona.name, max_chars=200, disabled="name" in given),
            "voice": st.radio("Voice", _VOICES, _VOICES.index(persona.voice), format_func=_SPOKEN.__getitem__,
                              disabled="voice" in given),
            "bio": st.text_input("One line about you", persona.bio, max_chars=300, disabled="bio" in given),
            "greeting": st.text_input("Greeting", persona.greeting, max_chars=120, disabled="greeting" in given,
                                      help="The heading of an empty conversation"),
            "tone": st.text_input("Tone", persona.tone, max_chars=200, disabled="tone" in given,
                                  help="A few words for a language model, such as: warm and brief"),
            "links": _lines("Links", persona.links, is_set="links" in given),
            "questions": _lines("First questions", persona.questions, is_set="questions" in given,
                                more=" Each is asked now, and kept if it is answered with high confidence."),
            "accent": st.color_picker("Accent colour", persona.accent or _ACCENT, disabled="accent" in given),
        }  # fmt: skip
        picture = st.file_uploader("Picture", _PICTURES, max_upload_size=10, disabled="picture" in given)
        has_picture = st.checkbox("Show a picture", bool(engine.picture()) or picture is not None,
                                  disabled="picture" in given)  # fmt: skip
        if st.form_submit_button("Save", type="primary"):
            try:
                kept = data_url(picture.getvalue()) if picture else engine.picture()
            except OSError:
                render.problem("This picture cannot be read.", "Choose a PNG, JPEG or WebP file.")
                return
            _save(engine, {name: value for name, value in said.items() if name not in given},
                  kept if has_picture or picture else "")  # fmt: skip


def _lines(label: str, values: tuple[str, ...], *, is_set: bool, more: str = "") -> tuple[str, ...]:
    text = st.text_area(label, "\n".join(values), disabled=is_set, help=f"One a line.{more}")
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _save(engine: ChatEngine, said: dict[str, Any], picture: str) -> None:
    """Store what is stated, without the questions that have no sure answer, which are named."""
    asked = said.get("questions", ())
    said |= {"accent": ""} if said.get("accent") == _ACCENT else {}
    with st.spinner("Asking the first questions"):
        answers = {question: engine.ask(question) for question in asked}
    sure = tuple(question for question, answer in answers.items() if answer.confidence == "high")
    try:
        changed = PersonaSettings.model_validate({**said, **({"questions": sure} if asked else {})})
    except ValidationError as error:
        wrong = error.errors()[0]
        render.problem(f"{str(wrong['loc'][0]).capitalize()}: {wrong['msg']}.")
        return
    engine.save_persona(changed, picture)
    st.success("Saved.")
    if left_out := [question for question in asked if question not in sure]:
        st.warning("Left out, since they are not answered with high confidence: " + literal("; ".join(left_out)))


if __name__ == "__main__":
    page()
