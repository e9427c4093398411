"""What paid models cost: US dollars a million tokens."""

from pipelines.models.identity import LLMIdentity
from pipelines.types import EmbeddingIdentity

PRICES = {
    "text-embedding-3-small": 0.02,
    "text-embedding-3-large": 0.13,
    "text-embedding-ada-002": 0.10,
}


def embedding_price(model: EmbeddingIdentity, stated: float = 0.0) -> float | None:
    """US dollars a million tokens: 0 on this machine, else what is stated, else as known; None where it is not."""
    if model.provider in ("local", "hashed"):
        return 0.0
    return stated or PRICES.get(model.model.rsplit("/", 1)[-1])


def llm_price(model: LLMIdentity | None, stated: float = 0.0) -> float | None:
    """US dollars a million tokens: what is stated, 0 for a model that is called free; None where it is not known."""
    if model is None or (not stated and model.model.endswith(":free")):
        return 0.0
    return stated or None


def cost(tokens: int, price: float | None) -> float | None:
    """US dollars for so many tokens, to the millionth; None where the price is not known, unless there are none."""
    if not tokens:
        return 0.0
    return None if price is None else round(tokens * price / 1_000_000, 6)
