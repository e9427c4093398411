"""Language models that were measured here, and what is done by default to sentences that no source supports."""

from typing import Literal

Unsupported = Literal["mark", "remove", "repair"]

# By the beginning of a model's name, without the provider before its slash. The figures are in docs/measurements.md;
# neither is good enough for marked sentences to be left to the reader.
MEASURED: dict[str, Unsupported] = {
    "qwen2.5-coder-1.5b": "remove",
    "smollm2-135m": "remove",
}


def unsupported_by_default(model: str) -> Unsupported:
    """The way of a measured model; `remove` for one that is unknown."""
    name = model.rsplit("/", 1)[-1].lower()
    return next((way for known, way in MEASURED.items() if name.startswith(known)), "remove")
