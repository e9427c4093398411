"""Small nodes, sources and rankings for the tests of the query stages."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from llama_index.core.llms import LLM
from llama_index.core.schema import NodeWithScore, TextNode

from config.prompts import Prompts
from config.settings import Settings
from pipelines.answers import Source
from pipelines.query.search import Request
from pipelines.query.trace import Ledger
from pipelines.store.read_snapshot import Mark
from pipelines.types import Filters, LegScore, QueryIntent


def hit(node_id: str, text: str = "words", score: float = 1.0, **facts: Any) -> NodeWithScore:
    """A ranked node with the metadata that the stages read."""
    start = facts.get("start", 0)
    metadata = {
        "document_id": "d", "title": "Title", "header": "", "page": None, "section_path": ["Work"], "start": start,
        "end": start + len(text), "line_start": 1, "line_end": 2, "category": "blog", "kind": "text",
    } | facts  # fmt: skip
    return NodeWithScore(node=TextNode(id_=node_id, text=text, metadata=metadata), score=score)


def source(n: int, snippet: str, **facts: Any) -> Source:
    """A source that starts at offset 0 of its document."""
    given: dict[str, Any] = {
        "document_id": f"d{n}", "documentName": f"{n}.md", "title": f"Title {n}", "uri": f"file:///{n}.md",
        "content_sha": "c", "category": "blog", "page": None, "line_start": 1, "line_end": 1, "section_path": (),
        "start": 0, "end": len(snippet), "node_ids": (f"n{n}",),
    } | facts  # fmt: skip
    return Source(n=n, snippet=snippet, **given)


def passage(
    text: str, name: str, title: str = "A", *, id: str = "d", pages: tuple[int, ...] = (), **facts: Any
) -> Source:
    """A stored passage, with the pages of its whole document, before it is a source."""
    return source(0, text, document_id=id, documentName=name, title=title, node_ids=(), page_breaks=pages, **facts)


def leg(rank: int, score: float) -> LegScore:
    """A leg's place for a node."""
    return LegScore(rank, score)


@dataclass
class FakeSearch:
    """A search in memory: what it finds and how strong that is, its subclass says; every term is equally rare."""

    intent: QueryIntent
    settings: Settings = field(default_factory=lambda: Settings(_env_file=None))
    llm: LLM | None = None
    fingerprint: str = "f00d"
    request: Request = field(default_factory=lambda: Request("q", Filters(), "owner", "hybrid", 5))
    mark: Mark = field(default_factory=lambda: Mark(7, 7))
    ledger: Ledger = field(default_factory=Ledger)
    escalates: bool = True
    prompts: Prompts = field(default_factory=Prompts)
    model: str = "hashed"

    @property
    def lexical(self) -> SimpleNamespace:
        return SimpleNamespace(idf=lambda term: 1.0)

    @property
    def embedder(self) -> SimpleNamespace:
        return SimpleNamespace(vector=lambda query: self.vector(query.query_str))

    def vector(self, text: str) -> Sequence[float]:
        raise NotImplementedError
