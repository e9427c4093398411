"""PREPARE: one listed item -> a PreparedDocument with its hashes and nodes, or a PreparationFailure.

It needs no database and no model. What it takes and returns is small and can be pickled, so that it runs in this
process, in a worker process, or on another machine.
"""

import hashlib
import signal
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_index.core.schema import TextNode

from config.settings import Limits, ParsingSettings, Settings
from pipelines.errors import ConfigError, FootnoteError, LoadError, ParseError, SourceError
from pipelines.ingestion.change_detection import content_sha, meta_sha, recipe
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders import load, loader_version
from pipelines.ingestion.parsers import PARSERS, parse, parser_for
from pipelines.ingestion.parsers.document_facts import document_records
from pipelines.ingestion.plan import Step
from pipelines.ingestion.sources.files import read_file
from pipelines.store.documents import StoredDocument
from pipelines.store.originals import keep_original, original_path
from pipelines.structure import stored_structure
from pipelines.types import Document, IngestItem

if TYPE_CHECKING:
    from pipelines.store.node_table import Vectors

# Keys of `Document.metadata`, as they are stored: what a person, and what the rules of the settings, state of it.
OVERRIDES_KEY, RULES_KEY = "said", "ruled"

_STAGE_VERBS = {"read": "read", "load": "read", "parse": "parsed"}


@dataclass(frozen=True, slots=True)
class PreparationFailure:
    """The failure of a document: stage, error class, message and hint; it can be pickled.

    A `fatal` failure (a setting, a missing package) would hit every other document too, and ends the run.
    """

    stage: str
    error: str
    message: str
    hint: str = ""
    fatal: bool = False
    detail: str = ""

    @classmethod
    def of(cls, error: BaseException, stage: str, name: str) -> "PreparationFailure":
        """Make the failure of the named document from an error."""
        known = isinstance(error, FootnoteError)
        return cls(
            stage=stage,
            error=type(error).__name__,
            message=error.message if isinstance(error, FootnoteError) else f"{name}: {error}"[:2000],
            hint=error.hint if isinstance(error, FootnoteError) else "This is a bug; --json has its class.",
            fatal=isinstance(error, ConfigError),
            detail="" if known else "".join(traceback.format_exception(error)),
        )

    def item(self, document: str, document_id: str) -> IngestItem:
        """Make the report item of the named document; its id is empty if nothing of it is stored."""
        return IngestItem(
            document=document,
            outcome="failed",
            stage=self.stage,
            error=self.error,
            message=self.message,
            hint=self.hint,
            document_id=document_id,
        )


def is_memory_error(error: BaseException | None) -> bool:
    """True if an error is a MemoryError, or was raised because of one."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def out_of_memory(stage: str, name: str, megabytes: int) -> PreparationFailure:
    """The failure of a document that exceeded the memory limit."""
    return _stopped(
        stage,
        f"{name} needed more than {megabytes:,} MB of memory to be {_STAGE_VERBS.get(stage, stage)}.",
        "Split it, or raise FOOTNOTE_INGESTION__DOCUMENT_MEMORY_MB.",
    )


def out_of_time(stage: str, name: str, seconds: float) -> PreparationFailure:
    """The failure of a document that exceeded the time limit."""
    return _stopped(
        stage,
        f"{name} took longer than {seconds:g} seconds to be {_STAGE_VERBS.get(stage, stage)}, and was stopped.",
        "Split it, or raise FOOTNOTE_INGESTION__DOCUMENT_SECONDS.",
    )


def too_large(name: str, size: int, most: int) -> PreparationFailure:
    """The failure of a document whose parsed form is too large to be sent to the parent process."""
    return _stopped("parse", f"{name} comes to {size:,} bytes once it is parsed, over {most:,}.", "Split it.")


def crashed(stage: str, name: str, code: int, output: str) -> PreparationFailure:
    """The failure of a document whose worker process ended.

    A negative exit code is the number of the signal that ended it; `output` is the end of what it printed.
    """
    if code == -signal.SIGKILL:
        how = "was killed from outside (signal 9), perhaps by the system for want of memory"
    elif code < 0:
        how = f"crashed (signal {-code}, {signal.strsignal(-code) or 'unknown'})"
    else:
        how = f"ended (exit code {code})"
    hint = "Save it again or in another format. The other documents are not affected."
    return _stopped(
        stage, f"{name} could not be {_STAGE_VERBS.get(stage, stage)}: its worker process {how}.", hint, output
    )


def _stopped(stage: str, message: str, hint: str, detail: str = "") -> PreparationFailure:
    kind = ParseError if stage == "parse" else LoadError
    return PreparationFailure(stage, kind.__name__, message, hint, detail=detail)


@dataclass(frozen=True, slots=True)
class PrepareOptions:
    """The options that are the same for every document of a run.

    Attributes:
        limits: How large a file may be, and how much time and memory reading it may take.
        sizes: How long nodes may be.
        home: Where originals are kept; absolute, as a worker runs elsewhere.
        model: The slug of the embedding model, which a parser that embeds depends on.
        headers: The recipe of the headers that a language model writes; empty where they are deterministic.
        keep: True to keep the original bytes; False for a preview.
    """

    limits: Limits
    sizes: ParsingSettings
    home: Path
    model: str
    headers: str = ""
    keep: bool = True

    @classmethod
    def of(cls, settings: Settings, model: str, headers: str = "") -> "PrepareOptions":
        """The options that the settings state."""
        limits = Limits(**settings.ingestion.model_dump(include=set(Limits.model_fields)))
        return cls(limits, settings.parsing, settings.home.absolute(), model, headers)

    def recipe(self, parser: str, loaders: int) -> str:
        """The recipe of the nodes that a parser makes of what loaders of a version made, by today's code."""
        return recipe(parser, loaders, self.sizes, self.model, self.headers)


