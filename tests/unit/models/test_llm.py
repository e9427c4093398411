from collections.abc import Callable

import pytest
from llama_index.core.llms import LLM, MockLLM
from llama_index.llms.openai_like import OpenAILike
from llama_index.llms.openrouter import OpenRouter

from config.settings import Settings
from pipelines.errors import ConfigError, ModelError, ServiceUnavailable
from pipelines.models.identity import LLMIdentity, llm_identity
from pipelines.models.llm import build_llm, complete, told_window
from tests.fake_openai import FakeOpenAI, Fault

KEY = "or-secret-0123456789"
ASKED = [("system", "Answer briefly."), ("user", "Where did Ann work?")]
MakeSettings = Callable[..., Settings]
MakeLLM = Callable[..., LLM]


@pytest.fixture
def make_llm(make_settings: MakeSettings, server: FakeOpenAI) -> MakeLLM:
    def make(**llm: object) -> LLM:
        asked = {"retries": 0, **llm}
        built = build_llm(make_settings(openrouter_api_key=KEY, openrouter_api_base=server.url, llm=asked))
        assert built is not None
        return built

    return make


# Which model


def test_without_keys_there_is_no_language_model(make_settings: MakeSettings) -> None:
    assert llm_identity(make_settings(openai_api_key="sk-for-embeddings")) is None
    assert build_llm(make_settings()) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"openrouter_api_key": KEY}, LLMIdentity("openrouter", "meta-llama/llama-3.1-8b-instruct:free")),
        ({"openrouter_api_key": KEY, "openai_model": "a", "llm": {"model": "x/y"}}, LLMIdentity("openrouter", "x/y")),
        ({"openai_model": "gpt-4o-mini"}, LLMIdentity("openai", "gpt-4o-mini")),
        ({"llm": {"api_base": "http://localhost:11434/v1", "model": "llama3"}}, LLMIdentity("openai", "llama3")),
        ({"openrouter_api_key": KEY, "llm": {"provider": "none"}}, None),
    ],
)
def test_settings_name_the_language_model(
    make_settings: MakeSettings, values: dict[str, object], expected: LLMIdentity | None
) -> None:
    assert llm_identity(make_settings(**values)) == expected


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ({"llm": {"provider": "openrouter"}}, "OPENROUTER_API_KEY"),
        ({"openai_model": "gpt-4o-mini"}, "OPENAI_API_KEY"),
    ],
)
def test_what_is_missing_is_named(make_settings: MakeSettings, values: dict[str, object], missing: str) -> None:
    with pytest.raises(ConfigError, match=missing):
        build_llm(make_settings(**values))


def test_a_server_without_a_named_model_that_is_down_is_asked_later(make_settings: MakeSettings) -> None:
    llm = build_llm(make_settings(llm={"api_base": "http://127.0.0.1:9/v1", "retries": 0}))
    assert llm is not None
    assert told_window(llm) is None
    with pytest.raises(ServiceUnavailable, match="cannot be reached"):
        list(complete(llm, [("user", "Why?")]))


@pytest.mark.parametrize(("address", "said"), [("http://127.0.0.1:80a0/v1", "is no address")])
def test_an_address_that_is_none_is_named(make_settings: MakeSettings, address: str, said: str) -> None:
    llm = build_llm(make_settings(llm={"api_base": address, "model": "m", "retries": 0}))
    assert llm is not None
    with pytest.raises(ServiceUnavailable, match=said):
        list(complete(llm, [("user", "Why?")]))


def test_openrouter_is_built_with_explicit_limits(make_llm: MakeLLM, server: FakeOpenAI) -> None:
    llm = make_llm(max_tokens=77, context_window=4096, temperature=0.5, timeout_seconds=9)
    assert isinstance(llm, OpenRouter)
    assert (llm.api_base, llm.max_tokens, llm.context_window) == (server.url, 77, 4096)
    assert (llm.temperature, llm.timeout, llm.max_retries) == (0.5, 9, 0)
    assert "".join(complete(llm, ASKED)) == server.reply
    request = server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "meta-llama/llama-3.1-8b-instruct:free"
    assert (request.body["max_tokens"], request.body["temperature"]) == (77, 0.5)
    assert [message["role"] for message in request.body["messages"]] == ["system", "user"]


def test_a_compatible_server_needs_no_key(make_settings: MakeSettings, server: FakeOpenAI) -> None:
    llm = build_llm(make_settings(llm={"api_base": server.url, "model": "llama3"}))
    assert isinstance(llm, OpenAILike)
    assert "".join(complete(llm, ASKED)) == server.reply
    assert server.requests[0].headers["authorization"] == "Bearer none"


def test_the_key_is_in_no_representation(make_llm: MakeLLM) -> None:
    llm = make_llm()
    list(complete(llm, ASKED))
    assert not [text for text in (repr(llm), str(llm), llm.model_dump_json(), str(llm.to_dict())) if KEY in text]


def test_llama_index_itself_can_ask_the_model(make_llm: MakeLLM, server: FakeOpenAI) -> None:
    assert str(make_llm().complete("Where did Ann work?")) == server.reply


