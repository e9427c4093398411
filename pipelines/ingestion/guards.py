"""GUARDS: what keeps a run from writing over what others wrote meanwhile; asked with the documents locked."""

from collections.abc import Callable, Mapping

from sqlalchemy import Connection

from pipelines.errors import StoreError
from pipelines.ingestion.plan import Step
from pipelines.ingestion.sources.files import is_as_listed
from pipelines.store import documents as document_rows

Guard = Callable[[Connection, Mapping[str, Step]], None]  # refuses steps, by document id, by an error


def allow(connection: Connection, steps: Mapping[str, Step]) -> None:
    """Refuse nothing."""


def assert_as_planned(connection: Connection, steps: Mapping[str, Step]) -> None:
    """Refuse to write over what another run has written since the plan was made, unless the source still says this.

    Raises:
        StoreError: If one of the documents, by id, was added, changed or removed meanwhile.
    """
    now = document_rows.written_at(connection, steps)
    for each, step in steps.items():
        held = now.get(each)
        if held != step.held_since and not _is_still_so(step):
            became = "removed" if held is None else "added" if step.held_since is None else "changed"
            raise changed_meanwhile(step, became)


def changed_meanwhile(step: Step, became: str) -> StoreError:
    """What is said of a document that another run added, changed or removed since the plan was made."""
    said = f"{step.item.name} was {became} by another run meanwhile, and stays as that left it."
    return StoreError(said, hint="Run the same command again.")


def _is_still_so(step: Step) -> bool:
    """Whether the source can be seen to say just what was planned; what is fetched or kept cannot be asked again."""
    return not step.original and step.item.source_kind == "file" and is_as_listed(step.item)
