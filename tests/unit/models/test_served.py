"""What a server tells of its models."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from config.settings import LLMSettings, Settings
from pipelines.errors import ConfigError, ServiceUnavailable
from pipelines.models.endpoint import Endpoint
from pipelines.models.llm import DEFAULT_WINDOW, build_llm, window_of
from pipelines.models.served import ServedModel, served_models
from tests.fake_openai import FakeOpenAI


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


def endpoint(url: str) -> Endpoint:
    return Endpoint(url, "fake", SecretStr("none"), 0, "OPENAI_API_KEY", "FOOTNOTE_LLM__MODEL")


def settings_of(url: str, home: Path, **llm: Any) -> Settings:
    return Settings(home=home, llm=LLMSettings(provider="openai", api_base=url, **llm), _env_file=None)


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ({"id": "m", "meta": {"n_ctx": 4096, "n_ctx_train": 32768}}, 4096),  # llama.cpp
        ({"id": "m", "max_model_len": 16384}, 16384),  # vLLM
        ({"id": "m", "context_length": 131072}, 131072),  # OpenRouter
        ({"id": "m", "max_context_length": 32768, "loaded_context_length": 8192}, 8192),  # LM Studio
        ({"id": "m"}, None),  # Ollama
    ],
)
def test_the_window_is_read_where_servers_tell_it(server: FakeOpenAI, model: dict[str, Any], window: int) -> None:
    server.models = [model]
    assert served_models(endpoint(server.url)) == (ServedModel("m", window),)


def test_the_window_that_llama_cpp_runs_with_comes_first(server: FakeOpenAI) -> None:
    server.models, server.props = (
        [{"id": "m", "meta": {"n_ctx_train": 32768}}],
        {"default_generation_settings": {"n_ctx": 1024}},
    )
    assert served_models(endpoint(server.url)) == (ServedModel("m", 1024),)


def test_a_server_that_is_down_is_named() -> None:
    with pytest.raises(ServiceUnavailable, match=r"127\.0\.0\.1:9/v1"):
        served_models(endpoint("http://127.0.0.1:9/v1"))


def test_the_window_of_a_setting_outranks_that_of_the_server(server: FakeOpenAI, tmp_path: Path) -> None:
    server.models = [{"id": "fake", "max_model_len": 2048}]
    llm = build_llm(settings_of(server.url, tmp_path, model="fake"))
    assert llm is not None
    assert window_of(llm, LLMSettings()) == 2048
    assert window_of(llm, LLMSettings(context_window=1024)) == 1024
    silent = build_llm(settings_of("http://127.0.0.1:9/v1", tmp_path, model="fake"))
    assert silent is not None
    assert window_of(silent, LLMSettings()) == DEFAULT_WINDOW


def test_the_only_model_of_a_server_needs_no_name(server: FakeOpenAI, tmp_path: Path) -> None:
    llm = build_llm(settings_of(server.url, tmp_path))
    assert llm is not None
    assert llm.metadata.model_name == "fake"
    server.models = [{"id": "a"}, {"id": "b"}]
    with pytest.raises(ConfigError, match=r"which serves a, b\."):
        build_llm(settings_of(server.url, tmp_path))
