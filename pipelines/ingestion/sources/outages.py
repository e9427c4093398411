"""What people are told when a source asks to wait, fails or cannot be reached: in one way, whatever its kind."""

import errno
import socket
import ssl
from collections.abc import Iterator

from pipelines.errors import SourceError
from pipelines.wording import lasting

LATER = "Run again later: what is stored stays."

_NO_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})
_SLOW = "it took too long to answer"
_BROKEN = "it broke off the connection"
_NO_WAY = "no way leads there from here"
_WHY = {
    errno.ECONNREFUSED: "it refuses connections",
    **dict.fromkeys((errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE), _BROKEN),
    **dict.fromkeys((errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN), _NO_WAY),
    errno.ETIMEDOUT: _SLOW,
}


def waiting(who: str, seconds: float, why: str = "") -> str:
    """That a wait begins that was asked for."""
    return f"{_asks(who, seconds, why)} ..."


def too_long(who: str, seconds: float, setting: str, *, why: str = "", more: str = "") -> SourceError:
    """The error of a wait that is longer than the setting lets a run wait."""
    return SourceError(
        f"{_asks(who, seconds, why)}; that is left for the next run.",
        hint=f"Run it again then, or raise {setting}. {more}".rstrip(),
        wait=seconds,
    )


def trying_again(failed: SourceError, seconds: float) -> str:
    """That what failed is asked again in so many seconds."""
    return f"{failed.message.rstrip('.')}; the next try is in {lasting(seconds)} ..."


def why_unreached(error: BaseException) -> str:
    """Why a host was not reached, in words: what the operating system or TLS said below a library's error."""
    for inner in _below(error):
        match inner:
            case ssl.SSLCertVerificationError():
                said = getattr(inner, "verify_message", "").rstrip(".")
                return f"its certificate is not accepted{f' ({said})' if said else ''}"
            case ssl.SSLError():
                return "no secure connection to it came about"
            case socket.gaierror():
                return "there is no such name" if inner.errno in _NO_NAME else "its name cannot be looked up now"
            case TimeoutError():
                return _SLOW
            case OSError() if inner.errno in _WHY:
                return _WHY[inner.errno]
    return _SLOW if "Timeout" in type(error).__name__ else "no connection to it came about"


def _asks(who: str, seconds: float, why: str) -> str:
    return f"{who} asks to wait {lasting(seconds)}{f' ({why})' if why else ''}"


def _below(error: BaseException) -> Iterator[BaseException]:
    """An error with all those that it came of, the innermost last, each once."""
    waiting, seen = [error], set[int]()
    while waiting:
        inner = waiting.pop(0)
        if id(inner) in seen:
            continue
        seen.add(id(inner))
        yield inner
        causes = (inner.__cause__, inner.__context__, getattr(inner, "reason", None), *inner.args)
        waiting += [cause for cause in causes if isinstance(cause, BaseException)]
