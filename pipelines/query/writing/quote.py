"""QUOTE: the lines that answer best as an answer, or that there is none."""

from dataclasses import replace

from pipelines.query.careers.quotable import quotable
from pipelines.query.extraction.extract import UNTOLD, extract, is_answer
from pipelines.query.extraction.injection import borne_by_commands
from pipelines.query.extraction.ruler import ruler_with
from pipelines.query.gather import Retrieved
from pipelines.query.searching.assess import assess
from pipelines.query.searching.find import Finder, Request
from pipelines.query.writing.write import Brief, Written, abstain, write_by_extraction
from pipelines.types import Evidence


def quote(brief: Brief, retrieved: Retrieved, request: Request, finder: Finder, fallback_reason: str = "") -> Written:
    """The lines of the sources that answer best, verbatim; an abstention where they do not answer.

    Raises:
        ServiceUnavailable: If the database cannot be read.
    """
    found, settings = retrieved.found, finder.settings
    brief = replace(brief, evidence=_evidence(retrieved, finder))
    own, barred = quotable(found.intent, brief.context, finder.store, request.audience)
    told = extract(
        found.intent,
        own,
        found.ranking,
        ruler_with(finder.embed_model, finder.model, retrieved.index.idf),
        strength=brief.evidence.strength,
        max_sentences=settings.answer.max_sentences,
        barred=barred,
    )
    if not is_answer(told, brief.evidence, settings.evidence):
        why = f"{found.intent.search_text} ({request.mode}: {told.silence or brief.evidence.reason or UNTOLD})"
        return (yield from abstain(replace(brief, searched=(why,)), fallback_reason))
    if told.more:
        found.ledger.note(f"{told.more} more of what is listed there are not quoted: open the source for all of them.")
    return (yield from write_by_extraction(brief, told, fallback_reason))


def _evidence(retrieved: Retrieved, finder: Finder) -> Evidence:
    """How well what may be quoted bears on the question: without passages that do by their commands alone."""
    found = retrieved.found
    left_out = borne_by_commands(found.intent, found.ranking)
    if not left_out:
        return found.evidence
    again = assess(
        [hit for hit in found.ranked if hit.node.node_id not in left_out],
        found.intent,
        found.ledger,
        retrieved.index,
        settings=finder.settings.evidence,
        model=finder.model,
    )
    return min(found.evidence, again, key=lambda evidence: evidence.strength)
