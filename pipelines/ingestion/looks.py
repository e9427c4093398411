"""LOOKS: plans of remote sources, made beside everything else, so that a wait or a long listing holds up nothing."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from types import TracebackType

from pipelines.ingestion.plan import Plan
from pipelines.ingestion.sources import SOURCES, kind_of


class Looks:
    """Looks at sources in threads; at those of one kind one after the other, as their servers want it.

    Args:
        plan: The plan of a location.
        stop: Is set in the end, so that looks that wait end, too.
    """

    def __init__(self, plan: Callable[[str], Plan], stop: Event) -> None:
        self._plan, self._stop = plan, stop
        self._threads = ThreadPoolExecutor(len(SOURCES), "looking")
        self._under_way: dict[str, tuple[str, Future[Plan]]] = {}

    def begin(self, locations: Iterable[str]) -> None:
        """Look at locations, in order; one whose kind is being looked at is left for another time."""
        for location in locations:
            if kind_of(location) not in self._under_way:
                self._under_way[kind_of(location)] = location, self._threads.submit(self._plan, location)

    def ended(self) -> list[tuple[str, Callable[[], Plan]]]:
        """The looks that ended since the last call: (location, what gives its plan, or raises what it met)."""
        kinds = [kind for kind, (_, look) in self._under_way.items() if look.done()]
        return [(location, look.result) for location, look in map(self._under_way.pop, kinds)]

    def __enter__(self) -> "Looks":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._threads.shutdown(cancel_futures=True)
