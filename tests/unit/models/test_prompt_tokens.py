from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse, CustomLLM, LLMMetadata

from pipelines.models import prompt_tokens
from pipelines.models.llm import complete
from pipelines.models.prompt_tokens import learn, margin
from pipelines.text import count_tokens


@pytest.fixture(autouse=True)
def _nothing_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_tokens, "_seen", {})


def test_before_a_model_reports_the_setting_holds() -> None:
    learn("one", counted=1000, reported=1300)
    assert margin("another", 1.15) == 1.15


def test_the_margin_is_what_a_model_reports_and_a_little_more() -> None:
    learn("one", counted=1000, reported=1300)
    assert margin("one", 1.15) == pytest.approx(1.05 * 1.3)


def test_later_reports_weigh_more_than_earlier_ones() -> None:
    for reported in (1000, 2000):
        learn("one", counted=1000, reported=reported)
    assert margin("one", 1.15) == pytest.approx(1.05 * (0.9 * 1000 + 2000) / (0.9 * 1000 + 1000))


@pytest.mark.parametrize(("counted", "reported"), [(1000, 7), (1000, 90_000), (50, 60)])
def test_a_report_that_cannot_be_of_the_same_text_or_is_of_a_short_one_is_left_out(counted: int, reported: int) -> None:
    learn("one", counted=counted, reported=reported)
    assert margin("one", 1.15) == 1.15


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
    assert margin("twice", 1.15) == pytest.approx(1.05 * 2)
