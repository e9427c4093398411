"""CONTEXT HEADER: the lines before a node's text that are embedded and indexed with it; perhaps by a language model."""

import secrets
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from llama_index.core.llms import LLM
from llama_index.core.schema import BaseNode, TextNode, TransformComponent
from sqlalchemy import Engine

from config.prompts import HEADER, HEADER_VERSION
from config.settings import HeaderSettings, Settings
from pipelines.errors import ConfigError, FootnoteError
from pipelines.observe import log_failure
from pipelines.store.model_caches import HeaderKey, keep_header, read_headers, text_sha
from pipelines.text import count_tokens, fold, one_line
from pipelines.types import Document

HEADER_RULES_VERSION = 2

Node = TypeVar("Node", bound=BaseNode)
_MAX_HEADER_CHARACTERS = 300


def header_of(title: str, section_path: Sequence[str] = (), *, year: int | None = None) -> str:
    """Make a line such as `Field notes (2024) > Kitchen > Stove`: title, year, headings; no name twice in a row.

    At most 300 characters: headings in the middle are dropped first, then the end of the line.
    """
    parts: list[str] = []
    for name in (title, *section_path):
        if name and (not parts or fold(name) != fold(parts[-1])):
            parts.append(name)
    if year and parts and str(year) not in parts[0]:
        parts[0] = f"{parts[0]} ({year})"
    while len(parts) > 2 and len(" > ".join(parts)) > _MAX_HEADER_CHARACTERS:
        parts.pop(-2)
    return " > ".join(parts)[:_MAX_HEADER_CHARACTERS]


def jobs_of(facts: Mapping[str, Any] | None) -> str:
    """List the jobs in a node's facts on one line: `Engineer at Acme (May 2019 - Jul 2022)`; empty for none.

    At most 300 characters: the last jobs are dropped first, then the end of the line.
    """
    jobs: list[str] = []
    for record in facts.get("records", [facts]) if facts else []:
        if record["type"] == "job":
            job, dates = " at ".join(filter(None, (record["position"], record["company"]))), record["date_range"]
            jobs.append(f"{job} ({dates})" if dates else job)
    while len(jobs) > 1 and len("; ".join(jobs)) > _MAX_HEADER_CHARACTERS:
        jobs.pop()
    return "; ".join(jobs)[:_MAX_HEADER_CHARACTERS]


def repository_line(facts: Mapping[str, Any] | None) -> str:
    """Describe a node's repository on one line: `footnotes: Checked footnotes. Python; citations, markdown`.

    Empty if it has none. Stars and times are left out: they change too often to be embedded. At most 300 characters.
    """
    if not facts or facts["type"] != "repository":
        return ""
    described = facts["description"].rstrip(".")
    tags = "; ".join(filter(None, (facts["language"], ", ".join(facts["topics"]))))
    description = ". ".join(filter(None, (described, tags)))
    return (f"{facts['name']}: {description}" if description else str(facts["name"]))[:_MAX_HEADER_CHARACTERS]


class ContextHeader(TransformComponent):
    """Sets the header of every node from its metadata; a node of another parser may lack any of them.

    It holds the title and section path, the lines that the parser repeats (a job line, the head of a table), the jobs
    of the node, and its repository.
    """

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """Copies of the nodes with `metadata["header"]` set."""
        made = []
        for node in nodes:
            known, facts = node.metadata, node.metadata.get("facts")
            line = header_of(known.get("title", ""), known.get("section_path", ()), year=known.get("year"))
            made.append(_with_header(node, (line, known.get("header", ""), jobs_of(facts), repository_line(facts))))
        return made


def _with_header(node: Node, lines: Iterable[str]) -> Node:
    return node.model_copy(update={"metadata": {**node.metadata, "header": "\n".join(filter(None, lines))}})


_MAX_SENTENCE_CHARACTERS = 400
_CHARACTERS_A_TOKEN = 3  # few enough that a document in any language fits its model
_RULES_TOKENS = 400
HEADER_TOKENS = 120  # that a language model may write for a header
_FAILURES = 3  # in a row, beyond the requests under way, after which the model is not asked for a while
_REST_SECONDS = 60.0
_HINT = "Raise FOOTNOTE_HEADERS__SECONDS, or set FOOTNOTE_HEADERS__MODE=deterministic."


@dataclass(frozen=True, slots=True)
class HeaderCost:
    """The number of requests to a language model for headers, and of the cl100k tokens that it reads."""

    calls: int
    tokens: int


@dataclass(slots=True)
class RateLimit:
    """Spaces requests evenly, at most `per_minute`; 0 = no limit."""

    per_minute: int
    _next: float = 0.0
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def wait(self) -> None:
        """Wait until the next request may be sent."""
        if self.per_minute:
            with self._turn:
                now = time.monotonic()
                time.sleep(max(0.0, self._next - now))
                self._next = max(now, self._next) + 60 / self.per_minute


@dataclass(slots=True)
class CircuitBreaker:
    """Opens for `seconds` after `limit` failures in a row, over all documents; then nothing is requested."""

    limit: int
    seconds: float = _REST_SECONDS
    _row: int = 0
    _until: float = 0.0

    def note(self, *, failed: bool) -> None:
        """Count a failure, or reset the count."""
        self._row = self._row + 1 if failed else 0
        if self._row >= self.limit:
            self._until = time.monotonic() + self.seconds

    @property
    def is_open(self) -> bool:
        """True if nothing may be requested now."""
        return self._row >= self.limit and time.monotonic() < self._until


