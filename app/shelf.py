"""The stored documents as the library lists them, what could not be taken in, and the first questions about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipelines.store.database import Database, reading
from pipelines.store.questions import StoredQuestion
from pipelines.store.status import coverage
from pipelines.store.versions import hashes_of
from pipelines.types import Audience


@dataclass(frozen=True, slots=True)
class Shelved:
    """A stored document as the library lists it.

    Attributes:
        coverage: The share (0..1) of its text that is in nodes.
        dated: When it was published, else modified, as an ISO date; empty if neither is known.
        remark: A fault of the stored document, such as pages without text or blocks that its source kept back.
    """

    id: str
    name: str
    title: str
    uri: str
    category: str
    nodes: int
    coverage: float
    last_success: datetime | None
    remark: str = ""
    year: int | None = None
    author: str = ""
    collection: str = ""
    dated: str = ""

    @property
    def state(self) -> str:
        """How much of it is searched, or what is wrong with it."""
        return self.remark or ("searched" if self.coverage > 0.99 else f"{self.coverage:.0%} searched")


@dataclass(frozen=True, slots=True)
class ShelfFailure:
    """A document whose last attempt failed; `stored` is True if an earlier version still answers."""

    name: str
    reason: str
    hint: str
    stored: bool


@dataclass(frozen=True, slots=True)
class Shelf:
    """The contents of the database: documents by name, and failures."""

    documents: tuple[Shelved, ...] = ()
    failures: tuple[ShelfFailure, ...] = ()


def read_shelf(database: Database, audience: Audience) -> Shelf:
    """Read the stored documents and the failures; for a visitor only what is public."""
    rows = coverage(database)["documents"]
    if audience == "visitor":
        with reading(database.engine, "reading the public documents") as connection:
            seen = hashes_of(connection, [row["id"] for row in rows if row["id"]], audience)
        rows = [row | {"state": "indexed", "reason": ""} for row in rows if row["id"] in seen]
    stored = tuple(_shelved(row) for row in rows if row["id"])
    failed = tuple(
        ShelfFailure(row["document"], row["reason"], row["hint"], bool(row["id"]))
        for row in rows
        if row["state"] in ("failed", "stale")
    )
    return Shelf(stored, failed)


def _shelved(row: dict[str, Any]) -> Shelved:
    when, names = row["last_success"], "id title uri category nodes coverage year author collection dated".split()
    return Shelved(
        name=row["document"],
        last_success=datetime.fromisoformat(when) if when else None,
        remark=row["reason"] if row["state"] == "indexed" else "",
        **{name: row[name] for name in names},
    )


_OFFERED = 4


def starters(configured: Sequence[str], shelf: Shelf, tried: Sequence[StoredQuestion] = ()) -> list[str]:
    """At most four questions: those of the persona, or one about a fact for each of four documents, which is answered.

    The largest documents come first, of different categories as far as there are.
    """
    if configured:
        return list(configured[:_OFFERED])
    answered = {each.document_id: each.question for each in reversed(tried) if each.is_sure}
    known = [document for document in shelf.documents if document.id in answered]
    largest: list[Shelved] = sorted(known, key=lambda document: (-document.nodes, document.name))
    first = {document.category: document for document in reversed(largest)}
    chosen = sorted(first.values(), key=largest.index)
    chosen += [document for document in largest if document not in chosen]
    return list(dict.fromkeys(answered[document.id] for document in chosen))[:_OFFERED]
