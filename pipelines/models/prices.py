"""What paid models cost: US dollars a million tokens."""

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from config.settings import Settings
from pipelines.models.identity import LLMIdentity, llm_identity
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


def answer_cost(usage: Mapping[str, int], settings: Settings, embedding: EmbeddingIdentity) -> float | None:
    """US dollars that an answer's tokens (`Meter.usage`) cost, to the billionth; None where a price is not known.

    0 where no model was asked, or only models on this machine. What the language model writes costs what the settings
    say of it, else as much as what it reads.
    """
    asked = settings.llm
    read = asked.price if _is_here(settings) else llm_price(llm_identity(settings), asked.price)
    written = asked.completion_price or read
    priced = [
        (usage.get("prompt_tokens", 0), read),
        (usage.get("completion_tokens", 0), written),
        (usage.get("embedding_tokens", 0), embedding_price(embedding, settings.embedding.price)),
    ]
    total = 0.0
    for tokens, price in priced:
        if tokens and price is None:
            return None
        total += tokens * (price or 0.0) / 1_000_000
    return round(total, 9)


def _is_here(settings: Settings) -> bool:
    """Whether the language model's server is on this machine."""
    llm = llm_identity(settings)
    if llm is None or llm.provider != "openai":
        return False
    host = urlsplit(settings.llm.api_base or settings.openai_api_base).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
