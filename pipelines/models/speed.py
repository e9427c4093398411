"""How fast a language model reads and writes on this machine: measured with each reply, kept between runs."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock

from pipelines.observe import log_failure

_NEW = 0.5  # weight of a new measurement
_FEWEST_WRITTEN = 8  # tokens from which a reply tells how fast the model writes


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens a second that a model reads, until its first token, and writes after it."""

    read: float
    written: float

    def seconds(self, prompt_tokens: int, reply_tokens: int) -> float:
        """The seconds that a request of this size is expected to take."""
        return prompt_tokens / self.read + reply_tokens / self.written


@dataclass(frozen=True, slots=True)
class SpeedLog:
    """The speeds of models in a file, by `model at server`."""

    path: Path
    _lock: Lock = field(default_factory=Lock, compare=False, repr=False)

    def of(self, model: str) -> Speed | None:
        """The speed of a model; None if it has not been measured."""
        found = self._read().get(model)
        return Speed(found["read"], found["written"]) if found else None

    def record(self, model: str, *, prompt_tokens: int, first: float, reply_tokens: int, whole: float) -> None:
        """Measure a reply whose first token came after `first` seconds and whose last after `whole`.

        A file that cannot be written is a warning in the log.
        """
        read = max(prompt_tokens, 1) / max(first, 1e-3)
        written = (reply_tokens - 1) / max(whole - first, 1e-3) if reply_tokens >= _FEWEST_WRITTEN else 0.0
        with self._lock:
            speeds = dict(self._read())
            before = speeds.get(model, {"read": read, "written": written or 10.0})
            now = Speed(*(mean(before[name], new) for name, new in (("read", read), ("written", written))))
            try:
                part = self.path.with_name(f".{self.path.name}.{os.getpid()}")
                part.write_text(json.dumps(speeds | {model: asdict(now)}, indent=1), encoding="utf-8")
                os.replace(part, self.path)
            except OSError as error:
                log_failure("the speed of a language model is not kept", error)

    def _read(self) -> Mapping[str, Mapping[str, float]]:
        try:
            found: Mapping[str, Mapping[str, float]] = json.loads(self.path.read_text(encoding="utf-8"))
            return {name: {key: float(speed[key]) for key in ("read", "written")} for name, speed in found.items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}


def mean(before: float, new: float) -> float:
    """The running mean of a rate with a new one, by the time that each takes; without one (0), as before."""
    return 1 / ((1 - _NEW) / before + _NEW / new) if new and before else new or before
