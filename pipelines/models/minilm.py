"""The local model all-MiniLM-L6-v2: texts of any length to unit vectors, on this machine and without a network.

The int8 model and its tokenizer are part of the package (`weights/`, made by data/make_model.py).
"""

import hashlib
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pipelines.errors import ConfigError
from pipelines.observe import log
from pipelines.text import printable

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["int8", "fp32"]
Vectors = NDArray[np.float32]
Read = TypeVar("Read")

DIMENSION = 384
WINDOW_PIECES, OVERLAP_PIECES = 254, 32


class Pieces(NamedTuple):
    """The word pieces of a text: vectors (n, 384), not normalised, and where each starts and ends in the text (n,)."""

    vectors: Vectors
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


class ModelFile(NamedTuple):
    """The expected size in bytes and SHA-256 of a file."""

    size: int
    sha256: str


FOLDER = Path(__file__).parent / "weights"
INT8_MODEL, WORD_EMBEDDINGS = "all-minilm-l6-v2-int8.onnx", "word-embeddings.bin"
READER_MODEL = "reader-int8.onnx"  # see pipelines/models/reader.py
FP32_GRAPH = "all-minilm-l6-v2-fp32.onnx"  # its weights are read from model.safetensors
TOKENIZER, WEIGHTS = "tokenizer.json", "model.safetensors"
FILES = {
    INT8_MODEL: ModelFile(11653907, "d27f2b53666cc13026b614f0e5284f8e4a23c072571a7a4d6afce567839677e1"),
    WORD_EMBEDDINGS: ModelFile(46881792, "352d34a4ad725bb742f36fc3f2a2dcfa7f07317926128d47c362198125003892"),
    FP32_GRAPH: ModelFile(31059, "6a19383d30c1b77cb654058843181a994ac3adb6b3132c2b5e722ceaa2a0bd8f"),
    READER_MODEL: ModelFile(11655723, "14f4edb2f5c2b9d9f46d47dc6c95757cb51133bfbed904a8e90a93dae84cff5b"),
    TOKENIZER: ModelFile(466247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
}
EMBEDDING_FILES = (INT8_MODEL, WORD_EMBEDDINGS, FP32_GRAPH, TOKENIZER)
# The published weights, from which `FILES` are made; fp32 and CUDA read them.
SOURCE_FILES = {
    WEIGHTS: ModelFile(90868376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    TOKENIZER: FILES[TOKENIZER],
}

CLS, SEP = 101, 102
_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
_WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
_LOADED: dict[tuple[object, ...], "MiniLM"] = {}
_LOADING = threading.Lock()

onnxruntime.set_default_logger_severity(3)
onnxruntime.disable_telemetry_events()


def load_minilm(
    *, precision: Precision = "int8", device: Device = "auto", threads: int = 0, model_path: str = ""
) -> "MiniLM":
    """The model, one per process and arguments; its files are checked by their SHA-256 when they are opened.

    Args:
        precision: int8 is two to three times faster on a CPU; CUDA always computes in fp32.
        device: `auto` uses CUDA if it and `model_path` are available, else the CPU.
        threads: Texts embedded in parallel; 0 = every core that this process may use.
        model_path: A folder with model.safetensors and tokenizer.json, which fp32 and CUDA need.

    Raises:
        ConfigError: If a file is missing or damaged, or fp32 is asked for without a folder.
    """
    key = (precision, device, threads, model_path)
    with _LOADING:
        if key not in _LOADED:
            verify_files(EMBEDDING_FILES)
            _LOADED[key] = MiniLM(_open_session(precision, device, model_path), threads)
        return _LOADED[key]


def verify_files(names: Collection[str] = tuple(FILES)) -> None:
    """Check the size and the SHA-256 of packaged files.

    Raises:
        ConfigError: If one is missing or damaged.
    """
    hint = "Install Footnote again; in a clone, run `git checkout pipelines/models/weights`."
    verify(FOLDER, {name: FILES[name] for name in names}, hint)


def verify_source(folder: Path) -> None:
    """Check that a folder holds the published weights and tokenizer of all-MiniLM-L6-v2.

    Raises:
        ConfigError: If a file is missing or another one, whose vectors would be silently wrong.
    """
    hint = "FOOTNOTE_EMBEDDING__MODEL_PATH must name a folder with both files of all-MiniLM-L6-v2; int8 needs none."
    verify(folder, SOURCE_FILES, hint)


def verify(folder: Path, files: Mapping[str, ModelFile], hint: str) -> None:
    """Check the size and the SHA-256 of files in a folder.

    Raises:
        ConfigError: With this hint, if one is missing or damaged.
    """
    for name, expected in files.items():
        path = folder / name
        try:
            with path.open("rb") as stream:
                size = os.fstat(stream.fileno()).st_size
                if size != expected.size:
                    raise ConfigError(f"{path} is damaged: it has {size:,} bytes, not {expected.size:,}.", hint=hint)
                found = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}.", hint=hint) from error
        if found != expected.sha256:
            raise ConfigError(f"{path} is damaged: its SHA-256 is {found}, not {expected.sha256}.", hint=hint)


def examine_model(model_path: str = "") -> tuple[bool, str, str]:
    """(True if the files of the local model are intact, their folder or the problem, the hint)."""
    try:
        verify_files()
        if model_path:
            verify_source(Path(model_path))
    except ConfigError as error:
        return False, error.message, error.hint
    return True, f"all-MiniLM-L6-v2 in {model_path or FOLDER}", ""


def _open_session(precision: Precision, device: Device, model_path: str) -> Any:
    """A session on the requested device, else on the CPU, with a warning if CUDA was requested by name."""
    if device != "cpu" and model_path and _CUDA in onnxruntime.get_available_providers():
        session = _fp32_session(model_path, [_CUDA, _CPU])
        if _CUDA in session.get_providers():
            return session
    if device == "cuda":
        reason = "" if model_path else " (it needs FOOTNOTE_EMBEDDING__MODEL_PATH)"
        log("warning", f"CUDA is not available{reason}; the embedding model runs on the CPU")
    if precision == "int8":
        return open_int8(INT8_MODEL)
    if not model_path:
        raise ConfigError(
            "The local embedding model in fp32 needs its published weights.",
            hint="Set FOOTNOTE_EMBEDDING__MODEL_PATH to a folder with model.safetensors and tokenizer.json.",
        )
    return _fp32_session(model_path, [_CPU])


def open_int8(name: str) -> Any:
    """A session of a packaged int8 model, on the CPU, with the operators that the file names."""
    options = _options()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(str(FOLDER / name), options, providers=[_CPU])


def _fp32_session(model_path: str, providers: list[str]) -> Any:
    folder = Path(model_path).resolve()
    verify_source(folder)
    options = _options()
    options.add_session_config_entry(_WEIGHTS_FOLDER, str(folder))
    return onnxruntime.InferenceSession((FOLDER / FP32_GRAPH).read_bytes(), options, providers=providers)


def _options() -> Any:
    """Session options with one thread a session: callers run it from several threads."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return options


class MiniLM:
    """A loaded model; safe to use from several threads at once.

    Every window is one run without padding, so a text's vector never depends on other texts; on a CPU texts in parallel
    threads are faster than batches.
    """

    def __init__(self, session: Any, threads: int = 0) -> None:
        self._session = session
        self._threads = threads or _cores()
        self._pools: dict[int, ThreadPoolExecutor] = {}
        self._tokenizer = Tokenizer.from_file(str(FOLDER / TOKENIZER))
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

    def embed_pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """The word pieces of each text, in the order given; each vector depends on the pieces around it.

        Of a text that is read in overlapping windows, a piece has its vector from the window that holds more around it.
        """
        return self._in_parallel(self._read_pieces, texts)

    def _read(self, texts: Sequence[str]) -> list[tuple[Vectors, list[int]]]:
        return self._in_parallel(self._read_one, texts)

    def _in_parallel(self, read: Callable[[str], Read], texts: Sequence[str]) -> list[Read]:
        if min(len(texts), self._threads) < 2:
            return [read(text) for text in texts]
        longest_first = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        found = self._pool().map(read, (texts[row] for row in longest_first))
        by_row = dict(zip(longest_first, found, strict=True))
        return [by_row[row] for row in range(len(texts))]

    def _pool(self) -> ThreadPoolExecutor:
        """The threads of this process; a forked one starts its own."""
        process = os.getpid()
        with _LOADING:
            if process not in self._pools:
                self._pools = {process: ThreadPoolExecutor(self._threads, thread_name_prefix="embed")}
            return self._pools[process]

    def _read_one(self, text: str) -> tuple[Vectors, list[int]]:
        pieces = self._encode(text).ids
        spans = windows(len(pieces))
        means = np.stack([self._run(pieces[start:end], "mean") for start, end in spans])
        return means, [end - start for start, end in spans]

    def _read_pieces(self, text: str) -> Pieces:
        encoded = self._encode(text)
        spans = windows(len(encoded.ids))
        seams = [(ahead[0] + held[1]) // 2 for held, ahead in pairwise(spans)]
        edges = pairwise([0, *seams, len(encoded.ids)])
        vectors = [
            self._run(encoded.ids[start:end], "tokens")[1:-1][first - start : last - start]
            for (start, end), (first, last) in zip(spans, edges, strict=True)
        ]
        offsets = np.array(encoded.offsets, np.int64).reshape(-1, 2)
        return Pieces(np.concatenate(vectors), offsets[:, 0], offsets[:, 1])

    def _encode(self, text: str) -> Any:
        # The tokenizer refuses lone surrogates, which a pasted question can hold.
        return self._tokenizer.encode(printable(text), add_special_tokens=False)

    def _run(self, pieces: list[int], output: str) -> Vectors:
        row = np.array([[CLS, *pieces, SEP]], np.int32)
        vectors: Vectors = self._session.run([output], {"input_ids": row})[0][0]
        return vectors


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
