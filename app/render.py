"""Widgets from plain data: answers with their footnotes, the source panel, uploads, errors."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.answer import answer_data, run_before
from app.conversation import Exchange, Intake, as_markdown
from app.typeset import AROUND, passage_html, running_html
from app.wording import FINDING, cited_place, link, readable
from pipelines.answers import Citation, Source
from pipelines.types import IngestItem
from pipelines.wording import with_hint

Read = Callable[[str, int, int, int], tuple[str, str, str] | None]
_ASSETS = Path(__file__).parent / "assets"
_OUTCOMES = {
    "added": "added",
    "updated": "replaced by this version",
    "metadata": "its facts were updated",
    "unchanged": "already here, unchanged",
    "failed": "not taken in",
}
_answer = st.components.v2.component(
    "footnote_answer", js=(_ASSETS / "answer.js").read_text("utf-8"), isolate_styles=False
)
_page = st.components.v2.component("footnote_page", js=(_ASSETS / "page.js").read_text("utf-8"))


def style() -> None:
    """Load the style sheet of every page."""
    st.html(_ASSETS / "style.css")


def attend(questions: int, opened: str, on_close: Callable[[], None], *, writing: bool) -> None:
    """Keep the keyboard in the question box, show a new question and the cited words, close a source on Escape.

    Args:
        questions: Their number, with the one that is about to be answered.
        opened: A name for the open source; empty when none is.
        on_close: Closes it.
        writing: True while an answer is written; then the keyboard goes back to the question box.
    """
    data = {"questions": questions, "open": opened, "writing": writing}
    with st.container(key="attend"):
        _page(key="page", data=data, on_close_change=on_close, height=1)


def problem(message: str, hint: str = "") -> None:
    """Show an error and its hint."""
    advice = f"<div>{escape(hint)}</div>" if hint else ""
    st.html(f'<div class="fn-problem" role="alert"><strong>{escape(message)}</strong>{advice}</div>')


def question(text: str) -> None:
    """Show a question as a heading over its answer."""
    st.html(f'<h2 class="fn-question">{escape(text)}</h2>')


def running(slot: DeltaGenerator, exchange: Exchange) -> None:
    """Show an answer as far as it is written."""
    slot.html(running_html(exchange.running(), exchange.standing_in))


def answer(
    entry: Exchange, key: str, opened: tuple[int, int | None] | None, on_open: Callable[[], None], *, latest: bool
) -> None:
    """Show a whole answer: footnotes, verdicts, sources by document."""
    if entry.problem:
        problem(*entry.problem)
    if entry.pieces or entry.answer:
        _answer(key=key, data=answer_data(entry, opened, latest=latest), on_open_change=on_open)
    elif not entry.problem:
        st.html('<p class="fn-note">Stopped before the answer began.</p>')


def actions(entry: Exchange, key: str) -> DeltaGenerator:
    """A row for what can be done with an answer, with its download where it has begun."""
    row = st.container(key=f"actions_{key}", horizontal=True, vertical_alignment="center", gap="small")
    if entry.pieces or entry.answer:
        row.download_button(
            "Download",
            as_markdown(entry),
            file_name="answer.md",
            mime="text/markdown",
            key=f"download_{key}",
            type="tertiary",
            icon=":material/download:",
            on_click="ignore",
            help="This answer with its sources, as Markdown",
        )
    return row


# The source panel


def panel(entry: Exchange, n: int, sentence: int | None, read: Read) -> None:
    """Show the open source: its place, and the cited words with the text around them.

    Args:
        entry: The exchange that has the source.
        n: The source's number.
        sentence: Only the words cited for this sentence; None = all that were cited.
        read: (document id, start, end, around) -> the stored text before, inside and after.
    """
    source = entry.sources[n]
    evidence = entry.evidence(n, None if sentence is None else run_before(entry, sentence))
    number = (
        f'<span class="fn-number">{entry.numbers()[n]}</span>' if entry.answer is None or entry.answer.answered else ""
    )
    category = f"{escape(source.category)} · " if source.category else ""
    st.html(
        f'<div class="fn-panel"><h3>{number}{escape(readable(source.title, source.documentName))}</h3>'
        f'<div class="fn-name">{_linked(source, evidence)}</div>'
        f'<div class="fn-place">{category}{escape(cited_place(source, evidence))}</div>{_finding(entry, sentence)}'
        f'<blockquote class="fn-passage">{_passage(source, evidence, read)}</blockquote></div>'
    )


def _linked(source: Source, evidence: Sequence[Citation]) -> str:
    """The document's name, as a link if it is on the web."""
    name, shown_at = escape(source.documentName), escape(link(source, evidence))
    return f'<a href="{shown_at}" target="_blank" rel="noopener noreferrer">{name}</a>' if shown_at else name


def _finding(entry: Exchange, sentence: int | None) -> str:
    if sentence is None or sentence >= len(entry.sentences):
        return ""
    verdict = entry.sentences[sentence].verdict
    tick = "✓ " if verdict == "supported" else ""
    return f'<p class="fn-finding fn-{verdict}">{tick}The sentence is {escape(FINDING[verdict])}.</p>'


def _passage(source: Source, evidence: Sequence[Citation], read: Read) -> str:
    spans = [(citation.start, citation.end) for citation in evidence] or [(source.start, source.end)]
    start, end = min(span[0] for span in spans), max(span[1] for span in spans)
    found = read(source.document_id, start, end, AROUND)
    quotes = [citation.quote for citation in evidence] or [source.snippet]
    if found is None or any(found[1][a - start : b - start] != q for (a, b), q in zip(spans, quotes, strict=True)):
        gone = "removed" if found is None else "changed"
        kept = "".join(f"<p><mark>{escape(quote)}</mark></p>" for quote in quotes)
        return f'<p class="fn-note">The document was {gone} since; these are the cited words as they stood.</p>{kept}'
    before, inside, after = found
    return passage_html(
        before + inside + after,
        [(a - start + len(before), b - start + len(before)) for a, b in spans],
        cut_before=start > len(before),
        cut_after=len(after) == AROUND,
    )


# The library


def names(documents: Iterable[str]) -> None:
    """List the names of documents."""
    st.html(f"<ul>{''.join(f'<li>{escape(name)}</li>' for name in documents)}</ul>")


def intake(done: Intake) -> None:
    """Show the outcome of each uploaded file, and the reason for a failure."""
    if done.problem:
        problem(*done.problem)
    rows = "".join(_item(item) for item in done.items)
    if rows:
        st.html(f'<ul class="fn-intake">{rows}</ul>')


def _item(item: IngestItem) -> str:
    nodes = (
        f", {item.nodes} node{'s' * (item.nodes != 1)}" if item.nodes and item.outcome in ("added", "updated") else ""
    )
    reason = f'<div class="fn-reason">{escape(with_hint(item.message, item.hint))}</div>' if item.message else ""
    outcome = _OUTCOMES.get(item.outcome, item.outcome)
    return f'<li class="fn-{item.outcome}"><strong>{escape(item.document)}</strong> {outcome}{nodes}{reason}</li>'
