"""Documents that tests store themselves, without a source or a run."""

from typing import Any

from config.settings import Settings
from pipelines.ingestion.change_detection import content_sha, meta_sha
from pipelines.ingestion.parsers import parse
from pipelines.models.embedding import build_embed_model, window_vectors
from pipelines.store.node_writer import Replacement
from pipelines.text import searchable
from pipelines.types import Document


def make_document(name: str, body: str, parser: str = "markdown", **changes: Any) -> Document:
    """A Markdown document with the hashes of its content."""
    made = Document(
        id=f"id-{name}", text=body, source_uri=f"file:///{name}", source="file:///", source_kind="file", name=name,
        mime="text/markdown", bytes=len(body), file_sha="f", title=name,
    ).with_(**changes)  # fmt: skip
    return made.with_(content_sha=content_sha(made, parser), meta_sha=meta_sha(made))


def replacement_of(document: Document, settings: Settings, parser: str = "markdown") -> Replacement:
    """The document with its parsed nodes and their vectors."""
    nodes = parse(document, parser)
    texts = [searchable(node.metadata["header"], node.text, document.mime) for node in nodes]
    return Replacement(document, nodes, window_vectors(build_embed_model(settings), texts), parser, "r")
