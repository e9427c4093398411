"""The node postprocessors of a search, in the order in which they are applied."""

from datetime import date

from llama_index.core.postprocessor.types import BaseNodePostprocessor

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
from pipelines.query.postprocess.rerank import Rerank
from pipelines.query.trace import Observer
from pipelines.types import QueryIntent

_CROWD = 2  # times top_n documents among the candidates, from which a quota spreads the places over them


def build_factors(
    settings: Settings, intent: QueryIntent, observer: Observer, *, today: date
) -> list[BaseNodePostprocessor]:
    """The boosts that are switched on and have what they ask for, and the reranker; they remove no node."""
    options, analysis = settings.factors, settings.analysis
    table = {name: getattr(options, name) for name in ("resume", "linkedin", "journey", "github")}
    by_category = options.category and analysis.categories == "boost" and bool(intent.categories)
    by_year = options.year != 1 and analysis.years == "boost" and bool(intent.years)
    by_section, by_name = options.section != 1 and bool(intent.sections), options.named != 1 and bool(intent.documents)
    by_recency = intent.recent if options.recency == "asked" else options.recency != "off"
    rerank = Rerank(observer=observer, named=options.rerank, candidates=options.rerank_candidates)
    parts: list[tuple[bool, BaseNodePostprocessor]] = [
        (by_category, CategoryBoost(observer=observer, asked=intent.categories, table=table)),
        (by_recency, RecencyBoost(observer=observer, today=today)),
        (by_year, YearBoost(observer=observer, asked=intent.years, factor=options.year)),
        (options.quality, QualityBoost(observer=observer)),
        (by_section, SectionBoost(observer=observer, asked=intent.sections, factor=options.section)),
        (by_name, NamedDocumentBoost(observer=observer, named=intent.documents, factor=options.named)),
        (bool(options.rerank), rerank),
    ]
    return [part for is_on, part in parts if is_on]


def build_cuts(
    settings: FactorSettings,
    intent: QueryIntent,
    observer: Observer,
    *,
    top_n: int,
    families: Families = no_families,
    similarity: Similarity = no_similarity,
) -> list[BaseNodePostprocessor]:
    """The cuts that are switched on, down to `top_n`; `families` are those of near-duplicates."""
    named, among = intent.documents, _CROWD * top_n
    quota = DocumentQuota(observer=observer, per_document=settings.per_document, among=among, named=named)
    parts: list[tuple[bool, BaseNodePostprocessor]] = [
        (settings.min_score > 0, MinScore(observer=observer, least=settings.min_score, similarity=similarity)),
        (settings.duplicates, DuplicateFilter(observer=observer, families=families)),
        (settings.per_document > 0, quota),
        (True, TopN(observer=observer, top_n=top_n, named=named)),
    ]
    return [part for is_on, part in parts if is_on]