@dataclass(frozen=True, slots=True)
class Task:
    """One document to be prepared.

    It is sent to worker processes and carries what its step does not: identity, overrides, stored state, bytes.

    Attributes:
        step: The step of the plan, which says where it is and where it belongs.
        document_id: Its identity; minted for a new one.
        overrides: What a person states of it; kept with it, and stronger than `rules`.
        rules: What the rules of the settings state of it.
        stored: What is stored of it; None for a new one.
        data: The bytes, where they were read already.
    """

    step: Step
    document_id: str
    overrides: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, Any] = field(default_factory=dict)
    stored: StoredDocument | None = None
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document on its way into the store: first with nodes, then also with vectors.

    It goes through worker processes, and may end as a change of metadata alone; the store takes a `Replacement`, made
    of one that is embedded.

    Attributes:
        document: With its identity, class and hashes.
        parser: The name of its parser.
        recipe: How its nodes are made; stored, and compared by the next plan.
        nodes: None if the content is as stored, so that only metadata is written, and, before it is parsed, for a
            parser that embeds.
        embeds: True if its parser needs the embedding model.
        vectors: For each node, its windows' vectors, (windows, dimension); empty until it is embedded.
        embedded: The number of its texts that the embedding cache lacked.
    """

    document: Document
    parser: str
    recipe: str
    nodes: tuple[TextNode, ...] | None
    embeds: bool = False
    vectors: "tuple[Vectors, ...]" = ()
    embedded: int = 0

    @property
    def metadata_only(self) -> bool:
        """True if the stored nodes stay as they are."""
        return self.nodes is None and not self.embeds


def prepare(
    task: Task, options: PrepareOptions, at: Callable[[str], object] = lambda stage: None
) -> PreparedDocument | PreparationFailure:
    """Read, load, classify and parse a document; whatever goes wrong is a PreparationFailure, never an exception.

    `at` is called with the name of each stage when it begins: read, load, parse.
    """
    stage, item, stored = "read", task.step.item, task.stored

    def reached(name: str) -> None:
        nonlocal stage
        stage = name
        at(name)

    try:
        reached("read")
        data = read_bytes(task, options)
        reached("load")
        document, parser = classify_loaded(load(data, item, limits=options.limits), task)
        if options.keep:
            keep_original(options.home, document.file_sha, data, name=document.name)
        reached("parse")
        made_by = options.recipe(parser, loader_version(document))
        if stored and (stored.indexed_sha, stored.recipe) == (document.content_sha, made_by):
            return PreparedDocument(document, parser, made_by, None)
        return parse_document(document, parser, options)
    except Exception as error:  # noqa: BLE001 - one bad document, whatever it does to a library, stops only itself
        if is_memory_error(error):
            return out_of_memory(stage, item.name, options.limits.document_memory_mb)
        return PreparationFailure.of(error, stage, item.name)


def read_bytes(task: Task, options: PrepareOptions) -> bytes:
    """Read the task's file, or its stored original.

    Raises:
        SourceError: If it is gone, damaged, or may not be read.
    """
    item, original = task.step.item, task.step.original
    if task.data is not None:
        return task.data
    if not original:
        return read_file(item, options.limits.most_bytes)
    path, hint = original_path(options.home, original), "Ingest it again from its source."
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"The stored original of {item.name} cannot be read: {error.strerror}.", hint=hint) from error
    if hashlib.sha256(data).hexdigest() != original:
        if options.keep:
            path.unlink(missing_ok=True)  # so that the next run that reads the source keeps it again
        raise SourceError(f"The stored original of {item.name} is damaged.", hint=hint)
    return data


def classify_loaded(loaded: Document, task: Task) -> tuple[Document, str]:
    """Return the loaded document with its identity, class, overrides and hashes, and the name of its parser."""
    given = {**task.rules, **task.overrides}
    document = classify(
        loaded.with_(year=given.get("year", loaded.year)),
        category=given.get("category", ""),
        visibility=given.get("visibility"),
    )
    kept = {key: dict(value) for key, value in ((OVERRIDES_KEY, task.overrides), (RULES_KEY, task.rules)) if value}
    document = document.with_(
        id=task.document_id,
        collection=task.step.collection,
        stamp=task.step.item.stamp,
        ingested_at=datetime.now(UTC),
        metadata={**document.metadata, **kept},
    )
    document, parser = document.with_(records=document_records(document)), parser_for(document)
    return document.with_(content_sha=content_sha(document, parser), meta_sha=meta_sha(document)), parser


def parse_document(document: Document, parser: str, options: PrepareOptions) -> PreparedDocument:
    """Parse a document; one whose parser embeds is returned without nodes.

    Raises:
        ParseError: If there is nothing to index, or a parser broke its contract.
        ConfigError: If there is no such parser.
    """
    made_by = options.recipe(parser, loader_version(document))
    document = document.with_(structure=stored_structure(document))
    if parser in PARSERS and PARSERS[parser].embeds:
        return PreparedDocument(document, parser, made_by, None, embeds=True)
    nodes = require_nodes(document, parse(document, parser, options.sizes))
    return PreparedDocument(document, parser, made_by, nodes)


def require_nodes(document: Document, nodes: list[TextNode]) -> tuple[TextNode, ...]:
    """Return the nodes.

    Raises:
        ParseError: If there is none.
    """
    if not nodes:
        raise ParseError(f"{document.name} has no text to index.", hint="Check that the file is not empty.")
    return tuple(nodes)
