"""HOURS: when a sentence says that something is open."""

import re
from typing import NamedTuple

_TIME = r"(\d{1,2})(?:[:.](\d\d))? ?([ap]\.?m\b\.?)?"
_HOURS = re.compile(rf"(?:\bfrom )?(?<![\w.:]){_TIME} ?(?:-|–|—|to|until|till) ?{_TIME}(?![\w:]|\.\d)", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:open(?:s|ing)?|hours)\b", re.IGNORECASE)


class Hours(NamedTuple):
    """The words that say it, and the times as `HH:MM` from midnight on."""

    said: str
    times: tuple[str, str]


def opening_hours(text: str) -> tuple[Hours, str] | None:
    """(the hours that a sentence says something is open, the sentence without them); None without, or with several."""
    if not _OPEN.search(text):
        return None
    found = list(_HOURS.finditer(text))
    if len(found) != 1:
        return None
    first, last = found[0].groups()[:3], found[0].groups()[3:]
    if not any((first[1], first[2], last[1], last[2])):
        return None
    times = _at(*first, half=first[2] or ""), _at(*last, half=last[2] or "")
    rest = f"{text[: found[0].start()]} {text[found[0].end() :]}"
    return Hours(found[0].group().strip(), times), " ".join(rest.split())


def _at(hour: str, minute: str | None, _: str | None, *, half: str) -> str:
    counted = int(hour) % 12 + 12 * half.lower().startswith("p") if half else int(hour)
    return f"{counted:02d}:{minute or '00'}"
