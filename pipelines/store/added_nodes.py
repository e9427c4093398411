"""Nodes that other LlamaIndex programs add: the document of which they are spans, and their stored metadata."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from llama_index.core.schema import BaseNode, Node, NodeRelationship, ObjectType, RelatedNodeInfo, TextNode

from pipelines.errors import StoreError
from pipelines.store.documents import ADDED_NODES, ADDED_RECIPE, ADDED_SOURCE, Places
from pipelines.store.filters import is_storable
from pipelines.store.node_table import Vectors
from pipelines.store.node_writer import Replacement, metadata_of_document
from pipelines.text import count_tokens
from pipelines.types import Document, NodeMetadata

_PARSER = "generic"  # makes the nodes of such a document for another model
_FIELDS = NodeMetadata.model_fields
_REQUIRED = {name for name, field in _FIELDS.items() if field.is_required()}
_KEPT_FIELDS = TextNode.model_fields.keys() - {"id_", "text"}
_BETWEEN = "\n\n"  # between nodes without offsets
_MOST_GAPS = 1.0  # as a share of the texts of the nodes
_GAP = "\x00"  # in no text of a node
_LIFTED = {"collection": str, "category": str, "title": str, "author": str, "kind": str, "year": int}
_OF_NODES = ("category", "title", "kind", "year")
_DERIVED = frozenset(
    "document_id collection visibility ordinal total start end line_start line_end page token_count ingested_at".split()
)
# The key of Document.metadata with [id, start, end, the node's metadata] of each node, and, of a node that has such,
# {one of _HIDDEN: the keys that the caller excludes}.
_RECORD = "added_nodes"
_HIDDEN = ("excluded_embed_metadata_keys", "excluded_llm_metadata_keys")


class Embedded(NamedTuple):
    """A node with the vectors of its windows."""

    node: TextNode
    vectors: Vectors


def embedded(node: BaseNode) -> Embedded:
    """The node as a text node without its embedding, and its embedding as a vector of length 1.

    Raises:
        StoreError: If it has no text, something else than text, or no embedding.
    """
    if isinstance(node, Node) and not (node.image_resource or node.audio_resource or node.video_resource):
        fields = {name: getattr(node, name) for name in type(node).model_fields if name in _KEPT_FIELDS}
        node = TextNode(id_=node.node_id, text=node.get_content(), **fields)
    if not isinstance(node, TextNode) or not node.get_content():
        raise StoreError(f"Node {node.node_id} ({node.class_name()}) has no text.")
    if not is_storable(node.get_content() + node.node_id + (node.ref_doc_id or "")):
        raise StoreError(f"Node {node.node_id!a} holds a NUL or a broken character.")
    if node.embedding is None:
        raise StoreError(f"Node {node.node_id} has no embedding.")
    vector = np.asarray(node.embedding, dtype=np.float32)
    return Embedded(node.model_copy(update={"embedding": None}), (vector / (np.linalg.norm(vector) or 1.0))[None, :])


def replacement(
    document_id: str, stored: Document | None, nodes: Sequence[Embedded], *, private: bool = False
) -> Replacement:
    """The document with exactly these nodes, each at its span.

    Its text is made of the nodes' texts: at their offsets, if these fit each other, else one after the other.

    The nodes are in the order of the document, added ones last. A new document is private if `private` says so,
    whatever its nodes say.

    Raises:
        StoreError: If the metadata of a node cannot be stored.
    """
    texts = [each.node for each in nodes]
    text, spans = _laid_out(texts)
    order = sorted(range(len(nodes)), key=spans.__getitem__)
    first, start = texts[order[0]].metadata, spans[order[0]][0]
    line, data = first.get("line_start"), text.encode()
    document = (stored or _new_document(document_id, texts, first, private=private)).with_(
        text=text,
        bytes=len(data),
        first_line=max(1, line - text.count("\n", 0, start)) if isinstance(line, int) else 1,
        file_sha=hashlib.sha256(data).hexdigest(),
        ingested_at=datetime.now(UTC),
    )
    places, total = Places(document.text, document.first_line, document.pages), len(nodes)
    made = [
        _stored(document, texts[n], {**places.of(*spans[n]), "ordinal": ordinal, "total": total})
        for ordinal, n in enumerate(order)
    ]
    # The content hash covers the record of the nodes, so that new metadata of a node is a new version, too.
    record = [_recorded(node) for node in made]
    content = hashlib.sha256(json.dumps([text, record], sort_keys=True).encode()).hexdigest()
    document = document.with_(metadata={**document.metadata, _RECORD: record}, content_sha=content)
    return Replacement(document, made, [nodes[n].vectors for n in order], _PARSER, ADDED_RECIPE)


def remade(document: Document) -> list[TextNode]:
    """The nodes that were added to this version of a document, with their ids, spans and metadata, without vectors.

    Empty for a document that was not made of added nodes, and for one that an earlier release stored.
    """
    record = document.metadata.get(_RECORD, ())
    places = Places(document.text, document.first_line, document.pages)
    return [
        _with_metadata(
            document,
            TextNode(id_=node_id, text=document.text[start:end], **(hidden[0] if hidden else {})),
            (metadata, metadata.get("extra", {})),
            {**places.of(start, end), "ordinal": ordinal, "total": len(record)},
        )
        for ordinal, (node_id, start, end, metadata, *hidden) in enumerate(record)
    ]


def restored(node: TextNode) -> TextNode:
    """The node with the keys of `extra` among its metadata, where they replace equal keys of NodeMetadata."""
    return node.model_copy(update={"metadata": {**node.metadata, **(node.metadata.get("extra") or {})}})


def still_stored(stored: Mapping[str, Embedded], added: Mapping[str, Embedded]) -> dict[str, Embedded]:
    """The stored nodes of a document that stay beside added ones.

    Those of another version of it go, as LlamaIndex's hash of the source tells, and those that say the same at the same
    place: a document that is inserted again replaces itself, whatever ids its nodes have.
    """
    versions = {source.hash for each in added.values() if (source := each.node.source_node) and source.hash}
    places = {_place(each.node) for each in added.values() if each.node.source_node and each.node.source_node.hash}

    def stays(node: TextNode) -> bool:
        version = node.source_node.hash if node.source_node else None
        is_old = bool(versions) and version is not None and version not in versions
        return not (is_old or _place(node) in places)

    return {node_id: each for node_id, each in stored.items() if stays(each.node)}


def _place(node: TextNode) -> tuple[int | None, int | None, str]:
    return node.start_char_idx, node.end_char_idx, node.get_content()


def lifted(stated: Mapping[str, Any]) -> dict[str, Any]:
    """The statements of another program's metadata on a document, where filters and boosts look for them."""
    return {
        key: stated[key]
        for key, kind in _LIFTED.items()
        if isinstance(stated.get(key), kind)
        and not isinstance(stated[key], bool)
        and stated[key]
        and is_storable(stated[key])
    }


