"""A corpus in memory, for what follows the corpus."""

import itertools
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from pipelines.store.lexical_index import Segment
from pipelines.store.read_snapshot import Mark, ReadSnapshot
from pipelines.types import Audience

_clock = itertools.count(1)  # no two changes of any two corpora are at the same time


class FakeCorpus:
    """Documents, each the terms of its nodes, and a log of their changes; notes what is read of it.

    Attributes:
        whole: How often all documents were read.
        asked: Of which documents alone, each time.
        log: By version, when it was made and which document changed.
    """

    def __init__(self, **documents: str) -> None:
        self.documents: dict[str, list[str]] = {}
        self.version, self.whole, self.asked = 100, 0, list[set[str]]()
        self.log: dict[int, tuple[int, str]] = {100: (next(_clock), "")}
        for name, terms in documents.items():
            self.put(name, terms)

    @property
    def mark(self) -> Mark:
        return Mark(self.version, self.log.get(self.version, (0, ""))[0])

    def put(self, document_id: str, *nodes: str) -> None:
        """Make these the nodes of a document."""
        self.documents[document_id] = list(nodes)
        self._bump(document_id)

    def remove(self, document_id: str) -> None:
        del self.documents[document_id]
        self._bump(document_id)

    def _bump(self, document_id: str) -> None:
        self.version += 1
        self.log[self.version] = (next(_clock), document_id)

    @contextmanager
    def read_snapshot(self) -> Iterator[ReadSnapshot]:
        yield ReadSnapshot(self.mark)

    def changed_since(self, mark: Mark) -> frozenset[str] | None:
        between = range(mark.version, self.version + 1)
        if not all(version in self.log for version in between) or self.log[mark.version][0] != mark.at:
            return None
        return frozenset(self.log[version][1] for version in between[1:])

    def segments(self, audience: Audience, documents: Collection[str] | None = None) -> list[Segment]:
        if documents is None:
            self.whole += 1
        else:
            self.asked.append(set(documents))
        return [
            Segment(f"{document}.{place}.{terms}", document, terms)
            for document, nodes in self.documents.items()
            if documents is None or document in documents
            for place, terms in enumerate(nodes)
        ]

    def forget_changes(self) -> None:
        """A log that is as short as this one forgets nothing."""
