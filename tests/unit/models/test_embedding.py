import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx
import numpy as np
import openai
import pytest
from pydantic import SecretStr

from config.settings import Settings
from pipelines.errors import ConfigError, ModelError, ServiceUnavailable
from pipelines.models.embedding import HashedEmbedding, MiniLMEmbedding, build_embed_model
from pipelines.models.endpoint import Endpoint, describe_error, retry_wait
from pipelines.models.identity import identity, parse_model_name, requested_dimensions
from pipelines.models.minilm import MiniLM
from pipelines.types import EmbeddingIdentity
from tests.fake_openai import FakeOpenAI, Fault, vector

KEY = "sk-secret-0123456789"
MakeSettings = Callable[..., Settings]
Remote = Callable[..., Settings]


@pytest.fixture
def remote(make_settings: MakeSettings, server: FakeOpenAI) -> Remote:
    def make(**embedding: object) -> Settings:
        asked = {"retries": 0, "pause_ms": 0, **embedding}
        return make_settings(openai_api_key=KEY, openai_api_base=server.url, embedding=asked)

    return make


# identity


def test_without_a_key_the_model_is_local(make_settings: MakeSettings) -> None:
    assert identity(make_settings()) == EmbeddingIdentity("local", "all-MiniLM-L6-v2", 384)


def test_with_a_key_the_model_is_openai(make_settings: MakeSettings) -> None:
    assert identity(make_settings(openai_api_key=KEY)) == EmbeddingIdentity("openai", "text-embedding-3-small", 1536)


def test_a_named_provider_wins_over_a_key(make_settings: MakeSettings) -> None:
    assert identity(make_settings(openai_api_key=KEY, embedding={"provider": "local"})).provider == "local"
    assert identity(make_settings(embedding={"provider": "hashed"})) == EmbeddingIdentity("hashed", "hashed", 256)


@pytest.mark.parametrize(
    ("model", "dimension"),
    [
        ("text-embedding-3-large", 3072),
        ("text-embedding-ada-002", 1536),
        ("gemini-embedding-001", 768),
        ("openai/text-embedding-3-small", 1536),
    ],
)
def test_known_models_bring_their_dimension(make_settings: MakeSettings, model: str, dimension: int) -> None:
    assert identity(make_settings(embedding={"provider": "openai", "model": model})).dimension == dimension


def test_an_unknown_model_needs_a_dimension(make_settings: MakeSettings) -> None:
    with pytest.raises(ConfigError, match="FOOTNOTE_EMBEDDING__DIMENSION"):
        identity(make_settings(embedding={"provider": "openai", "model": "nomic-embed-text"}))
    told = {"provider": "openai", "model": "nomic-embed-text", "dimension": 768}
    assert identity(make_settings(embedding=told)).dimension == 768


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("text-embedding-3-large", EmbeddingIdentity("openai", "text-embedding-3-large", 3072)),
        ("openai/text-embedding-3-small@512", EmbeddingIdentity("openai", "text-embedding-3-small", 512)),
        ("sentence-transformers/all-MiniLM-L6-v2", EmbeddingIdentity("local", "all-MiniLM-L6-v2", 384)),
        ("openai/all-MiniLM-L6-v2@384", EmbeddingIdentity("openai", "all-MiniLM-L6-v2", 384)),
        ("nomic/embed@768", EmbeddingIdentity("openai", "nomic/embed", 768)),
        ("hashed", EmbeddingIdentity("hashed", "hashed", 256)),
        ("hashed-b@64", EmbeddingIdentity("hashed", "hashed-b", 64)),
    ],
)
def test_a_name_means_a_model_and_its_label_means_just_that(
    make_settings: MakeSettings, name: str, meant: EmbeddingIdentity
) -> None:
    for settings in (make_settings(), make_settings(openai_api_key=KEY, embedding={"provider": "local"})):
        assert parse_model_name(settings, name) == parse_model_name(settings, meant.label) == meant


