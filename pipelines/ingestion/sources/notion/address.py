"""Where a page or a database of Notion is."""

import re
from urllib.parse import parse_qs, urlsplit

from pipelines.errors import SourceError
from pipelines.ingestion.loaders.notion.words import SITE

_ID = re.compile(r"[0-9a-f]{32}")
_AT_END = re.compile(r"(?:^|[^0-9a-f])([0-9a-f]{32})$")


def id_of(location: str) -> str:
    """The 32 digits that `notion:` and an id name, or the address of a page as a browser shows it.

    Raises:
        SourceError: If there is no id in it.
    """
    named = location.partition(":")[2].strip()
    found = _of_address(named if "/" in named else f"/{named}")
    if not found:
        raise SourceError(
            f"{location} names no page or database of Notion.",
            hint="Write notion: and the 32 digits at the end of the page's address.",
        )
    return found


def page_address(page_id: str) -> str:
    """Where a person opens the page, which is its URI."""
    return f"{SITE}/{page_id}"


def digits(told: object) -> str:
    """The 32 digits of an id that Notion told.

    Raises:
        ValueError: If it is none; nothing else gets into a path.
    """
    found = _plain(told) if isinstance(told, str) else ""
    if not found:
        raise ValueError("no id")
    return found


def _of_address(named: str) -> str:
    """The digits in the address of a page; nothing where there are none."""
    try:
        address = urlsplit(named if "//" in named else f"https://{named}")
    except ValueError:
        return ""
    opened = parse_qs(address.query).get("p", [""])[0]  # a page that is open over the view of a database
    last = address.path.rstrip("/").rpartition("/")[2].lower()
    ended = _AT_END.search(last)
    return _plain(opened) or _plain(last[-36:]) or (ended[1] if ended else "")


def _plain(text: str) -> str:
    """The digits of an id alone, with or without its hyphens; nothing where it is none."""
    found = text.lower().replace("-", "")
    return found if _ID.fullmatch(found) and text.count("-") in (0, 4) else ""
