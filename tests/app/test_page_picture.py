"""The page of a cited PDF is drawn, and the lines of the cited words are marked on it, no others."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.chat_engine import ChatEngine, build_chat_engine
from app.page_picture import page_picture
from config.settings import Settings
from pipelines.ingestion.run import build_ingestion
from pipelines.types import LineBox

PDF = Path(__file__).parents[1] / "fixtures" / "parsing" / "rendercv-classic.pdf"


@pytest.fixture
def chat(settings: Settings) -> Iterator[ChatEngine]:
    ingestion = build_ingestion(settings)
    ingestion.run(ingestion.plan([str(PDF)]))
    engine = build_chat_engine(settings)
    yield engine
    engine.close()


def test_the_lines_of_a_span_are_found_and_none_with_the_same_words_elsewhere(chat: ChatEngine) -> None:
    [document] = chat.shelf().documents
    found = chat.document(document.id)
    assert found
    text = found.document.text
    start = text.rindex("at")
    [line] = chat.lines(document.id, [(start, start + 2)])
    assert line.start <= start < line.end
    assert chat.lines(document.id, []) == ()
    assert len(chat.lines(document.id, [(0, len(text))])) == len(found.document.boxes)
    assert chat.lines("nobody's", [(0, 9)]) == ()


def test_a_page_is_a_picture_with_the_lines_in_shares_of_it() -> None:
    drawn = page_picture(PDF, 1, [LineBox(0, 9, 1, 61.2, 79.2, 122.4, 158.4)])
    assert drawn is not None
    assert drawn["image"].startswith("data:image/png;base64,")
    assert drawn["boxes"] == [pytest.approx([0.1, 0.8, 0.1, 0.1])]


def test_a_file_that_cannot_be_drawn_gives_none() -> None:
    assert page_picture(Path(__file__), 1, []) is None
    assert page_picture(PDF, 99, []) is None
