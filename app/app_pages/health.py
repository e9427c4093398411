"""Health: checks with their repairs, times, use, feedback, the last evaluation, and the language model."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from app import render
from app.chat_engine import ChatEngine
from app.components.figures import bars, pairs, table
from app.components.model_card import model_card
from app.components.tray import tray
from app.typeset import literal
from pipelines.store.health import Finding

_DAYS = (7, 30, 90)
_PERCENTILES = ("p50", "p95", "p99")
_MEASURES = {
    "facts": "answers with every fact",
    "answered": "answerable questions answered",
    "abstention_recall": "unanswerable ones left alone",
    "precision": "sentences that cite the right place",
    "right_high": "right when confidence is high",
    "right_medium": "right when it is medium",
    "success@5": "right passage among five",
}
_MISSED = {
    "document@5": "document not found",
    "success@5": "passage not among the first five",
    "facts": "a fact is missing",
    "answered": "should have been answered",
    "left alone": "should have been left alone",
}
_KINDS = {"thumb": "thumb", "wrong_source": "wrong source", "text": "comment"}


@render.page
def page(engine: ChatEngine) -> None:
    """Show the state of the library and of the answers; the checks, which take a moment, are made last."""
    st.title("Health")
    tray(engine)
    checks, model = st.container(), st.container()
    _figures(engine)
    _evaluation(engine)
    with model:
        model_card(engine)
    with checks:
        _checks(engine)


def _checks(engine: ChatEngine) -> None:
    if "checks" not in st.session_state:
        with st.spinner("Checking …"):
            st.session_state["checks"] = engine.health.checks()
    found: Sequence[Finding] = st.session_state["checks"]
    wrong = [finding for finding in found if not finding.ok]
    for finding in wrong:
        render.problem(f"{finding.name.capitalize()}: {finding.said}", finding.mend)
    with st.container(horizontal=True, vertical_alignment="center", key="check_actions"):
        st.markdown(f"**{len(found) - len(wrong)} of {len(found)} checks are well**")
        if any("doctor --fix" in finding.mend for finding in wrong):
            st.button("Repair", key="repair", icon=":material/build:", on_click=_repair, args=(engine,),
                      help="Rebuilds what is derived from the documents; no text of a document is changed")  # fmt: skip
        if any("footnote reindex" in finding.mend for finding in wrong):
            st.button("Make the passages again", key="reindex", icon=":material/refresh:", on_click=render.attempt,
                      args=(engine.jobs.reindex,))  # fmt: skip
        st.button("Check again", key="check_again", type="tertiary", on_click=st.session_state.pop,
                  args=("checks", None))  # fmt: skip
    with st.expander("What was checked", key="checked"):
        st.html(pairs([(finding.name.capitalize(), finding.said) for finding in found if finding.ok]))


def _repair(engine: ChatEngine) -> None:
    render.attempt(lambda: st.session_state.update(checks=engine.health.checks(fix=True)))


def _figures(engine: ChatEngine) -> None:
    days = st.segmented_control("Days", _DAYS, default=30, key="days", format_func=lambda n: f"{n} days",
                                label_visibility="collapsed") or 30  # fmt: skip
    report = engine.health.statistics(days)
    asked, spent = report["latency_ms"].get("ask", {}), report["usage"]["per_answer"]["cost"]["mean"]
    share = f"{report['answered'] / report['asked']:.0%}" if report["asked"] else "–"
    with st.container(horizontal=True, key="metrics"):
        st.metric("Questions", report["asked"])
        st.metric("Answered", share)
        st.metric("Median time", _seconds(asked.get("p50")))
        st.metric("95 % within", _seconds(asked.get("p95")))
        st.metric("Cost of an answer", f"${spent:.4f}" if spent else "–" if spent is None else "nothing")
    times, use, volumes, feedback = st.tabs(["Times", "Use and cost", "Volumes", "Feedback"], key="health_tabs")
    with times:
        stages = {**{f"all: {kind}": row for kind, row in report["latency_ms"].items()}, **report["stages_ms"]}
        table(("Stage", "Questions", *(f"{each}, ms" for each in _PERCENTILES)),
              [(name, row["count"], *(f"{row[each]:,.1f}" for each in _PERCENTILES))
               for name, row in stages.items() if row["p95"] >= 1])  # fmt: skip
    with use:
        names = ("answers", "calls", "prompt_tokens", "completion_tokens", "embedding_tokens")
        table(("Day", "Answers", "Model calls", "Tokens read", "Written", "Embedded", "US $"),
              [(row["day"], *(f"{row[name]:,}" for name in names), f"{row['cost']:.4f}")
               for row in report["usage"]["by_day"]])  # fmt: skip
    with volumes:
        rows = [row for row in report["volumes"] if row["day"] == report["volumes"][0]["day"]]
        table(("Category", "Documents", "Passages", "Characters", "Size"),
              [(row["category"] or "all", f"{row['documents']:,}", f"{row['nodes']:,}",
                f"{row['characters']:,}", f"{row['bytes'] / 2**20:.1f} MB") for row in rows])  # fmt: skip
    with feedback:
        _feedback(report, engine.health.feedback())


def _seconds(ms: float | None) -> str:
    return "–" if ms is None else f"{ms / 1000:.2f} s"


def _feedback(report: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    given, clicks = report["feedback"], report["clicks"]
    st.caption(
        f"{given['up']} thumbs up, {given['down']} down, {given['wrong_source']} sources reported as wrong, "
        f"{given['text']} comments, {clicks['opened']} footnotes opened in {clicks['answers']} answers."
    )
    if rows:
        table(("When", "Question", "What", "Words"), [
            (row["at"][:16].replace("T", " "), row["question"],
             f"thumb {'up' if row['value'] > 0 else 'down'}" if row["kind"] == "thumb" else _KINDS[row["kind"]],
             row["words"] or row["document"]) for row in rows
        ])  # fmt: skip


def _evaluation(engine: ChatEngine) -> None:
    st.subheader("Evaluation")
    report = engine.health.evaluation()
    st.button("Evaluate now", key="evaluate", icon=":material/play_arrow:", on_click=render.attempt,
              args=(engine.jobs.evaluate,))  # fmt: skip
    if report is None:
        st.caption("No evaluation was made yet. It asks the questions of the sample, or your own judged questions from "
                   f"`{engine.health.topics_file}`, and takes some minutes.")  # fmt: skip
        return
    topics, when = report["topics"], report["at"][:16].replace("T", " ")
    st.caption(f"{literal(report['dataset']).capitalize()}: {len(topics)}, asked {when} UTC")
    measures = report["measures"]
    st.html(bars([(said, measures[name]) for name, said in _MEASURES.items() if name in measures], "{:.0%}", 1.0))
    with st.expander("By kind of question", key="kinds"):
        table(("Kind", "Questions", "With every fact", "Answered"),
              [(kind, row["answerable"] + row["unanswerable"], f"{row['facts']:.0%}", f"{row['answered']:.0%}")
               for kind, row in report["kinds"].items()])  # fmt: skip
    missed = [topic for topic in topics if topic["missed"]]
    labels = {"missed": f"{len(missed)} missed", "all": f"All {len(topics)}"}
    shown = st.segmented_control("Topics", list(labels), default="missed", key="topics", format_func=labels.__getitem__,
                                 label_visibility="collapsed")  # fmt: skip
    st.html("".join(map(_topic, topics if shown == "all" else missed)) or "<div></div>")


def _topic(topic: Mapping[str, Any]) -> str:
    """A question that opens: what was missed, and what was answered."""
    missed = topic["missed"] if topic["answerable"] else ["left alone"] * topic["answered"]
    wrong = [_MISSED[name] for name in missed]
    tags = "".join(f'<span class="fn-tag">{escape(each)}</span>' for each in wrong)
    said = f"{topic['kind']}, {'answerable' if topic['answerable'] else 'has no answer'}"
    found = f"answered, {topic['confidence']} confidence" if topic["answered"] else "abstained"
    return (
        f'<details class="fn-topic"><summary>{escape(topic["question"])} {tags}</summary>'
        f'<p class="fn-place">{escape(said)}; {escape(found)}</p><p>{escape(topic["answer"])}</p></details>'
    )


if __name__ == "__main__":
    page()
