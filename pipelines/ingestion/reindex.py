"""REINDEX: the plan that makes stored documents again from their stored originals, by today's code and settings."""

from pipelines.errors import SourceError
from pipelines.ingestion.fingerprint import recipe_changes
from pipelines.ingestion.plan import Plan, Step, stored_step
from pipelines.ingestion.run import Ingestion
from pipelines.ingestion.sources import spelled
from pipelines.store.database import reading
from pipelines.store.documents import Known
from pipelines.store.originals import original_path
from pipelines.store.status import from_source, nothing_from


def plan_reindex(ingestion: Ingestion, source: str = "") -> Plan:
    """An update of every stored document, or of those from a file, folder or source; `Ingestion.run` executes it.

    Documents keep their identity, their place and what was said of them; the rules of the settings apply anew. One
    whose original is missing fails.

    Raises:
        RetrievalError: If no document came from that source.
    """
    known = ingestion.known()
    if source:
        with reading(ingestion.database.engine, "looking documents up") as connection:
            chosen = set(from_source(connection, spelled(source, ingestion.settings.web.private_hosts)))
        everything, known = known, [document for document in known if document.id in chosen]
        if not known:
            raise nothing_from(source, [document.source for document in everything])
    return Plan(tuple(_step(ingestion, document) for document in known), (), ())


def _step(ingestion: Ingestion, document: Known) -> Step:
    if not original_path(ingestion.settings.home, document.file_sha).is_file():
        error = SourceError(
            f"The stored original of {document.name} is missing.", hint="Ingest it again from its source."
        )
        return Step(
            "fail", stored_step("fail", document, "").item, "its original is missing", document.id,
            error=error, stage="read", collection=document.collection,
        )  # fmt: skip
    reason = recipe_changes(document.recipe, ingestion.options.recipe(document.parser)) or "to be compared"
    return stored_step("update", document, reason, original=document.file_sha)
