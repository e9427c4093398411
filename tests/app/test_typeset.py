"""Nothing that a document or a model says can act on the page."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from app.answer_markdown import as_markdown
from app.conversation import Exchange
from app.session import Opened
from app.typeset import literal, merged, page_blocks, reflow, running_html
from app.wording import place
from pipelines.answers import Answer
from tests.app.conftest import answers, ask, html, words
from tests.app.fakes import RESUME, FakeEngine, answered, sentence, shelved, source

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> [here](javascript:alert(3)) "
    "![](https://evil.example/t.png) <a href='https://evil.example'>x</a> </div></blockquote> :material/home: $x$"
)


def test_text_becomes_html_without_a_single_tag() -> None:
    shown = running_html([HOSTILE, 1], HOSTILE, HOSTILE)
    tags = {piece.split(">")[0] for piece in shown.split("<")[1:]}
    assert tags == {
        "p", "/p", 'p class="fn-note"', 'p class="fn-note" role="status"', 'div class="fn-prose fn-running fn-preview"',
        'sup class="fn-mark"', "/sup", 'span class="fn-caret"', "/span", "/div",
    }  # fmt: skip


def test_every_mark_of_markdown_is_escaped_in_a_label() -> None:
    assert literal("![a](b) *c* `d` <e> :red[f] $g$ a@b") == r"\!\[a\](b) \*c\* \`d\` \<e\> \:red\[f\] \$g\$ a\@b"
    assert literal("https://x.example www.x.example") == r"https\://x.example www\.x.example"
    assert [literal(text) for text in ("- a", "1. b", "12) c")] == [r"\- a", r"1\. b", r"12\) c"]


@pytest.mark.parametrize("plain", ["What is “resume.md” about?", "At 06:46, 9.8 of 10 (98 %): done - 1st/2nd."])
def test_plain_words_stay_plain_in_a_label(plain: str) -> None:
    assert literal(plain) == plain


def test_a_hostile_document_is_only_words_in_answer_and_panel(engine: FakeEngine, chat: Any) -> None:
    found = source(1, "evil.md", HOSTILE, HOSTILE, title=HOSTILE)
    engine.texts["evil.md"] = HOSTILE
    engine.documents = [shelved("evil.md", title=HOSTILE)]
    engine.script["Well?"] = answered("Well?", [sentence(HOSTILE, found)], [found])
    at: AppTest = chat()
    at = ask(at, "Well?")
    at.session_state["opened"] = Opened(0, 1, 0)
    at.run()
    shown = html(at)
    for tag in ("<script", "<img", "<a ", "</blockquote></div>" * 2):
        assert tag not in shown
    assert words(answers(at)[0])[0][0] == HOSTILE  # data, which the widget's script puts into text nodes
    assert not at.exception


def test_the_widgets_never_write_html() -> None:
    from app.render import _ASSETS

    for script in _ASSETS.glob("*.js"):
        text = script.read_text()
        for guarded in (
            'if (data.link.startsWith("http")) {\n    const link = where.appendChild(make("a", "", data.name));\n    '
            "[link.href,",
            "[link.href, link.target] = [`library?d=${encodeURIComponent(data.library)}`",
            "inspect.href = `inspect?trace=${encodeURIComponent(data.trace)}`",
            'if (data.picture.image.startsWith("data:image/png;")) image.src = data.picture.image;',
            'new URL(".", document.currentScript.src).href',
        ):
            text = text.replace(guarded, "")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", ".href", ".src"):
            assert way not in text, script.name


def test_a_downloaded_answer_holds_no_live_markdown_of_its_documents() -> None:
    found = source(1, "evil.md", HOSTILE, HOSTILE, title=HOSTILE)
    exchange = Exchange("Well? [x](https://evil.example)")
    list(exchange.follow(iter(answered("Well?", [sentence(HOSTILE, found)], [found], notes=(HOSTILE,)))))
    file = as_markdown(exchange)
    assert file.startswith(r"# Well? \[x\](https\://evil.example)")
    assert re.sub(r"\\.", "", file).count("[1]") == 2
    file = file.replace("*Supported by its source.*", "")
    assert not set(re.sub(r"\\.|\[1\]|\*\*|^> ?|^#+ ", "", file, flags=re.MULTILINE)) & set("[]<>*#!`")


def test_a_downloaded_answer_has_its_verdicts_and_quotes() -> None:
    found = source(1, "cv.md", "She left in May. She came back.", "She left in May. She came back.", title="CV")
    exchange = Exchange("When?")
    sentences = [sentence("She left in May.", found), sentence("In 1999.", found, "She came back.", "unsupported")]
    list(exchange.follow(iter(answered("When?", sentences, [found]))))
    file = as_markdown(exchange)
    assert "She left in May. [1]\n\nIn 1999. [1] *(not supported by its source)*" in file
    assert "Extractive: sentences quoted verbatim. Confidence: high." in file
    assert "**[1]** CV (cv.md, lines 3–4 · Ann Bell)\n\n> She left in May.\n>\n> *Supported by its source.*" in file
    assert "> She came back.\n>\n> *Not supported by its source.*" in file


def test_a_downloaded_answer_says_how_it_was_found() -> None:
    found = source(1, "cv.md", "She left in May.", "She left in May.")
    exchange = Exchange("When?")
    note = "The dense search failed"
    list(exchange.follow(iter(answered("When?", [sentence("She left in May.", found)], [found], notes=(note,)))))
    assert f"Confidence: high.\n\nNote: {note}\n\n## Sources" in as_markdown(exchange)


def test_a_page_renders_markdown_and_marks_the_cited_words() -> None:
    text = (
        "# Kiln *two*\n\nIt was **built** in `2014`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- larch\n\n```\nx = 1\n```\n"
    )
    start = text.index("was")
    blocks = page_blocks(text, [(start, text.index(" in"))], is_markdown=True)
    assert [(block["kind"], block["runs"]) for block in blocks] == [
        ("heading", [["", "Kiln ", None], ["i", "two", None]]),
        ("paragraph", [["", "It ", None], ["", "was ", 0], ["b", "built", 0], ["", " in ", None], ["c", "2014", None],
                       ["", ".", None]]),
        ("head", [["|", "", None], ["", " a", None], ["|", "", None], ["", "b", None], ["|", "", None]]),
        ("row", [["|", "", None], ["", " 1", None], ["|", "", None], ["", "2", None], ["|", "", None]]),
        ("item", [["", "larch", None]]),
        ("code", [["", "x = 1\n", None]]),
    ]  # fmt: skip


@given(st.text(alphabet="ab *_`#|>-.\n[]()<"), st.integers(0, 20), st.integers(0, 20))
def test_a_page_of_plain_text_loses_no_word_and_marks_exactly_what_is_cited(text: str, one: int, other: int) -> None:
    span = merged([(min(one, other, len(text)), min(max(one, other), len(text)))])
    blocks = page_blocks(text, span, is_markdown=False)
    shown = "".join(run[1] for block in blocks for run in block["runs"])
    letters = [letter for letter in text if letter in "ab"]
    assert [letter for letter in shown if letter in "ab"] == letters
    marked = "".join(run[1] for block in blocks for run in block["runs"] if run[2] == 0)
    cited = "".join(text[start:stop] for start, stop in span)
    assert [letter for letter in marked if letter in "ab"] == [letter for letter in cited if letter in "ab"]


WRITTEN = (
    "Fog does **two** things:\n\n## Work\n- It runs `jobs`.\n- It *stops*\n\n| Year | Score |\n|---|---|\n"
    "| 2020 | 5 |\n| 2021 | **6** |\n\n```py\nx = 1\n```\nDone **here**."
)


def test_an_answer_that_is_being_written_shows_no_raw_mark_of_markdown() -> None:
    for end in range(len(WRITTEN) + 1):
        shown = running_html([WRITTEN[:end]], "")
        assert not [mark for mark in ("*", "|", "`", "#") if mark in shown], WRITTEN[:end]
    assert "<table><tr><th> Year</th><th>Score</th></tr><tr><td> 2020</td><td>5</td></tr><tr>" in shown
    assert "<pre>x = 1\n</pre><p>Done <strong>here</strong>.</p>" in shown


def test_spans_that_overlap_or_touch_are_one() -> None:
    assert merged([(3, 5), (1, 4), (8, 9)]) == [(1, 5), (8, 9)]


def test_lines_broken_by_width_run_on_and_others_do_not() -> None:
    wide = "x" * 60
    assert reflow(f"{wide}\nand on\nshort\nend") == f"{wide} and on\nshort\nend"
    for own in ("- item", "1. item", "| cell", "# heading", "", "```", "> quote"):
        assert reflow(f"{wide}\n{own}") == f"{wide}\n{own}"


@given(st.text())
def test_reflowing_moves_no_character(text: str) -> None:
    flown = reflow(text)
    assert len(flown) == len(text)
    assert all(a == b or (a, b) == ("\n", " ") for a, b in zip(text, flown, strict=True))


@pytest.mark.parametrize(("page", "shown"), [(2, "p. 2 · Ann Bell"), (None, "lines 3–4 · Ann Bell")])
def test_a_place_is_a_page_or_lines_and_the_section(page: int | None, shown: str) -> None:
    assert place(source(1, "cv.md", "Text.", "Text.", page=page)) == shown


def test_a_quotation_that_stands_in_for_a_slow_model_keeps_its_list_and_is_marked_as_such() -> None:
    found = source(1, "resume.md", RESUME, RESUME)
    said = [sentence("She tuned organs for nine years.", found), sentence("In 2019 she moved to Leith.", found)]
    quoted = answered(
        "Where?", said, [found], answer="- She tuned organs for nine years. [1]\n- In 2019 she moved to Leith. [1]"
    )[-1]
    assert isinstance(quoted, Answer)
    entry = Exchange("Where?", reader="slow-model", preview=quoted)
    assert entry.running()[:3] == ["- ", "She tuned organs for nine years.", 1]
    shown = running_html(entry.running(), entry.doing, entry.standing_in)
    assert shown.count('<div class="fn-item">') == 2
    assert "While slow-model reads" in shown
    assert "slow-model reads what was found" in shown
    fifth, second = replace(found, n=5), replace(found, n=2)
    said = [*(sentence(text.text, fifth) for text in said), sentence("She now builds clavichords in Leith.", second)]
    together = answered("Where?", said, [fifth, second], answer=f"{' '.join(each.text for each in said)}")[-1]
    assert isinstance(together, Answer)
    entry.preview = together
    assert [piece for piece in entry.running() if isinstance(piece, int)] == [1, 2], "in reading order, one for a run"
    entry.pieces.append("She moved.")
    assert (entry.running(), entry.standing_in) == (["She moved."], "")
