"""What was found for words, remembered while they are short: long ones would fill gigabytes."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

LONGEST = 500

_Found = TypeVar("_Found")
_MOST = 16_384


def remembered(find: Callable[[str], _Found]) -> Callable[[str], _Found]:
    """The function, which does not look again at words of at most `LONGEST` characters that it saw lately."""
    known = lru_cache(maxsize=_MOST)(find)

    @wraps(find)
    def found(words: str) -> _Found:
        return known(words) if len(words) <= LONGEST else find(words)

    return found