def test_a_name_without_a_dimension_has_that_of_the_settings_where_they_name_the_same_model(
    make_settings: MakeSettings,
) -> None:
    asked = make_settings(embedding={"model": "nomic-embed-text", "dimension": 768})
    assert parse_model_name(asked, "nomic-embed-text").dimension == 768
    assert parse_model_name(asked, "text-embedding-3-small").dimension == 1536


@pytest.mark.parametrize(
    "name", ["nomic-embed-text", "hashed@", "hashed@0", "hashed@4001", "hashed@٣", "", "@64", "openai/"]
)
def test_a_name_that_means_no_model_is_refused(make_settings: MakeSettings, name: str) -> None:
    with pytest.raises(ConfigError):
        parse_model_name(make_settings(), name)


@pytest.mark.parametrize("asked", [{"model": "bge-small"}, {"dimension": 256}])
def test_the_local_model_cannot_be_another(make_settings: MakeSettings, asked: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="all-MiniLM-L6-v2"):
        identity(make_settings(embedding={"provider": "local", **asked}))


@pytest.mark.parametrize(
    ("model", "dimension", "sent"),
    [
        ("text-embedding-3-small", 1536, 1536),
        ("text-embedding-3-large", 1024, 1024),
        ("text-embedding-ada-002", 1536, None),
        ("text-embedding-ada-002", 512, 512),
        ("gemini-embedding-001", 768, 768),
        ("nomic-embed-text", 768, None),
    ],
)
def test_dimensions_are_sent_only_where_they_are_understood(model: str, dimension: int, sent: int | None) -> None:
    assert requested_dimensions(EmbeddingIdentity("openai", model, dimension)) == sent


def test_identity_is_known_without_llama_index() -> None:
    script = "import sys, pipelines.models.identity; print('llama_index' in sys.modules, 'numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False False"


# local


def test_the_local_model_embeds_through_llama_index(make_settings: MakeSettings, int8: MiniLM) -> None:
    model = build_embed_model(make_settings(embedding={"device": "cpu"}))
    texts = ["Ann joined Acme.", "", "The buoy drifted."]
    assert isinstance(model, MiniLMEmbedding)
    np.testing.assert_array_equal(model.get_text_embedding_batch(texts), int8.embed_texts(texts))
    assert model.get_query_embedding(texts[0]) == model.get_text_embedding(texts[0])
    assert asyncio.run(model.aget_query_embedding(texts[0])) == model.get_query_embedding(texts[0])
    assert [len(rows) for rows in model.get_window_embeddings(["a", "word " * 300])] == [1, 2]


def test_building_the_local_model_loads_nothing(make_settings: MakeSettings, tmp_path: Path) -> None:
    settings = make_settings(embedding={"model_path": str(tmp_path), "precision": "fp32"})
    model = build_embed_model(settings)
    with pytest.raises(ConfigError, match="FOOTNOTE_EMBEDDING__MODEL_PATH"):
        model.get_query_embedding("a question")


# hashed


def test_hashed_vectors_repeat_and_bring_similar_texts_together(make_settings: MakeSettings) -> None:
    model = build_embed_model(make_settings(embedding={"provider": "hashed"}))
    assert isinstance(model, HashedEmbedding)
    near, same, far, empty = np.array(
        model.get_text_embedding_batch(["the blue buoys drifted", "The blue BUOY drifts.", "salary negotiations", ""])
    )
    assert near.shape == (256,)
    assert near @ same > 0.5 > near @ far
    np.testing.assert_allclose([np.linalg.norm(near), np.linalg.norm(empty)], 1, rtol=1e-6)
    assert model.get_query_embedding("the blue buoys drifted") == near.tolist()


# remote


def test_a_remote_model_embeds_in_batches_and_in_order(remote: Remote, server: FakeOpenAI) -> None:
    texts = [f"text {number}" for number in range(7)]
    model = build_embed_model(remote(batch_size=3))
    found = model.get_text_embedding_batch(texts)
    np.testing.assert_allclose(found, [vector(text, 1536) for text in texts], atol=1e-6)
    assert [len(request.body["input"]) for request in server.requests] == [3, 3, 1]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.requests[0].body["model"] == "text-embedding-3-small"
    assert server.requests[0].body["dimensions"] == 1536


