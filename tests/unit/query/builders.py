"""Small nodes, sources and rankings for the tests of the query stages."""

from typing import Any

from llama_index.core.schema import NodeWithScore, TextNode

from pipelines.types import LegScore, Source


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


def leg(rank: int, score: float) -> LegScore:
    """A leg's place for a node."""
    return LegScore(rank, score)
