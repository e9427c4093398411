"""Whether the extractive writer would answer, told from the first passages and by their words alone."""

from collections.abc import Callable

from config.settings import Settings
from pipelines.query.context.assemble import source_of
from pipelines.query.context.spans import Passage, span_of
from pipelines.query.extraction.extract import extract, is_answer
from pipelines.query.extraction.ruler import ruler_by_words
from pipelines.query.searching.find import Found
from pipelines.types import Context

_READ = 3  # passages


def is_quotable(found: Found, settings: Settings, weight: Callable[[str], float]) -> bool:
    """Whether the lines of the first three passages hold enough of what is asked for to be quoted as its answer.

    The writer sees more passages and has likenesses too, which only add to what a line tells: what is quotable here is
    so there, and this costs neither a model nor a read.

    Args:
        found: What the search brings.
        settings: The writer's.
        weight: The idf of a term.
    """
    sources = []
    for n, hit in enumerate(found.ranking[:_READ], start=1):
        meta = hit.node.metadata
        passage = Passage(hit.node.get_content(), "", meta["title"], "", "", meta["category"])
        sources.append(source_of(n, span_of(hit), passage))
    context = Context(tuple(sources), "", "", 0)
    strength, most = found.evidence.strength, settings.answer.max_sentences
    told = extract(found.intent, context, found.ranking, ruler_by_words(weight), strength=strength, max_sentences=most)
    return is_answer(told, found.evidence, settings.evidence)