def test_a_query_is_embedded_like_a_text_and_also_asynchronously(remote: Remote) -> None:
    model = build_embed_model(remote())
    assert model.get_query_embedding("who?") == model.get_text_embedding("who?")
    assert asyncio.run(model.aget_query_embedding("who?")) == model.get_query_embedding("who?")
    assert asyncio.run(model.aget_text_embedding_batch(["who?"])) == [model.get_query_embedding("who?")]


def test_a_768_dimension_model_of_another_provider_works(remote: Remote, server: FakeOpenAI) -> None:
    server.dimension = 768
    model = build_embed_model(remote(provider="openai", model="nomic-embed-text", dimension=768))
    assert len(model.get_query_embedding("who?")) == 768
    assert "dimensions" not in server.requests[0].body


def test_a_server_of_ones_own_needs_no_key(make_settings: MakeSettings, server: FakeOpenAI) -> None:
    settings = make_settings(openai_api_base=server.url, embedding={"provider": "openai"})
    assert len(build_embed_model(settings).get_query_embedding("who?")) == 1536


def test_openai_itself_needs_a_key(make_settings: MakeSettings) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        build_embed_model(make_settings(embedding={"provider": "openai"}))


def test_vectors_in_another_order_are_put_back(remote: Remote, server: FakeOpenAI) -> None:
    server.fail(Fault("shuffled"))
    found = build_embed_model(remote()).get_text_embedding_batch(["one", "two"])
    np.testing.assert_allclose(found, [vector("one", 1536), vector("two", 1536)], atol=1e-6)


def test_an_empty_text_does_not_fail_its_batch(remote: Remote, server: FakeOpenAI) -> None:
    build_embed_model(remote()).get_text_embedding_batch(["", "\ud800"])
    assert server.requests[0].body["input"] == [" ", "?"]


def test_batches_are_kept_apart(remote: Remote) -> None:
    model = build_embed_model(remote(batch_size=1, pause_ms=60))
    began = time.monotonic()
    model.get_text_embedding_batch(["one", "two", "three"])
    assert time.monotonic() - began >= 2 * 0.06


def test_passing_failures_are_tried_again_in_one_layer(remote: Remote, server: FakeOpenAI) -> None:
    server.fail(Fault("status", 429, retry_after="0"), Fault("status", 503, retry_after="0"))
    assert len(build_embed_model(remote(retries=2)).get_query_embedding("who?")) == 1536
    assert len(server.requests) == 3


def test_retries_end(remote: Remote, server: FakeOpenAI) -> None:
    server.fail(*[Fault("status", 500, retry_after="0")] * 9)
    with pytest.raises(ModelError, match="fails with status 500: scripted failure"):
        build_embed_model(remote(retries=2)).get_query_embedding("who?")
    assert len(server.requests) == 3


def test_retry_after_is_waited_for(remote: Remote, server: FakeOpenAI) -> None:
    server.fail(Fault("status", 429, retry_after="0.3"))
    began = time.monotonic()
    build_embed_model(remote(retries=1)).get_query_embedding("who?")
    assert time.monotonic() - began >= 0.3


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault("status", 401, message="Incorrect API key: {key}"), "refuses the key. Set OPENAI_API_KEY"),
        (Fault("status", 402, message="no credit"), "wants payment: no credit"),
        (Fault("status", 403, message="not allowed"), "does not let this key use text-embedding-3-small"),
        (Fault("status", 404, message="no such model"), "does not know the model text-embedding-3-small"),
        (Fault("status", 429, message="out of money", code="insufficient_quota"), "no more requests for now: out of"),
        (Fault("status", 429, retry_after="3600"), "takes no more requests for now"),
        (Fault("status", 400, message="input too long, {key}"), "status 400: input too long, [*]{3}"),
        (Fault("garbage"), "did not answer in the form of a chat completion"),
        (Fault("page"), "did not answer in the form of a chat completion"),
        (Fault("count"), "returned 1 vectors for 2 texts"),
        (Fault("dimension"), "returned a vector of 1537 dimensions, not 1536"),
        (Fault("nan"), "zero or not finite"),
    ],
    ids=lambda value: value.kind + str(value.status) if isinstance(value, Fault) else "",
)
def test_failures_that_stay_are_named_at_once(remote: Remote, server: FakeOpenAI, fault: Fault, message: str) -> None:
    server.fail(fault)
    with pytest.raises(ModelError, match=message) as caught:
        build_embed_model(remote(retries=5)).get_text_embedding_batch(["one", "two"])
    assert len(server.requests) == 1
    assert KEY not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__cause__ is None


