"""WATCH: plan and run again whenever the listing of a folder changed, and every source at its interval."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from threading import Event, Lock

from config.settings import Settings
from pipelines.errors import UNTIL_MENDED, ConfigError, FootnoteError, SourceError
from pipelines.ingestion.plan import Overrides, Plan, Step
from pipelines.ingestion.run import Ingestion, Progress, build_ingestion
from pipelines.ingestion.sources import SOURCES, kind_of
from pipelines.ingestion.sources.base import Reporter
from pipelines.ingestion.sources.files import list_files
from pipelines.ingestion.sources.locations import declared_sources, location_key
from pipelines.store.database import reading
from pipelines.store.originals import named_uri
from pipelines.store.runs import current_failures
from pipelines.types import IngestItem, IngestReport

Refusal = tuple[str, int, int]  # (source, how many removals, of how many documents)
_Notice = tuple[str, str, str]  # (source, document, message)
_LONGEST_PAUSE = 600.0  # seconds
_LONGEST_SERVER_WAIT = 86_400.0  # seconds, whatever a server asks for
_SHARE = 50  # at most a fiftieth of the time is spent on comparing folders that do not change
_MOST_SETTLES = 10  # a folder that is never quiet counts as changed after this many times the settle time


class Folders:
    """Files and folders, compared with their last listing.

    Args:
        locations: As on the command line.
        settle: Seconds without a change after which a location counts as changed.
        look: Least seconds between two comparisons while nothing changes.
        now: A monotonic clock, in seconds.
    """

    def __init__(
        self, locations: Sequence[str], *, settle: float, look: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._settle, self._look, self._now = settle, look, now
        self._listings = {location: _listing(location) for location in locations}
        self._touched: dict[str, tuple[float, float]] = {}  # when a location changed first and last
        self._look_at = now() + look

    def changed(self) -> set[str]:
        """The locations that changed since the last call, and are quiet now."""
        now = self._now()
        if now < self._look_at:
            return set()
        for location, before in self._listings.items():
            self._listings[location] = _listing(location)
            if self._listings[location] != before:
                self._touched[location] = self._touched.get(location, (now, now))[0], now
        quiet = {
            location
            for location, (first, last) in self._touched.items()
            if now - last >= self._settle or now - first >= _MOST_SETTLES * self._settle
        }
        for location in quiet:
            del self._touched[location]
        ended = self._now()
        self._look_at = ended + (self._settle if self._touched else max(self._look, _SHARE * (ended - now)))
        return quiet


def _listing(location: str) -> frozenset[tuple[str, str]]:
    listing = list_files(location)
    problems = ((name, error.message) for name, error in listing.problems)
    return frozenset((*((item.uri, item.stamp) for item in listing.items), *problems))


class FailureNotifier:
    """Reports a failure of a source once, and again only after it was resolved."""

    def __init__(self) -> None:
        self._reported: set[_Notice] = set()

    def news(
        self, plan: Plan, report: IngestReport | None, locations: Sequence[str]
    ) -> tuple[tuple[IngestItem, ...], tuple[Refusal, ...]]:
        """Return the failures and the refused removals that were not reported before; what is over is forgotten."""
        of_name = {step.item.name: step.item.source for step in plan.steps}
        items = [item for item in report.items if item.outcome == "failed"] if report else []
        failed = {
            item: (of_name.get(item.document, ""), item.document, _without_numbers(item.message)) for item in items
        }
        refused = {each: (each[0], "", f"{each[1]} of {each[2]}") for each in plan.refused}
        unread = {_notice(step) for step in plan.steps if step.error}
        unlisted = (name for location in locations for name in (location, named_uri(location)))
        seen = {"", *unlisted, *of_name.values(), *(source for source, _, _ in plan.refused)}
        before = self._reported
        self._reported = {notice for notice in before if notice[0] not in seen}
        self._reported |= {*failed.values(), *refused.values(), *unread}
        return (
            tuple(item for item, notice in failed.items() if notice not in before),
            tuple(each for each, notice in refused.items() if notice not in before),
        )

    def are_reported(self, failing: Iterable[Step]) -> bool:
        """True if the failure of each of these steps was reported already."""
        return all(_notice(step) in self._reported for step in failing)

    def is_news(self, error: FootnoteError) -> bool:
        """True if an error that ended a whole round was not reported yet; from now on it counts as reported."""
        notice = ("", "", _without_numbers(error.message))
        reported, self._reported = notice in self._reported, self._reported | {notice}
        return not reported


def _notice(step: Step) -> _Notice:
    return step.item.source, step.item.name, _without_numbers(step.error.message if step.error else "")


def _without_numbers(message: str) -> str:
    """The message without its numbers, as the same wait is shorter each time."""
    return re.sub(r"\d[\d,]*", "#", message)


class Backoff:
    """Pauses after failures, in seconds: `first`, then twice as long each time, at most 10 minutes."""

    def __init__(self, first: float) -> None:
        self._first = first
        self._failures: dict[str, int] = {}

    def pause(self, locations: Sequence[str]) -> float:
        """The pause before locations that failed once more are tried again."""
        times = max(self._failures.get(location, 0) for location in locations)
        self._failures |= dict.fromkeys(locations, times + 1)
        return float(min(self._first * 2 ** min(times, 20), _LONGEST_PAUSE))

    def after(self, errors: Sequence[FootnoteError], locations: Sequence[str], usual: float) -> float:
        """The pause after these errors, at least as long as any of them asks for.

        It is `usual` if every error lasts until a person acts, and 0 if there is no error.
        """
        waits = [error.wait if isinstance(error, SourceError) else 0.0 for error in errors]
        passing = [wait for wait in waits if wait != UNTIL_MENDED]
        if passing:
            return max(self.pause(locations), min(max(passing), _LONGEST_SERVER_WAIT))
        for location in locations:
            self._failures.pop(location, None)
        return usual if waits else 0.0


@dataclass(frozen=True, slots=True)
class Round:
    """One plan and run over some locations.

    Attributes:
        locations: The folders that were due, or one remote source.
        at: When it ended.
        report: The report of the run; None if nothing was to do, all failed as before, or the round failed as a whole.
        failed: The failures that no earlier round reported.
        refused: Removals that a person has to allow: (source, how many, of how many), likewise.
        error: The error that ended the round as a whole, likewise.
        again: Seconds until the next try after a failure: as the source asks, its interval if it refused a key, a right
            or an address, else soon; 0 without a failure.
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
        """True if it changed something, was stopped, or has something to report."""
        done = ("added", "updated", "metadata", "removed")
        changed = self.report is not None and any(item.outcome in done for item in self.report.items)
        stopped = self.report is not None and self.report.stopped
        return bool(changed or stopped or self.failed or self.refused or self.error)


