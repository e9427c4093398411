"""HISTORY: the turns of a conversation that a prompt has room for."""

from collections.abc import Sequence
from dataclasses import replace

from pipelines.text import count_tokens
from pipelines.types import Turn

_CUT = " ..."


def recent(history: Sequence[Turn], *, turns: int, tokens: float) -> tuple[Turn, ...]:
    """The last turns, oldest first: at most `turns`, and at most so many cl100k tokens of questions and answers.

    A turn that does not fit ends it, but that the last turn's answer is cut to what there is room for.
    """
    kept: list[Turn] = []
    left = tokens
    for turn in reversed(history[-turns:] if turns else ()):
        fitting = turn if kept or _size(turn) <= left else _cut(turn, left - _size(Turn(turn.question, _CUT)))
        left -= _size(fitting)
        if left < 0:
            break
        kept.append(fitting)
    return tuple(reversed(kept))


def _size(turn: Turn) -> int:
    return count_tokens(turn.question) + count_tokens(turn.answer)


def _cut(turn: Turn, tokens: float) -> Turn:
    """The turn with as many of its answer's first words as fit into so many tokens."""
    words = turn.answer.split()
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(" ".join(words[:middle])) <= tokens else (low, middle - 1)
    return replace(turn, answer=" ".join(words[:low]) + _CUT if low else "")
