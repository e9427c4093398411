"""FLOW: what arrives goes through two steps side by side, in groups and in order; a bounded number is under way."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Arrived = TypeVar("Arrived")
Between = TypeVar("Between")
Done = TypeVar("Done")

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

    The first error of any of the three ends it and is raised; a group that a step is at is finished, those that wait
    are dropped. No thread is left behind, however it ends.
    """
    firsts, thens = ThreadPoolExecutor(1, "flow-first"), ThreadPoolExecutor(1, "flow-then")
    under_way: deque[Future[Iterable[Done]]] = deque()
    group: list[Arrived] = []
    weight, last = 0.0, None
    try:
        for one in arriving:
            group.append(one)
            weight += weigh(one)
            while under_way and under_way[0].done():
                yield from under_way.popleft().result()
            if weight >= 1 or ((last is None or last.done()) and len(under_way) < 2):
                last = firsts.submit(first, group)
                under_way.append(thens.submit(_after, last, then))
                group, weight = [], 0.0
            while len(under_way) > _AHEAD + 2:
                yield from under_way.popleft().result()
        if group:
            under_way.append(thens.submit(_after, firsts.submit(first, group), then))
        while under_way:
            yield from under_way.popleft().result()
    finally:
        for pool in (firsts, thens):
            pool.shutdown(cancel_futures=True)


def _after(made: "Future[Between]", then: Callable[[Between], Iterable[Done]]) -> Iterable[Done]:
    return then(made.result())
