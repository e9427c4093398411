from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest
from llama_index.core.llms import LLM, ChatMessage, ChatResponse, CompletionResponse, CustomLLM, LLMMetadata

from config.settings import Settings
from pipelines.errors import ModelError, ServiceUnavailable
from pipelines.models import usage as prompt_tokens
from pipelines.models.consult import consult
from pipelines.models.embedding import build_embed_model
from pipelines.models.identity import LLMIdentity
from pipelines.models.llm import build_llm, complete
from pipelines.models.usage import (
    Call,
    Meter,
    answer_cost,
    cost,
    count,
    embedding_price,
    llm_price,
    metered,
    metering,
    record_token_counts,
    token_margin,
)
from pipelines.text import count_tokens
from pipelines.types import EmbeddingIdentity
from tests.fake_openai import FakeOpenAI, Fault
from tests.unit.query.voice import Voice

ASKED = [("system", "Answer briefly."), ("user", "Where did Ann work?")]  # 3 + 5 tokens of cl100k


@pytest.fixture
def llm(make_settings: Callable[..., Settings], server: FakeOpenAI) -> LLM:
    asked = {"api_base": server.url, "model": "fake", "retries": 0}
    built = build_llm(make_settings(llm={"provider": "openai", **asked}))
    assert built is not None
    return built


def test_what_is_asked_several_times_for_one_answer_is_added_up() -> None:
    meter = Meter()
    with metering(meter):
        count(lambda: Call("llm", 100, 10))
        count(lambda: Call("llm", 200, 20, estimated=True))
        count(lambda: Call("embedding", 5))
        count(lambda: None)
    assert meter.usage() == {
        "prompt_tokens": 100 + 200, "completion_tokens": 10 + 20, "total_tokens": 330, "calls": 2,
        "embedding_tokens": 5, "estimated_tokens": 220,
    }  # fmt: skip


def test_nothing_is_counted_without_a_request_or_without_a_meter() -> None:
    meter = Meter()
    with metering(meter):
        pass
    count(lambda: Call("llm", 100, 10))
    assert meter.usage() == {}


def test_between_two_events_of_a_metered_stream_nothing_is_counted() -> None:
    meter, outside = Meter(), Meter()

    def events() -> Generator[str, None, int]:
        count(lambda: Call("llm", 1, 0))
        yield "a"
        count(lambda: Call("llm", 2, 0))
        return 7

    def whole() -> Generator[str, None, int]:
        return (yield from metered(meter, events()))

    with metering(outside):
        stream = whole()
        assert next(stream) == "a"
        count(lambda: Call("llm", 40, 0))
        with pytest.raises(StopIteration) as end:
            next(stream)
    assert end.value.value == 7
    assert (meter.usage()["prompt_tokens"], outside.usage()["prompt_tokens"]) == (3, 40)


def test_closing_a_metered_stream_closes_its_generator() -> None:
    ended = []

    def events() -> Generator[int, None, None]:
        try:
            yield 1
            yield 2
        finally:
            ended.append(True)

    stream = metered(Meter(), events())
    assert next(stream) == 1
    stream.close()
    assert ended == [True]


def test_a_completion_counts_what_its_server_reports(llm: LLM, server: FakeOpenAI) -> None:
    server.reply = "At Acme."
    meter = Meter()
    with metering(meter):
        assert "".join(complete(llm, ASKED)) == "At Acme."
        assert consult(llm, ASKED, seconds=5, limit=100) == "At Acme."
    assert meter.usage() == {"prompt_tokens": 14, "completion_tokens": 4, "total_tokens": 18, "calls": 2}


def test_a_completion_is_estimated_where_its_server_does_not_report(llm: LLM, server: FakeOpenAI) -> None:
    server.reply = "At Acme since then."
    server.fail(Fault("cut", after=2))
    meter = Meter()
    with metering(meter):
        assert "".join(complete(llm, ASKED)) == "At Acme"
    usage = meter.usage()
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (3 + 5, 3)
    assert usage["estimated_tokens"] == usage["total_tokens"] == 11


def test_a_request_that_is_refused_costs_nothing(llm: LLM, server: FakeOpenAI) -> None:
    server.fail(Fault("status", 401))
    meter = Meter()
    with metering(meter), pytest.raises(ModelError):
        list(complete(llm, ASKED))
    assert meter.usage() == {}


def test_a_model_that_was_given_up_is_counted_as_far_as_it_was_asked() -> None:
    meter = Meter()
    with metering(meter), pytest.raises(ServiceUnavailable):
        consult(Voice(replies=["late"], wait=0.5), ASKED, seconds=0.05, limit=100)
    assert meter.usage()["estimated_tokens"] == 3 + 5


def test_a_remote_embedding_counts_its_tokens_and_a_local_one_has_none(
    make_settings: Callable[..., Settings], server: FakeOpenAI
) -> None:
    remote = build_embed_model(make_settings(openai_api_key="sk-1", openai_api_base=server.url))
    local = build_embed_model(make_settings())
    meter = Meter()
    with metering(meter):
        remote.get_text_embedding_batch(["one", "two", "three"])
        remote.get_query_embedding("four")
        local.get_query_embedding("five")
    assert meter.usage() == {"embedding_tokens": 3 + 1}  # the fake reports one a text


def model(name: str, provider: str = "openai") -> EmbeddingIdentity:
    return EmbeddingIdentity(provider, name, 1536)


@pytest.mark.parametrize(
    ("name", "price"),
    [("text-embedding-3-small", 0.02), ("openai/text-embedding-3-large", 0.13), ("text-embedding-ada-002", 0.10)],
)
def test_the_prices_of_openai_s_embeddings_are_known(name: str, price: float) -> None:
    assert embedding_price(model(name)) == price


