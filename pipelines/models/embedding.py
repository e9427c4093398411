"""Build the embedding model that the settings name: two local ones, OpenAI-compatible ones, hashed words for tests."""

import asyncio
import hashlib
import re
from collections.abc import Iterator, Sequence

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from numpy.typing import NDArray

from config.settings import OPENAI_BASE, Settings
from pipelines.errors import ConfigError
from pipelines.models.identity import MULTILINGUAL, identity, requested_dimensions
from pipelines.models.minilm import Device, MiniLM, Pieces, Precision, load_minilm
from pipelines.types import EmbeddingIdentity

_LOCAL_GROUP = 128  # texts: the last of a group may leave cores idle


def build_embed_model(settings: Settings) -> BaseEmbedding:
    """The embedding model of `identity(settings)`; nothing is loaded or asked before its first use.

    Its first use raises ConfigError when a local file is missing or damaged, ServiceUnavailable when a server cannot be
    reached, and ModelError when a server answers with an error or with vectors that cannot be used.

    Raises:
        ConfigError: If the settings contradict each other, or a key is missing.
    """
    chosen, asked = identity(settings), settings.embedding
    if chosen.provider == "openai":
        return _remote(settings, chosen)
    if chosen.provider == "hashed":
        return HashedEmbedding(model_name=chosen.model, dimension=chosen.dimension, embed_batch_size=asked.batch_size)
    if chosen.model == MULTILINGUAL:
        from pipelines.models.multilingual import MultilingualEmbedding

        return MultilingualEmbedding(model_name=chosen.model, threads=asked.threads)
    return MiniLMEmbedding(
        model_name=chosen.model,
        embed_batch_size=asked.batch_size,
        precision=asked.precision,
        device=asked.device,
        threads=asked.threads,
        model_path=asked.model_path,
    )


class MiniLMEmbedding(BaseEmbedding):
    """The local model as a LlamaIndex embedding; all instances of a process share one loaded model."""

    precision: Precision = "int8"
    device: Device = "auto"
    threads: int = 0
    model_path: str = ""

    @classmethod
    def class_name(cls) -> str:
        return "MiniLMEmbedding"

    def _model(self) -> MiniLM:
        return load_minilm(
            precision=self.precision, device=self.device, threads=self.threads, model_path=self.model_path
        )

    def get_window_embeddings(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """For each text, one vector for each window of 254 word pieces, instead of one pooled vector."""
        return self._model().embed_windows(texts)

    def get_piece_embeddings(self, texts: Sequence[str]) -> list[Pieces]:
        """The word pieces of each text, with a vector for each."""
        return self._model().embed_pieces(texts)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._model().embed_texts(texts).tolist()
        return vectors

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embeddings([query])[0]

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)


class HashedEmbedding(BaseEmbedding):
    """Hashed words and trigrams as a LlamaIndex embedding, for tests that need no model."""

    dimension: int = 256

    @classmethod
    def class_name(cls) -> str:
        return "HashedEmbedding"

    def _get_text_embedding(self, text: str) -> list[float]:
        vector: list[float] = hashed_vector(text, self.dimension).tolist()
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def _remote(settings: Settings, chosen: EmbeddingIdentity) -> BaseEmbedding:
    from pipelines.models.endpoint import Endpoint, secret
    from pipelines.models.openai_embedding import RemoteEmbedding

    asked, url = settings.embedding, settings.openai_api_base
    if not settings.openai_api_key and url == OPENAI_BASE:
        hint = "Set OPENAI_API_KEY, or FOOTNOTE_EMBEDDING__PROVIDER=local."
        raise ConfigError(f"{chosen.model} needs a key.", hint=hint)
    endpoint = Endpoint(
        url=url,
        model=chosen.model,
        key=secret(settings.openai_api_key),
        retries=asked.retries,
        key_variable="OPENAI_API_KEY",
        model_variable="FOOTNOTE_EMBEDDING__MODEL",
        ca_file=settings.ca_file,
    )
    return RemoteEmbedding(
        endpoint,
        dimension=chosen.dimension,
        send_dimensions=requested_dimensions(chosen),
        batch_size=asked.batch_size,
        pause_seconds=asked.pause_ms / 1000,
        timeout_seconds=asked.timeout_seconds,
    )


def group_size(model: BaseEmbedding) -> int:
    """Texts to embed at once: enough to keep all cores busy, or the batch size of a remote model."""
    return _LOCAL_GROUP if isinstance(model, MiniLMEmbedding) else model.embed_batch_size


def window_vectors(model: BaseEmbedding, texts: Sequence[str]) -> list[NDArray[np.float32]]:
    """For each text the vectors of its windows, (windows, dimension): one for a model that reads it whole."""
    if isinstance(model, MiniLMEmbedding):
        return model.get_window_embeddings(texts)
    return [np.asarray([vector], dtype=np.float32) for vector in model.get_text_embedding_batch(list(texts))]


def piece_vectors(model: BaseEmbedding, texts: Sequence[str]) -> list[Pieces]:
    """The word pieces of each text as the local model reads them, whichever model is in use."""
    local = model if isinstance(model, MiniLMEmbedding) else MiniLMEmbedding()
    return local.get_piece_embeddings(texts)


def hashed_vector(text: str, dimension: int) -> NDArray[np.float32]:
    """A unit vector that depends on the text alone; texts that share words or parts of words are near each other.

    Every feature adds or subtracts one at a place that its hash names. A text without words has a vector too.

    Source: Weinberger et al., ICML 2009, doi:10.1145/1553374.1553516.
    """
    vector = np.zeros(dimension, np.float32)
    for feature in _features(text):
        code = int.from_bytes(hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest(), "big")
        vector[(code >> 1) % dimension] += 1 - 2 * (code & 1)
    length = float(np.linalg.norm(vector))
    if not length:
        vector[0] = length = 1.0
    return vector / np.float32(length)


def _features(text: str) -> Iterator[str]:
    for word in re.findall(r"\w+", text.lower()):
        yield f"={word}"
        padded = f" {word} "
        yield from (padded[start : start + 3] for start in range(len(padded) - 2))
