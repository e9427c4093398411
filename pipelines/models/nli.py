"""NLI: a local model of inference, which tells whether a text entails or contradicts a claim; optional."""

import json
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipelines.errors import ConfigError, ModelError
from pipelines.models.pairs import PairModel

CONFIG = "config.json"
_SETTING = "FOOTNOTE_ANSWER__NLI_MODEL"


class Entailment(NamedTuple):
    """How probable (0..1) it is that a text entails a claim, and that it contradicts it."""

    entailed: float
    contradicted: float


class Inference:
    """A classifier of (text, claim) whose classes `config.json` names by `id2label`, in any order."""

    def __init__(self, folder: Path) -> None:
        self._labels = _labels(folder)
        self._model = PairModel(folder, "model of inference", _SETTING)

    def __call__(self, text: str, claim: str) -> Entailment:
        """How a text bears on a claim; 512 word pieces of both are read.

        Raises:
            ModelError: If the model gives another number of classes than its configuration names, or no numbers.
        """
        logits = self._model.logits(text, claim)
        if len(logits) != len(self._labels):
            raise ModelError(f"The model of inference gave {len(logits)} classes, {CONFIG} names {len(self._labels)}.")
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
