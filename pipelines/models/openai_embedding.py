"""Embeddings of an OpenAI-compatible server, with every returned vector checked."""

import asyncio
import time
from typing import Any

import numpy as np
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.embeddings.openai import OpenAIEmbedding

from pipelines.errors import ModelError
from pipelines.models.endpoint import HIDDEN_KEY, Endpoint, client_of, send
from pipelines.models.usage import Call, count
from pipelines.text import count_tokens, printable


class RemoteEmbedding(OpenAIEmbedding):
    """LlamaIndex's OpenAI embedding with one layer of retries, checked vectors and a hidden key."""

    _endpoint: Endpoint = PrivateAttr()
    _dimension: int = PrivateAttr()
    _pause: float = PrivateAttr()
    _last_batch: float = PrivateAttr(default=0.0)

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        dimension: int,
        send_dimensions: int | None,
        batch_size: int,
        pause_seconds: float,
        timeout_seconds: float,
    ) -> None:
        """A model on `endpoint`; nothing is asked yet.

        Args:
            dimension: The length that every vector must have.
            send_dimensions: The `dimensions` of a request; None = they are not sent.
            pause_seconds: The least time between the end of a batch and the start of the next.
        """
        super().__init__(
            model_name=endpoint.model,
            api_base=endpoint.url,
            api_key=HIDDEN_KEY,
            http_client=client_of(endpoint),
            dimensions=send_dimensions,
            embed_batch_size=batch_size,
            timeout=timeout_seconds,
            max_retries=0,
        )
        self._endpoint = endpoint
        self._dimension = dimension
        self._pause = pause_seconds

    def _get_credential_kwargs(self, is_async: bool = False) -> dict[str, Any]:
        return {**super()._get_credential_kwargs(is_async), "api_key": self._endpoint.key.get_secret_value()}

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        time.sleep(max(self._last_batch + self._pause - time.monotonic(), 0))
        try:
            return self._ask(texts)
        finally:
            self._last_batch = time.monotonic()

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._ask([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._ask([query])[0]

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    def _ask(self, texts: list[str]) -> list[list[float]]:
        # Servers refuse an empty text, and with it the whole batch.
        readable = [printable(text) or " " for text in texts]

        def request() -> list[list[float]]:
            client = self._get_client()
            answer = client.embeddings.create(input=readable, model=self._endpoint.model, **self.additional_kwargs)
            usage = getattr(answer, "usage", None)
            count(lambda: _spent(usage, readable))
            return [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]

        vectors = send(self._endpoint, request)
        self._check(vectors, len(texts))
        return vectors

    def _check(self, vectors: list[list[float]], count: int) -> None:
        model = f"{self._endpoint.model} at {self._endpoint.name}"
        if len(vectors) != count:
            raise ModelError(
                f"{model} returned {len(vectors)} vectors for {count} texts.", hint="Lower the batch size."
            )
        for vector in vectors:
            if len(vector) != self._dimension:
                hint = f"Set FOOTNOTE_EMBEDDING__DIMENSION={len(vector)}, or choose another model."
                raise ModelError(
                    f"{model} returned a vector of {len(vector)} dimensions, not {self._dimension}.", hint=hint
                )
            if not (np.isfinite(vector).all() and np.any(vector)):
                raise ModelError(f"{model} returned a vector that is zero or not finite.", hint="Try another model.")


def _spent(usage: Any, texts: list[str]) -> Call:
    """The tokens of a request, estimated if the server does not report them."""
    reported = getattr(usage, "prompt_tokens", None)
    if isinstance(reported, int):
        return Call("embedding", reported)
    return Call("embedding", sum(count_tokens(text) for text in texts), estimated=True)