def test_a_server_that_is_not_there_is_unavailable(make_settings: MakeSettings) -> None:
    asked = {"provider": "openai", "retries": 0}
    model = build_embed_model(make_settings(openai_api_base="http://user:pw@127.0.0.1:9/v1", embedding=asked))
    with pytest.raises(ServiceUnavailable, match=r"http://127\.0\.0\.1:9/v1 cannot be reached") as caught:
        model.get_query_embedding("who?")
    assert "pw" not in str(caught.value)


def test_a_server_that_is_too_slow_is_unavailable(remote: Remote, server: FakeOpenAI) -> None:
    server.fail(Fault("slow", seconds=0.5))
    with pytest.raises(ServiceUnavailable, match="did not answer in time"):
        build_embed_model(remote(timeout_seconds=0.1)).get_query_embedding("who?")


def test_the_key_is_in_no_representation(remote: Remote) -> None:
    model = build_embed_model(remote())
    model.get_query_embedding("who?")
    shown = [repr(model), str(model), model.model_dump_json(), str(model.to_dict()), str(model.to_payload())]
    assert not [text for text in shown if KEY in text]


@pytest.mark.parametrize("key", ["sk-two\nlines", "sk-ünïcode"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(remote: Remote, key: str) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY") as caught:
        build_embed_model(remote().model_copy(update={"openai_api_key": SecretStr(key)}))
    assert key not in str(caught.value)


def test_spaces_around_a_key_do_no_harm(remote: Remote, server: FakeOpenAI) -> None:
    settings = remote().model_copy(update={"openai_api_key": SecretStr(f" {KEY}\n")})
    build_embed_model(settings).get_query_embedding("who?")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


# retries


def _endpoint() -> Endpoint:
    return Endpoint("http://host/v1", "model", SecretStr(KEY), 0, "OPENAI_API_KEY", "FOOTNOTE_EMBEDDING__MODEL")


def _status(status: int, retry_after: str = "") -> openai.APIStatusError:
    headers = {"retry-after": retry_after} if retry_after else {}
    response = httpx.Response(status, headers=headers, request=httpx.Request("POST", "http://host/v1"))
    return openai.APIStatusError("said", response=response, body=None)


def test_waits_double_up_to_a_limit_with_some_chance() -> None:
    for attempt in range(8):
        expected = min(0.5 * 2**attempt, 20)
        wait = retry_wait(_status(500), attempt)
        assert wait is not None
        assert expected / 2 <= wait <= expected


def test_retry_after_is_seconds_or_a_date_and_has_a_limit() -> None:
    assert retry_wait(_status(429, "7"), 0) == 7
    assert retry_wait(_status(429, "61"), 0) is None
    wait = retry_wait(_status(503, format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)), 0)
    assert wait == pytest.approx(29.5, abs=1)


@pytest.mark.parametrize("error", [_status(400), _status(401), _status(404), ValueError("nonsense")])
def test_final_failures_are_not_retried(error: Exception) -> None:
    assert retry_wait(error, 0) is None


def test_an_error_that_quotes_the_key_is_cleaned() -> None:
    assert KEY not in str(describe_error(openai.OpenAIError(f"bad key {KEY}"), _endpoint()))
    assert KEY not in str(
        describe_error(openai.APIConnectionError(message=KEY, request=httpx.Request("POST", "http://h")), _endpoint())
    )
