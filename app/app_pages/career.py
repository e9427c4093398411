"""Career: what the documents state of a person, by years and in tables; every entry opens its source."""

from datetime import date
from html import escape
from typing import Any

import streamlit as st

from app import render, session
from app.chat_engine import ChatEngine
from app.components.career import career_of, table_data, timeline
from app.components.source import show_source
from pipelines.months import duration_text
from pipelines.query.careers.people import Person
from pipelines.store.known_names import is_same_name, name_words

_tables = st.components.v2.component("footnote_career", js=render.script("dom.js", "career.js"), isolate_styles=False)


@render.page
def page(engine: ChatEngine) -> None:
    """Show the career of the person who is chosen."""
    today = date.today()
    people = engine.people(today)
    if not people:
        st.title("Career")
        st.caption("No document states a career yet. Add a resume or a LinkedIn export in the Library.")
        return
    persona = engine.persona()
    render.accent(persona.accent)
    owner = next((n for n, each in enumerate(people) if _is_named(each, persona.name)), 0)
    person = people[owner]
    if len(people) > 1:
        names = [each.name or "Somebody" for each in people]
        chosen = st.selectbox("Person", range(len(people)), owner, names.__getitem__, key="career_person",
                              on_change=session.close_source, width=360)  # fmt: skip
        person = people[chosen]
    _head(engine, person)
    career, place = career_of(person, today), session.opened_in(-1)
    if chart := timeline(career):
        key = session.fresh("career_bars")
        st.altair_chart(chart, key=key, on_select=lambda: _open_bar(key), selection_mode="bar", width="stretch")
    _tables(key="career", data=table_data(career, place.n if place else None),
            on_open_change=lambda: session.open_pressed("career", -1))  # fmt: skip
    if place and place.n in career.exchange.sources:
        show_source(engine, career.exchange, place)


def _is_named(person: Person, name: str) -> bool:
    return is_same_name(name_words(name), name_words(person.name))


def _open_bar(key: str) -> None:
    for chosen in st.session_state[key]["selection"]["bar"]:
        session.open_source(-1, chosen)
    session.empty("career_bars")  # or the same bar could not be pressed again


def _head(engine: ChatEngine, person: Person) -> None:
    """Name, headline, place and links, as the documents state them."""
    stated: list[Any] = [fact.record for fact in person.stated_facts]
    headline = next((each.headline for each in stated if each.headline), "")
    total = duration_text([job.stretch for job in person.jobs if job.stretch])
    where = next((each.location for each in stated if each.location), "")
    lines = [where, f"{total} of work, times that overlap counted once" if total else ""]
    anchors = render.anchors(link for each in stated for link in each.links)
    picture = render.portrait(engine.picture()) if _is_named(person, engine.persona().name) else ""
    st.html(
        f'<div class="fn-person">{picture}<h1>{escape(person.name or "Somebody")}</h1><p>{escape(headline)}</p>'
        f'<p class="fn-note">{escape(" · ".join(filter(None, lines)))}</p><p class="fn-note">{anchors}</p></div>'
    )


if __name__ == "__main__":
    page()
