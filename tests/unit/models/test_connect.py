"""Servers of language models are found on loopback, and the settings that name a model of one are known."""

import pytest
from pydantic import SecretStr

from config.settings import OPENROUTER_BASE, EmbeddingSettings, LLMSettings, Settings
from pipelines.errors import ConfigError
from pipelines.models.connect import ModelChoice, find_servers
from pipelines.models.consult import examine_llm
from tests.fake_openai import FakeOpenAI


def test_servers_that_answer_are_found_with_their_models() -> None:
    with FakeOpenAI(models=[{"id": "qwen"}, {"id": "llama"}]) as one, FakeOpenAI(models=[]) as empty:
        places = {"One": f"{one.url}", "Empty": empty.url, "Nobody": "http://127.0.0.1:9/v1"}
        [found] = find_servers(places)
    assert (found.name, [model.name for model in found.models]) == ("One", ["qwen", "llama"])


def test_a_chosen_model_answers_with_the_settings_as_they_would_be() -> None:
    with FakeOpenAI(reply="ready") as server:
        choice = ModelChoice(server.url, "fake")
        ok, said, _ = examine_llm(choice.applied(Settings(_env_file=None)))
    assert ok
    assert said.startswith("fake at http://127.0.0.1")


def test_the_variables_name_provider_model_and_key_and_keep_the_embedding_model() -> None:
    settings = Settings(_env_file=None)
    assert ModelChoice("http://127.0.0.1:8080/v1", "m").variables(settings) == {
        "FOOTNOTE_LLM__PROVIDER": "openai", "FOOTNOTE_LLM__MODEL": "m",
        "FOOTNOTE_LLM__API_BASE": "http://127.0.0.1:8080/v1", "FOOTNOTE_LLM__TIMEOUT_SECONDS": "300",
    }  # fmt: skip
    limited = Settings(_env_file=None, llm=LLMSettings(timeout_seconds=90))
    assert "FOOTNOTE_LLM__TIMEOUT_SECONDS" not in ModelChoice("http://localhost:8080/v1", "m").variables(limited)
    key = SecretStr("sk-1")
    assert ModelChoice(OPENROUTER_BASE, "m", key).variables(settings) == {
        "FOOTNOTE_LLM__PROVIDER": "openrouter", "FOOTNOTE_LLM__MODEL": "m", "OPENROUTER_API_KEY": "sk-1"
    }  # fmt: skip
    with_key = ModelChoice("https://api.example/v1", "m", key)
    assert with_key.variables(settings)["FOOTNOTE_EMBEDDING__PROVIDER"] == "local"
    chosen = settings.model_copy(update={"embedding": EmbeddingSettings(provider="hashed")})
    assert "FOOTNOTE_EMBEDDING__PROVIDER" not in with_key.variables(chosen)
    assert "sk-1" not in repr(with_key)
    assert with_key.applied(settings).openai_api_key == key
    with pytest.raises(ConfigError):
        ModelChoice("127.0.0.1:8080", "m").applied(settings)
