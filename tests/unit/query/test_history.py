from pipelines.query.understanding.history import recent
from pipelines.text import count_tokens
from pipelines.types import Turn

TURNS = [Turn("Who is Ann?", "A welder in Oslo."), Turn("Since when?", "Since 2019."), Turn("Why?", "She likes fire.")]


def size(turn: Turn) -> int:
    return count_tokens(turn.question) + count_tokens(turn.answer)


def test_the_last_turns_are_kept_oldest_first() -> None:
    assert recent(TURNS, turns=2, tokens=1_000) == tuple(TURNS[1:])
    assert recent(TURNS, turns=0, tokens=1_000) == ()
    assert recent([], turns=4, tokens=1_000) == ()


def test_a_turn_that_does_not_fit_ends_it() -> None:
    room = size(TURNS[2]) + size(TURNS[1])
    assert recent(TURNS, turns=4, tokens=room) == tuple(TURNS[1:])
    assert recent(TURNS, turns=4, tokens=room - 1) == tuple(TURNS[2:])


def test_the_answer_of_the_last_turn_is_cut_to_what_there_is_room_for() -> None:
    long = Turn("Why?", "fire " * 500)
    (kept,) = recent([*TURNS, long], turns=4, tokens=50)
    assert kept.answer.startswith("fire fire")
    assert kept.answer.endswith(" ...")
    assert size(kept) <= 50


def test_a_question_that_is_too_long_alone_leaves_no_history() -> None:
    assert recent([Turn("why " * 200, "x")], turns=4, tokens=50) == ()
