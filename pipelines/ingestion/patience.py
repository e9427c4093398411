"""PATIENCE: after how many seconds a watch tries again what failed."""

from collections.abc import Sequence

from pipelines.errors import UNTIL_MENDED, FootnoteError, SourceError

_LONGEST_PAUSE = 600.0  # seconds
_LONGEST_REST = 86_400.0  # seconds, whatever a server asks for


class Patience:
    """Pauses after failures, in seconds: the first, then twice as long each time, at most 10 minutes."""

    def __init__(self, first: float) -> None:
        self._first = first
        self._failures: dict[str, int] = {}

    def pause(self, locations: Sequence[str]) -> float:
        """Before locations are tried again that failed once more."""
        times = max(self._failures.get(location, 0) for location in locations)
        self._failures |= dict.fromkeys(locations, times + 1)
        return float(min(self._first * 2 ** min(times, 20), _LONGEST_PAUSE))

    def rest(self, errors: Sequence[FootnoteError], locations: Sequence[str], usual: float) -> float:
        """Before locations are tried again that met these errors, as long at least as one of them asks for.

        `usual` where each of them lasts until a person mends it; 0 where there is none: all is well again.
        """
        waits = [error.wait if isinstance(error, SourceError) else 0.0 for error in errors]
        passing = [wait for wait in waits if wait != UNTIL_MENDED]
        if passing:
            return max(self.pause(locations), min(max(passing), _LONGEST_REST))
        for location in locations:
            self._failures.pop(location, None)
        return usual if waits else 0.0
