"""PREPARE: one listed item -> a Document with its hashes and nodes. Needs no database and no model.

What it takes and gives is small and can be pickled, so that it runs here, in a worker process, or on another machine.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from llama_index.core.schema import TextNode

from config.settings import ParsingSettings, Settings
from pipelines.errors import ParseError, SourceError
from pipelines.ingestion.classify import classify
from pipelines.ingestion.failure import Failure, lacked_memory, out_of_memory
from pipelines.ingestion.fingerprint import content_sha, meta_sha, recipe
from pipelines.ingestion.loaders import Limits, load
from pipelines.ingestion.parsers import PARSERS, parse, parser_for
from pipelines.ingestion.sources.files import read_file
from pipelines.store.originals import keep_original, original_path
from pipelines.types import Document, SourceItem


@dataclass(frozen=True, slots=True)
class Options:
    """What is the same for every document of a run.

    Attributes:
        limits: How large a file may be, and what it may cost to read it.
        sizes: How long nodes may be.
        home: Where originals are kept; absolute, as a worker runs elsewhere.
        model: The slug of the embedding model, which a parser that cuts by meaning depends on.
        headers: The recipe of what writes headers; empty where they are deterministic.
        keep: Whether the original bytes are kept; not for a preview.
    """

    limits: Limits
    sizes: ParsingSettings
    home: Path
    model: str
    headers: str = ""
    keep: bool = True

    @classmethod
    def of(cls, settings: Settings, model: str, headers: str = "") -> "Options":
        """The options that the settings state."""
        held = settings.ingestion
        limits = Limits(**{name: getattr(held, name) for name in Limits.__slots__})
        return cls(limits, settings.parsing, settings.home.absolute(), model, headers)

    def recipe(self, parser: str) -> str:
        """How these options and today's code make nodes with a parser."""
        return recipe(parser, self.sizes, self.model, self.headers)


@dataclass(frozen=True, slots=True)
class Task:
    """One document to be prepared.

    Attributes:
        item: Where it is.
        document_id: Its identity, minted by the plan.
        collection: Where it belongs.
        said: What a person says of it; kept with it, and stronger than `ruled`.
        ruled: What the rules of the settings say of it.
        indexed_sha: The content that the node table holds of it; empty for a new one.
        indexed_recipe: The recipe of those nodes.
        original: The SHA-256 of the stored original to be read instead of the file; empty = the file.
        data: The bytes, where they were read already.
    """

    item: SourceItem
    document_id: str
    collection: str
    said: Mapping[str, str] = field(default_factory=dict)
    ruled: Mapping[str, Any] = field(default_factory=dict)
    indexed_sha: str = ""
    indexed_recipe: str = ""
    original: str = ""
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document that is ready to be embedded and stored.

    `nodes` is None where the content is as it was, so that only metadata is written, and for a parser that cuts by
    meaning (`embeds`), which needs the embedding model.
    """

    document: Document
    parser: str
    recipe: str
    nodes: tuple[TextNode, ...] | None
    embeds: bool = False

    @property
    def metadata_only(self) -> bool:
        """Whether the nodes stay as they are."""
        return self.nodes is None and not self.embeds


def prepare(task: Task, options: Options, at: Callable[[str], None] = lambda stage: None) -> Prepared | Failure:
    """The document with its nodes; whatever goes wrong is a Failure, never an exception.

    Args:
        task: The document.
        options: What is the same for every document.
        at: Told the name of each stage when it begins: read, load, parse.
    """
    stage = ["read"]

    def reached(name: str) -> None:
        stage[0] = name
        at(name)

    try:
        return _prepare(task, options, reached)
    except Exception as error:  # noqa: BLE001 - one bad document, whatever it does to a library, stops only itself
        if lacked_memory(error):
            return out_of_memory(stage[0], task.item.name, options.limits.document_memory_mb)
        return Failure.of(error, stage[0], task.item.name)


def _prepare(task: Task, options: Options, reached: Callable[[str], None]) -> Prepared:
    reached("read")
    data = read(task, options)
    reached("load")
    document, parser = identified(load(data, task.item, limits=options.limits), task)
    if options.keep:
        keep_original(options.home, document.file_sha, data, name=document.name)
    reached("parse")
    made_by = options.recipe(parser)
    if task.indexed_sha == document.content_sha and task.indexed_recipe == made_by:
        return Prepared(document, parser, made_by, None)
    return cut(document, parser, options)


def read(task: Task, options: Options) -> bytes:
    """The bytes of the task's file, or of its stored original.

    Raises:
        SourceError: If they are gone or may not be read.
    """
    if task.data is not None:
        return task.data
    if not task.original:
        return read_file(task.item, options.limits.most_bytes)
    path, again = original_path(options.home, task.original), "Ingest it again from its source."
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(
            f"The stored original of {task.item.name} cannot be read: {error.strerror}.", hint=again
        ) from error
    if hashlib.sha256(data).hexdigest() != task.original:
        if options.keep:
            path.unlink(missing_ok=True)  # so that the next run that reads the source keeps it anew
        raise SourceError(f"The stored original of {task.item.name} is damaged.", hint=again)
    return data


def identified(loaded: Document, task: Task) -> tuple[Document, str]:
    """(the loaded document with its identity, class, hashes and what is said of it, the name of its parser)."""
    told = {**task.ruled, **task.said}
    document = classify(
        loaded.with_(year=told.get("year", loaded.year)),
        category=told.get("category", ""),
        visibility=told.get("visibility"),
    )
    kept = {name: dict(value) for name, value in (("said", task.said), ("ruled", task.ruled)) if value}
    document = document.with_(
        id=task.document_id,
        collection=task.collection,
        stamp=task.item.stamp,
        ingested_at=datetime.now(UTC),
        metadata={**document.metadata, **kept},
    )
    parser = parser_for(document)
    return document.with_(content_sha=content_sha(document, parser), meta_sha=meta_sha(document)), parser


def cut(document: Document, parser: str, options: Options) -> Prepared:
    """The document with its nodes; of a parser that cuts by meaning, without.

    Raises:
        ParseError: If there is nothing to index, or a parser broke its contract.
        ConfigError: If there is no such parser.
    """
    made_by = options.recipe(parser)
    if parser in PARSERS and PARSERS[parser].embeds:
        return Prepared(document, parser, made_by, None, embeds=True)
    return Prepared(document, parser, made_by, some(document, parse(document, parser, options.sizes)))


def some(document: Document, nodes: list[TextNode]) -> tuple[TextNode, ...]:
    """The nodes, of which there must be one.

    Raises:
        ParseError: If there is none.
    """
    if not nodes:
        raise ParseError(f"{document.name} has no text to index.", hint="Check that the file is not empty.")
    return tuple(nodes)
