"""WATCH: plan and run again whenever a folder changed, and at times whatever cannot tell."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event

from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError
from pipelines.ingestion.plan import Plan
from pipelines.ingestion.run import Ingestion, Overrides, Progress, build_ingestion
from pipelines.ingestion.sources import kind_of
from pipelines.ingestion.sources.declared import declared_sources
from pipelines.ingestion.sources.folders import Folders
from pipelines.types import IngestItem, IngestReport

_LONGEST_PAUSE = 600.0  # seconds
_Notice = tuple[str, str, str]  # source, document, what is said of it


@dataclass(frozen=True, slots=True)
class Round:
    """What one look at some sources came to.

    Attributes:
        locations: What was looked at: the folders that were due, or one remote source.
        at: When it ended.
        report: What the run did; None where there was nothing to do, or it failed.
        failed: What failed, as far as the rounds before did not say it already.
        refused: (source, how many, of how many) removals that a person has to allow, likewise.
        error: Why the round failed as a whole, likewise.
        again: Seconds after which it is tried again, where it failed; else 0.
    """

    locations: tuple[str, ...]
    at: datetime
    report: IngestReport | None = None
    failed: tuple[IngestItem, ...] = ()
    refused: tuple[tuple[str, int, int], ...] = ()
    error: FootnoteError | None = None
    again: float = 0.0

    @property
    def is_news(self) -> bool:
        """Whether it did something, or has something to say."""
        done = ("added", "updated", "metadata", "removed")
        changed = self.report is not None and any(item.outcome in done for item in self.report.items)
        return bool(changed or self.failed or self.refused or self.error)


@dataclass(slots=True)
class Watch:
    """Keeps the database in step with sources, with the plans and guards of every other run.

    Folders are looked at together when one changed, and once in a while all the same; a remote source at its interval.

    Attributes:
        overrides, verify, allow_removals: As for `Ingestion.plan`; a location is verified the first time only.
        stop: Once set, the rounds end after the documents that are under way.
        looking: Around a plan; gives what is told of what takes long.
        running: Around a run of so many documents; gives what is told of each.
        build: Makes what plans and runs; it stays open until a round fails as a whole.
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
    looking: Callable[[], AbstractContextManager[Callable[[str], None]]] = lambda: nullcontext(lambda said: None)
    running: Callable[[int], AbstractContextManager[Progress | None]] = lambda total: nullcontext(None)
    build: Callable[[Settings], Ingestion] = build_ingestion
    first_pause: float = 5.0
    tick: float = 0.25
    look: float = 2.0
    _open: Ingestion | None = None
    _failures: dict[str, int] = field(default_factory=dict)
    _said: set[_Notice] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)

    def rounds(self) -> Iterator[Round]:
        """The rounds that are news, until `stop` is set; the first ones are of all sources.

        Raises:
            ConfigError: If the settings cannot be used in the first round; later ones are said and tried again.
        """
        every = self._intervals()
        local = [location for location in every if kind_of(location) == "file"]
        groups = [local, *([location] for location in every if location not in local)]
        due = dict.fromkeys(every, 0.0)
        settle = self.settings.ingestion.settle_seconds
        with Folders(local, settle=settle, apart_from=self.settings.home, look=self.look) as folders:
            while not self.stop.is_set():
                for group in groups:
                    due |= dict.fromkeys(folders.changed(), 0.0)
                    ready = [location for location in group if due[location] <= time.monotonic()]
                    if not ready or self.stop.is_set():
                        continue
                    found = self._round(ready)
                    now = time.monotonic()
                    due |= {each: now + min(found.again or every[each], every[each]) for each in ready}
                    if found.is_news:
                        yield found
                self.stop.wait(self.tick)

    def _intervals(self) -> dict[str, float]:
        """The seconds between two looks at each location."""
        declared, usual = declared_sources(self.settings.ingestion), self.settings.ingestion.poll_minutes
        own = {location: source.every for location, source in declared.items() if source.every}
        return {location: 60 * own.get(location, usual) for location in self.locations}

    def _round(self, locations: Sequence[str]) -> Round:
        first = self._open is None and not self._failures
        try:
            plan, report = self._carried_out(locations)
        except FootnoteError as error:
            if first and isinstance(error, ConfigError):
                raise
            return self._failed(error, locations)
        failed, refused = self._news(plan, report, locations)
        unreached = any(step.action == "fail" and step.item.source_kind != "file" for step in plan.steps)
        again = self._pause(locations) if unreached else self._is_well(locations)
        return Round(tuple(locations), datetime.now(UTC), report, failed, refused, again=again)

    def _carried_out(self, locations: Sequence[str]) -> tuple[Plan, IngestReport | None]:
        """The plan, and what came of it; nothing where it has nothing to do."""
        if self._open is None:
            self._open = self.build(self.settings)
            self._open.stop = self.stop
        with self.looking() as say:
            plan = self._open.plan(
                locations,
                overrides=self.overrides,
                verify=self.verify and not self._seen.issuperset(locations),
                allow_removals=self.allow_removals,
                say=say,
            )
        self._seen.update(locations)
        if self.stop.is_set():
            return plan, None
        if plan.is_idle:
            self._open.note_held(plan, self.overrides)
            return plan, None
        with self.running(len(plan.steps)) as advance:
            return plan, self._open.run(plan, overrides=self.overrides, on_progress=advance)

    def _news(
        self, plan: Plan, report: IngestReport | None, locations: Sequence[str]
    ) -> tuple[tuple[IngestItem, ...], tuple[tuple[str, int, int], ...]]:
        """(what failed, what was refused) that was not said before; what is over may be said again."""
        of_name = {step.item.name: step.item.source for step in plan.steps}
        items = [item for item in report.items if item.outcome == "failed"] if report else []
        failed = {item: (of_name.get(item.document, ""), item.document, item.message) for item in items}
        refused = {each: (each[0], "", f"{each[1]} of {each[2]}") for each in plan.refused}
        unlisted = (name for location in locations for name in (location, f"file:{location}"))
        seen = {"", *unlisted, *of_name.values(), *(source for source, _, _ in plan.refused)}
        before = self._said
        self._said = {notice for notice in before if notice[0] not in seen} | {*failed.values(), *refused.values()}
        return (
            tuple(item for item, notice in failed.items() if notice not in before),
            tuple(each for each, notice in refused.items() if notice not in before),
        )

    def _failed(self, error: FootnoteError, locations: Sequence[str]) -> Round:
        """A round that failed as a whole; everything is opened anew for the next one."""
        if self._open is not None:
            self._open.database.engine.dispose()
            self._open = None
        notice = ("", "", error.message)
        said, self._said = notice in self._said, self._said | {notice}
        shown = None if said else error
        return Round(tuple(locations), datetime.now(UTC), error=shown, again=self._pause(locations))

    def _pause(self, locations: Sequence[str]) -> float:
        """After how many seconds locations are tried again that failed once more."""
        times = max(self._failures.get(location, 0) for location in locations)
        self._failures |= dict.fromkeys(locations, times + 1)
        return float(min(self.first_pause * 2 ** min(times, 20), _LONGEST_PAUSE))

    def _is_well(self, locations: Sequence[str]) -> float:
        """No seconds: the locations need not be tried again."""
        for location in locations:
            self._failures.pop(location, None)
        return 0.0
