"""Whether reading a text takes time in proportion to its length."""

import gc
import time
from collections.abc import Callable

_ATTEMPTS = 3  # a busy machine may disturb one of them, and what is not linear fails them all


def assert_linear(read: Callable[[int], object], size: int) -> None:
    """`read(n)`, which reads a text of a length that grows with n, takes time in proportion to n up to `size`.

    Measured is the processor time of this thread, at `size` and at a fifth of it: five times as much would be linear,
    25 times quadratic. The sizes of two attempts differ by a hundred or more, so that nothing is answered from a cache.
    """
    _spent(read, 10)
    told = []
    for attempt in range(_ATTEMPTS):
        few, many = _spent(read, size // 5 + 100 * attempt), _spent(read, size + 500 * attempt)
        if many < 8 * few + 0.05:
            return
        told.append(f"{few:.3f} s, then {many:.3f} s")
    raise AssertionError(f"five times as much took far more than five times as long: {told}")


def _spent(read: Callable[[int], object], size: int) -> float:
    gc.disable()  # or what other tests left behind would be gone through again and again
    try:
        began = time.thread_time()
        read(size)
        return time.thread_time() - began
    finally:
        gc.enable()
