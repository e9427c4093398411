"""Addresses on the web of what another kind of source takes whole."""

import re

from pipelines.ingestion.sources.web.address import Address

_NOTION = ("notion.so", "notion.site", "notion.com")
_NOTION_ID = re.compile(r"[0-9a-f]{32}")
_OWNER = re.compile(r"/([A-Za-z0-9-]{1,39})(/[\w.-]{1,100})?/?")
_NO_OWNERS = frozenset("about apps collections enterprise explore features login marketplace new orgs pricing".split())
_NO_OWNERS |= frozenset("search security settings site sponsors topics trending".split())


def taken_whole_by(address: Address) -> str:
    """The location that takes all of what an address shows a page of: `github:OWNER/REPO`, `notion:ID`; else empty."""
    path = address.target.partition("?")[0]
    if address.site == "github.com":
        found = _OWNER.fullmatch(path)
        return f"github:{found[1]}{found[2] or ''}" if found and found[1].lower() not in _NO_OWNERS else ""
    if address.host.endswith(tuple(f".{name}" for name in _NOTION)) or address.host in _NOTION:
        found = _NOTION_ID.search(path.rpartition("/")[2].replace("-", "").lower()[-32:])
        return f"notion:{found[0]}" if found else ""
    return ""
