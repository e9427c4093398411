"""Two steps side by side: order, groups, errors, and no thread left behind."""

import threading
import time
from collections.abc import Iterator

import pytest

from pipelines.ingestion.execute import run_stages


def left_behind() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("flow-")]


def test_what_both_steps_make_comes_in_the_order_of_arrival() -> None:
    done = run_stages(
        range(50), lambda some: [-one for one in some], lambda some: [10 * one for one in some], weigh=lambda _: 0.3
    )
    assert list(done) == [-10 * number for number in range(50)]
    assert not left_behind()


def test_nothing_that_arrives_makes_nothing() -> None:
    assert list(run_stages(iter(()), list, list, weigh=lambda _: 1.0)) == []
    assert not left_behind()


def test_what_arrives_while_the_first_step_is_at_work_becomes_groups_that_weigh_one() -> None:
    groups: list[list[int]] = []
    all_arrived = threading.Event()

    def arriving() -> Iterator[int]:
        yield from range(13)
        all_arrived.set()

    def first(some: list[int]) -> list[int]:
        all_arrived.wait(5)
        groups.append(list(some))
        return list(some)

    assert list(run_stages(arriving(), first, list, weigh=lambda _: 0.25)) == list(range(13))
    assert groups == [[0], [1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]


def test_what_arrives_slowly_is_not_held_back() -> None:
    groups: list[list[int]] = []
    done = [threading.Event() for _ in range(4)]

    def arriving() -> Iterator[int]:
        for number in range(4):
            yield number
            assert done[number].wait(5)

    def then(some: list[int]) -> list[int]:
        groups.append(list(some))
        done[some[-1]].set()
        return list(some)

    assert list(run_stages(arriving(), list, then, weigh=lambda _: 0.01)) == [0, 1, 2, 3]
    assert groups == [[0], [1], [2], [3]]


def test_the_second_step_is_at_one_group_while_the_first_is_at_the_next() -> None:
    meeting = threading.Barrier(2, timeout=5)

    def meet(some: list[int]) -> list[int]:
        if some != [0]:
            meeting.wait()
        return list(some)

    def then(some: list[int]) -> list[int]:
        if some != [2]:
            meeting.wait()
        return list(some)

    assert list(run_stages(range(3), meet, then, weigh=lambda _: 1.0)) == [0, 1, 2]


def test_no_more_is_taken_than_a_few_groups_ahead() -> None:
    taken: list[int] = []
    go_on = threading.Event()

    def arriving() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    def then(some: list[int]) -> list[int]:
        go_on.wait(5)
        return list(some)

    done: list[int] = []
    consumer = threading.Thread(target=lambda: done.extend(run_stages(arriving(), list, then, weigh=lambda _: 1.0)))
    consumer.start()
    time.sleep(0.3)
    ahead = len(taken)
    go_on.set()
    consumer.join()
    assert ahead <= 6
    assert done == list(range(100))


@pytest.mark.parametrize("where", ["arriving", "first", "then"])
def test_the_first_error_is_raised_and_no_thread_is_left(where: str) -> None:
    def fail_at(step: str, some: list[int]) -> list[int]:
        if where == step and 7 in some:
            raise ValueError(step)
        return list(some)

    def arriving() -> Iterator[int]:
        for number in range(100):
            fail_at("arriving", [number])
            yield number

    done: list[int] = []
    steps = (lambda some: fail_at("first", some), lambda some: fail_at("then", some))
    with pytest.raises(ValueError, match=where):
        done.extend(run_stages(arriving(), *steps, weigh=lambda _: 1.0))
    assert done == list(range(len(done)))
    assert len(done) <= 7
    assert not left_behind()


def test_what_is_under_way_when_nobody_wants_more_is_finished_and_no_thread_is_left() -> None:
    finished: list[int] = []

    def then(some: list[int]) -> list[int]:
        time.sleep(0.02)
        finished.extend(some)
        return list(some)

    done = run_stages(range(100), list, then, weigh=lambda _: 1.0)
    assert next(done) == 0
    done.close()
    assert finished == list(range(len(finished)))
    assert len(finished) < 10
    assert not left_behind()