@dataclass(slots=True)
class Watch:
    """Keeps the database in step with sources, with the plans and guards of every other run.

    Folders are planned together when one changed, and at their interval. A remote source is planned at its interval, in
    a thread, so that folders continue while it waits for a rate limit.

    Attributes:
        overrides, verify, allow_removals: As for `Ingestion.plan`; a location is verified once, when it can be listed.
        stop: Once set, the rounds end after the documents that are under way.
        say: Called, in any thread, with the reason of a long wait.
        running: A context around a run of so many documents; its value is called for each document.
        build: Builds the ingestion, which stays open until a round fails as a whole, or the rounds end.
        first_pause: Seconds until a failure is tried again; twice as long each time, at most 10 minutes.
        tick: Seconds between two checks for due sources.
        settle: Seconds for which a folder must be quiet before a run.
        look: Least seconds between two comparisons of folders with their last listing.
    """

    settings: Settings
    locations: Sequence[str]
    overrides: Overrides
    verify: bool = False
    allow_removals: bool = False
    stop: Event = field(default_factory=Event)
    say: Callable[[str], None] = lambda reason: None
    running: Callable[[int], AbstractContextManager[Progress | None]] = lambda total: nullcontext(None)
    build: Callable[[Settings], Ingestion] = build_ingestion
    first_pause: float = 5.0
    tick: float = 0.25
    look: float = 2.0
    settle: float = 1.0
    _open: Ingestion | None = field(init=False, default=None)
    _opening: Lock = field(init=False, default_factory=Lock)
    _began: bool = field(init=False, default=False)
    _notifier: FailureNotifier = field(init=False, default_factory=FailureNotifier)
    _backoff: Backoff = field(init=False)
    _seen: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._backoff = Backoff(self.first_pause)

    @property
    def every(self) -> dict[str, float]:
        """The interval of each location in seconds."""
        declared, usual = declared_sources(self.settings), self.settings.ingestion.poll_minutes
        hosts = self.settings.web.private_hosts
        stated = {location_key(location, hosts): source.every for location, source in declared.items() if source.every}
        return {location: 60 * stated.get(location_key(location, hosts), usual) for location in self.locations}

    def rounds(self) -> Iterator[Round]:
        """Yield rounds until `stop` is set; the first ones are of all sources.

        Raises:
            ConfigError: If the settings cannot be used in the first round; later it is reported and tried again.
        """
        every = self.every
        local = [location for location in every if kind_of(location) == "file"]
        remote = [location for location in every if location not in local]
        due = dict.fromkeys(every, 0.0)
        under_way: dict[str, tuple[str, Future[Plan]]] = {}  # by kind: one location of each is planned at a time
        with ExitStack() as end:
            end.callback(self._close)
            folders = Folders(local, settle=self.settle, look=self.look)
            threads = ThreadPoolExecutor(len(SOURCES), "looking")
            end.callback(threads.shutdown, cancel_futures=True)
            end.callback(self.stop.set)  # plans that wait end too
            while not self.stop.is_set():
                due |= dict.fromkeys(folders.changed(), 0.0)
                ready = [location for location, at in due.items() if at <= time.monotonic()]
                for location in sorted((each for each in ready if each in remote), key=due.__getitem__):
                    if kind_of(location) not in under_way:
                        under_way[kind_of(location)] = location, threads.submit(self._plan, [location])
                ended = [kind for kind, (_, looked) in under_way.items() if looked.done()]
                planned: list[tuple[list[str], Callable[[], Plan]]] = [
                    ([location], looked.result) for location, looked in map(under_way.pop, ended)
                ]
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
        """Execute a plan; `usual` is the interval of the locations in seconds."""
        try:
            plan = planned()
            report = self._run(plan)
        except FootnoteError as error:
            if isinstance(error, ConfigError) and not self._began:
                raise
            return self._failed(error, locations)
        self._began = True
        failed, refused = self._notifier.news(plan, report, locations)
        errors = [step.error for step in plan.steps if step.error and step.item.source_kind != "file"]
        again = self._backoff.after(errors, locations, usual)
        return Round(tuple(locations), datetime.now(UTC), report, failed, refused, again=again)

    def _plan(self, locations: Sequence[str]) -> Plan:
        """Plan locations; several threads may call this."""
        plan = self._opened().plan(
            locations,
            overrides=self.overrides,
            verify=self.verify and not self._seen.issuperset(locations),
            allow_removals=self.allow_removals,
            reporter=Reporter(self.say),
        )
        if not plan.steps or any(not step.error or step.stage == "read" for step in plan.steps):
            self._seen.update(locations)
        return plan

    def _run(self, plan: Plan) -> IngestReport | None:
        """Run a plan; None if it has nothing to do but to fail as before."""
        if self.stop.is_set():
            return None
        if plan.is_idle or self._is_as_before(plan):
            self._opened().remember_listings(plan)
            return None
        with self.running(len(plan.steps)) as advance:
            return self._opened().run(plan, on_progress=advance)

    def _is_as_before(self, plan: Plan) -> bool:
        """True if a plan would only fail as before, which was reported and is still in the run log."""
        failing = [step for step in plan.steps if step.error]
        others = replace(plan, steps=tuple(step for step in plan.steps if not step.error))
        if not (failing and others.is_idle and self._notifier.are_reported(failing)):
            return False
        ingestion = self._opened()
        with reading(ingestion.database.engine, "reading what failed") as connection:
            standing = current_failures(connection, ingestion.stated_collection(self.overrides) or None)
        return {step.item.uri for step in failing} <= {failure.source_uri for failure in standing}

    def _opened(self) -> Ingestion:
        with self._opening:
            if self._open is None:
                self._open = self.build(self.settings)
                self._open.stop = self.stop
            return self._open

    def _close(self) -> None:
        """Close the ingestion; plans that are under way keep their connections until they end."""
        with self._opening:
            if self._open is not None:
                self._open.database.engine.dispose()
                self._open = None

    def _failed(self, error: FootnoteError, locations: Sequence[str]) -> Round:
        """The round of an error that ended it; the next round opens everything again."""
        self._began = True
        self._close()
        shown, again = error if self._notifier.is_news(error) else None, self._backoff.pause(locations)
        return Round(tuple(locations), datetime.now(UTC), error=shown, again=again)
