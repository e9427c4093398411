"""FLOW: what arrives goes through two steps side by side, in groups and in order; a bounded number is under way."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from threading import Event
from typing import TypeVar

Arrived = TypeVar("Arrived")
Between = TypeVar("Between")
Done = TypeVar("Done")
Given = TypeVar("Given")
Made = TypeVar("Made")

_AHEAD = 2  # groups that wait, beside the two that the steps are at


def flow(
    arriving: Iterable[Arrived],
    first: Callable[[Sequence[Arrived]], Between],
    then: Callable[[Between], Iterable[Done]],
    *,
    weigh: Callable[[Arrived], float],
) -> Generator[Done, None, None]:
    """What both steps make of what arrives, in the order of arrival.

    Each step has a thread of its own, so that `first` is at one group while `then` is at the one before. A group is
    closed when it weighs 1 or more, or when `first` has nothing to do and `then` no more than one group: whatever
    arrives slowly is not held back.

    The first error of any of the three ends it and is raised; what a step is at is finished, and nothing more is
    begun. No thread is left behind, however it ends.
    """
    firsts, thens = ThreadPoolExecutor(1, "flow-first"), ThreadPoolExecutor(1, "flow-then")
    first_failed, then_failed = Event(), Event()
    under_way: deque[Future[Iterable[Done]]] = deque()
    group: list[Arrived] = []
    weight, last = 0.0, None

    def begin(some: Sequence[Arrived]) -> Between:
        if first_failed.is_set() or then_failed.is_set():
            raise CancelledError
        return _watched(first, some, first_failed)

    def go_on(made: "Future[Between]") -> Iterable[Done]:
        some = made.result()
        if then_failed.is_set():
            raise CancelledError
        return _watched(then, some, then_failed)

    try:
        for one in arriving:
            group.append(one)
            weight += weigh(one)
            while under_way and under_way[0].done():
                yield from under_way.popleft().result()
            if weight >= 1 or ((last is None or last.done()) and len(under_way) < 2):
                last = firsts.submit(begin, group)
                under_way.append(thens.submit(go_on, last))
                group, weight = [], 0.0
            while len(under_way) > _AHEAD + 2:
                yield from under_way.popleft().result()
        if group:
            under_way.append(thens.submit(go_on, firsts.submit(begin, group)))
        while under_way:
            yield from under_way.popleft().result()
    finally:
        first_failed.set()
        for pool in (firsts, thens):
            pool.shutdown(cancel_futures=True)


def _watched(step: Callable[[Given], Made], given: Given, failed: Event) -> Made:
    try:
        return step(given)
    except BaseException:
        failed.set()
        raise
