"""Model servers whose certificates an authority of one's own signed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from config.settings import EmbeddingSettings, LLMSettings, Settings
from pipelines.errors import ConfigError, ServiceUnavailable
from pipelines.models.embedding import build_embed_model
from pipelines.models.llm import build_llm, complete
from pipelines.tls import CA_FILE_HINT
from tests.authority import Authority
from tests.fake_openai import FakeOpenAI

QUESTION = [("user", "Who is Ann?")]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.made(tmp_path / "own.pem")


@pytest.fixture
def encrypted(server: FakeOpenAI, authority: Authority) -> FakeOpenAI:
    server.encrypt(authority.server("127.0.0.1"))
    return server


@pytest.fixture
def settings(make_settings: Callable[..., Settings], encrypted: FakeOpenAI) -> Callable[[str], Settings]:
    base = encrypted.url.replace("http://", "https://")
    models: dict[str, Any] = {
        "embedding": EmbeddingSettings(provider="openai", retries=0),
        "llm": LLMSettings(provider="openrouter", retries=0),
        "openai_api_base": base, "openai_api_key": SecretStr("key"),
        "openrouter_api_base": base, "openrouter_api_key": SecretStr("key"),
    }  # fmt: skip
    return lambda ca_file: make_settings(ca_file=ca_file, **models)


def test_models_are_asked_where_the_settings_name_the_authority(
    settings: Callable[[str], Settings], authority: Authority, encrypted: FakeOpenAI
) -> None:
    held = settings(str(authority.path))
    assert len(build_embed_model(held).get_query_embedding("Ann")) == encrypted.dimension
    llm = build_llm(held)
    assert llm is not None
    assert "".join(complete(llm, QUESTION)) == encrypted.reply


def test_without_it_they_are_not_asked_and_it_is_named(
    settings: Callable[[str], Settings], encrypted: FakeOpenAI
) -> None:
    with pytest.raises(ServiceUnavailable) as refused:
        build_embed_model(settings("")).get_query_embedding("Ann")
    assert (refused.value.hint, encrypted.requests) == (CA_FILE_HINT, [])


def test_a_file_that_is_not_there_is_named(
    settings: Callable[[str], Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for build in (build_embed_model, build_llm):
        with pytest.raises(ConfigError, match=r"FOOTNOTE_CA_FILE names .*gone\.pem, which cannot be read"):
            build(settings(str(tmp_path / "gone.pem")))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    with pytest.raises(ConfigError, match="SSL_CERT_FILE names"):
        build_llm(settings(""))
