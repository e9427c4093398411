"""How far a long look is: told at every step, and said now and then where nothing shows it."""

from pipelines.ingestion.sources.base import seldom


def test_what_is_told_often_is_said_after_ten_seconds_and_then_after_ten_more() -> None:
    clock, said = [100.0], list[str]()
    told = seldom(said.append, now=lambda: clock[0])
    for second in range(35):
        clock[0] = 100.0 + second
        told(f"{second} of 35")
    assert said == ["10 of 35", "20 of 35", "30 of 35"]


def test_steps_that_take_longer_are_all_said() -> None:
    clock, said = [0.0], list[str]()
    told = seldom(said.append, now=lambda: clock[0])
    for step in range(1, 4):
        clock[0] = step * 14.0
        told(f"{step} of 3")
    assert said == ["1 of 3", "2 of 3", "3 of 3"]
