"""Nodes from pieces: ids, metadata, and SpanParser, the LlamaIndex NodeParser that all parsers extend."""

import re
import uuid
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import BaseNode, NodeRelationship, ObjectType, RelatedNodeInfo, TextNode
from llama_index.core.schema import Document as LlamaDocument
from numpy.typing import NDArray
from pydantic import Field

from pipelines.errors import ParseError
from pipelines.facts import Facts, repository_of
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.text import count_tokens
from pipelines.types import Document, NodeMetadata

# Texts to normalised vectors of shape (texts, dimension).
EmbedTexts = Callable[[Sequence[str]], NDArray[Any]]

_KEYS = list(NodeMetadata.model_fields)


class LineNumbers:
    """Line numbers by offset in a text."""

    def __init__(self, text: str, first_line: int = 1) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._first = first_line

    def __getitem__(self, offset: int) -> int:
        return self._first + bisect_right(self._ends, offset - 1)


def make_node(
    document: Document,
    span: tuple[int, int],
    *,
    ordinal: int,
    total: int,
    parser: str,
    parser_version: int,
    section_path: Sequence[str] = (),
    kind: str = "text",
    header: str = "",
    facts: Facts | None = None,
    year: int | None = None,
    lines: LineNumbers | None = None,
) -> TextNode:
    """Make the node of `document.text[start:end]`, with exactly the fields of NodeMetadata and a stable id.

    Args:
        document: Its `id` and `content_sha` are part of the node's id.
        span: Start and end in `document.text`; no white space at either end.
        ordinal: Index of the node in the document, from 0.
        total: Number of nodes of the document.
        parser: The parser's name.
        parser_version: Increased whenever the parser's output changes.
        section_path: Headings from the top level to the span's own.
        kind: text, table, code, job ...
        header: Lines that the parser repeats (a job line, a table head); `ContextHeader` puts them below its own.
        facts: The facts of the span, as a typed record.
        year: The span's own year; None = the document's.
        lines: Line numbers of the text, computed once per document.

    Raises:
        ParseError: If the span is empty, outside the text, or has white space at an end.
    """
    start, end = span
    text = document.text[start:end]
    if not (0 <= start < end <= len(document.text)) or text != text.strip():
        raise ParseError(
            f"{document.name}: {parser} made a node that is not an exact span ({start}-{end}).", hint="This is a bug."
        )
    metadata = _document_metadata(document, span, lines or LineNumbers(document.text, document.first_line)) | {
        "section": section_path[-1] if section_path else "",
        "section_path": tuple(section_path),
        "kind": kind,
        "ordinal": ordinal,
        "total": total,
        "token_count": count_tokens(text),
        "parser": parser,
        "parser_version": parser_version,
        "header": header,
        "facts": facts,
    }
    metadata["year"] = year or metadata["year"]
    return TextNode(
        id_=node_id(document, f"{parser}@{parser_version}", ordinal),
        text=text,
        metadata=NodeMetadata(**metadata).model_dump(mode="json"),
        start_char_idx=start,
        end_char_idx=end,
        excluded_embed_metadata_keys=_KEYS,
        excluded_llm_metadata_keys=_KEYS,
        relationships={
            NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document.id, node_type=ObjectType.DOCUMENT, metadata={})
        },
    )


def _document_metadata(document: Document, span: tuple[int, int], lines: LineNumbers) -> dict[str, Any]:
    """The metadata of the document, and of the span's position in it."""
    start, end = span
    return {
        "document_id": document.id,
        "collection": document.collection,
        "source": document.source,
        "mime": document.mime,
        "title": document.title,
        "category": document.category,
        "subcategory": document.subcategory,
        "year": document.year,
        "visibility": document.visibility,
        "ingested_at": document.ingested_at.isoformat() if document.ingested_at else "",
        "page": bisect_right(document.pages, start) or None,
        "line_start": lines[start],
        "line_end": lines[end - 1],
        "start": start,
        "end": end,
    }


def node_id(document: Document, maker: str, ordinal: int) -> str:
    """The id of the document's node number `ordinal`; equal for equal content, parser and version."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{document.id}|{document.content_sha}|{maker}|{ordinal}"))


def make_nodes(document: Document, pieces: Sequence[Piece], parser: str, parser_version: int) -> list[TextNode]:
    """A node for each piece, in order."""
    lines, repository = LineNumbers(document.text, document.first_line), repository_of(document.metadata)
    return [
        make_node(
            document,
            (piece.start, piece.end),
            ordinal=ordinal,
            total=len(pieces),
            parser=parser,
            parser_version=parser_version,
            section_path=piece.section_path,
            kind=piece.kind,
            header=piece.lead,
            facts=piece.facts or repository,
            year=piece.year,
            lines=lines,
        )
        for ordinal, piece in enumerate(pieces)
    ]


class CarriedDocument(LlamaDocument):
    """A LlamaIndex document with the Document of its text, including blocks and pages."""

    carried: Any = Field(default=None, exclude=True)

    @classmethod
    def of(cls, document: Document) -> Self:
        """The LlamaIndex document for this Document."""
        return cls(id_=document.id, text=document.text, carried=document)


def document_of(node: BaseNode) -> Document:
    """The Document of a LlamaIndex node; a node without one becomes a plain text document."""
    if isinstance(node, CarriedDocument) and isinstance(node.carried, Document):
        return node.carried
    text = node.get_content()
    return Document(
        id=node.node_id,
        text=text,
        source_uri=node.node_id,
        source=node.node_id,
        source_kind="text",
        name=str(node.metadata.get("file_name", node.node_id)),
        mime="text/plain",
        bytes=len(text.encode()),
        file_sha="",
    )


class SpanParser(NodeParser):
    """A NodeParser whose nodes are exact spans; subclasses set a name, a version and `split`.

    A parser that `embeds` uses vectors to find the cuts, and is built with `embed`.
    """

    embeds: ClassVar[bool] = False
    name: str = ""
    version: int = 0
    include_metadata: bool = False
    include_prev_next_rel: bool = False
    embed: EmbedTexts | None = Field(default=None, exclude=True, repr=False)

    @classmethod
    def sized(cls, sizes: object, **given: Any) -> Self:
        """The parser with the sizes of the settings: its field `max_words` is the setting `<name>_max_words`."""
        prefix = cls.model_fields["name"].default
        names = {field: f"{prefix}_{field}" for field in cls.own_fields()}
        return cls(**{field: getattr(sizes, name) for field, name in names.items() if hasattr(sizes, name)}, **given)

    @classmethod
    def own_fields(cls) -> list[str]:
        """The names of the parser's size options, sorted."""
        return sorted(cls.model_fields.keys() - SpanParser.model_fields.keys())

    @abstractmethod
    def fits(self, text: str) -> bool:
        """True if a node of this text is within the parser's hard limit."""

    @abstractmethod
    def split(self, document: Document) -> list[Piece]:
        """Split the document into pieces: ascending, trimmed, covering its text."""

    def _parse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any) -> list[BaseNode]:
        documents = [document_of(node) for node in nodes]
        return [
            made
            for document in documents
            for made in make_nodes(document, self.split(document), self.name, self.version)
        ]

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, LlamaDocument]
    ) -> list[BaseNode]:
        """Return the nodes unchanged: LlamaIndex would search each text and confuse equal passages."""
        return nodes
