"""Inspect: how a past question was answered, candidate by candidate, and what would move without a part."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app import render
from app.answer import clipped
from app.chat_engine import ChatEngine
from app.components.figures import bars, pairs, table
from app.components.waterfall import fate_in_words, fates, moved, waterfall
from app.inspection import attempt_lines, evidence_lines, kept_evidence, outcome_of, understood
from app.typeset import literal
from config.parts import PARTS
from pipelines.types import Mode

_SHOWN = 20  # candidates, until more are asked for
_MODES: dict[str, Mode | None] = {"as it was": None, "both": "hybrid", "dense only": "dense", "sparse only": "sparse"}


@render.page
def page(engine: ChatEngine) -> None:
    """Show the question that the address names, or the list of the latest."""
    wanted = st.query_params.get("trace", "")
    if wanted:
        st.button("All questions", key="back", icon=":material/arrow_back:", type="tertiary", on_click=_open)
        _query(engine, wanted)
    else:
        _list(engine)


def _open(query_id: str = "") -> None:
    st.query_params.from_dict({"trace": query_id} if query_id else {})


def _list(engine: ChatEngine) -> None:
    st.title("Inspect")
    rows = engine.inspection.latest()
    said = "The latest questions. Each opens with all that was found, and why it was used or cut."
    st.caption(said if rows else "No question was asked yet.")
    with st.container(key="queries", gap="small"):
        for row in rows:
            with st.container(gap=None):
                st.button(literal(row["question"]), key=f"open_{row['id']}", type="tertiary", on_click=_open,
                          args=(row["id"],))  # fmt: skip
                st.caption(_said(row))


def _said(row: Mapping[str, Any]) -> str:
    kind, when = "searched" if row["kind"] == "search" else "asked", row["asked_at"][:16].replace("T", " ")
    return f"{kind} by the {row['audience']}, {when} UTC · {outcome_of(row)} · {row['latency_ms'] / 1000:.2f} s"


def _query(engine: ChatEngine, wanted: str) -> None:
    row = engine.inspection.query(wanted)
    trace, answer = row["trace"], row["answer"] or {"answer": "", "answered": False}
    render.question(row["question"])
    st.caption(_said(row))
    st.markdown(literal(clipped(" ".join(answer["answer"].split()), 400)))
    lines = [("Understood", " · ".join(understood(trace["intent"]))), *(("Note", note) for note in trace["notes"])]
    lines += [("Answered by", answer.get("model") or "quotation")] if answer["answered"] else []
    lines += attempt_lines(trace["attempts"]) if len(trace["attempts"]) > 1 else []
    lines += evidence_lines(kept_evidence(trace))
    st.html(pairs([*lines, ("Used", " · ".join(trace["tags"]))]))
    if declined := trace.get("declined"):
        with st.expander("Who was asked before, and why it did not answer", key="declined"):
            st.html(pairs(declined))
    names = ("Candidates", "Times", "Language model", "What if")
    candidates, times, model, what_if = st.tabs(names, key="inspect_tabs")
    with candidates:
        _candidates(engine, trace)
    with times:
        steps = [(name, ms) for name, ms in trace["timings_ms"].items() if name != "total"]
        st.html(bars(sorted(steps, key=lambda step: -step[1]), "{:,.1f} ms"))
        st.caption(f"{row['latency_ms']:,.1f} ms in all. Stages that run inside or beside another count twice.")
    with model:
        _readings(trace.get("readings", ()))
    with what_if:
        _what_if(engine, row)


def _candidates(engine: ChatEngine, trace: Mapping[str, Any]) -> None:
    candidates = trace["candidates"]
    if not candidates:
        st.caption("Nothing was searched: the answer was computed from facts, or there was nothing to answer.")
        return
    labels = {f"{fate} {count}": fate for fate, count in fates(candidates).items()}
    wanted = labels.get(st.pills("Show only", list(labels), key="fate", label_visibility="collapsed") or "")
    places = [at for at, each in enumerate(candidates) if wanted in (None, fate_in_words(each["fate"]))]
    everything = st.session_state.get("all_candidates") == trace["id"]
    shown = places if everything else places[:_SHOWN]
    st.html(waterfall(candidates, engine.inspection.passages([candidates[at]["node_id"] for at in shown]), shown))
    if len(shown) < len(places):
        st.button(f"Show all {len(places)}", key="more_candidates", on_click=st.session_state.update,
                  kwargs={"all_candidates": trace["id"]})  # fmt: skip


def _readings(readings: Sequence[Mapping[str, Any]]) -> None:
    if not readings:
        st.caption("No language model read passages for this question.")
    for at, reading in enumerate(readings):
        shown = f"was shown {len(reading['sources'])} of the passages"
        st.markdown(f"**{literal(reading['model'])}** {shown}: {reading['outcome']}.")
        st.html(pairs([("Left out", sentence) for sentence in reading["left_out"]]))
        for role, content in (*reading["prompt"], ("reply", reading["reply"])):
            if content:
                with st.expander(f"{role} ({len(content):,} characters)", key=f"prompt_{at}_{role}"):
                    st.code(content, language=None, wrap_lines=True)
        if not reading["prompt"]:
            st.caption("Prompts and replies are kept where FOOTNOTE_LLM__KEEP_PROMPTS=true.")


def _what_if(engine: ChatEngine, row: Mapping[str, Any]) -> None:
    with st.form("what_if_form", border=False):
        parts = st.multiselect("Leave out", list(PARTS), key="without", placeholder="Nothing")
        mode = st.segmented_control("Search by", list(_MODES), default="as it was", key="what_if_mode")
        is_asked = st.form_submit_button("Search again", key="search_again")
    if not is_asked:
        st.caption("Searches the question twice, as it was and with this changed, and shows which passages move.")
        return
    before, after, moves = engine.inspection.search_again(row, parts, _MODES[mode or "as it was"])
    every = len({result.node_id for report in (before, after) for result in report.results})
    st.markdown(f"**{len(moves)} of {every} passages move**" if moves else "**No rank changes**")
    st.html(pairs([("Note", note) for note in after.notes]))
    if moves:
        table(("Before", "After", "Passage"), moved(moves))


if __name__ == "__main__":
    page()
