"""The chat over a library that is kept in memory."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from app import session
from tests.app.fakes import FakeEngine

SCRIPT = Path(__file__).parent.parent.parent / "app" / "streamlit_app.py"


@pytest.fixture(scope="session", autouse=True)
def _packages_are_searched_once() -> Iterator[None]:
    """In every run AppTest looks through all installed packages for components of Streamlit, which stay the same."""
    with pytest.MonkeyPatch.context() as patch:
        scan = manifest_scanner.scan_component_manifests
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(scan))
        yield


@pytest.fixture(autouse=True)
def _no_shared_engine() -> Iterator[None]:
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """What the pages get for an engine."""
    fake = FakeEngine()
    monkeypatch.setattr(session, "get_engine", lambda: fake)
    return fake


@pytest.fixture
def chat(engine: FakeEngine) -> Callable[[], AppTest]:
    """Opens the chat, as the engine then stands."""
    return lambda: AppTest.from_file(str(SCRIPT), default_timeout=30).run()


@pytest.fixture
def library(chat: Callable[[], AppTest]) -> Callable[[], AppTest]:
    """Opens the library."""
    return lambda: chat().switch_page("app_pages/library.py").run()


def ask(at: AppTest, question: str) -> AppTest:
    """Type a question and send it."""
    return at.chat_input(key="question").set_value(question).run()


def opened(at: AppTest, menu: str) -> AppTest:
    """The page with a menu opened, whose widgets are made only then."""
    at.session_state[menu] = True
    return at.run()


def answers(at: AppTest) -> list[dict[str, Any]]:
    """What each answer's widget is given, oldest first."""
    widgets = (element.proto for element in at.get("bidi_component"))
    found = [json.loads(proto.json) for proto in widgets if proto.component_name == "footnote_answer"]
    return [json.loads(shown) | state for shown, state in found]


def opened_source(at: AppTest) -> dict[str, Any] | None:
    """What the reader of the open source is given; None when none is open."""
    widgets = (element.proto for element in at.get("bidi_component"))
    return next((json.loads(proto.json) for proto in widgets if proto.component_name == "footnote_reader"), None)


def evidence(shown: dict[str, Any] | None) -> str:
    """The words that a reader marks as evidence, with `|` between blocks."""
    assert shown is not None
    lines = ([run[1] for run in block["runs"] if run[2] in shown["evidence"]] for block in shown["blocks"])
    return "|".join("".join(line) for line in lines if line)


def words(answer: dict[str, Any]) -> list[tuple[str, list[int], str]]:
    """(text, footnotes, tag) of an answer's sentences."""
    sentences = [sentence for block in answer["blocks"] for line in block["lines"] for sentence in line]
    return [(sentence["text"], [mark["n"] for mark in sentence["marks"]], sentence["tag"]) for sentence in sentences]


def html(at: AppTest) -> str:
    """All HTML on the page but the style sheet."""
    return "\n".join(element.value for element in at.get("html") if "<style>" not in element.value)
