"""READER: MiniLM fitted to read a question and a text together, and to say whether the text answers.

Its file (`weights/reader-int8.onnx`) is made by data/make_reader.py from what data/fit_reader.py fits; the word
embeddings and the tokenizer are those of the embedding model.
"""

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipelines.models.minilm import CLS, FOLDER, READER_MODEL, SEP, TOKENIZER, MiniLM, cores, open_int8, verify_files

MOST_ASKED, MOST_READ = 48, 136  # word pieces of a question, and of both with the three that part them
_LOADING = threading.Lock()
_LOADED: dict[int, "Reader"] = {}


def load_reader(threads: int = 0) -> "Reader":
    """The reader, one per process and number of threads; 0 = every core that this process may use.

    Raises:
        ConfigError: If a file is missing or damaged.
    """
    with _LOADING:
        if threads not in _LOADED:
            verify_files()
            _LOADED[threads] = Reader(open_int8(READER_MODEL), FOLDER / TOKENIZER, threads or cores())
        return _LOADED[threads]


class Reader(MiniLM):
    """A loaded reader; safe to use from several threads at once."""

    def answers(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n,): the log-odds that each text answers the question; at most the first 136 word pieces of both count.

        Source: Nogueira and Cho 2019, arXiv:1901.04085 (one model reads question and passage together).
        """
        asked = self._encode(question).ids[:MOST_ASKED]

        def read(text: str) -> float:
            told = self._encode(text).ids[: MOST_READ - 3 - len(asked)]
            row = np.array([[CLS, *asked, SEP, *told, SEP]], np.int32)
            return float(self._session.run(["answers"], {"input_ids": row})[0].item())

        return np.array(self._in_parallel(read, texts), np.float32)
