"""RERANK: one BaseNodePostprocessor a file, in the order that the functions below give."""

from datetime import date

from llama_index.core.postprocessor.types import BaseNodePostprocessor

from config.settings import FactorSettings, Settings
from pipelines.query.postprocess.category import Category
from pipelines.query.postprocess.duplicates import Duplicates, Families, no_families
from pipelines.query.postprocess.floor import Floor
from pipelines.query.postprocess.named import Named
from pipelines.query.postprocess.neighbours import Neighbours, Window
from pipelines.query.postprocess.quality import Quality
from pipelines.query.postprocess.quota import Quota
from pipelines.query.postprocess.recency import Recency
from pipelines.query.postprocess.rerank import Rerank
from pipelines.query.postprocess.section import Section
from pipelines.query.postprocess.top import Top
from pipelines.query.postprocess.year import Year
from pipelines.query.trace import Ledger
from pipelines.types import QueryIntent

_CROWD = 2  # times top_n documents among the candidates, from which a quota spreads the places over them


def build_factors(
    settings: Settings, intent: QueryIntent, ledger: Ledger, *, today: date
) -> list[BaseNodePostprocessor]:
    """What multiplies or reorders the fused ranking, and takes nothing out; a part that is off is not there."""
    options, analysis = settings.factors, settings.analysis
    table = {name: getattr(options, name) for name in ("resume", "linkedin", "journey", "github")}
    by_category = options.category and analysis.categories == "boost"
    by_year = options.year != 1 and analysis.years == "boost"
    by_recency = intent.recent if options.recency == "asked" else options.recency != "off"
    shape = "decay" if options.recency == "decay" else "steps"
    parts: list[tuple[bool, BaseNodePostprocessor]] = [
        (by_category, Category(ledger=ledger, asked=intent.categories, table=table)),
        (by_recency, Recency(ledger=ledger, shape=shape, half_life=options.half_life_years, today=today)),
        (by_year, Year(ledger=ledger, asked=intent.years, factor=options.year)),
        (options.quality, Quality(ledger=ledger)),
        (options.section != 1, Section(ledger=ledger, asked=intent.sections, factor=options.section)),
        (options.named != 1, Named(ledger=ledger, named=intent.documents, factor=options.named)),
        (
            bool(options.rerank),
            Rerank(
                ledger=ledger,
                named=options.rerank,
                candidates=options.rerank_candidates,
                seconds=options.rerank_seconds,
            ),
        ),
    ]
    return [part for is_on, part in parts if is_on]


def build_cuts(
    settings: FactorSettings, intent: QueryIntent, ledger: Ledger, *, top_n: int, families: Families = no_families
) -> list[BaseNodePostprocessor]:
    """What takes nodes out of the ranking, down to `top_n`; `families` reads which of them are near-copies."""
    floor = Floor(
        ledger=ledger, least=settings.floor_score, gap=settings.floor_gap, candidates=settings.floor_candidates
    )
    quota = Quota(ledger=ledger, per_document=settings.per_document, among=_CROWD * top_n, named=intent.documents)
    parts: list[tuple[bool, BaseNodePostprocessor]] = [
        (settings.duplicates, Duplicates(ledger=ledger, families=families)),
        (settings.per_document > 0, quota),
        (settings.floor, floor),
        (True, Top(ledger=ledger, top_n=top_n, named=intent.documents)),
    ]
    return [part for is_on, part in parts if is_on]


def build_additions(settings: FactorSettings, ledger: Ledger, *, reader: Window) -> list[BaseNodePostprocessor]:
    """What adds nodes to those that the cuts left: their neighbours."""
    return [Neighbours(ledger=ledger, reader=reader, width=settings.neighbours)] if settings.neighbours else []