# Answers


def test_an_answer_arrives_in_pieces_with_its_usage(make_llm: MakeLLM, server: FakeOpenAI) -> None:
    server.reply = "one two three"
    completion = complete(make_llm(), ASKED)
    assert list(completion) == ["one", " two", " three"]
    assert (completion.finish_reason, completion.truncated, completion.failure) == ("stop", False, None)
    assert completion.usage == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    assert list(completion) == []


def test_nothing_is_asked_before_the_iteration(make_llm: MakeLLM, server: FakeOpenAI) -> None:
    complete(make_llm(), ASKED)
    assert server.requests == []


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_answer_that_ran_out_is_truncated(make_llm: MakeLLM, server: FakeOpenAI, reason: str) -> None:
    server.finish_reason = reason
    completion = complete(make_llm(), ASKED)
    assert "".join(completion) == server.reply
    assert completion.truncated


def test_a_stream_that_is_cut_cleanly_is_truncated(make_llm: MakeLLM, server: FakeOpenAI) -> None:
    server.fail(Fault("cut", after=2))
    completion = complete(make_llm(retries=3), ASKED)
    assert "".join(completion) == "Ann joined"
    assert completion.truncated
    assert len(server.requests) == 1


@pytest.mark.parametrize(("kind", "error"), [("drop", ServiceUnavailable), ("error", ModelError)])
def test_a_stream_that_breaks_keeps_what_had_arrived_and_is_not_asked_again(
    make_llm: MakeLLM, server: FakeOpenAI, kind: str, error: type[Exception]
) -> None:
    server.fail(Fault(kind, after=2))
    completion = complete(make_llm(retries=3), ASKED)
    assert "".join(completion) == "Ann joined"
    assert completion.truncated
    assert isinstance(completion.failure, error)
    assert len(server.requests) == 1


def test_a_reader_may_stop_early(make_llm: MakeLLM) -> None:
    completion = complete(make_llm(), ASKED)
    assert next(iter(completion)) == "Ann"
    assert completion.truncated
    assert completion.failure is None


def test_failures_before_the_first_piece_are_tried_again(make_llm: MakeLLM, server: FakeOpenAI) -> None:
    server.fail(Fault("status", 503, retry_after="0"), Fault("status", 429, retry_after="0"))
    assert "".join(complete(make_llm(retries=2), ASKED)) == server.reply
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault("status", 401, message="bad key {key}"), "refuses the key. Set OPENROUTER_API_KEY"),
        (Fault("status", 402, message="no credit"), "wants payment: no credit"),
        (Fault("status", 404), "does not know the model meta-llama.*Check FOOTNOTE_LLM__MODEL"),
        (Fault("status", 429, retry_after="3600", message="free limit"), "no more requests for now: free limit"),
        (Fault("status", 502), "fails with status 502"),
        (Fault("error", after=0, message="overloaded"), "returned an error: overloaded"),
        (Fault("empty"), "empty answer"),
        (Fault("garbage"), "did not answer in the form of a chat completion"),
        (Fault("page"), "did not answer in the form of a chat completion"),
    ],
    ids=lambda value: value.kind + str(value.status) if isinstance(value, Fault) else "",
)
def test_failures_are_named(make_llm: MakeLLM, server: FakeOpenAI, fault: Fault, message: str) -> None:
    server.fail(fault)
    with pytest.raises(ModelError, match=message) as caught:
        list(complete(make_llm(), ASKED))
    assert KEY not in str(caught.value)


def test_a_reply_without_text_after_all_tokens_is_an_error(make_llm: MakeLLM, server: FakeOpenAI) -> None:
    server.finish_reason = "length"
    server.fail(Fault("empty"))
    with pytest.raises(ModelError, match="FOOTNOTE_LLM__MAX_TOKENS"):
        list(complete(make_llm(), ASKED))


def test_a_server_that_is_not_there_is_unavailable(make_settings: MakeSettings) -> None:
    llm = build_llm(make_settings(llm={"api_base": "http://127.0.0.1:9/v1", "model": "llama3", "retries": 0}))
    assert llm is not None
    with pytest.raises(ServiceUnavailable, match="cannot be reached"):
        list(complete(llm, ASKED))


def test_a_server_that_is_too_slow_is_unavailable(make_llm: MakeLLM, server: FakeOpenAI) -> None:
    server.fail(Fault("slow", seconds=0.5))
    with pytest.raises(ServiceUnavailable, match="in time"):
        list(complete(make_llm(timeout_seconds=0.1), ASKED))


def test_text_that_cannot_be_encoded_is_sent_with_marks(make_llm: MakeLLM, server: FakeOpenAI) -> None:
    list(complete(make_llm(), [("user", "who \ud800?")]))
    assert server.requests[0].body["messages"][0]["content"] == "who ??"


def test_any_llama_index_model_can_be_read() -> None:
    completion = complete(MockLLM(), [("user", "echo")])
    assert "echo" in "".join(completion)
    assert not completion.truncated
