"""Feeds in JSON (jsonfeed.org, versions 1 and 1.1). It is hostile, and may hold anything."""

import json
import re
from collections.abc import Mapping
from typing import Any

from pipelines.errors import SourceError
from pipelines.ingestion.sources.web.listed import Link, WebList, stamp_of

_VERSION = re.compile(r"https?://(?:www\.)?jsonfeed\.org/version/1(?:\.[0-9]{1,3})?/?")
_ADDRESS = ("https://", "http://")


def read_json_feed(body: bytes, name: str) -> WebList:
    """The feed that these bytes are. Older entries, at its `next_url`, are left as those of other feeds are.

    The page of an item is its `url`; else its `id`, if that is an address; else its `external_url`, which is a page
    elsewhere, and only taken of a feed that has no pages of its own site. An item changed when its `date_modified`
    says so: `date_published` stays as it is.

    Raises:
        SourceError: If they are no JSON, no JSON Feed, or one whose parts are of other types than they have to be.

    Source: https://www.jsonfeed.org/version/1.1/
    """
    try:
        told = json.loads(body)
    except RecursionError as error:
        raise _refused(name, "it is nested too deeply") from error
    except ValueError as error:
        raise _refused(name, "it is no JSON") from error
    if not isinstance(told, dict) or not _VERSION.fullmatch(_text(told, "version", name)):
        raise _refused(name, "its version is neither 1 nor 1.1")
    items = told.get("items")
    if not isinstance(items, list):
        raise _refused(name, "it has no list of items")
    links = tuple(link for item in items if (link := _link(item, name)).url)
    return WebList("feed", links, Link(_text(told, "home_page_url", name)))


def _link(item: Any, name: str) -> Link:
    """The page of an item; empty where it has none."""
    if not isinstance(item, dict):
        raise _refused(name, "one of its items is no object")
    own, elsewhere, known_as = _text(item, "url", name), _text(item, "external_url", name), item.get("id")
    named = known_as.strip() if isinstance(known_as, str) and known_as.strip().startswith(_ADDRESS) else ""
    return Link(own or named or elsewhere, stamp_of(item.get("date_modified")))


def _text(told: Mapping[str, Any], key: str, name: str) -> str:
    """What is said under a key; empty where nothing is.

    Raises:
        SourceError: If it is no text.
    """
    said = told.get(key)
    if said is not None and not isinstance(said, str):
        raise _refused(name, f"a `{key}` in it is no text")
    return (said or "").strip()


def _refused(name: str, why: str) -> SourceError:
    return SourceError(f"{name} is no JSON Feed that can be read: {why}.", hint="Tell who runs the site.")
