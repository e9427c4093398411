"""Language models that were measured here, and what follows from it: for their unsupported sentences and refusals."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class MeasuredModel:
    """The defaults for a model.

    Attributes:
        unsupported: What is done to sentences that no source supports.
        is_trusted: True if the model decides whether the passages answer; else quotation does: the model is asked where
            quotation finds an answer, which takes the place of a refusal and of a reply without full support.
    """

    unsupported: Literal["mark", "remove"] = "remove"
    is_trusted: bool = True


UNKNOWN = MeasuredModel()
# By the beginning of a model's name, without the provider before its slash. The figures are in docs/measurements.md:
# neither is good enough for marked sentences to be left to the reader, and both refuse what the passages answer.
MEASURED: dict[str, MeasuredModel] = {
    "qwen2.5-coder-1.5b": MeasuredModel("remove", is_trusted=False),
    "smollm2-135m": MeasuredModel("remove", is_trusted=False),
}


def measured(model: str) -> MeasuredModel:
    """The defaults for a model by its name; those of an unknown model if it has not been measured."""
    name = model.rsplit("/", 1)[-1].lower().replace(":", "-")  # Ollama writes `qwen2.5-coder:1.5b`
    return next((found for known, found in MEASURED.items() if name.startswith(known)), UNKNOWN)
