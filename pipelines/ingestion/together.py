"""TOGETHER: small documents are embedded and written together, and one that is at fault stops only itself."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from pipelines.errors import ConfigError, ServiceUnavailable

FOR_ALL = (ConfigError, ServiceUnavailable)  # errors that every other document would meet too
X = TypeVar("X")
Y = TypeVar("Y")


def together(some: Sequence[X], do: Callable[[Sequence[X]], list[Y]], failed: Callable[[X, Exception], Y]) -> list[Y]:
    """What `do` makes of all of them; where it fails, what it makes of each alone, so that only the guilty one fails.

    Raises:
        ConfigError, ServiceUnavailable: What every other one would meet too.
    """
    try:
        return do(some) if some else []
    except FOR_ALL:
        raise
    except Exception as error:  # noqa: BLE001 - one bad document, whatever it does, stops only itself
        if len(some) == 1:
            return [failed(some[0], error)]
        return [done for one in some for done in together([one], do, failed)]
