"""What GitHub tells of a repository, reduced to what is kept of it: plain JSON that any answer of the API becomes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.ingestion.sources.github.places import place_of
from pipelines.ingestion.sources.github.refusals import garbled
from pipelines.text import canonical

_LONGEST = 2_000  # characters of a description
_MOST_TOPICS = 50
_UNKNOWN_LICENCE = "NOASSERTION"

Told = Mapping[str, Any]


def told_of(repository: Mapping[str, Any]) -> Told:
    """The facts of a repository as the API answers them; what is missing or of another type is empty."""
    licence = repository.get("license")
    spdx = line(licence.get("spdx_id")) if isinstance(licence, dict) else ""
    named = line(licence.get("name")) if isinstance(licence, dict) else ""
    topics, stars = repository.get("topics"), repository.get("stargazers_count")
    return {
        "full_name": line(repository.get("full_name")),
        "name": line(repository.get("name")),
        "description": line(repository.get("description"))[:_LONGEST],
        "language": line(repository.get("language")),
        "topics": [line(topic) for topic in topics[:_MOST_TOPICS]] if isinstance(topics, list) else [],
        "homepage": line(repository.get("homepage")),
        "licence": spdx if spdx and spdx != _UNKNOWN_LICENCE else named,
        "stars": stars if isinstance(stars, int) else None,
        "private": repository.get("private") is True,
        "fork": repository.get("fork") is True,
        "archived": repository.get("archived") is True,
        "branch": line(repository.get("default_branch")),
        "created_at": line(repository.get("created_at")),
        "pushed_at": line(repository.get("pushed_at")),
        "updated_at": line(repository.get("updated_at")),
    }


def content_of(told: Told) -> str:
    """What tells cheaply whether the files of a repository changed: the last push, and which branch is shown."""
    return f"{told['full_name']} {told['branch']} {told['pushed_at']}"


def stamp_of(told: Told, content: str) -> str:
    """The state of a document: its content's, and all that is told of its repository."""
    said = json.dumps([content, told], sort_keys=True)
    return f"{told['pushed_at']} {hashlib.sha256(said.encode()).hexdigest()[:24]}"


def repositories_in(body: Any) -> Sequence[Told]:
    """The repositories of a page of a listing.

    Raises:
        SourceError: If it is no such page: one that is read as an empty one would have everything removed.
    """
    if not isinstance(body, list):
        raise garbled()
    found = [told_of(row) if isinstance(row, dict) else {} for row in body]
    if not all(map(_is_named, found)):
        raise garbled()
    return found


def _is_named(told: Told) -> bool:
    place = place_of(f"github:{told.get('full_name')}")
    return place is not None and place.full_name == told["full_name"] and bool(place.repository)


def line(said: Any) -> str:
    """What GitHub says in one line, without what is invisible; empty for what is no text."""
    return " ".join(canonical(said).split()) if isinstance(said, str) else ""
