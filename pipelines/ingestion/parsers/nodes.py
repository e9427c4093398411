"""Nodes from pieces: ids, metadata, and SpanParser, the LlamaIndex NodeParser that all parsers extend."""

import hashlib
import uuid
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, ClassVar, Self

from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import BaseNode, NodeRelationship, ObjectType, RelatedNodeInfo, TextNode
from llama_index.core.schema import Document as LlamaDocument
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from pipelines.errors import ParseError
from pipelines.facts import Facts, ProjectDetail, ProjectFacts, RepositoryFacts, records_of, repository_of
from pipelines.ingestion.parsers.document_facts import with_document_records
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.store.added_nodes import lifted
from pipelines.store.documents import Places
from pipelines.store.node_writer import metadata_of_document
from pipelines.text import count_tokens
from pipelines.types import Document, NodeMetadata

# Texts to normalised vectors of shape (texts, dimension).
EmbedTexts = Callable[[Sequence[str]], NDArray[Any]]
Limit = tuple[str, Callable[[str], int]]  # the field that holds the most that a node may have, and what measures it

_OWN_KEYS = [key for key in NodeMetadata.model_fields if key != "extra"]


def make_nodes(
    document: Document,
    pieces: Sequence[Piece],
    parser: str,
    parser_version: int,
    extra: Mapping[str, Any] = MappingProxyType({}),
) -> list[TextNode]:
    """A node of `document.text[start:end]` for each piece, in order, with the fields of NodeMetadata and a stable id.

    `extra` is the caller's own metadata, for a document of another LlamaIndex program.

    Raises:
        ParseError: If a span is empty, outside the text, or has white space at an end.
    """
    places, shared = Places(document.text, document.first_line, document.pages), metadata_of_document(document)
    repository = repository_of(document.metadata)
    nodes = []
    for ordinal, piece in enumerate(pieces):
        start, end = piece.start, piece.end
        text = document.text[start:end]
        if not (0 <= start < end <= len(document.text)) or text != text.strip():
            made = f"{parser} made a node that is not an exact span ({start}-{end})"
            raise ParseError(f"{document.name}: {made}.", hint="This is a bug.")
        metadata = NodeMetadata(
            **shared,
            **places.of(start, end),
            section=piece.section_path[-1] if piece.section_path else "",
            section_path=piece.section_path,
            kind=piece.kind,
            year=piece.year or document.year,
            token_count=count_tokens(text),
            header=piece.lead,
            ordinal=ordinal,
            total=len(pieces),
            parser=parser,
            parser_version=parser_version,
            facts=_with_project(repository, piece.facts) if repository else piece.facts,
            extra=dict(extra),
        )
        source = RelatedNodeInfo(node_id=document.id, node_type=ObjectType.DOCUMENT, metadata={})
        nodes.append(
            TextNode(
                id_=node_id(document, f"{parser}@{parser_version}", ordinal),
                text=text,
                metadata=metadata.model_dump(mode="json", fallback=str),
                start_char_idx=start,
                end_char_idx=end,
                excluded_embed_metadata_keys=_OWN_KEYS,
                excluded_llm_metadata_keys=_OWN_KEYS,
                relationships={NodeRelationship.SOURCE: source},
            )
        )
    return nodes


def _with_project(repository: RepositoryFacts, facts: Facts | None) -> Facts:
    """The facts of a piece of a repository's document: its own, or the repository with what its README states."""
    records = records_of(facts)
    projects = [record for record in records if isinstance(record, ProjectFacts)]
    details = tuple(record for record in records if isinstance(record, ProjectDetail))
    if len(projects[:1]) + len(details) < len(records):
        return facts or repository
    return repository.model_copy(update={"project": next(iter(projects), None), "details": details})


