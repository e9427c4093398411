"""PAIRS: a local ONNX model that reads two texts side by side, such as a cross-encoder."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import ConfigError, ModelError

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
LONGEST = 512  # word pieces of both texts together; what the usual models were trained with
_INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}


class PairModel:
    """A sequence classifier over two texts in ONNX Runtime.

    Args:
        folder: Has `model.onnx` and `tokenizer.json`.
        what: What it is for, in errors: `reranker`.
        setting: The environment variable that names the folder.

    Raises:
        ConfigError: If a file is missing, cannot be read, or wants an input that is not known.
    """

    def __init__(self, folder: Path, what: str, setting: str) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        for name in (MODEL, TOKENIZER):
            if not (folder / name).is_file():
                raise ConfigError(f"{folder / name} does not exist.", hint=f"Set {setting} to a folder that has it.")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(str(folder / MODEL), options)
            self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        except Exception as error:  # the errors of both libraries share no base
            raise ConfigError(
                f"The {what} in {folder} cannot be read: {error}", hint="Export it to ONNX again."
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST)
        self._inputs = {given.name: _integer(given.type) for given in self._session.get_inputs()}
        if unknown := self._inputs.keys() - _INPUTS.keys():
            raise ConfigError(
                f"The {what} in {folder} wants the input {min(unknown)}.", hint=f"Inputs: {', '.join(_INPUTS)}."
            )
        self._what = what

    def logits(self, first: str, second: str) -> NDArray[np.float64]:
        """One logit a class, (classes,).

        Raises:
            ModelError: If the model gives something that is no number.
        """
        pair = self._tokenizer.encode(_sound(first), _sound(second))
        feed: dict[str, Any] = {
            name: np.array([getattr(pair, _INPUTS[name])], dtype) for name, dtype in self._inputs.items()
        }
        out = np.asarray(self._session.run(None, feed)[0], np.float64).ravel()
        if not out.size or not np.isfinite(out).all():
            raise ModelError(f"The {self._what} gave {out[:3].tolist()}, which is no logit.")
        return out


def _integer(kind: str) -> type[np.signedinteger[Any]]:
    return np.int32 if "int32" in kind else np.int64


def _sound(text: str) -> str:
    """The text without lone surrogates, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode()
