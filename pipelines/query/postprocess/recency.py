"""Newer nodes count more: in steps by year, or smoothly."""

from datetime import date
from typing import ClassVar, Literal

from llama_index.core.schema import BaseNode

from pipelines.query.postprocess.factor import Factor

STEPS = (1.3, 1.2, 1.1)


def recency_steps(year: int | None, today: date) -> float:
    """1.3 for this year and later ones, 1.2 for the last, 1.1 for the one before it, else and without a year 1."""
    age = _age(year, today)
    return STEPS[age] if age is not None and age < len(STEPS) else 1.0


def recency_decay(year: int | None, today: date, *, half_life: float) -> float:
    """1 + 0.3 / 2^(age / half_life), age in whole years: 1.3 for this year and later ones, falling towards 1.

    A node without a year has 1. `half_life` is in years, above 0.
    """
    age = _age(year, today)
    return 1.0 if age is None else 1.0 + (STEPS[0] - 1.0) * 0.5 ** (age / half_life)


def _age(year: int | None, today: date) -> int | None:
    return None if year is None else max(today.year - year, 0)


class Recency(Factor):
    """Multiplies nodes by how new their year is, seen from `today`."""

    name: ClassVar[str] = "recency"
    shape: Literal["steps", "decay"]
    half_life: float
    today: date

    def value(self, node: BaseNode) -> float:
        """The factor of the node's year."""
        year = node.metadata["year"]
        if self.shape == "decay":
            return recency_decay(year, self.today, half_life=self.half_life)
        return recency_steps(year, self.today)
