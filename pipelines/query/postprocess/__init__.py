"""RERANK: one BaseNodePostprocessor a file, in the order that the two functions below give."""

from collections.abc import Callable, Sequence

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore

from config.settings import FactorSettings
from pipelines.query.postprocess.duplicates import Duplicates
from pipelines.query.postprocess.quota import Quota
from pipelines.query.trace import Ledger
from pipelines.types import QueryIntent

Window = Callable[[str, int, int], Sequence[NodeWithScore]]


def build_factors(settings: FactorSettings, intent: QueryIntent, ledger: Ledger) -> list[BaseNodePostprocessor]:
    """What multiplies or reorders the fused ranking, and takes nothing out."""
    return []


def build_cuts(
    settings: FactorSettings, intent: QueryIntent, ledger: Ledger, *, top_n: int, reader: Window
) -> list[BaseNodePostprocessor]:
    """What takes nodes out of the ranking (or adds their neighbours), down to `top_n`."""
    return [
        Duplicates(ledger),
        Quota(ledger, per_document=settings.per_document, top_n=top_n),
    ]
