"""PREVIEW: what a plan would come to and cost, found by preparing its documents; writes no document."""

from pipelines.ingestion.embed import Embedder, TextEmbedder
from pipelines.ingestion.header_writer import HeaderCost
from pipelines.ingestion.parsers import parse
from pipelines.ingestion.plan import Plan
from pipelines.ingestion.prepare import Failure
from pipelines.ingestion.run import Ingestion, Overrides


def header_cost(ingestion: Ingestion, plan: Plan, overrides: Overrides) -> HeaderCost:
    """How often a run of this plan would ask a language model for a header, and with how many tokens.

    Documents to be added or updated are loaded and parsed for it; one that cannot be is left out.
    """
    writer, options = ingestion.header_writer, ingestion.options
    if writer is None:
        return HeaderCost(0, 0)
    embedder = TextEmbedder(Embedder(ingestion.embed_model, ingestion.database.engine, ingestion.identity))
    calls = tokens = 0
    for _, prepared in ingestion.executor(ingestion.tasks(plan, overrides), options):
        if isinstance(prepared, Failure) or prepared.metadata_only:
            continue
        document = prepared.document
        nodes = prepared.nodes or parse(document, prepared.parser, options.sizes, embedder)
        asked = writer.missing(document.id, list(nodes))
        calls += len(asked)
        tokens += sum(writer.tokens(document, node) for node in asked)
    return HeaderCost(calls, tokens)
