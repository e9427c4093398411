"""Where a worker stands with its document, on a page of memory that it shares with its parent.

Telling costs nothing and wakes nobody, and whatever ends the worker, what it told last is there.
"""

import mmap
import struct
import time

_PAGE = struct.Struct("d24s")
SIZE = _PAGE.size


class Whereabouts:
    """The page: when the worker began its document, and the stage that it has reached; one side writes at a time."""

    def __init__(self, descriptor: int) -> None:
        self._page = mmap.mmap(descriptor, SIZE)

    def clear(self) -> None:
        """Nothing is begun."""
        self._page[:] = bytes(SIZE)

    def reach(self, stage: str) -> None:
        """Tell that a stage begins; the first one also begins the document."""
        self._page[:] = _PAGE.pack(self.began or time.monotonic(), stage.encode())

    @property
    def began(self) -> float:
        """When the document was begun, as `time.monotonic` counts, which all processes share; 0.0 before that."""
        return float(_PAGE.unpack(self._page[:])[0])

    @property
    def stage(self) -> str:
        """The last stage that was reached; empty before the document was begun."""
        return bytes(_PAGE.unpack(self._page[:])[1]).rstrip(b"\0").decode()

    def close(self) -> None:
        """Let go of the page."""
        self._page.close()
