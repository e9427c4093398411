"""Health: checks and repairs, the last evaluation, and a language model that is connected."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr
from streamlit.testing.v1 import AppTest

from app.health import HealthDesk
from config.settings import Settings
from pipelines.errors import ConfigError
from pipelines.models.connect import FoundServer, ModelChoice
from pipelines.models.served import ServedModel
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.health import Finding
from tests.app.conftest import html
from tests.app.fakes import FakeEngine

Open = Callable[[], AppTest]


@pytest.fixture
def health(chat: Open) -> Open:
    """Opens the page."""
    return lambda: chat().switch_page("app_pages/health.py").run()


def test_a_problem_has_its_repair_as_a_button(engine: FakeEngine, health: Open) -> None:
    engine.health.found = [
        Finding("orphans", False, "2 nodes without a document", "footnote doctor --fix"),
        Finding("embeddings", False, "1 document without vectors", "footnote reindex"),
        Finding("disk", True, "9 GB free"),
    ]
    at = health()
    assert "Orphans: 2 nodes without a document" in html(at)
    assert "**1 of 3 checks are well**" in [each.value for each in at.markdown]
    at.button(key="reindex").click().run()
    assert [job.kind for job in engine.jobs.recent()] == ["reindex"]
    at.button(key="repair").click().run()
    assert "**3 of 3 checks are well**" in [each.value for each in at.markdown]
    assert not [button for button in at.button if button.key == "repair"]
    assert not at.exception


def test_checks_are_made_once_until_asked_again(engine: FakeEngine, health: Open) -> None:
    at = health()
    at.run()
    assert engine.health.checked == 1
    at.button(key="check_again").click().run()
    assert engine.health.checked == 2


def test_figures_and_feedback_are_shown(engine: FakeEngine, health: Open) -> None:
    at = health()
    assert {metric.label: metric.value for metric in at.metric} == {
        "Questions": "4", "Answered": "75%", "Median time": "0.20 s", "95 % within": "0.90 s", "Cost of an answer": "–"
    }  # fmt: skip
    tables = [each.value for each in at.table]
    assert list(tables[0]["Stage"]) == ["all: ask", "dense"]
    assert tables[3]["Words"].iloc[0] == "\\<b\\>wrong year", "as it was written, not as HTML"
    assert not at.exception


def test_the_last_evaluation_is_drilled_into_and_a_new_one_is_a_job(engine: FakeEngine, health: Open) -> None:
    topic = {"id": "t", "question": "Who tuned?", "kind": "fact", "answerable": True, "answered": False,
             "confidence": "low", "answer": "Nobody", "missed": ["answered"]}  # fmt: skip
    good = topic | {"question": "Where?", "missed": [], "answered": True}
    kinds = {"fact": {"answerable": 2, "unanswerable": 0, "facts": 0.5, "answered": 0.5}}
    engine.health.report = {"at": "2026-03-01T10:00:00+00:00", "dataset": "your questions", "measures": {"facts": 0.5},
                            "kinds": kinds, "topics": [topic, good]}  # fmt: skip
    at = health()
    assert "should have been answered" in html(at)
    assert "Where?" not in html(at)
    at.segmented_control(key="topics").set_value("all").run()
    assert "Where?" in html(at)
    at.button(key="evaluate").click().run()
    assert [job.kind for job in engine.jobs.recent()] == ["evaluate"]
    assert not at.exception


def test_a_found_model_is_tried_shown_and_written_only_when_confirmed(engine: FakeEngine, health: Open) -> None:
    engine.health.local = [FoundServer("llama.cpp", "http://127.0.0.1:8080/v1", (ServedModel("qwen", 8192),))]
    at = health()
    at.button(key="try_llama.cpp").click().run()
    assert any("FOOTNOTE_LLM__MODEL=qwen" in each.value for each in at.code)
    assert engine.health.connected == []
    at.button(key="write_env").click().run()
    assert engine.health.connected == [ModelChoice("http://127.0.0.1:8080/v1", "qwen")]
    assert not [button for button in at.button if button.key == "write_env"]
    assert not at.exception


def test_a_key_is_never_shown_again(engine: FakeEngine, health: Open) -> None:
    at = health()
    for name, value in (("url", "https://api.example/v1"), ("model", "m"), ("key", "sk-secret")):
        at.text_input(key=f"other_{name}").set_value(value)
    at.button(key="try_other").click().run()
    assert any("OPENAI_API_KEY=…" in each.value for each in at.code)
    assert not any("sk-secret" in each.value for each in (*at.code, *at.markdown, *at.caption))
    assert not at.text_input(key="other_key").value
    at.button(key="write_env").click().run()
    assert engine.health.connected == [ModelChoice("https://api.example/v1", "m", SecretStr("sk-secret"))]
    assert not at.exception


def test_a_model_that_fails_is_not_offered(engine: FakeEngine, health: Open) -> None:
    engine.health.local = [FoundServer("Ollama", "http://127.0.0.1:11434/v1", (ServedModel("m", None),))]
    engine.health.trial = (False, "m at Ollama took more than 60.0 s", "Choose a faster one.")
    at = health()
    at.button(key="try_Ollama").click().run()
    assert "took more than" in html(at)
    assert not [button for button in at.button if button.key == "write_env"]


def test_no_server_is_asked_before_the_page_is_opened(engine: FakeEngine, chat: Open) -> None:
    chat()
    assert engine.health.looked == 0


@pytest.fixture
def desk(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> HealthDesk:
    monkeypatch.chdir(tmp_path)
    return HealthDesk(build_query_engine(settings))


def test_the_desk_of_an_empty_database_has_checks_and_figures(desk: HealthDesk) -> None:
    assert {finding.name for finding in desk.checks()} >= {"disk", "database", "last run"}
    assert desk.statistics(7)["asked"] == 0
    assert desk.feedback() == []
    assert desk.evaluation() is None


def test_a_connection_is_written_unless_the_environment_outranks_it(
    desk: HealthDesk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    choice = ModelChoice("http://127.0.0.1:8080/v1", "qwen")
    desk.connect(choice)
    written = (tmp_path / ".env").read_text()
    assert "FOOTNOTE_LLM__MODEL=qwen\n" in written
    with pytest.raises(ConfigError, match="cannot be written"):
        desk.connect(replace(choice, model="two\nlines"))
    monkeypatch.setenv("FOOTNOTE_LLM__MODEL", "other")
    with pytest.raises(ConfigError, match="outranks"):
        desk.connect(choice)
    monkeypatch.delenv("FOOTNOTE_LLM__MODEL")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    with pytest.raises(ConfigError, match="cannot send it to another server"):
        desk.connect(choice)
    assert (tmp_path / ".env").read_text() == written
    assert isinstance(desk.engine, QueryEngine)


def test_another_server_that_is_tried_gets_no_key_of_the_settings() -> None:
    settings = Settings(_env_file=None, openai_api_key=SecretStr("sk-mine"))
    tried = ModelChoice("http://127.0.0.1:8080/v1", "qwen").applied(settings)
    assert tried.openai_api_key is None
    assert ModelChoice("https://api.openai.com/v1", "gpt").applied(settings).openai_api_key == SecretStr("sk-mine")
