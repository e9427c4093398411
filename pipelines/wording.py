"""Counts, durations and messages in words, the same everywhere."""

import math

_SECONDS, _HOURS = 120, 48  # below these, seconds are not given in minutes and hours not in days


def format_count(count: int, noun: str) -> str:
    """`1 page`, `2,300 pages`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def format_duration(seconds: float) -> str:
    """A duration, rounded up: `0 s`, `43 s`, `10 min`, `1 h 7 min`, `3 d 2 h`."""
    whole = math.ceil(seconds)
    if whole < _SECONDS:
        return f"{whole} s"
    minutes = math.ceil(whole / 60)
    if minutes < 60 * _HOURS:
        return _two_units(minutes, "h", "min")
    return _two_units(math.ceil(minutes / 60), "d", "h")


def _two_units(count: int, large: str, small: str) -> str:
    each, rest = divmod(count, 24 if large == "d" else 60)
    parts = (f"{each} {large}" if each else "", f"{rest} {small}" if rest else "")
    return " ".join(part for part in parts if part)


def with_hint(message: str, hint: str = "") -> str:
    """The message and what to do about it; the message ends with a full stop where a hint follows."""
    ends = message.rstrip(" \"'’”)]`")[-1:]
    stop = "." if hint and ends and ends not in ".!?:;…" else ""
    return f"{message}{stop} {hint}".strip()


def labelled_message(label: str, message: str, hint: str = "") -> str:
    """The label, unless the message begins with it, the message and the hint, in one line."""
    labelled = message if without_label(label, message) != message else f"{label}: {message}"
    return with_hint(labelled, hint)


def without_label(label: str, message: str) -> str:
    """The message without the label that it begins with, for a table that shows the label beside it."""
    begins = label and message.casefold().startswith(label.casefold())
    rest = message[len(label) :] if begins else message
    return rest.lstrip(" :") if begins and rest.startswith((" ", ": ")) and rest.strip(" :") else message
