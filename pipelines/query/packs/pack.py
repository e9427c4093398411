"""PACK: an answer with all that it takes to check it elsewhere or later, and to ask it again."""

import json
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.errors import PackError
from pipelines.types import Audience, Mode, VerdictName

FORMAT: Literal["footnote-answer-pack"] = "footnote-answer-pack"
SCHEMA_VERSION: Literal[1] = 1
MAX_BYTES = 20_000_000
_HINT = "Name a file that `footnote ask --pack` or the chat wrote."


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PackedTurn(_Part):
    """A question and its answer from before, as the conversation remembered them."""

    question: str
    answer: str
    sources: tuple[str, ...] = ()


class PackedFilters(_Part):
    """As `Filters` has them."""

    collection: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    year: tuple[int, ...] = ()
    author: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    kind: tuple[str, ...] = ()
    document: tuple[str, ...] = ()
    phrase: tuple[str, ...] = ()


class Asked(_Part):
    """What was asked: of what, for whom, and by which legs; `searched_for` is what was understood of it."""

    question: str
    history: tuple[PackedTurn, ...] = ()
    filters: PackedFilters = PackedFilters()
    audience: Audience = "owner"
    mode: Mode = "hybrid"
    searched_for: str = ""


class PackedCitation(_Part):
    """A footnote: source `n`, and the words of the document that bear the sentence out."""

    n: int = Field(ge=1)
    document_id: str
    content_sha: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote: str
    verdict: VerdictName


class PackedSentence(_Part):
    """A sentence, the numbers of its footnotes, and whether these bear it out."""

    text: str
    citations: tuple[int, ...]
    verdict: VerdictName
    evidence: tuple[PackedCitation, ...] = ()


class PackedSource(_Part):
    """A numbered source: where it stands, its words, and its best rank among all candidates; 0 where it had none."""

    n: int = Field(ge=1)
    document_id: str
    page: int | None = None
    line_start: int
    line_end: int
    section_path: tuple[str, ...] = ()
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    snippet: str
    node_ids: tuple[str, ...] = ()
    rank: int = Field(0, ge=0)


class Said(_Part):
    """The answer: its sentences, and what it stands on; an abstention has what came nearest instead.

    `disputed` are the sides of its conflicts. `failed` tells that a language model failed and sentences were quoted
    instead.
    """

    answered: bool
    text: str
    confidence: Literal["high", "medium", "low"]
    mode: Literal["llm", "extractive"]
    model: str = ""
    sentences: tuple[PackedSentence, ...] = ()
    sources: tuple[PackedSource, ...] = ()
    nearest: tuple[PackedSource, ...] = ()
    searched: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    disputed: tuple[PackedCitation, ...] = ()
    notes: tuple[str, ...] = ()
    truncated: bool = False
    failed: bool = False


class PackedDocument(_Part):
    """A document that the answer draws on, in the version that it had: hashes of its text and of its file.

    `uri` is an address on the web; of a file there is only its name. `file_sha` is empty where it is not known.
    """

    id: str
    name: str
    title: str
    category: str = ""
    uri: str = ""
    content_sha: str
    file_sha: str = ""


class Ranked(_Part):
    """A candidate: its rank from 1, its final score, and what became of it."""

    node_id: str
    document_id: str
    rank: int = Field(ge=1)
    score: float
    fate: str


class PackedSettings(_Part):
    """Which settings an answer hangs on, by dotted name, and the fingerprint of them all; no key is among them."""

    fingerprint: str
    values: dict[str, Any]


class Pack(_Part):
    """All of it. `made_at` is the moment of the answer (ISO 8601, UTC), `footnote` the version that wrote it."""

    format: Literal["footnote-answer-pack"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    footnote: str
    made_at: str
    asked: Asked
    answer: Said
    documents: tuple[PackedDocument, ...] = ()
    ranking: tuple[Ranked, ...] = ()
    settings: PackedSettings
    embedding_model: str
    language_model: str = ""
    corpus_version: int
    trace_id: str = ""

    def name_of(self, document_id: str) -> str:
        """What a document is called; its id where the pack does not say."""
        return next((document.name for document in self.documents if document.id == document_id), document_id)


def pack_json(pack: Pack) -> str:
    """The pack for programs: one JSON document."""
    return json.dumps(pack.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"


def read_pack(raw: bytes, name: str) -> Pack:
    """The pack that a file holds.

    Raises:
        PackError: If it is too large, damaged, no answer pack, or of a newer Footnote.
    """
    if len(raw) > MAX_BYTES:
        raise PackError(f"{name} is larger than an answer pack can be ({MAX_BYTES:,} bytes).", hint=_HINT)
    try:
        held = json.loads(raw.decode("utf-8"))
        json.dumps(held, ensure_ascii=False).encode("utf-8")  # half a character is no text
    except (ValueError, RecursionError) as error:
        raise PackError(f"{name} is damaged, or no answer pack: it is not JSON.", hint=_HINT) from error
    if not isinstance(held, dict) or held.get("format") != FORMAT or b"\\u0000" in raw:
        raise PackError(f"{name} is no answer pack.", hint=_HINT)
    if held.get("schema_version") != SCHEMA_VERSION:
        raise PackError(
            f"{name} is an answer pack of version {str(held.get('schema_version'))[:20]}, and this Footnote reads "
            f"version {SCHEMA_VERSION}.",
            hint="Replay it with the Footnote that wrote it, or a newer one.",
        )
    try:
        return Pack.model_validate(held)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][:6])
        raise PackError(f"{name} is damaged: {place}: {first['msg']}.", hint=_HINT) from error


def web_address(uri: str) -> str:
    """The address of a page on the web, without what may be secret in it; empty for files and the like."""
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    return f"{parts.scheme}://{host}{port}{parts.path}" if parts.scheme in ("http", "https") and host else ""
