"""How many tokens an endpoint counts where we count one, as it has reported; kept in memory, by model."""

from dataclasses import dataclass
from threading import Lock

_FORGETS = 0.9  # what an earlier request weighs beside the next one
_HEADROOM = 1.05  # texts differ
_LEAST, _MOST = 0.5, 4.0  # a ratio beyond is no count of the same text
_SHORT = 200  # tokens up to which a prompt is mostly what the endpoint puts around it


@dataclass(frozen=True, slots=True)
class _Seen:
    reported: float
    counted: float


_seen: dict[str, _Seen] = {}
_lock = Lock()


def learn(model: str, *, counted: int, reported: int) -> None:
    """Note a request's prompt tokens: by our count, and by the endpoint's. A report that cannot be true is left out."""
    if counted <= _SHORT or not _LEAST <= reported / counted <= _MOST:
        return
    with _lock:
        before = _seen.get(model, _Seen(0.0, 0.0))
        _seen[model] = _Seen(_FORGETS * before.reported + reported, _FORGETS * before.counted + counted)


def margin(model: str, otherwise: float) -> float:
    """What one of our tokens counts for a model, a little more than it did of late; `otherwise` before it is known."""
    seen = _seen.get(model)
    return _HEADROOM * seen.reported / seen.counted if seen else otherwise
