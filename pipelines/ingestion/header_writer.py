"""Headers by a language model: for each node a sentence on where it stands in its whole document."""

import hashlib
import secrets
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from llama_index.core.llms import LLM
from llama_index.core.schema import TextNode
from sqlalchemy import Engine

from config.prompts import HEADER, HEADER_VERSION
from config.settings import HeaderSettings, Settings
from pipelines.errors import ConfigError, FootnoteError
from pipelines.models.consult import consult
from pipelines.observe import log_failure
from pipelines.store.headers import HeaderKey, keep_headers, read_headers
from pipelines.text import canonical, count_tokens
from pipelines.types import Document

_MAX_CHARACTERS = 400
_CHARACTERS_A_TOKEN = 3  # few enough that a document in any language fits its model
_RULES_TOKENS = 400
_FAILURES = 3  # in a row, beyond the requests that are under way, after which the model is left alone for a while
_REST_SECONDS = 60.0
_HINT = "Raise FOOTNOTE_HEADERS__SECONDS, or set FOOTNOTE_HEADERS__MODE=deterministic."


@dataclass(frozen=True, slots=True)
class HeaderCost:
    """How often a language model is asked, and how many cl100k tokens it reads for it."""

    calls: int
    tokens: int


@dataclass(slots=True)
class Pace:
    """Lets one request a time go, so many a minute; 0 = all at once."""

    per_minute: int
    _next: float = 0.0
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def wait(self) -> None:
        """Return when the next request may go."""
        if self.per_minute:
            with self._turn:
                now = time.monotonic()
                time.sleep(max(0.0, self._next - now))
                self._next = max(now, self._next) + 60 / self.per_minute


@dataclass(slots=True)
class Fuse:
    """Counts failures in a row, over all documents; once there are `limit`, nothing is asked for so many seconds."""

    limit: int
    seconds: float = _REST_SECONDS
    _row: int = 0
    _until: float = 0.0

    def note(self, *, failed: bool) -> None:
        """Count a failure, or begin to count anew."""
        self._row = self._row + 1 if failed else 0
        if self._row >= self.limit:
            self._until = time.monotonic() + self.seconds

    @property
    def blown(self) -> bool:
        """Whether there were too many in a row, not long ago."""
        return self._row >= self.limit and time.monotonic() < self._until


@dataclass(frozen=True, slots=True)
class HeaderWriter:
    """Adds what a language model says of a node to the node's header; what is known is not asked again.

    A node for which the model fails or takes too long keeps the header that it has.
    """

    llm: LLM
    engine: Engine
    settings: HeaderSettings
    pace: Pace
    fuse: Fuse

    @property
    def recipe(self) -> str:
        """What the headers depend on."""
        return f"llm:{self.llm.metadata.model_name}@{HEADER_VERSION}"

    def missing(self, document_id: str, nodes: Sequence[TextNode]) -> list[TextNode]:
        """The nodes that the model would be asked about, one for each text."""
        known = read_headers(self.engine, self._key(document_id), {_sha(node) for node in nodes})
        return list({_sha(node): node for node in reversed(nodes) if _sha(node) not in known}.values())[::-1]

    def __call__(self, document: Document, nodes: Sequence[TextNode]) -> tuple[list[TextNode], int]:
        """(copies of the nodes with the sentence below their header, for how many the model failed)."""
        asked = self.missing(document.id, nodes)
        with ThreadPoolExecutor(self.settings.concurrency, thread_name_prefix="header") as pool:
            wrote = list(pool.map(lambda node: self._write(document, node), asked))
        return self.with_known(document.id, nodes), wrote.count(False)

    def with_known(self, document_id: str, nodes: Sequence[TextNode]) -> list[TextNode]:
        """Copies of the nodes, each with the sentence that was written for it, if any, below its header."""
        said = read_headers(self.engine, self._key(document_id), {_sha(node) for node in nodes})
        return [_below(node, said.get(_sha(node), "")) for node in nodes]

    def _write(self, document: Document, node: TextNode) -> bool:
        """Keep what the model says of a node; whether it said anything."""
        if self.fuse.blown:
            return False
        self.pace.wait()
        place = f"header of node {node.metadata['ordinal']} of {document.name}"
        try:
            said = consult(
                self.llm,
                self.messages(document, node),
                seconds=self.settings.seconds,
                limit=2 * _MAX_CHARACTERS,
                hint=_HINT,
            )
        except FootnoteError as error:
            self.fuse.note(failed=True)
            log_failure(f"{place} not written, the deterministic one stays", error)
            return False
        self.fuse.note(failed=False)
        if header := shortened(said):
            keep_headers(self.engine, self._key(document.id), {_sha(node): header})
        return bool(header)

    def messages(self, document: Document, node: TextNode) -> list[tuple[str, str]]:
        """(role, content) for a chat model: the rules, then the document, or as much of it as fits, and the node."""
        window = self.llm.metadata.context_window - self.settings.max_tokens - _RULES_TOKENS
        room = max(_CHARACTERS_A_TOKEN * window - len(node.text), 0)
        middle = (node.metadata["start"] + node.metadata["end"]) // 2
        start = max(0, min(middle - room // 2, len(document.text) - room))
        key = secrets.token_hex(4)
        whole = f"<<document {key}>>\n{document.title}\n{document.text[start : start + room]}\n<</document {key}>>"
        return [("system", HEADER), ("user", f"{whole}\n\n<<passage {key}>>\n{node.text}\n<</passage {key}>>")]

    def tokens(self, document: Document, node: TextNode) -> int:
        """How many cl100k tokens the model reads to write a node's header."""
        return sum(count_tokens(content) for _, content in self.messages(document, node))

    def _key(self, document_id: str) -> HeaderKey:
        return HeaderKey(document_id, HEADER_VERSION, str(self.llm.metadata.model_name))


def build_header_writer(settings: Settings, engine: Engine) -> HeaderWriter | None:
    """What writes headers by a language model; None where the settings want deterministic ones.

    Raises:
        ConfigError: If the settings want a language model and name none.
    """
    if settings.headers.mode != "llm":
        return None
    from pipelines.models.llm import build_llm  # its libraries take a second to import

    asked = settings.llm.model_copy(update={"max_tokens": settings.headers.max_tokens, "temperature": 0.0})
    llm = build_llm(settings.model_copy(update={"llm": asked}))
    if llm is None:
        raise ConfigError(
            "Headers by a language model need one.", hint="Set FOOTNOTE_LLM__MODEL, or FOOTNOTE_HEADERS__MODE."
        )
    fuse = Fuse(_FAILURES + settings.headers.concurrency)
    return HeaderWriter(llm, engine, settings.headers, Pace(settings.headers.per_minute), fuse)


def shortened(said: str) -> str:
    """A reply on one line, at most 400 characters, cut after a word."""
    line = " ".join(canonical(said).split()).strip("\"'“”")
    return line if len(line) <= _MAX_CHARACTERS else line[:_MAX_CHARACTERS].rpartition(" ")[0]


def _below(node: TextNode, said: str) -> TextNode:
    header = "\n".join(filter(None, (node.metadata["header"], said)))
    return node.model_copy(update={"metadata": {**node.metadata, "header": header}})


def _sha(node: TextNode) -> str:
    return hashlib.sha256(node.text.encode()).hexdigest()