def node_id(document: Document, maker: str, ordinal: int) -> str:
    """The id of the document's node number `ordinal`; equal for equal content, parser and version."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{document.id}|{document.content_sha}|{maker}|{ordinal}"))


class CarriedDocument(LlamaDocument):
    """A LlamaIndex document with the Document of its text, including blocks and pages."""

    carried: Any = Field(default=None, exclude=True)

    @classmethod
    def of(cls, document: Document) -> Self:
        """The LlamaIndex document for this Document."""
        return cls(id_=document.id, text=document.text, carried=document)


def plain_document(node: BaseNode, category: str = "generic") -> Document:
    """The Document of a LlamaIndex node that was made elsewhere: its text, and what its metadata states of the file.

    Those are the keys of LlamaIndex's readers: `file_name`, `file_type`; and `title`, `category`, `year`, `author`,
    `collection`.
    """
    text, stated = node.get_content(), node.metadata
    given = {"category": category, **{key: value for key, value in lifted(stated).items() if key != "kind"}}
    sha = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Document(
        id=node.node_id,
        text=text,
        source_uri=node.node_id,
        source=node.node_id,
        source_kind="text",
        name=str(stated.get("file_name") or node.node_id),
        mime=str(stated.get("file_type") or "text/plain"),
        bytes=len(text.encode("utf-8", "surrogatepass")),
        file_sha=sha,
        content_sha=sha,
        **{"title": str(stated.get("title") or stated.get("file_name") or ""), **given},
    )


class SpanParser(NodeParser):
    """A NodeParser whose nodes are exact spans; subclasses set a name, a version and `split`.

    In another LlamaIndex program a node has the fields of NodeMetadata, and the metadata of the document that it came
    from: all of it under `extra`, and each key that is not one of NodeMetadata's also at the top level.

    Attributes:
        embed: Embeds texts; a parser that `embeds` uses vectors to find the cuts.
        include_metadata: False = nodes without the document's metadata.
        include_prev_next_rel: True = each node names the one before and the one after it.
        embed_metadata_keys: The metadata that is embedded with a node's text, if the document does not exclude it; for
            example `header`, as set by ContextHeader, or a key of the caller's.
        llm_metadata_keys: The metadata that a language model sees, likewise.
    """

    model_config = ConfigDict(extra="forbid")  # a size that a parser does not have is an error

    embeds: ClassVar[bool] = False
    limit: ClassVar[Limit]
    category: ClassVar[str] = "generic"  # of a document of another program that states none
    name: str = ""
    version: int = 0
    include_prev_next_rel: bool = False
    embed: EmbedTexts | None = Field(default=None, exclude=True, repr=False)
    embed_metadata_keys: tuple[str, ...] = ()
    llm_metadata_keys: tuple[str, ...] = ()

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

    def fits(self, text: str) -> bool:
        """True if a node of this text is within the parser's hard limit."""
        name, measure = self.limit
        return measure(text) <= int(getattr(self, name))

    @abstractmethod
    def split(self, document: Document) -> list[Piece]:
        """Split the document into pieces: ascending, trimmed, covering its text."""

    def finest(self, document: Document) -> list[Piece]:
        """The pieces that `split` embeds to find its cuts, the most that there can be; empty if it embeds none."""
        return []

    def _parse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any) -> list[BaseNode]:
        return [made for node in nodes for made in self._nodes_of(node)]

    def _nodes_of(self, given: BaseNode) -> list[TextNode]:
        if isinstance(given, CarriedDocument) and isinstance(given.carried, Document):
            document = given.carried
            pieces = with_document_records(document, self.split(document))
            return make_nodes(document, pieces, self.name, self.version)
        document, extra = plain_document(given, self.category), given.metadata if self.include_metadata else {}
        nodes = make_nodes(document, self.split(document), self.name, self.version, extra)
        source = given.source_node or given.as_related_node_info()
        for node in nodes:
            node.metadata = {**extra, **node.metadata}
            hidden = [*_OWN_KEYS, "extra", *extra]
            node.excluded_embed_metadata_keys = _excluded(
                hidden, self.embed_metadata_keys, given.excluded_embed_metadata_keys
            )
            node.excluded_llm_metadata_keys = _excluded(
                hidden, self.llm_metadata_keys, given.excluded_llm_metadata_keys
            )
            node.metadata_template, node.metadata_separator = given.metadata_template, given.metadata_separator
            node.text_template = getattr(given, "text_template", node.text_template)
            node.relationships[NodeRelationship.SOURCE] = source
        return nodes

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, LlamaDocument]
    ) -> list[BaseNode]:
        """Relate neighbours if wanted; LlamaIndex's own would search each text and confuse equal passages."""
        if self.include_prev_next_rel:
            for before, after in pairwise(nodes):
                if before.ref_doc_id == after.ref_doc_id:
                    before.relationships[NodeRelationship.NEXT] = after.as_related_node_info()
                    after.relationships[NodeRelationship.PREVIOUS] = before.as_related_node_info()
        return nodes


def _excluded(keys: Sequence[str], wanted: Sequence[str], unwanted: Sequence[str]) -> list[str]:
    """The keys that are not wanted, and those that the document excludes, each once."""
    return list(dict.fromkeys([*(key for key in keys if key not in wanted), *unwanted]))