def _split(metadata: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the fields of NodeMetadata, the caller's keys) of a node from our parsers or from this store, or any other.

    Of a key that is both, `extra` has the caller's value. Of the caller's other keys those at the top level count, as
    the caller may have edited them; a node as it is stored has none there.
    """
    caller = metadata.get("extra", {})
    if not metadata.keys() >= _REQUIRED or not isinstance(caller, dict):
        return {}, dict(metadata)
    extra = {key: value for key, value in metadata.items() if key not in _FIELDS}
    if extra:
        caller = {key: value for key, value in caller.items() if key in _FIELDS}
    return {key: value for key, value in metadata.items() if key in _FIELDS and key not in caller}, {**caller, **extra}


def _stored(document: Document, node: TextNode, place: Mapping[str, Any]) -> TextNode:
    """A copy of the node with complete metadata and the document as its source."""
    given, extra = _split(node.metadata)
    if given.get("start") != place["start"]:
        given.pop("facts", None)  # their spans are offsets in another text
    return _with_metadata(document, node, (given, extra), place)


def _with_metadata(
    document: Document, node: TextNode, split: tuple[Mapping[str, Any], Mapping[str, Any]], place: Mapping[str, Any]
) -> TextNode:
    """A copy of the node with complete metadata, of which `split` has the given fields and the caller's keys."""
    given, extra = split
    metadata = {
        **metadata_of_document(document),
        "year": document.year,
        "parser": ADDED_NODES,
        "parser_version": 1,
        **given,
        **{key: value for key, value in lifted(extra).items() if key in _OF_NODES},
        "collection": document.collection,
        "visibility": document.visibility,  # of the document as it is stored, never of a node
        **place,
        "document_id": document.id,
        "token_count": count_tokens(node.get_content()),
        "extra": extra,
    }
    try:
        checked = NodeMetadata.model_validate(metadata).model_dump(mode="json")
        json.dumps(metadata, allow_nan=False, default=str)  # pydantic makes null of NaN
    except ValueError as error:  # of pydantic, too
        raise StoreError(f"The metadata of node {node.node_id} cannot be stored: {error}") from error
    relationships = dict(node.relationships)
    if node.ref_doc_id != document.id:
        relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=document.id, node_type=ObjectType.DOCUMENT)
    hidden = _hidden(extra)
    excluded = {name: list(dict.fromkeys([*getattr(node, name), *hidden])) for name in _HIDDEN}
    return node.model_copy(update={"metadata": checked, "relationships": relationships, **excluded})


