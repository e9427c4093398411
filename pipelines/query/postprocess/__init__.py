"""The node postprocessors of a search, in the order in which they are applied."""

from collections.abc import Callable
from datetime import date
from functools import partial

from config.settings import FactorSettings, Settings
from pipelines.query.postprocess.boost import (
    CategoryBoost,
    NamedDocumentBoost,
    QualityBoost,
    RecencyBoost,
    SectionBoost,
    YearBoost,
)
from pipelines.query.postprocess.cut import DocumentQuota, MinScore, Similarity, TopN, no_similarity
from pipelines.query.postprocess.duplicates import DuplicateFilter, Families, no_families
from pipelines.query.postprocess.postprocessor import Postprocessor
from pipelines.query.postprocess.rerank import Rerank
from pipelines.query.trace import Observer
from pipelines.types import QueryIntent

_CROWD = 2  # times top_n documents among the candidates, from which a quota spreads the places over them


def build_factors(settings: Settings, intent: QueryIntent, observer: Observer, *, today: date) -> list[Postprocessor]:
    """The boosts that are switched on and have what they ask for, and the reranker; they remove no node."""
    options, analysis = settings.factors, settings.analysis
    table = {name: getattr(options, name) for name in ("resume", "linkedin", "journey", "github")}
    by_category = options.category and analysis.categories == "boost" and bool(intent.categories)
    by_year = options.year != 1 and analysis.years == "boost" and bool(intent.years)
    by_section, by_name = options.section != 1 and bool(intent.sections), options.named != 1 and bool(intent.documents)
    by_recency = intent.recent if options.recency == "asked" else options.recency != "off"
    parts: list[tuple[object, Callable[..., Postprocessor]]] = [
        (by_category, partial(CategoryBoost, asked=intent.categories, table=table)),
        (by_recency, partial(RecencyBoost, today=today)),
        (by_year, partial(YearBoost, asked=intent.years, factor=options.year)),
        (options.quality, QualityBoost),
        (by_section, partial(SectionBoost, asked=intent.sections, factor=options.section)),
        (by_name, partial(NamedDocumentBoost, named=intent.documents, factor=options.named)),
        (options.rerank, partial(Rerank, named=options.rerank, candidates=options.rerank_candidates)),
    ]
    return [build(observer=observer) for is_on, build in parts if is_on]


def build_cuts(
    settings: FactorSettings,
    intent: QueryIntent,
    observer: Observer,
    *,
    top_n: int,
    families: Families = no_families,
    similarity: Similarity = no_similarity,
) -> list[Postprocessor]:
    """The cuts that are switched on, down to `top_n`; `families` are those of near-duplicates."""
    named, among = intent.documents, _CROWD * top_n
    quota = partial(DocumentQuota, per_document=settings.per_document, among=among, named=named)
    parts: list[tuple[object, Callable[..., Postprocessor]]] = [
        (settings.min_score > 0, partial(MinScore, least=settings.min_score, similarity=similarity)),
        (settings.duplicates, partial(DuplicateFilter, families=families)),
        (settings.per_document > 0, quota),
        (True, partial(TopN, top_n=top_n, named=named)),
    ]
    return [build(observer=observer) for is_on, build in parts if is_on]
