"""Plays: a world, where it starts, what is done to it, and where that must end."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from config.settings import Settings
from tests.conftest import administer, drop_database
from tests.faults.acts import ACTS, following
from tests.faults.children import Ended, in_child
from tests.faults.injectors import Event, Hurt, Injector, Recorder, watch
from tests.faults.seeds import Point
from tests.faults.stored import Stored, read_stored
from tests.faults.worlds import SETTINGS, World


@dataclass(frozen=True)
class Play:
    """An act in a world, by name and number."""

    act: str
    world: int


PLAYS = (
    Play("an ingest", 0),
    Play("a first ingest", 1),
    Play("a rollback", 2),
    Play("an ingest", 3),
    Play("a reindex", 4),
    Play("models add", 5),
    Play("an ingest", 6),
    Play("a removal", 7),
    Play("models promote", 8),
    Play("a rollback", 9),
    Play("an ingest", 10),
    Play("models drop", 11),
)


@dataclass(frozen=True)
class Stage:
    """Databases to play in: copies of one another on a server, each with a home of its own.

    Attributes:
        dsn: The address of a database of that name.
        empty: The name of a migrated, empty database.
        homes: Where their homes are.
        strategy: How databases are copied. A copy by `wal_log` forgets after a crash which numbers its sequences gave.
        changes: Settings beside those of `settings`.
    """

    dsn: Callable[[str], str]
    empty: str
    homes: Path
    strategy: str = "wal_log"
    changes: Mapping[str, Any] = field(default_factory=dict)

    def administer(self, statement: str) -> None:
        """Run a statement that no transaction may hold."""
        administer(self.dsn("postgres"), statement)

    def copy(self, name: str, of: str, *, home: Path | None = None) -> Settings:
        """Settings on a new copy of a database and of its home, which may be elsewhere."""
        self.administer(f"CREATE DATABASE {name} TEMPLATE {of} STRATEGY {self.strategy}")
        settings = self.settings(name, home=home)
        shutil.rmtree(settings.home, ignore_errors=True)
        (self.homes / of).mkdir(exist_ok=True)
        shutil.copytree(self.homes / of, settings.home)
        return settings

    def settings(self, name: str, *, home: Path | None = None) -> Settings:
        """Settings on a database, with hashed vectors and small nodes."""
        given = {**SETTINGS, **self.changes}
        return Settings(_env_file=None, home=home or self.homes / name, database_url=SecretStr(self.dsn(name)), **given)

    def drop(self, name: str) -> None:
        """Forget a database and its home."""
        drop_database(self.dsn("postgres"), name)
        shutil.rmtree(self.homes / name, ignore_errors=True)


@dataclass(frozen=True)
class Rehearsed:
    """A play that was played once undisturbed.

    Attributes:
        template: The database that it starts from.
        start: What that holds.
        target: What the act makes of it.
        events: What happens meanwhile, in order.
        seconds: How long it takes.
        told: What the act said.
    """

    play: Play
    world: World
    stage: Stage
    template: str
    start: Stored
    target: Stored
    events: list[Event]
    seconds: float
    told: Any

    def copy(self, name: str, *, home: Path | None = None) -> Settings:
        """Settings on a new database of that name, in the state from which the act starts."""
        return following(self.stage.copy(name, self.template, home=home), ACTS[self.play.act])

    def act(self, settings: Settings) -> Any:
        """Do what the play does, in this process."""
        return ACTS[self.play.act].do(settings, self.world)

    def hurt(self, settings: Settings, point: Point, hurt: Hurt) -> Ended:
        """Do it in a child that is hurt at a point; at any moment, it is killed."""

        injector = Injector(point.label, point.nth, hurt)

        def watched() -> Any:
            watch(injector, self.world.folder)
            return [self.act(settings), injector.hit]

        if not point.label:
            return in_child(lambda: self.act(settings), kill_after=point.share * self.seconds)
        ended = in_child(watched)
        if ended.value is None:
            return ended
        said, hit = ended.value
        return replace(ended, value=said, hit=hit)

    def stored(self, settings: Settings) -> Stored:
        """What the database holds now."""
        return read_stored(settings, since=self.start.last_run)


def rehearse(play: Play, stage: Stage, folder: Path, name: str) -> Rehearsed:
    """Play it once undisturbed, on a copy, in a child; the template stays."""
    act, world = ACTS[play.act], World(play.world, folder)
    settings = stage.copy(f"{name}_start", stage.empty)
    act.begin(settings, world)
    start = read_stored(settings)
    trial = following(stage.copy(f"{name}_target", f"{name}_start"), act)

    def recorded() -> Any:
        recorder = Recorder()
        watch(recorder, world.folder)
        said = act.do(trial, world)
        return [said, [[event.stage, event.label] for event in recorder.events]]

    ended = in_child(recorded)
    assert not ended.error, ended.error
    said, events = ended.value
    target = read_stored(trial, since=start.last_run)
    stage.drop(f"{name}_target")
    assert target.documents != start.documents, "nothing happens in this play"
    return Rehearsed(
        play, world, stage, f"{name}_start", start, target, [Event(*event) for event in events], ended.seconds, said
    )
