from collections.abc import Callable

import pytest

from config.settings import Settings
from pipelines.models.identity import LLMIdentity
from pipelines.models.prices import answer_cost, cost, embedding_price, llm_price
from pipelines.types import EmbeddingIdentity


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
