import pytest

from pipelines.models.identity import LLMIdentity
from pipelines.models.prices import cost, embedding_price, llm_price
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
