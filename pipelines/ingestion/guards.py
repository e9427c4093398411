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
        if held != step.held_since and (step.original or not is_as_listed(step.item)):
            became = "removed" if held is None else "added" if step.held_since is None else "changed"
            raise StoreError(
                f"{step.item.name} was {became} by another run meanwhile, and stays as that left it.",
                hint="Run the same command again.",
            )
