"""WORDING: how a count, a length of time and what went wrong are said, in one way wherever a person reads them."""

import math

_SECONDS, _HOURS = 120, 48  # up to so many seconds there are no minutes, up to so many hours no days


def counted(count: int, noun: str) -> str:
    """`1 page`, `2,300 pages`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def lasting(seconds: float) -> str:
    """A length of time, rounded up: `0 s`, `43 s`, `10 min`, `1 h 7 min`, `3 d 2 h`."""
    whole = math.ceil(seconds)
    if whole < _SECONDS:
        return f"{whole} s"
    minutes = math.ceil(whole / 60)
    if minutes < 60 * _HOURS:
        return _two(minutes, "h", "min")
    return _two(math.ceil(minutes / 60), "d", "h")


def _two(count: int, large: str, small: str) -> str:
    each, rest = divmod(count, 24 if large == "d" else 60)
    parts = (f"{each} {large}" if each else "", f"{rest} {small}" if rest else "")
    return " ".join(part for part in parts if part)


def told_of(label: str, message: str, hint: str = "") -> str:
    """A line on what happened to something: its label, unless the message begins with that, the message, the hint."""
    begun = message if unlabelled(label, message) != message else f"{label}: {message}"
    return f"{begun} {hint}".rstrip()


def unlabelled(label: str, message: str) -> str:
    """What a message says of what its label names, as beside that in a table: without the label at its beginning."""
    begins = label and message.casefold().startswith(label.casefold())
    rest = message[len(label) :] if begins else message
    return rest.lstrip(" :") if begins and rest.startswith((" ", ": ")) and rest.strip(" :") else message