def test_a_stated_price_wins_over_a_known_one_and_makes_an_unknown_one_known() -> None:
    assert embedding_price(model("text-embedding-3-small"), 0.5) == 0.5
    assert embedding_price(model("gemini-embedding-001")) is None
    assert embedding_price(model("gemini-embedding-001"), 0.15) == 0.15


@pytest.mark.parametrize("provider", ["local", "hashed"])
def test_what_runs_here_is_free_whatever_is_stated(provider: str) -> None:
    assert embedding_price(model("m", provider), 9.0) == 0


def test_a_language_model_costs_what_is_stated_and_nothing_where_it_is_called_free() -> None:
    assert llm_price(LLMIdentity("openrouter", "meta-llama/llama-3.1-8b-instruct:free")) == 0
    assert llm_price(LLMIdentity("openrouter", "anthropic/claude")) is None
    assert llm_price(LLMIdentity("openrouter", "anthropic/claude"), 3.0) == 3.0
    assert llm_price(None) == 0


def test_a_cost_is_tokens_times_the_price_of_a_million() -> None:
    assert cost(250_000, 0.02) == 250_000 * 0.02 / 1_000_000
    assert cost(250_000, None) is None
    assert cost(0, None) == 0


def llm_settings(make_settings: Callable[..., Settings], **llm: object) -> Settings:
    asked = {"provider": "openai", "api_base": "https://models.example/v1", "model": "m", **llm}
    return make_settings(openai_api_key="sk-1", llm=asked, embedding={"price": 0.5})


SMALL = EmbeddingIdentity("openai", "text-embedding-3-small", 1536)


def test_an_answer_costs_what_is_read_written_and_embedded(make_settings: Callable[..., Settings]) -> None:
    settings = llm_settings(make_settings, price=2.0, completion_price=10.0)
    usage = {"prompt_tokens": 3000, "completion_tokens": 200, "total_tokens": 3200, "embedding_tokens": 12}
    assert answer_cost(usage, settings, SMALL) == pytest.approx((3000 * 2.0 + 200 * 10.0 + 12 * 0.5) / 1_000_000)


def test_what_is_written_costs_as_much_as_what_is_read_where_only_one_price_is_stated(
    make_settings: Callable[..., Settings],
) -> None:
    usage = {"prompt_tokens": 3000, "completion_tokens": 200}
    assert answer_cost(usage, llm_settings(make_settings, price=2.0), SMALL) == pytest.approx(3200 * 2.0 / 1_000_000)


def test_a_cost_is_not_known_only_where_tokens_were_used_at_an_unknown_price(
    make_settings: Callable[..., Settings],
) -> None:
    settings = llm_settings(make_settings)
    assert answer_cost({"prompt_tokens": 1, "completion_tokens": 0}, settings, SMALL) is None
    assert answer_cost({"embedding_tokens": 100}, settings, SMALL) == 100 * 0.5 / 1_000_000
    assert answer_cost({}, settings, SMALL) == 0.0


@pytest.mark.parametrize("base", ["http://localhost:11434/v1", "http://127.0.0.1:8000/v1", "http://[::1]:8000/v1"])
def test_a_model_on_this_machine_costs_nothing_unless_a_price_is_stated(
    make_settings: Callable[..., Settings], base: str
) -> None:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
    assert answer_cost(usage, llm_settings(make_settings, api_base=base), SMALL) == 0.0
    assert answer_cost(usage, llm_settings(make_settings, api_base=base, price=2.0), SMALL) == 2.0


def test_an_answer_without_remote_models_costs_nothing(make_settings: Callable[..., Settings]) -> None:
    assert answer_cost({}, make_settings(), EmbeddingIdentity("local", "all-MiniLM-L6-v2", 384)) == 0.0


@pytest.fixture(autouse=True)
def _nothing_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_tokens, "_seen", {})


def test_before_a_model_reports_the_setting_holds() -> None:
    record_token_counts("one", counted=1000, reported=1300)
    assert token_margin("another") == 1.15


def test_the_margin_is_what_a_model_reports_and_a_little_more() -> None:
    record_token_counts("one", counted=1000, reported=1300)
    assert token_margin("one") == pytest.approx(1.05 * 1.3)


def test_later_reports_weigh_more_than_earlier_ones() -> None:
    for reported in (1000, 2000):
        record_token_counts("one", counted=1000, reported=reported)
    assert token_margin("one") == pytest.approx(1.05 * (0.9 * 1000 + 2000) / (0.9 * 1000 + 1000))


@pytest.mark.parametrize(("counted", "reported"), [(1000, 7), (1000, 90_000), (50, 60)])
def test_a_report_that_cannot_be_of_the_same_text_or_is_of_a_short_one_is_left_out(counted: int, reported: int) -> None:
    record_token_counts("one", counted=counted, reported=reported)
    assert token_margin("one") == 1.15


class Reporting(CustomLLM):
    """A model whose server counts twice the tokens that we count."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="twice")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError

    def stream_chat(self, messages: Any, **kwargs: Any) -> Iterator[ChatResponse]:
        told = {"prompt_tokens": 2 * sum(count_tokens(message.content) for message in messages)}
        yield ChatResponse(message=ChatMessage(role="assistant"), delta="Yes", additional_kwargs=told)


def test_what_an_endpoint_reports_of_a_request_is_learnt() -> None:
    assert list(complete(Reporting(), [("system", "Say yes."), ("user", "The crane ran. " * 200)])) == ["Yes"]
    assert token_margin("twice") == pytest.approx(1.05 * 2)
