"""The persona: whose documents these are, on its page and in every text of the chat."""

import base64
import io
from collections.abc import Callable

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from app.face import accent_style, data_url, heading, nothing_yet, placeholder, title
from config.settings import PersonaSettings
from tests.app.conftest import html
from tests.app.fakes import RESUME, FakeEngine, abstained, answered, sentence, source

Open = Callable[[], AppTest]
ANN = PersonaSettings(name="Ann Bell", bio="I build <organs>", links=("https://bell.example", "javascript:alert(1)"))
PIXEL = "data:image/jpeg;base64,AAAA"


@pytest.fixture
def persona(chat: Open) -> Callable[[], AppTest]:
    """Opens the page of the persona."""
    return lambda: chat().switch_page("app_pages/persona.py").run()


def test_the_name_is_in_the_texts_of_the_chat(engine: FakeEngine, chat: Open) -> None:
    engine.saved.append((ANN, PIXEL))
    at = chat()
    assert f'<img class="fn-portrait" src="{PIXEL}" alt=""><h1>Ask about Ann Bell</h1>' in html(at)
    assert "I build &lt;organs&gt;" in html(at)
    assert 'href="https://bell.example"' in html(at)
    assert "javascript" not in html(at)
    assert at.chat_input(key="question").placeholder == "Ask about Ann Bell"
    assert not at.exception


def test_a_visitor_reads_the_name_in_the_bar_and_where_there_is_nothing_yet(
    engine: FakeEngine, chat: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_CHAT__VISITOR", "true")
    engine.audience, engine.documents = "visitor", []
    engine.saved.append((ANN, ""))
    at = chat()
    assert '<div class="fn-owner">Ann Bell</div>' in html(at)
    assert "Ann Bell has not published any documents here yet." in html(at)
    assert at.chat_input(key="question").placeholder == "Ask about Ann Bell"


@pytest.mark.parametrize(
    ("persona", "said"),
    [
        (PersonaSettings(), ("Footnote", "Ask, and check the answer", "Ask about these documents", "The owner has")),
        (PersonaSettings(name="Ann"), ("Ann", "Ask about Ann", "Ask about Ann", "Ann has")),
        (PersonaSettings(name="Ann", voice="first"), ("Ann", "Hello, I am Ann", "Ask me anything", "I have")),
        (PersonaSettings(greeting="Hello!"), ("Footnote", "Hello!", "Ask about these", "The owner has")),
    ],
)
def test_texts_are_in_the_voice_of_the_persona(persona: PersonaSettings, said: tuple[str, ...]) -> None:
    shown = title(persona), heading(persona), placeholder(persona), nothing_yet(persona)
    assert all(text.startswith(begin) for text, begin in zip(shown, said, strict=True))


def test_questions_are_asked_and_kept_only_if_they_are_surely_answered(
    engine: FakeEngine, persona: Callable[[], AppTest]
) -> None:
    resume = source(1, "resume.md", RESUME, "She tuned organs for nine years.")
    engine.script["How long?"] = answered("How long?", [sentence("She tuned organs for nine years.", resume)], [resume])
    engine.script["Who?"] = abstained("Who?", [], [])
    at = persona()
    next(each for each in at.text_input if each.label == "Name").set_value("Ann Bell")
    next(each for each in at.text_area if each.label == "First questions").set_value("How long?\n\nWho?")
    at.button[-1].click().run()
    ((changed, picture),) = engine.saved
    assert (changed.name, changed.questions, changed.accent, picture) == ("Ann Bell", ("How long?",), "", "")
    assert "Who?" in at.warning[0].value
    assert not at.exception


def test_what_the_environment_sets_cannot_be_changed_and_is_not_stored(
    engine: FakeEngine, persona: Callable[[], AppTest]
) -> None:
    engine.stated = PersonaSettings(name="Ann Bell")
    at = persona()
    assert next(each for each in at.text_input if each.label == "Name").disabled
    assert "FOOTNOTE_PERSONA__NAME" in at.main.caption[1].value
    at.button[-1].click().run()
    assert "name" not in engine.saved[0][0].model_fields_set


def test_a_picture_becomes_a_small_square_and_anything_else_is_refused() -> None:
    made = io.BytesIO()
    Image.new("RGBA", (900, 300), "red").save(made, "PNG")
    shown = Image.open(io.BytesIO(base64.b64decode(data_url(made.getvalue()).partition(",")[2])))
    assert (shown.format, shown.size) == ("JPEG", (256, 256))
    with pytest.raises(OSError, match="cannot identify"):
        data_url(b"<svg onload=alert(1)>")


def test_only_a_colour_can_be_an_accent() -> None:
    with pytest.raises(ValueError, match="accent"):
        PersonaSettings(accent="red;}</style>")
    assert "light-dark(oklch(from #a00000 " in accent_style("#a00000")
    assert accent_style("") == ""
