"""Data in, widgets out: answers with their footnotes, the source panel, what was taken in, errors."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.answer import answer_data
from app.conversation import Exchange, Intake, as_markdown
from app.typeset import AROUND, passage_html, running_html
from app.wording import FINDING, cited_place, link, readable
from pipelines.types import Citation, IngestItem, Source
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
    """The typography of every page."""
    st.html(_ASSETS / "style.css")


def attend(questions: int, opened: str, on_close: Callable[[], None], *, writing: bool) -> None:
    """Keep the keyboard in the question box, show a new question and the cited words, close a source on Escape.

    Args:
        questions: How many there are, with the one that is about to be answered.
        opened: A name for the open source; empty when none is.
        on_close: Closes it.
        writing: Whether an answer is being written; when that ends the keyboard is handed back.
    """
    told = {"questions": questions, "open": opened, "writing": writing}
    with st.container(key="attend"):
        _page(key="page", data=told, on_close_change=on_close, height=1)


def problem(message: str, hint: str = "") -> None:
    """What went wrong, and what to do."""
    advice = f"<div>{escape(hint)}</div>" if hint else ""
    st.html(f'<div class="fn-problem" role="alert"><strong>{escape(message)}</strong>{advice}</div>')


def question(text: str) -> None:
    """A question, as a heading over its answer."""
    st.html(f'<h2 class="fn-question">{escape(text)}</h2>')


def running(slot: DeltaGenerator, exchange: Exchange) -> None:
    """An answer as far as it has come."""
    slot.html(running_html(exchange.pieces or ["Searching the documents "]))


def exchange(
    said: Exchange, key: str, opened: tuple[int, int | None] | None, on_open: Callable[[], None], *, latest: bool
) -> DeltaGenerator:
    """A question with its whole answer: footnotes, verdicts, sources by document, and a download.

    Returns the row of the download, for what else can be done with the answer.
    """
    question(said.question)
    if said.problem:
        problem(*said.problem)
    if said.pieces or said.answer:
        _answer(key=key, data=answer_data(said, opened, latest=latest), on_open_change=on_open)
    actions = st.container(key=f"actions_{key}", horizontal=True, vertical_alignment="center", gap="small")
    if said.pieces or said.answer:
        actions.download_button(
            "Download",
            as_markdown(said),
            file_name="answer.md",
            mime="text/markdown",
            key=f"download_{key}",
            type="tertiary",
            icon=":material/download:",
            on_click="ignore",
            help="This answer with its sources, as Markdown",
        )
    elif not said.problem:
        st.html('<p class="fn-note">Stopped before the answer began.</p>')
    return actions


# The source panel


def panel(said: Exchange, n: int, sentence: int | None, read: Read) -> None:
    """The open source: where it stands, and the cited words in their surroundings.

    Args:
        said: The exchange whose source it is.
        n: The source's number.
        sentence: Only the words cited for this sentence; None = all that were cited.
        read: (document id, start, end, around) -> the stored text before, inside and after.
    """
    source = said.sources[n]
    evidence = said.evidence(n, sentence)
    number = f'<span class="fn-number">{n}</span>' if said.answer is None or said.answer.answered else ""
    category = f"{escape(source.category)} · " if source.category else ""
    st.html(
        f'<div class="fn-panel"><h3>{number}{escape(readable(source.title, source.documentName))}</h3>'
        f'<div class="fn-name">{_linked(source, evidence)}</div>'
        f'<div class="fn-place">{category}{escape(cited_place(source, evidence))}</div>{_said_of(said, sentence)}'
        f'<blockquote class="fn-passage">{_passage(source, evidence, read)}</blockquote></div>'
    )


def _linked(source: Source, evidence: Sequence[Citation]) -> str:
    """The document's name, which leads to where it is on the web."""
    name, shown_at = escape(source.documentName), escape(link(source, evidence))
    return f'<a href="{shown_at}" target="_blank" rel="noopener noreferrer">{name}</a>' if shown_at else name


def _said_of(said: Exchange, sentence: int | None) -> str:
    if sentence is None or sentence >= len(said.sentences):
        return ""
    verdict = said.sentences[sentence].verdict
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
    """The names of documents, one a line."""
    st.html(f"<ul>{''.join(f'<li>{escape(name)}</li>' for name in documents)}</ul>")


def intake(done: Intake) -> None:
    """What became of each file, with the reason where one was refused."""
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
