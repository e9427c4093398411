"""READER: MiniLM fitted to read a question and a text together, and to say whether the text answers.

Its file (`weights/reader-int8.onnx`) is made by data/make_reader.py from what data/fit_reader.py fits; the word
embeddings and the tokenizer are those of the embedding model.
"""

import threading
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.models.minilm import READER_MODEL, SEP, TOKENIZER, WORD_EMBEDDINGS, MiniLM, open_int8, verify_files

MOST_ASKED, MOST_READ = 48, 136  # word pieces of a question, and of both with the three that part them
_KEPT = 4_096  # texts in pieces
_LOADING = threading.Lock()
_LOADED: list["Reader"] = []


def load_reader() -> "Reader":
    """The reader, one per process; its files are checked when they are opened.

    Raises:
        ConfigError: If a file is missing or damaged.
    """
    with _LOADING:
        if not _LOADED:
            verify_files((READER_MODEL, WORD_EMBEDDINGS, TOKENIZER))
            _LOADED.append(Reader(open_int8(READER_MODEL)))
        return _LOADED[0]


class Reader(MiniLM):
    """A loaded reader; safe to use from several threads at once."""

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        # A unit is read again for each part of a question, and for the next one.
        self._pieces = lru_cache(_KEPT)(lambda text: array("H", self._encode(text).ids[:MOST_READ]))

    def answers(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n,): the log-odds that each text answers the question; at most the first 136 word pieces of both count.

        Source: Nogueira and Cho 2019, arXiv:1901.04085 (one model reads question and passage together).
        """
        asked = self._pieces(question)[:MOST_ASKED]

        def read(text: str) -> float:
            told = self._pieces(text)[: MOST_READ - 3 - len(asked)]
            return float(self._run([*asked, SEP, *told], "answers").item())

        return np.array(self._in_parallel(read, texts), np.float32)
