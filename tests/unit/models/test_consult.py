import threading
import time
from pathlib import Path

import pytest

from config.settings import LLMSettings, Settings
from pipelines.errors import ModelError, ServiceUnavailable
from pipelines.models.consult import consult, reply_limit
from pipelines.models.llm import CompatibleLLM, build_llm
from pipelines.text import count_tokens
from tests.unit.query.voice import Voice

ASKED = [("system", "Be brief."), ("user", "Question: why?")]


def test_a_reply_is_what_the_model_says() -> None:
    assert consult(Voice(replies=["one\ntwo"]), ASKED, seconds=5, limit=100) == "one\ntwo"


def test_a_model_that_takes_too_long_is_given_up() -> None:
    began = time.perf_counter()
    with pytest.raises(ServiceUnavailable, match=r"took more than 0\.1 s"):
        consult(Voice(replies=["late"], wait=10.0), ASKED, seconds=0.1, limit=100)
    assert time.perf_counter() - began < 5


def test_an_abandoned_model_call_does_not_keep_the_process_alive() -> None:
    with pytest.raises(ServiceUnavailable):
        consult(Voice(replies=["late"], wait=0.4), ASKED, seconds=0.01, limit=100)
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "consult")


def test_a_reply_is_cut_at_the_limit() -> None:
    assert consult(Voice(replies=["word\n" * 1000]), ASKED, seconds=5, limit=12) == "word\nword\nwo"


def test_whatever_a_model_raises_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="boom"):
        consult(Voice(replies=["!boom"]), ASKED, seconds=5, limit=100)


def test_a_model_of_another_package_has_the_given_limit() -> None:
    assert reply_limit(Voice(replies=[]), ASKED, reply_tokens=40, least=2.5) == 2.5


def test_a_slow_model_of_the_settings_has_the_time_that_it_was_measured_to_need(tmp_path: Path) -> None:
    model = LLMSettings(provider="openai", model="m", api_base="http://127.0.0.1:9/v1", timeout_seconds=60)
    llm = build_llm(Settings(home=tmp_path, llm=model, _env_file=None))
    assert isinstance(llm, CompatibleLLM)
    words = count_tokens("".join(content for _, content in ASKED))
    assert reply_limit(llm, ASKED, reply_tokens=40, least=2.5) == 15  # a quarter of its limit, not measured yet
    llm.speeds.record(llm.endpoint.label, prompt_tokens=10 * words, first=10, reply_tokens=11, whole=20)
    expected = 1.5 * (1 + 40)  # a second to read, one for each token
    assert reply_limit(llm, ASKED, reply_tokens=40, least=2.5) == pytest.approx(min(expected, 60), rel=0.2)
    assert reply_limit(llm, ASKED, reply_tokens=400, least=2.5) == 60
