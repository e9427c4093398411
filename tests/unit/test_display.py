"""How results show themselves in a notebook: short text, HTML with clickable footnotes, Markdown, frames."""

from dataclasses import replace

from pipelines.answers import Answer, Citation, Sentence, Source
from pipelines.types import IngestItem, IngestReport

SNIPPET = "Ann <b>led</b> the crane team & wrote its code."
SOURCE = Source(
    2, "d", "cv.md", "Ann Bell", "https://ann.example/cv", "sha", "resume", 3, 1, 2, ("Work",), SNIPPET, 0, 47, ("n",)
)
CITED = Citation(2, "d", "sha", 0, 8, "Ann <b>led</b>", "supported", 1.0)
ANSWER = Answer(
    question="What did Ann do?", answered=True, confidence="high", mode="extractive", model="", trace_id="t1",
    answer="Ann <b>led</b> a team. [2] See [9].", sentences=(Sentence("Ann led a team.", (2,), "supported", (CITED,)),),
    sources=(replace(SOURCE, n=1, title="Other"), SOURCE),
)  # fmt: skip


def test_an_answer_is_short_text_with_the_sources_that_it_cites() -> None:
    assert repr(ANSWER) == "<Answer: 'Ann <b>led</b> a team. [2] See [9].' (high confidence, 1 sources)>"
    assert str(ANSWER).splitlines() == [ANSWER.answer, "[2] Ann Bell (cv.md), p. 3, Work"]


def test_the_footnotes_of_an_answer_are_links_to_their_quotations() -> None:
    html = ANSWER._repr_html_()
    assert '<sup><a href="#footnote-t1-2" title="Ann &lt;b&gt;led&lt;/b&gt;">2</a></sup>' in html
    assert '<li id="footnote-t1-2" value="2"><a href="https://ann.example/cv"' in html
    assert "See [9]." in html
    assert "<b>" not in html
    assert "Other" not in html
    assert (
        "href"
        not in replace(ANSWER, sources=(replace(SOURCE, uri="javascript:alert(1)"),))._repr_html_().split("<ol>")[1]
    )


def test_an_answer_is_markdown_and_a_frame_too() -> None:
    assert "**[2]** Ann Bell (cv.md), p. 3, Work\n\n> Ann <b>led</b>" in ANSWER._repr_markdown_()
    (row,) = ANSWER.to_frame().to_dict("records")
    assert row == {
        "sentence": "Ann led a team.", "verdict": "supported", "n": 2, "document": "cv.md", "quote": "Ann <b>led</b>"
    }  # fmt: skip


def test_an_abstention_shows_the_nearest_words() -> None:
    nothing = replace(ANSWER, answered=False, answer="Nothing says it.", sentences=(), nearest=(SOURCE,))
    assert repr(nothing) == "<Answer: 'Nothing says it.' (an abstention)>"
    assert "crane team &amp; wrote" in nothing._repr_html_()


def test_the_report_of_a_run_is_a_table() -> None:
    report = IngestReport(
        7, (IngestItem("a<b.md", "added", nodes=2), IngestItem("c.md", "failed", message="empty")), 2, 2, 1
    )
    assert repr(report) == "<IngestReport: run 7, 1 added, 1 failed, 2 nodes>"
    assert "<td>a&lt;b.md</td><td>added</td><td>2</td>" in report._repr_html_()
    assert list(report.to_frame()["document"]) == ["a<b.md", "c.md"]
