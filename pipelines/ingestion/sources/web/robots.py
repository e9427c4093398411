"""What a site's robots.txt allows (RFC 9309), read by Protego: the longest matching rule decides, with `*` and `$`."""

import re

from protego import Protego

_MAX_BYTES = 500_000
_MAX_DELAY = 60.0  # seconds
_AGENT_LINE = re.compile(r"(\s*user-agent\s*:\s*)([^\s/#]*).*", re.IGNORECASE)


class Rules:
    """The rules of one robots.txt for one agent; without a file everything is allowed.

    Attributes:
        delay: Seconds between two requests that the file asks for; at most 60.
    """

    def __init__(self, data: bytes = b"", agent: str = "") -> None:
        self._agent = agent.partition("/")[0].strip().lower()
        lines = data[:_MAX_BYTES].decode("utf-8-sig", "replace").splitlines()
        self._parsed = Protego.parse("\n".join(_AGENT_LINE.sub(self._exact_group, line) for line in lines))
        self.delay = min(self._parsed.crawl_delay(self._agent) or 0.0, _MAX_DELAY)

    def allow(self, target: str) -> bool:
        """Return True if a path with its query may be fetched."""
        return bool(self._parsed.can_fetch(target, self._agent))

    def _exact_group(self, line: "re.Match[str]") -> str:
        """Protego matches beginnings of agent names and no versions: name a group as ours, as `*`, or as nobody's."""
        token = line[2].lower()
        return line[1] + (token if token in (self._agent, "*") else "-")
