from collections.abc import Callable, Generator

import pytest
from llama_index.core.llms import LLM

from config.settings import Settings
from pipelines.errors import ModelError, ServiceUnavailable
from pipelines.models.consult import consult
from pipelines.models.embed import build_embed_model
from pipelines.models.llm import build_llm, complete
from pipelines.models.meter import Call, Meter, count, metered, metering
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


def test_nothing_is_counted_where_no_model_is_asked_or_nobody_counts() -> None:
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


def test_a_metered_stream_that_is_left_ends_what_it_was_made_of() -> None:
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
