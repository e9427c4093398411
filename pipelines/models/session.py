"""The ONNX Runtime session of the local model: made once from the weights, kept under the home folder, then loaded."""

import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import onnxruntime

from pipelines.errors import ConfigError
from pipelines.models.weights import TOKENIZER, fetch, find_weights, read_weights, verify
from pipelines.observe import log

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["int8", "fp32"]

_VERSION = 1
_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"

onnxruntime.set_default_logger_severity(3)
onnxruntime.disable_telemetry_events()


@dataclass(frozen=True, slots=True)
class ModelCache:
    """Where the model's ONNX files are kept, and where they are made from when they are not there yet."""

    folder: Path
    model_path: str = ""
    allow_download: bool = False

    @property
    def tokenizer(self) -> Path:
        """The tokenizer's file; there once `model` has been called."""
        return self.folder / f"tokenizer-v{_VERSION}.json"

    def model(self, precision: Precision, *, remake: bool = False) -> Path:
        """The ONNX file of a precision, made when it is missing; safe when several processes make it at once.

        Raises:
            ConfigError: If the weights are missing or not the known ones, or the folder cannot be written.
        """
        if self.model_path:
            find_weights(self.model_path)
        path = self.folder / f"all-minilm-l6-v2-{precision}-v{_VERSION}.onnx"
        if remake or not (path.is_file() and self.tokenizer.is_file()):
            self._make(path, precision)
        return path

    def _make(self, path: Path, precision: Precision) -> None:
        from pipelines.models.graph import build_model

        source = self._source()
        verify(source)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _write(self.tokenizer, lambda part: shutil.copyfile(source / TOKENIZER, part))
            _write(path, lambda part: part.write_bytes(build_model(read_weights(source), precision)))
        except OSError as error:
            raise ConfigError(
                f"The embedding model cannot be kept in {self.folder}: {error.strerror}.",
                hint="Set FOOTNOTE_HOME to a folder that can be written.",
            ) from error

    def _source(self) -> Path:
        try:
            return find_weights(self.model_path)
        except ConfigError:
            if self.model_path or not self.allow_download:
                raise
            return fetch()


def open_session(cache: ModelCache, precision: Precision, device: Device) -> Any:
    """A session on the device asked for, else on the CPU, with a warning when CUDA was asked for by name.

    It computes in one thread: callers run it from as many threads as they want used. CUDA computes in fp32.

    Raises:
        ConfigError: If the model cannot be made.
    """
    cuda = device != "cpu" and _CUDA in onnxruntime.get_available_providers()
    if cuda:
        session = _open(cache, "fp32", [_CUDA, _CPU])
        if _CUDA in session.get_providers():
            return session
    if device == "cuda":
        log("warning", "CUDA is not available; the embedding model runs on the CPU")
    return _open(cache, precision, [_CPU])


def _open(cache: ModelCache, precision: Precision, providers: list[str]) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    path = cache.model(precision)
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=providers)
    except Exception as error:  # noqa: BLE001 - the errors of ONNX Runtime share no base
        log("warning", "the kept embedding model cannot be read and is made again", error=type(error).__name__)
        path = cache.model(precision, remake=True)
        return onnxruntime.InferenceSession(str(path), options, providers=providers)


def _write(path: Path, fill: Callable[[Path], object]) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        fill(part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
