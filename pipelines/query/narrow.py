"""What a question implies for the filters, from the narrowest guess to what the caller asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.schema import NodeWithScore

from config.settings import AnalysisSettings
from pipelines.types import Filters, QueryIntent

NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Filters to search with, what is kept of what they find, and which guesses were given up before.

    Attributes:
        filters: What the legs are given.
        keep: What a node must pass after the fusion; empty = everything stays.
        guessed: Whether `filters` or `keep` hold a guess, which may be dropped when too few candidates are left.
        dropped: The guesses of an earlier narrowing that this one is without, in words; empty = none.
    """

    filters: Filters
    keep: Filters = NO_FILTERS
    guessed: bool = False
    dropped: str = ""


def narrowings(intent: QueryIntent, filters: Filters, settings: AnalysisSettings) -> list[Narrowing]:
    """The narrowest first; the last holds no guess."""
    return [Narrowing(filters)]


def outside(ranking: Sequence[NodeWithScore], narrowing: Narrowing) -> set[str]:
    """The ids of the nodes that a postfilter takes out."""
    return set()
