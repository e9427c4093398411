"""Which hosts are left alone for the rest of a run: those that ask for it, and those that are not reached."""

from collections.abc import Iterator
from contextlib import contextmanager

from pipelines.errors import SourceError
from pipelines.ingestion.sources.outages import LATER
from pipelines.ingestion.sources.web.status import Unasked, Unreached

_MOST_UNREACHED = 3  # requests in a row


class Rest:
    """The hosts that rest, by the way they are asked for."""

    def __init__(self) -> None:
        self._resting: dict[str, SourceError] = {}
        self._unreached: dict[str, int] = {}

    def assert_awake(self, netloc: str) -> None:
        """Raise for a host that rests.

        Raises:
            Unasked: Which says why it does.
        """
        if found := self._resting.get(netloc):
            raise Unasked(found.message, hint=found.hint, wait=found.wait)

    def begin(self, netloc: str, why: SourceError) -> None:
        """Leave a host alone from now on."""
        self._resting[netloc] = why

    @contextmanager
    def counted(self, netloc: str) -> Iterator[None]:
        """A request to a host, which rests once it was not reached by some in a row."""
        try:
            yield
        except Unreached as error:
            count = self._unreached[netloc] = self._unreached.get(netloc, 0) + 1
            if count >= _MOST_UNREACHED:
                said = f"{error.message.removesuffix('.')}, {count} times in a row."
                self.begin(netloc, SourceError(said, hint=LATER))
            raise
        except SourceError:
            self._unreached.pop(netloc, None)
            raise
        self._unreached.pop(netloc, None)
