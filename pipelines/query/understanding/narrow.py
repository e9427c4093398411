"""What a question implies for the filters, from the narrowest guess to what the caller asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from llama_index.core.schema import NodeWithScore

from config.settings import AnalysisSettings, Use
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
    """The narrowest first, then without the guessed years, then without the guessed categories: without any guess.

    The caller's filters are in all of them, and so are the question's phrases. A guess only narrows: categories and
    years that the caller has ruled out are none.
    """
    plain = Narrowing(replace(filters, phrase=tuple(dict.fromkeys((*filters.phrase, *intent.phrases)))))
    by_category = _guess(plain, "category", intent.categories, settings.categories)
    by_both = _guess(by_category, "year", intent.years, settings.years)
    steps = [by_both]
    if by_both is not by_category:
        steps.append(replace(by_category, dropped="years"))
    if by_category is not plain:
        steps.append(replace(plain, dropped="categories"))
    return steps


def outside(ranking: Sequence[NodeWithScore], narrowing: Narrowing) -> set[str]:
    """The ids of the nodes that a postfilter takes out."""
    keep = narrowing.keep
    return {
        hit.node.node_id
        for hit in ranking
        if (keep.category and hit.node.metadata["category"] not in keep.category)
        or (keep.year and hit.node.metadata["year"] not in keep.year)
    }


def _guess(narrowing: Narrowing, field: str, guess: Sequence[str] | Sequence[int], use: Use) -> Narrowing:
    """The narrowing with a guess, in the legs' filters or in what is kept; itself when the guess narrows nothing."""
    if use not in {"prefilter", "postfilter"}:
        return narrowing
    allowed = getattr(narrowing.filters, field)
    inside = tuple(value for value in guess if not allowed or value in allowed)
    if not inside or set(inside) == set(allowed):
        return narrowing
    target = "filters" if use == "prefilter" else "keep"
    narrowed = replace(getattr(narrowing, target), **{field: inside})
    return replace(narrowing, guessed=True, **{target: narrowed})
