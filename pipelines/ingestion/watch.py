"""WATCH: plan and run again whenever a folder changed, and at times whatever cannot tell."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from threading import Event, Lock

from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError
from pipelines.ingestion.looks import Looks
from pipelines.ingestion.notices import Notices, Refusal
from pipelines.ingestion.patience import Patience
from pipelines.ingestion.plan import Plan
from pipelines.ingestion.run import Ingestion, Overrides, Progress, build_ingestion
from pipelines.ingestion.sources import alike, kind_of
from pipelines.ingestion.sources.declared import declared_sources
from pipelines.ingestion.sources.folders import Folders
from pipelines.store.database import reading
from pipelines.store.failures import standing_failures
from pipelines.types import IngestItem, IngestReport


@dataclass(frozen=True, slots=True)
class Round:
    """What one look at some sources came to.

    Attributes:
        locations: What was looked at: the folders that were due, or one remote source.
        at: When it ended.
        report: What the run did; None where there was nothing to do but to fail as before, or it failed as a whole.
        failed: What failed, as far as the rounds before did not say it already.
        refused: (source, how many, of how many) removals that a person has to allow, likewise.
        error: Why the round failed as a whole, likewise.
        again: Seconds after which it is tried again, where it failed: as its source asks, at its interval where it
            refused a key, a right or an address, or else soon; 0 where it did not fail.
    """

    locations: tuple[str, ...]
    at: datetime
    report: IngestReport | None = None
    failed: tuple[IngestItem, ...] = ()
    refused: tuple[Refusal, ...] = ()
    error: FootnoteError | None = None
    again: float = 0.0

    @property
    def is_news(self) -> bool:
        """Whether it did something, was stopped, or has something to say."""
        done = ("added", "updated", "metadata", "removed")
        changed = self.report is not None and any(item.outcome in done for item in self.report.items)
        stopped = self.report is not None and self.report.stopped
        return bool(changed or stopped or self.failed or self.refused or self.error)


@dataclass(slots=True)
class Watch:
    """Keeps the database in step with sources, with the plans and guards of every other run.

    Folders are looked at together when one changed, and once in a while all the same; a remote source at its interval,
    beside everything else, so that folders go on while one waits for a rate limit.

    Attributes:
        overrides, verify, allow_removals: As for `Ingestion.plan`; a location is verified once, when it can be listed.
        stop: Once set, the rounds end after the documents that are under way.
        say: Told what takes long, in any thread.
        running: Around a run of so many documents; gives what is told of each.
        build: Makes what plans and runs; it stays open until a round fails as a whole, or the rounds end.
        first_pause: Seconds after which a failure is tried again; twice as long each time, at most 10 minutes.
        tick: Seconds between two looks at the clock.
        look: Least seconds between two looks at what the operating system does not tell of.
    """

    settings: Settings
    locations: Sequence[str]
    overrides: Overrides
    verify: bool = False
    allow_removals: bool = False
    stop: Event = field(default_factory=Event)
    say: Callable[[str], None] = lambda said: None
    running: Callable[[int], AbstractContextManager[Progress | None]] = lambda total: nullcontext(None)
    build: Callable[[Settings], Ingestion] = build_ingestion
    first_pause: float = 5.0
    tick: float = 0.25
    look: float = 2.0
    _open: Ingestion | None = field(init=False, default=None)
    _opening: Lock = field(init=False, default_factory=Lock)
    _began: bool = field(init=False, default=False)
    _notices: Notices = field(init=False, default_factory=Notices)
    _patience: Patience = field(init=False)
    _seen: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._patience = Patience(self.first_pause)

    @property
    def every(self) -> dict[str, float]:
        """The seconds between two looks at each location that nothing is told of."""
        declared, usual = declared_sources(self.settings), self.settings.ingestion.poll_minutes
        hosts = self.settings.web.private_hosts
        own = {alike(location, hosts): source.every for location, source in declared.items() if source.every}
        return {location: 60 * own.get(alike(location, hosts), usual) for location in self.locations}

    def rounds(self) -> Iterator[Round]:
        """The rounds, until `stop` is set; the first ones are of all sources.

        Raises:
            ConfigError: If the settings cannot be used in the first round; later ones are said and tried again.
        """
        every, settle = self.every, self.settings.ingestion.settle_seconds
        local = [location for location in every if kind_of(location) == "file"]
        remote = [location for location in every if location not in local]
        due = dict.fromkeys(every, 0.0)
        with ExitStack() as end:
            end.callback(self._let_go)
            folders = end.enter_context(Folders(local, settle=settle, apart_from=self.settings.home, look=self.look))
            looks = end.enter_context(Looks(lambda location: self._plan([location]), self.stop))
            while not self.stop.is_set():
                due |= dict.fromkeys(folders.changed(), 0.0)
                ready = [location for location, at in due.items() if at <= time.monotonic()]
                looks.begin(sorted((each for each in ready if each in remote), key=due.__getitem__))
                planned: list[tuple[list[str], Callable[[], Plan]]] = [([each], plan) for each, plan in looks.ended()]
                if changed := [location for location in ready if location in local]:
                    planned.insert(0, (changed, partial(self._plan, changed)))
                for locations, plan in planned:
                    if not self.stop.is_set():
                        found = self._round(locations, plan, every[locations[0]])
                        now = time.monotonic()
                        due |= {each: now + (found.again or every[each]) for each in locations}
                        yield found
                self.stop.wait(self.tick)

    def _round(self, locations: Sequence[str], planned: Callable[[], Plan], usual: float) -> Round:
        """What came of a plan; `usual` is after how many seconds a remote source is looked at again."""
        try:
            plan = planned()
            report = self._carried_out(plan)
        except FootnoteError as error:
            if isinstance(error, ConfigError) and not self._began:
                raise
            return self._failed(error, locations)
        self._began = True
        failed, refused = self._notices.news(plan, report, locations)
        errors = [step.error for step in plan.steps if step.error and step.item.source_kind != "file"]
        again = self._patience.rest(errors, locations, usual)
        return Round(tuple(locations), datetime.now(UTC), report, failed, refused, again=again)

    def _plan(self, locations: Sequence[str]) -> Plan:
        """What is to be done with what the locations hold now; it may be asked for in several threads."""
        plan = self._opened().plan(
            locations,
            overrides=self.overrides,
            verify=self.verify and not self._seen.issuperset(locations),
            allow_removals=self.allow_removals,
            say=self.say,
        )
        if not plan.steps or any(not step.error or step.stage == "read" for step in plan.steps):
            self._seen.update(locations)
        return plan

    def _carried_out(self, plan: Plan) -> IngestReport | None:
        """What came of a plan; nothing where it has nothing to do but to fail as it did."""
        if self.stop.is_set():
            return None
        if plan.is_idle or self._is_as_before(plan):
            self._opened().note_held(plan, self.overrides)
            return None
        with self.running(len(plan.steps)) as advance:
            return self._opened().run(plan, overrides=self.overrides, on_progress=advance)

    def _is_as_before(self, plan: Plan) -> bool:
        """Whether a plan has nothing to do but to fail as it did, which was said, and still stands in the run log."""
        failing = [step for step in plan.steps if step.error]
        others = replace(plan, steps=tuple(step for step in plan.steps if not step.error))
        if not (failing and others.is_idle and self._notices.hold(failing)):
            return False
        ingestion = self._opened()
        with reading(ingestion.database.engine, "reading what failed") as connection:
            standing = standing_failures(connection, ingestion.collection(self.overrides))
        return {step.item.uri for step in failing} <= {failure.source_uri for failure in standing}

    def _opened(self) -> Ingestion:
        with self._opening:
            if self._open is None:
                self._open = self.build(self.settings)
                self._open.stop = self.stop
            return self._open

    def _let_go(self) -> None:
        """Close what is open; looks that are under way end with the connections they have."""
        with self._opening:
            if self._open is not None:
                self._open.database.engine.dispose()
                self._open = None

    def _failed(self, error: FootnoteError, locations: Sequence[str]) -> Round:
        """A round that failed as a whole; everything is opened anew for the next one."""
        self._began = True
        self._let_go()
        shown, again = error if self._notices.is_news(error) else None, self._patience.pause(locations)
        return Round(tuple(locations), datetime.now(UTC), error=shown, again=again)
