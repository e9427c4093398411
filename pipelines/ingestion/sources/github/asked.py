"""What GitHub was asked before, and what it answered: nothing is sent again that did not change."""

import urllib.parse
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.ingestion.sources.github.client import Client
from pipelines.ingestion.sources.github.refusals import garbled
from pipelines.store.fetched import Fetched, recall, remember


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it was reduced, as JSON: whether another page may follow, and whether this one lacks something."""

    held: Any
    more: bool
    is_cut: bool = False


class Asked:
    """Questions to GitHub whose reduced answers are kept, each with its ETag.

    With `verify` the answers of earlier runs count for nothing.
    """

    def __init__(self, client: Client, home: Path, base: str, *, verify: bool) -> None:
        self._client, self._home, self._base, self._verify = client, home, base.rstrip("/"), verify
        self._now: dict[str, Mapping[str, Any]] = {}

    def get(
        self,
        path: str,
        reduce: Callable[[Any], Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        state: str = "",
        allowed: Collection[int] = (),
    ) -> Any:
        """What `reduce` makes of the answer, as JSON; see `page`."""
        return self.page(path, reduce, parameters, state=state, allowed=allowed).held

    def page(
        self,
        path: str,
        reduce: Callable[[Any], Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        state: str = "",
        allowed: Collection[int] = (),
    ) -> Answer:
        """What `reduce` makes of the answer.

        An answer that was given at the same `state` is not asked for again; one that is cut is asked for whole each
        time, as only then it surely says so. For an `allowed` status `reduce` has None.

        Raises:
            SourceError: If GitHub refuses or cannot be reached.
            StoreError: If the answer cannot be kept.
        """
        key = f"{self._base}{path}?{urllib.parse.urlencode(parameters or {})}"
        known = self._known(key)
        if known and state and known["state"] == state:
            return Answer(known["held"], known["next"])
        reply = self._client.get(path, parameters, etag=known["etag"] if known else "", allowed=allowed)
        if reply.status == 304:
            if not known:
                raise garbled()
            fresh = {**known, "state": state}
        else:
            etag = "" if reply.is_cut else reply.etag
            fresh = {"etag": etag, "held": reduce(reply.body), "next": reply.more, "state": state}
        self._now[key] = fresh
        if fresh != known:
            remember(self._home, Fetched(key, "", "", 0, fresh))
        return Answer(fresh["held"], fresh["next"], reply.is_cut)

    def _known(self, key: str) -> Mapping[str, Any] | None:
        if key in self._now or self._verify:
            return self._now.get(key)
        note = recall(self._home, key)
        return note.more if note and {"etag", "held", "next", "state"} <= note.more.keys() else None