def _hidden(extra: Mapping[str, Any]) -> list[str]:
    """The metadata keys that no node with these keys of the caller embeds or shows to a model, unless asked."""
    return [name for name in _FIELDS if name not in extra]


def _laid_out(nodes: Sequence[TextNode]) -> tuple[str, list[tuple[int, int]]]:
    """(the text that is made of the nodes, their spans)."""
    texts = [node.get_content() for node in nodes]
    spans = [(node.start_char_idx or 0, node.end_char_idx or 0) for node in nodes]
    fit = all(0 <= start == end - len(text) for (start, end), text in zip(spans, texts, strict=True))
    length = max(end for _, end in spans)
    if fit and length <= (1 + _MOST_GAPS) * sum(map(len, texts)):
        characters = [_GAP] * length
        for (start, end), text in zip(spans, texts, strict=True):
            characters[start:end] = text
        whole = _filled("".join(characters), nodes, spans)
        if all(whole[start:end] == text for (start, end), text in zip(spans, texts, strict=True)):
            return whole, spans
    spans, start = [], 0
    for text in texts:
        spans.append((start, start + len(text)))
        start += len(text) + len(_BETWEEN)
    return _BETWEEN.join(texts), spans


def _filled(text: str, nodes: Sequence[TextNode], spans: Sequence[tuple[int, int]]) -> str:
    """The text with its gaps filled by blanks, and by line breaks as the nodes count lines."""
    before = {end: node.metadata.get("line_end") for node, (_, end) in zip(nodes, spans, strict=True)}
    after = {start: node.metadata.get("line_start") for node, (start, _) in zip(nodes, spans, strict=True)}

    def blanks(gap: re.Match[str]) -> str:
        first, last = before.get(gap.start(), 1), after.get(gap.end())
        breaks = last - first if isinstance(first, int) and isinstance(last, int) else len(_BETWEEN) * (len(gap[0]) > 1)
        return ("\n" * max(breaks, 0)).ljust(len(gap[0]))[: len(gap[0])]

    return re.sub(f"{_GAP}+", blanks, text)


def _new_document(document_id: str, nodes: Sequence[TextNode], first: Mapping[str, Any], *, private: bool) -> Document:
    """A document without text, with the title and the category of its first node; private if a node is."""
    given, extra = _split(first)
    names = ("collection", "mime", "title", "category", "subcategory", "visibility", "year")
    name = str(extra.get("file_name") or given.get("title") or document_id)
    facts = {"mime": "text/plain", "title": name, **{key: given[key] for key in names if key in given}}
    facts |= {key: value for key, value in lifted(extra).items() if key != "kind"}
    if private or any(node.metadata.get("visibility") == "private" for node in nodes):
        facts["visibility"] = "private"
    return Document(
        id=document_id, text="", source_uri=f"{ADDED_SOURCE}{document_id}", source=ADDED_SOURCE,
        source_kind=ADDED_NODES, name=name, bytes=0, file_sha="", **facts,
    )  # fmt: skip


def _recorded(node: TextNode) -> list[Any]:
    """The record of a stored node, of which a rollback or another model makes it again, see `_RECORD`."""
    metadata = {key: value for key, value in node.metadata.items() if key not in _DERIVED}
    usual = {*_hidden(node.metadata.get("extra", {}))}
    hidden = {name: keys for name in _HIDDEN if (keys := [key for key in getattr(node, name) if key not in usual])}
    return [node.node_id, node.metadata["start"], node.metadata["end"], metadata, *filter(None, [hidden])]
