"""Local ONNX models that read two texts side by side: cross-encoders for reranking, and natural language inference."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

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
            ModelError: If the model gives something that is not a number.
        """
        pair = self._tokenizer.encode(_sound(first), _sound(second))
        feed: dict[str, Any] = {
            name: np.array([getattr(pair, _INPUTS[name])], dtype) for name, dtype in self._inputs.items()
        }
        out = np.asarray(self._session.run(None, feed)[0], np.float64).ravel()
        if not out.size or not np.isfinite(out).all():
            raise ModelError(f"The {self._what} gave {out[:3].tolist()}, which is not a logit.")
        return out


def _integer(kind: str) -> type[np.signedinteger[Any]]:
    return np.int32 if "int32" in kind else np.int64


def _sound(text: str) -> str:
    """The text without lone surrogates, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode()


CONFIG = "config.json"
_SETTING = "FOOTNOTE_ANSWER__NLI_MODEL"


class Entailment(NamedTuple):
    """Probabilities (0..1) that a text entails a claim, and that it contradicts it."""

    entailed: float
    contradicted: float


class Inference:
    """A classifier of (text, claim) whose classes `config.json` names by `id2label`, in any order."""

    def __init__(self, folder: Path) -> None:
        self._labels = _labels(folder)
        self._model = PairModel(folder, "model of inference", _SETTING)

    def __call__(self, text: str, claim: str) -> Entailment:
        """Classify (text, claim), truncated to 512 word pieces together.

        Raises:
            ModelError: If the model gives another number of classes than its configuration names, or no numbers.
        """
        logits = self._model.logits(text, claim)
        if len(logits) != len(self._labels):
            raise ModelError(f"The inference model gave {len(logits)} classes, {CONFIG} names {len(self._labels)}.")
        raised = np.exp(logits - logits.max())
        shares = raised / raised.sum()
        return Entailment(*(float(shares[self._place(label)]) for label in ("entail", "contradict")))

    def _place(self, label: str) -> int:
        return next(place for place, name in enumerate(self._labels) if name.startswith(label))


@lru_cache(maxsize=2)
def load_inference(folder: str) -> Inference:
    """The model of a folder with `model.onnx`, `tokenizer.json` and `config.json`, loaded once; nothing is downloaded.

    Raises:
        ConfigError: If a file is missing or cannot be read, or no class is called entailment or contradiction.
    """
    return Inference(Path(folder))


def _labels(folder: Path) -> list[str]:
    """The names of the classes in lower case, in the order of the logits."""
    hint = f"Set {_SETTING} to a folder with a classifier of entailment and contradiction, or to nothing."
    try:
        named = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["id2label"]
        labels = [str(named[str(place)]).lower() for place in range(len(named))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{folder / CONFIG} does not name the classes by id2label: {error!r}.", hint=hint) from error
    if not all(any(name.startswith(label) for name in labels) for label in ("entail", "contradict")):
        raise ConfigError(f"{folder / CONFIG} names the classes {', '.join(labels)}.", hint=hint)
    return labels
