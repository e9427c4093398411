"""Ctrl-C, SIGTERM and SIGHUP: a command ends cleanly, and its exit code says which signal ended it.

A signal that was ignored from the start stays ignored: Ctrl-C in a shell's background, SIGHUP under nohup.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import NoReturn

from app.cli.options import EXIT_ENDED, EXIT_STOPPED

ExitCode = Callable[[], int]
STOPPED = b"\nStopped. What was finished stays; the same command goes on from there.\n"
STOPPED_WHOLE = b"\nStopped.\n"  # where nothing is finished in parts
_STOPPING = "\nStopping after the documents that are under way; {} again stops at once.\n"
_CODES = {signal.SIGINT: EXIT_STOPPED, signal.SIGTERM: EXIT_ENDED, signal.SIGHUP: EXIT_ENDED}
_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}
_PATIENCE = 2.0  # seconds


def ending_well(message: bytes) -> ExitCode:
    """On a signal, end the process with `message` on stderr, after the exit handlers.

    Yields a function that returns the exit code of the signal; 0 if there was none.
    """
    codes = [0]

    def stopped(number: int, _frame: object) -> NoReturn:
        codes.append(_CODES[signal.Signals(number)])
        _end(number, message)

    for number in filter(_is_heard, _CODES):
        signal.signal(number, stopped)
    return lambda: codes[-1]


@contextlib.contextmanager
def stopping(stop: threading.Event) -> Iterator[ExitCode]:
    """Within the context the first signal sets `stop`, and the second ends the process at once.

    Yields a function that returns the exit code: 130 after Ctrl-C, 143 after SIGTERM, 0 if none came.
    A process that is still there two seconds after the second signal, as a thread of it embeds or waits for a server,
    is ended: each document is written in one transaction, so nothing is lost.
    """
    codes = [EXIT_STOPPED]
    heard: SimpleQueue[bool] = SimpleQueue()

    def pass_on() -> None:
        if heard.get():
            stop.set()

    def interrupted(number: int, _frame: object) -> None:
        again = len(codes) > 1 or stop.is_set()
        codes.append(_CODES[signal.Signals(number)])
        if again:
            last = threading.Timer(_PATIENCE, os._exit, codes[-1:])
            last.daemon = True
            last.start()
            _end(number, STOPPED)
        heard.put(True)  # what was interrupted may hold the lock of `stop`: another thread sets it
        _write(_STOPPING.format(_NAMES[signal.Signals(number)]).encode())

    with contextlib.ExitStack() as restored:
        if threading.current_thread() is threading.main_thread():
            passing = threading.Thread(target=pass_on, name="stopping", daemon=True)
            passing.start()
            restored.callback(passing.join)
            restored.callback(heard.put, False)
            for number in filter(_is_heard, _CODES):
                restored.callback(signal.signal, number, signal.signal(number, interrupted))
        yield lambda: codes[-1]


def _is_heard(number: signal.Signals) -> bool:
    return signal.getsignal(number) not in (None, signal.SIG_IGN)


def _end(number: int, message: bytes) -> NoReturn:
    _write(message)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(_CODES[signal.Signals(number)])


def _write(message: bytes) -> None:
    with contextlib.suppress(OSError):  # the terminal may be gone
        os.write(2, message)  # whatever was interrupted may hold the lock of a stream
