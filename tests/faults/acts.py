"""Acts: what is done to a world's database, from which state, and how it is said what became of it.

An act that is done again after it was cut off must finish what is left; done once more, it must find nothing to do.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import text

from config.settings import EmbeddingSettings, ParsingSettings, Settings
from pipelines.ingestion.reindex import build_reembedding, plan_reindex
from pipelines.ingestion.rollback import plan_rollback, roll_back
from pipelines.ingestion.run import Ingestion, build_ingestion
from pipelines.store.database import open_database
from pipelines.store.embedding_models import find_model, stored_models
from pipelines.store.promotion import drop, promote
from pipelines.types import EmbeddingIdentity, IngestReport
from tests.faults.worlds import World

Do = Callable[[Settings, World], Any]
OTHER = EmbeddingIdentity("hashed", "hashed-b", 128)


@dataclass(frozen=True)
class Act:
    """What is done.

    Attributes:
        begin: Brings the world and an empty database to where the act starts.
        do: Does it; `outcomes`, `embedded` and `failed` as JSON.
        at_once: Whether it changes everything in one transaction, or nothing.
        follows: Whether the settings name no model, so that the one that serves is followed.
    """

    begin: Do
    do: Do
    at_once: bool = False
    follows: bool = False


@contextmanager
def _ingestion(settings: Settings) -> Iterator[Ingestion]:
    ingestion = build_ingestion(settings)
    try:
        yield ingestion
    finally:
        ingestion.database.engine.dispose()


def told(report: IngestReport) -> dict[str, Any]:
    """A report as JSON."""
    failed = [asdict(item) for item in report.items if item.outcome == "failed"]
    outcomes = {item.document: item.outcome for item in report.items}
    return {"outcomes": outcomes, "embedded": report.embedded, "failed": failed}


def ingest_world(settings: Settings, world: World) -> dict[str, Any]:
    """Bring the folder in as it is."""
    with _ingestion(settings) as ingestion:
        return told(ingestion.run(ingestion.plan([str(world.folder)], allow_removals=True)))


def undo_the_last_ingest(settings: Settings, _: World) -> dict[str, Any]:
    """Bring every document back to what it was before the last run that ingested."""
    with _ingestion(settings) as ingestion:
        with ingestion.database.engine.connect() as connection:
            run = connection.execute(text("SELECT max(id) FROM ingest_runs WHERE kind = 'ingest'")).scalar_one()
        return told(roll_back(ingestion, plan_rollback(ingestion.database, run)))


def reindex(settings: Settings, _: World) -> dict[str, Any]:
    """Make every document again from its original."""
    with _ingestion(settings) as ingestion:
        return told(ingestion.run(plan_reindex(ingestion), kind="reindex"))


def remove_some(settings: Settings, _: World) -> dict[str, Any]:
    """Remove the documents whose names have a letter in the first half of the alphabet."""
    with _ingestion(settings) as ingestion:
        return told(ingestion.remove([known.id for known in ingestion.known() if known.name.split("/")[-1] < "n"]))


def add_a_model(settings: Settings, _: World) -> dict[str, Any]:
    """Fill the other model's table."""
    reembedding = build_reembedding(settings, OTHER)
    try:
        done = reembedding.run()
        return {"outcomes": {}, "embedded": done.embedded, "failed": sorted(done.failed)}
    finally:
        reembedding.ingestion.database.engine.dispose()


def promote_it(settings: Settings, _: World) -> dict[str, Any]:
    """Make the other model the one that serves."""
    database = open_database(settings)
    try:
        promote(settings, database, OTHER)
        return {"outcomes": {}, "embedded": 0, "failed": []}
    finally:
        database.engine.dispose()


def drop_it(settings: Settings, _: World) -> dict[str, Any]:
    """Drop the other model's table, where there is one."""
    database = open_database(settings)
    try:
        if any(held.identity == OTHER for held in stored_models(database.engine)):
            drop(database.engine, find_model(stored_models(database.engine), OTHER.label))
        return {"outcomes": {}, "embedded": 0, "failed": []}
    finally:
        database.engine.dispose()


# Where they start


def _from_nothing(_settings: Settings, world: World) -> None:
    world.begin()
    world.edit()


def _ingested(settings: Settings, world: World) -> None:
    world.begin()
    ingest_world(settings, world)


def _edited(settings: Settings, world: World) -> None:
    _ingested(settings, world)
    world.edit()


def _ingested_twice(settings: Settings, world: World) -> None:
    _edited(settings, world)
    ingest_world(settings, world)


def _of_other_sizes(settings: Settings, world: World) -> None:
    sizes = ParsingSettings(markdown_target_words=90, markdown_max_words=120, generic_characters=500)
    _ingested(settings.model_copy(update={"parsing": sizes}), world)


def _with_two_models(settings: Settings, world: World) -> None:
    _ingested(settings, world)
    add_a_model(settings, world)


ACTS: Mapping[str, Act] = {
    "a first ingest": Act(_from_nothing, ingest_world),
    "an ingest": Act(_edited, ingest_world),
    "a rollback": Act(_ingested_twice, undo_the_last_ingest),
    "a reindex": Act(_of_other_sizes, reindex),
    "a removal": Act(_ingested, remove_some),
    "models add": Act(_ingested, add_a_model, follows=True),
    "models promote": Act(_with_two_models, promote_it, at_once=True, follows=True),
    "models drop": Act(_with_two_models, drop_it, at_once=True, follows=True),
}


def following(settings: Settings, act: Act) -> Settings:
    """The settings with which an act is done."""
    return settings.model_copy(update={"embedding": EmbeddingSettings()}) if act.follows else settings
