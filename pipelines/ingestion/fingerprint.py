"""What decides whether a document is as it was: its content, its other facts, and the recipe of its nodes."""

import hashlib
import json
from typing import Any

from pipelines.ingestion.contextualise import HEADER_VERSION
from pipelines.ingestion.parsers import PARSERS, build_parser
from pipelines.text import SEARCHABLE_VERSION
from pipelines.types import Document

LOADER_VERSION = 2


def content_sha(document: Document, parser: str) -> str:
    """SHA-256 of all that is embedded, and of what makes nodes of it; another value means parse and embed again.

    The text's structure counts: the same words under another heading or on another page are other nodes.
    """
    structure = [[block.start, block.end, block.kind, block.level] for block in document.blocks]
    made_of = (document.text, structure, document.pages)
    return _sha(*made_of, document.title, document.year, document.category, parser, _version(parser), _HEADERS)


def meta_sha(document: Document) -> str:
    """SHA-256 of the facts that rows carry but vectors do not."""
    return _sha(
        document.author,
        document.visibility,
        document.published_at,
        document.modified_at,
        document.year,
        document.subcategory,
        document.collection,
        document.metadata,
        document.first_line,
    )


def recipe(parser: str, sizes: object, model: str = "", headers: str = "") -> str:
    """How today's code and settings make nodes: a document stored under another recipe is loaded again.

    `model` is the embedding model, which only the nodes of a parser that cuts by meaning depend on; `headers` is what
    writes headers, where they are not deterministic.
    """
    sized = ""
    if parser in PARSERS:
        made = build_parser(parser, sizes)
        sized = " ".join(f"{field}={getattr(made, field)}" for field in made.own_fields())
        sized += f" model={model}" if made.embeds else ""
    return f"{parser}@{_version(parser)}({sized}) loaders@{LOADER_VERSION} {_HEADERS}{headers and f' by {headers}'}"


_HEADERS = f"header@{HEADER_VERSION} searchable@{SEARCHABLE_VERSION}"


def _version(parser: str) -> int:
    """The version of a parser; 0 for one that is no more."""
    return PARSERS[parser]().version if parser in PARSERS else 0


def _sha(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str, ensure_ascii=False).encode()).hexdigest()