@dataclass(frozen=True, slots=True)
class HeaderWriter:
    """Adds a sentence by a language model to the header of each node: where it stands in its document.

    Stored sentences are reused. A node for which the model fails or takes too long keeps its deterministic header.
    """

    llm: LLM
    engine: Engine
    settings: HeaderSettings
    rate: RateLimit
    breaker: CircuitBreaker

    @property
    def recipe(self) -> str:
        """The model and the prompt version of the sentences; part of the recipe of nodes."""
        return f"llm:{self.llm.metadata.model_name}@{HEADER_VERSION}"

    def missing(self, document_id: str, nodes: Sequence[TextNode]) -> list[TextNode]:
        """The nodes whose sentence is not stored yet, one for each text."""
        known = read_headers(self.engine, self._key(document_id), {text_sha(node.text) for node in nodes})
        return list(
            {text_sha(node.text): node for node in reversed(nodes) if text_sha(node.text) not in known}.values()
        )[::-1]

    def __call__(self, document: Document, nodes: Sequence[TextNode]) -> tuple[list[TextNode], int]:
        """Return copies of the nodes with the sentence below their header, and for how many texts the model failed."""
        missing = self.missing(document.id, nodes)
        with ThreadPoolExecutor(self.settings.concurrency, thread_name_prefix="header") as pool:
            wrote = list(pool.map(lambda node: self._write(document, node), missing))
        return self.with_known(document.id, nodes), wrote.count(False)

    def with_known(self, document_id: str, nodes: Sequence[TextNode]) -> list[TextNode]:
        """Copies of the nodes, each with its stored sentence, if any, below its header."""
        sentences = read_headers(self.engine, self._key(document_id), {text_sha(node.text) for node in nodes})
        return [_with_header(node, (node.metadata["header"], sentences.get(text_sha(node.text), ""))) for node in nodes]

    def _write(self, document: Document, node: TextNode) -> bool:
        """Ask the model for a node's sentence and store it; True if there is one."""
        if self.breaker.is_open:
            return False
        from pipelines.models.consult import consult  # its libraries take as long to import as half of the others

        self.rate.wait()
        place = f"header of node {node.metadata['ordinal']} of {document.name}"
        try:
            reply = consult(
                self.llm,
                self.messages(document, node),
                seconds=self.settings.seconds,
                limit=2 * _MAX_SENTENCE_CHARACTERS,
                hint=_HINT,
            )
        except FootnoteError as error:
            self.breaker.note(failed=True)
            log_failure(f"{place} not written, the deterministic one stays", error)
            return False
        self.breaker.note(failed=False)
        if header := shortened(reply):
            keep_header(self.engine, self._key(document.id), text_sha(node.text), header)
        return bool(header)

    def messages(self, document: Document, node: TextNode) -> list[tuple[str, str]]:
        """(role, content) for a chat model: rules, as much of the document around the node as fits, and the node."""
        window = self.llm.metadata.context_window - HEADER_TOKENS - _RULES_TOKENS
        room = max(_CHARACTERS_A_TOKEN * window - len(node.text), 0)
        middle = (node.metadata["start"] + node.metadata["end"]) // 2
        start = max(0, min(middle - room // 2, len(document.text) - room))
        key = secrets.token_hex(4)
        whole = f"<<document {key}>>\n{document.title}\n{document.text[start : start + room]}\n<</document {key}>>"
        return [("system", HEADER), ("user", f"{whole}\n\n<<passage {key}>>\n{node.text}\n<</passage {key}>>")]

    def tokens(self, document: Document, node: TextNode) -> int:
        """The number of cl100k tokens that the model reads to write a node's header."""
        return sum(count_tokens(content) for _, content in self.messages(document, node))

    def _key(self, document_id: str) -> HeaderKey:
        model = str(self.llm.metadata.model_name)
        return {"document_id": document_id, "prompt_version": HEADER_VERSION, "model": model}


def build_header_writer(settings: Settings, engine: Engine) -> HeaderWriter | None:
    """Build the header writer of the settings; None if they want deterministic headers.

    Raises:
        ConfigError: If the settings want a language model but name none.
    """
    if settings.headers.mode != "llm":
        return None
    from pipelines.models.llm import build_llm  # its libraries take a second to import

    header_llm = settings.llm.model_copy(update={"max_tokens": HEADER_TOKENS, "temperature": 0.0})
    llm = build_llm(settings.model_copy(update={"llm": header_llm}))
    if llm is None:
        raise ConfigError(
            "Headers by a language model need one.", hint="Set FOOTNOTE_LLM__MODEL, or FOOTNOTE_HEADERS__MODE."
        )
    breaker = CircuitBreaker(_FAILURES + settings.headers.concurrency)
    return HeaderWriter(llm, engine, settings.headers, RateLimit(settings.headers.per_minute), breaker)


def shortened(reply: str) -> str:
    """A reply on one line, at most 400 characters, cut after a word."""
    line = one_line(reply).strip("\"'“”")
    return line if len(line) <= _MAX_SENTENCE_CHARACTERS else line[:_MAX_SENTENCE_CHARACTERS].rpartition(" ")[0]
