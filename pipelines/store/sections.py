"""The parents of stored nodes: the section around each, or its document, and LlamaIndex's relationships to them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import Any

from llama_index.core.schema import BaseNode, NodeRelationship, ObjectType, RelatedNodeInfo
from sqlalchemy import Text, cast, func, select
from sqlalchemy.dialects.postgresql import ARRAY

from pipelines.store.database import read_rows
from pipelines.store.node_reader import NodeReader
from pipelines.types import Audience, Filters


@dataclass(frozen=True, slots=True)
class Parent:
    """The smallest section that holds a node and another one, with the nodes of both; the document has no headings."""

    document_id: str
    headings: tuple[str, ...]
    start: int
    end: int
    node_ids: tuple[str, ...]

    @property
    def info(self) -> RelatedNodeInfo:
        """How nodes name it: a section by its span, as the sources of a Response are named, a document by its id."""
        if not self.headings:
            return RelatedNodeInfo(node_id=self.document_id, node_type=ObjectType.DOCUMENT)
        place = {"start": self.start, "end": self.end, "section_path": list(self.headings)}
        return RelatedNodeInfo(node_id=f"{self.document_id}:{self.start}-{self.end}", metadata=place)


def read_parents(store: NodeReader, document_ids: Collection[str], audience: Audience) -> dict[str, Parent]:
    """The parent of each node of documents that this audience may see, by document and place."""
    node = store.passing(Filters(), audience)
    of_documents = node.c.document_id == func.any(cast(list(document_ids), ARRAY(Text)))
    statement = select(node).where(of_documents).order_by(node.c.document_id, node.c.start)
    rows = read_rows(store.engine, "reading sections", statement)
    found: dict[str, Parent] = {}
    for depth in range(max((len(row.section_path) for row in rows), default=0) + 1):  # an inner section comes later
        for _, run in groupby(rows, partial(_around, depth)):
            members = [row for row in run if len(row.section_path) >= depth]
            if len(members) > 1 or not depth:
                found |= dict.fromkeys((row.node_id for row in members), _parent(members, depth))
    return found


def _around(depth: int, row: Any) -> tuple[str, ...]:
    return row.document_id, *row.section_path[:depth]


def _parent(rows: Sequence[Any], depth: int) -> Parent:
    first, end = rows[0], max(row.end for row in rows)
    ids = tuple(row.node_id for row in rows)
    return Parent(first.document_id, tuple(first.section_path[:depth]), first.start, end, ids)


def related(nodes: Sequence[BaseNode], store: NodeReader, audience: Audience) -> list[BaseNode]:
    """Copies of stored nodes with their section or document as PARENT, and PREVIOUS and NEXT in their document.

    Relationships that a program gave its nodes stay.
    """
    parents = read_parents(store, {node.metadata["document_id"] for node in nodes}, audience)
    known = {node_id: {NodeRelationship.PARENT: parent.info} for node_id, parent in parents.items()}
    for before, after in pairwise(parents):
        if parents[before].document_id == parents[after].document_id:
            known[before][NodeRelationship.NEXT] = RelatedNodeInfo(node_id=after)
            known[after][NodeRelationship.PREVIOUS] = RelatedNodeInfo(node_id=before)
    return [
        node.model_copy(update={"relationships": {**known.get(node.node_id, {}), **node.relationships}})
        for node in nodes
    ]
