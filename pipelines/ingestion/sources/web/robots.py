"""What a site's robots.txt allows, by RFC 9309: the longest rule that fits decides, with `*` and `$`.

Python's own `urllib.robotparser` takes the first rule that fits and knows no `*` within a path, which most sites use.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

_MOST_BYTES = 500_000
_LONGEST_DELAY = 60.0


@dataclass(frozen=True, slots=True)
class Rules:
    """What is allowed, as (pattern, whether it allows), and the seconds between two requests that are asked for."""

    rules: Sequence[tuple[str, bool]] = ()
    delay: float = 0.0

    def allow(self, target: str) -> bool:
        """Whether a path with its query may be fetched; of rules of one length the one that allows decides."""
        path = _folded(target)
        fitting = [(len(pattern), allows) for pattern, allows in self.rules if _fits(pattern, path)]
        return max(fitting)[1] if fitting else True


@dataclass(slots=True)
class _Group:
    agents: set[str] = field(default_factory=set)
    rules: list[tuple[str, bool]] = field(default_factory=list)
    delay: float = 0.0
    closed: bool = False


def read_robots(data: bytes, agent: str) -> Rules:
    """The rules of the groups that name the agent, else of those for all."""
    groups = _groups(data)
    name = agent.partition("/")[0].strip().lower()
    own = [group for group in groups if name in group.agents] or [group for group in groups if "*" in group.agents]
    rules = [rule for group in own for rule in group.rules]
    return Rules(rules, max((group.delay for group in own), default=0.0))


def _groups(data: bytes) -> list[_Group]:
    groups: list[_Group] = []
    for line in data[:_MOST_BYTES].decode("utf-8-sig", "replace").splitlines():
        field_name, colon, value = line.partition("#")[0].partition(":")
        key, value = field_name.strip().lower(), value.strip()
        if key == "user-agent" and colon:
            if not groups or groups[-1].closed:
                groups.append(_Group())
            groups[-1].agents.add(value.partition("/")[0].strip().lower())
        elif groups and key in ("allow", "disallow", "crawl-delay"):
            groups[-1].closed = True
            if key == "crawl-delay":
                groups[-1].delay = max(groups[-1].delay, _seconds(value))
            elif value:
                groups[-1].rules.append((_folded(value), key == "allow"))
    return groups


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        return 0.0
    return 0.0 if math.isnan(seconds) else min(max(seconds, 0.0), _LONGEST_DELAY)


def _folded(path: str) -> str:
    """The path with one spelling of its escapes."""
    return quote(unquote(path, errors="surrogateescape"), safe="/?&=+$*,:;@!~'()", errors="surrogateescape")


def _fits(pattern: str, path: str) -> bool:
    """Whether a pattern matches the beginning of a path, or all of it where it ends in `$`; in linear time."""
    ends = pattern.endswith("$")
    first, *rest = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    if ends and not rest:
        return at == len(path)
    for number, part in enumerate(rest):
        if ends and number == len(rest) - 1:
            return path.endswith(part) and len(path) - len(part) >= at
        found = path.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True
