"""Addresses on the web of what another kind of source takes whole."""

from pipelines.errors import SourceError
from pipelines.ingestion.sources.github.places import place_of
from pipelines.ingestion.sources.notion.address import id_of
from pipelines.ingestion.sources.web.address import Address

_NOTION = ("notion.so", "notion.site", "notion.com")
_NO_OWNERS = frozenset("about apps collections enterprise explore features login marketplace new orgs pricing".split())
_NO_OWNERS |= frozenset("search security settings site sponsors topics trending".split())


def taken_whole_by(address: Address) -> str:
    """The location that takes all of what an address shows a page of: `github:OWNER/REPO`, `notion:ID`; else empty."""
    if address.site == "github.com":
        place = place_of(f"github:{address.target.partition('?')[0].strip('/')}")
        return place.location if place and place.owner.lower() not in _NO_OWNERS else ""
    if address.host.endswith(tuple(f".{name}" for name in _NOTION)) or address.host in _NOTION:
        try:
            return f"notion:{id_of(f'notion:{address.url}')}"
        except SourceError:
            return ""
    return ""
