"""ROLLBACK: brings every document that a run changed back to what it was before, each wholly or not at all."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from pipelines.errors import ParseError, StoreError
from pipelines.ingestion.execute import Execution, Placed
from pipelines.ingestion.failure import Failure
from pipelines.ingestion.parsers import PARSERS, parser_for
from pipelines.ingestion.plan import Step
from pipelines.ingestion.prepare import Options, Prepared, Task, cut
from pipelines.ingestion.run import Ingestion, Progress
from pipelines.ingestion.undo import Rollback
from pipelines.store import documents as document_rows
from pipelines.store.database import reading, writing
from pipelines.store.nodes import NodeStore
from pipelines.store.runs import Logged, open_run, write_items
from pipelines.store.vector_index import set_vector_index_aside
from pipelines.store.versions import Change, last_change, read_version
from pipelines.types import Document, IngestItem, IngestReport


def roll_back(ingestion: Ingestion, undo: Rollback, on_progress: Progress | None = None) -> IngestReport:
    """Do it, as a run of its own that can be undone again; what cannot be brought back is a failed item.

    Nodes of the old versions are cut by today's parsers, and their vectors come from the cache. Files stay as they are:
    the next ingest of their sources brings them in again.

    Raises:
        ServiceUnavailable: If the database or the embedding model is gone; finished documents stay.
    """
    sources = list(dict.fromkeys(step.item.source for step in undo.steps))
    with open_run(ingestion.database.engine, sources, kind="rollback", undoes=undo.undoes) as run_id:
        began = time.perf_counter()
        items: dict[int, IngestItem] = {}
        for place, item in _items(ingestion, undo, run_id):
            items[place] = item
            if on_progress:
                on_progress(len(items), len(undo.steps), item)
        in_order = [items[place] for place in sorted(items)]
        return ingestion.finish(run_id, in_order, began=began, stopped=len(items) < len(undo.steps))


def _items(ingestion: Ingestion, undo: Rollback, run_id: int) -> Iterator[Placed]:
    """(place of the step, what became of it): first what stays, then what goes, then what comes back."""
    left = {place: _left(step) for place, step in enumerate(undo.steps) if step.action in ("unchanged", "fail")}
    if left:
        rows = [Logged(undo.steps[place].collection, undo.steps[place].item, item) for place, item in left.items()]
        with writing(ingestion.database.engine, "logging a rollback") as connection:
            write_items(connection, run_id, rows)
    yield from left.items()
    done = [place for place in range(len(undo.steps)) if place not in left]
    steps, changes = [undo.steps[place] for place in done], [undo.changes[place] for place in done]
    execution = Execution(
        finisher=ingestion.finisher,
        executor=_Versions(ingestion.store, changes),
        options=ingestion.options,
        stop=ingestion.stop,
        run_id=run_id,
        collection="",
        steps=steps,
        tasks=[
            (place, Task(step.item, step.document_id, step.collection))
            for place, step in enumerate(steps)
            if step.action != "remove"
        ],
        known={document.id: document for document in ingestion.known()},
        guard=_Guard(
            {change.document_id: (step.item.name, change.last) for step, change in zip(steps, changes, strict=True)}
        ),
    )
    set_vector_index_aside(ingestion.database.engine, ingestion.store.table, len(execution.tasks))
    for place, item in execution.items():
        yield done[place], item


def _left(step: Step) -> IngestItem:
    """The item of a document that stays as it is."""
    if step.error is None:
        return IngestItem(step.item.name, "unchanged", message=step.reason, document_id=step.document_id)
    return Failure.of(step.error, "undo", step.item.name).item(step.item.name, step.document_id)


@dataclass(frozen=True, slots=True)
class _Guard:
    """Refuses to undo what another run changed since the plan; holds (name, last change) by document id."""

    planned: dict[str, tuple[str, int]]

    def __call__(self, connection: Connection, steps: Mapping[str, Step]) -> None:
        for document_id in steps:
            name, planned = self.planned[document_id]
            last, run = last_change(connection, document_id)
            if last != planned:
                raise StoreError(
                    f"{name} was changed by run {run} meanwhile, and stays as that left it.",
                    hint="Run the rollback again to see what can be undone now.",
                )


@dataclass(frozen=True, slots=True)
class _Versions:
    """An executor that prepares kept versions: what each change, at its task's place, took the place of."""

    store: NodeStore
    changes: Sequence[Change]

    def __call__(self, tasks: Iterable[tuple[int, Task]], options: Options) -> Iterator[tuple[int, Prepared | Failure]]:
        for place, task in tasks:
            stage = ["read"]
            try:
                document, held = self._version(self.changes[place], task.item.name)
                stage[0] = "parse"
                yield place, _prepared(document, self.changes[place], held, options)
            except Exception as error:  # noqa: BLE001 - one version that cannot be brought back stops only itself
                yield place, Failure.of(error, stage[0], task.item.name)

    def _version(self, change: Change, name: str) -> tuple[Document, str]:
        """(the version as a Document, the content that the node table holds now); it compares with no file's stamp.

        Raises:
            StoreError: If it is no longer kept.
        """
        with reading(self.store.engine, "reading a version") as connection:
            document = read_version(connection, change.version or 0)
            if document is None:
                raise StoreError(f"Version {change.version} of {name} is no longer kept.")
            held = document_rows.index_states(connection, [document.id], self.store.table)
        return document.with_(stamp=""), held.get(document.id, ("", ""))[0]


def _prepared(document: Document, change: Change, held: str, options: Options) -> Prepared:
    """The version with its nodes, under a recipe that no plan takes for that of today's files.

    Without nodes where the table holds just this content, so that only facts are written.
    """
    parser = parser_for(document)
    if parser not in PARSERS:
        raise ParseError(f"{document.name} was made by the parser {parser}, which is no more.")
    if held == document.content_sha:
        return Prepared(document, parser, "", None)
    prepared = cut(document, parser, options)
    return replace(prepared, recipe=f"{prepared.recipe} from version {change.version}")
