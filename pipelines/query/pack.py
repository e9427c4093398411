"""PACK: an answer with all that it takes to check it elsewhere or later, and to ask it again."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from config.settings import Settings
from pipelines.answers import Answer, Source, VerdictName
from pipelines.errors import PackError, RetrievalError
from pipelines.query.ablation import TUNABLE
from pipelines.store.database import reading
from pipelines.store.query_log import jsonable, read_query
from pipelines.store.versions import hashes_of
from pipelines.types import Audience, Filters, Mode, Trace, Turn

if TYPE_CHECKING:  # a pack is read without the libraries that a question needs
    from pipelines.query.engine import QueryEngine
    from pipelines.query.search import Request

FORMAT: Literal["footnote-answer-pack"] = "footnote-answer-pack"
SCHEMA_VERSION: Literal[1] = 1
MAX_BYTES = 20_000_000
_HINT = "Name a file that `footnote ask --pack` or the chat wrote."


class _PackPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True)


class PackedRequest(_PackPart):
    """The question with its filters, audience and mode; `searched_for` is the text that was searched."""

    question: str
    history: tuple[Turn, ...] = ()
    filters: Filters = Filters()
    audience: Audience = "owner"
    mode: Mode = "hybrid"
    searched_for: str = ""


class PackedCitation(_PackPart):
    """A footnote: source `n`, and the words of the document that support the sentence."""

    n: int = Field(ge=1)
    document_id: str
    content_sha: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote: str
    verdict: VerdictName


class PackedSentence(_PackPart):
    """A sentence, the numbers of its footnotes, and whether these support it."""

    text: str
    citations: tuple[int, ...]
    verdict: VerdictName
    evidence: tuple[PackedCitation, ...] = ()


class PackedSource(_PackPart):
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


class PackedAnswer(_PackPart):
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


class PackedDocument(_PackPart):
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


class PackedCandidate(_PackPart):
    """A candidate: its rank from 1, its final score, and its outcome."""

    node_id: str
    document_id: str
    rank: int = Field(ge=1)
    score: float
    fate: str


class PackedSettings(_PackPart):
    """The settings that an answer depends on, by dotted name, and the fingerprint of all; no key is among them."""

    fingerprint: str
    values: dict[str, Any]


class Pack(_PackPart):
    """An answer pack. `made_at` is the time of the answer (ISO 8601, UTC), `footnote` the version that wrote it."""

    format: Literal["footnote-answer-pack"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    footnote: str
    made_at: str
    asked: PackedRequest
    answer: PackedAnswer
    documents: tuple[PackedDocument, ...] = ()
    ranking: tuple[PackedCandidate, ...] = ()
    settings: PackedSettings
    embedding_model: str
    language_model: str = ""
    corpus_version: int
    trace_id: str = ""

    def name_of(self, document_id: str) -> str:
        """The name of a document; its id if the pack has none."""
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
        data = json.loads(raw.decode("utf-8"))
        json.dumps(data, ensure_ascii=False).encode("utf-8")  # half a character is not text
    except (ValueError, RecursionError) as error:
        raise PackError(f"{name} is damaged or not an answer pack: it is not JSON.", hint=_HINT) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT or b"\\u0000" in raw:
        raise PackError(f"{name} is not an answer pack.", hint=_HINT)
    if data.get("schema_version") != SCHEMA_VERSION:
        raise PackError(
            f"{name} is an answer pack of version {str(data.get('schema_version'))[:20]}, and this Footnote reads "
            f"version {SCHEMA_VERSION}.",
            hint="Replay it with the version of Footnote that wrote it, or a newer one.",
        )
    try:
        return Pack.model_validate(data)
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


_SPARED = {"retrieval.cache_entries", "answer.follow_ups", "answer.follow_ups_by", "answer.follow_up_seconds"}
_WRITER = ("max_tokens", "context_window", "temperature")
_PATH = re.compile(r"(?:[A-Za-z]:)?[\\/~]")
_ADDRESS = re.compile(r"(https?://)(?:[^\s/@'\"]*@)?([^\s/'\"<>()?#]+)[^\s'\"<>()]*")


def pack_answer(engine: "QueryEngine", request: "Request", answer: Answer, trace: Trace | None = None) -> Pack:
    """The pack of an answer that this engine gave to a request.

    Args:
        engine: The engine.
        request: What was asked.
        answer: The whole Answer.
        trace: Its ledger; None = as the query log has it. Where that has none, the pack has no ranking.

    Raises:
        ServiceUnavailable: If the database cannot be reached.
    """
    ledger, made_at = (jsonable(trace), datetime.now(UTC).isoformat()) if trace else _logged(engine, answer.trace_id)
    ranking = [
        PackedCandidate(
            node_id=row["node_id"],
            document_id=row["document_id"],
            rank=rank,
            score=round(row["final"], 6),
            fate=row["fate"],
        )
        for rank, row in enumerate(ledger.get("candidates", ()), start=1)
    ]
    values = relevant_settings(engine.settings)
    return Pack(
        footnote=footnote_version(),
        made_at=made_at,
        asked=PackedRequest(
            question=answer.question,
            history=request.history,
            filters=request.filters,
            audience=request.audience,
            mode=request.mode,
            searched_for=ledger.get("intent", {}).get("search_text", ""),
        ),
        answer=_packed_answer(answer, {row.node_id: row.rank for row in ranking}, _private(engine.settings)),
        documents=_documents(engine, request, [*answer.sources, *answer.nearest]),
        ranking=tuple(ranking),
        settings=PackedSettings(fingerprint=ledger.get("settings", engine.fingerprint), values=values),
        embedding_model=engine.identity.label,
        language_model=_last_part(engine.model_name),
        corpus_version=ledger.get("corpus_version") or engine.store.version(),
        trace_id=answer.trace_id,
    )


def relevant_settings(settings: Settings) -> dict[str, Any]:
    """The settings that affect an answer, by dotted name; of a path only its last part."""
    stages = {name: getattr(settings, name).model_dump(mode="json") for name in (*TUNABLE, "persona")}
    stages["llm"] = {name: getattr(settings.llm, name) for name in _WRITER}
    stages["embedding"] = {"precision": settings.embedding.precision}
    values = {
        f"{stage}.{name}": value for stage, stage_values in stages.items() for name, value in stage_values.items()
    }
    return {name: _last_part(value) for name, value in values.items() if name not in _SPARED}


def footnote_version() -> str:
    """Footnote's version; `unknown` where it was not installed."""
    try:
        return version("footnote")
    except PackageNotFoundError:
        return "unknown"


def without_secrets(text: str, private: Sequence[str]) -> str:
    """A text without keys and folders of this machine; of an address it has only the host."""
    for secret in private:
        text = text.replace(secret, "…")
    return _ADDRESS.sub(r"\1\2", text)


def _logged(engine: "QueryEngine", trace_id: str) -> tuple[Mapping[str, Any], str]:
    """(ledger, moment) of an answer as they were logged."""
    try:
        row = read_query(engine.database.engine, trace_id)
    except RetrievalError:  # the log was pruned, or could not be written
        return {}, datetime.now(UTC).isoformat()
    return row["trace"], datetime.fromisoformat(row["asked_at"]).astimezone(UTC).isoformat()


def _packed_answer(answer: Answer, ranks: Mapping[str, int], private: Sequence[str]) -> PackedAnswer:
    return PackedAnswer(
        answered=answer.answered,
        text=answer.answer,
        confidence=answer.confidence,
        mode=answer.mode,
        model=_last_part(answer.model),
        sentences=tuple(map(PackedSentence.model_validate, answer.sentences)),
        sources=tuple(_packed_source(source, ranks) for source in answer.sources),
        nearest=tuple(_packed_source(source, ranks) for source in answer.nearest),
        searched=tuple(without_secrets(search, private) for search in answer.searched),
        conflicts=tuple(conflict.said for conflict in answer.conflicts),
        disputed=tuple(PackedCitation.model_validate(side) for conflict in answer.conflicts for side in conflict.sides),
        notes=tuple(without_secrets(note, private) for note in answer.notes),
        truncated=answer.truncated,
        failed=bool(answer.fallback_reason),
    )


def _packed_source(source: Source, ranks: Mapping[str, int]) -> PackedSource:
    rank = min((ranks[node_id] for node_id in source.node_ids if node_id in ranks), default=0)
    return PackedSource.model_validate(source).model_copy(update={"rank": rank})


def _documents(engine: "QueryEngine", request: "Request", sources: Sequence[Source]) -> tuple[PackedDocument, ...]:
    """The documents of the sources; the hash of a file that was replaced since is not known."""
    first = {source.document_id: source for source in reversed(sources)}
    with reading(engine.database.engine, "reading the hashes of documents") as connection:
        now = hashes_of(connection, first, request.audience)
    return tuple(
        PackedDocument(
            id=source.document_id,
            name=source.documentName,
            title=source.title,
            category=source.category,
            uri=web_address(source.lines_uri or source.uri),
            content_sha=source.content_sha,
            file_sha=now[key].file_sha if key in now and now[key].content_sha == source.content_sha else "",
        )
        for key, source in sorted(first.items(), key=lambda pair: pair[1].n)
    )


def _private(settings: Settings) -> list[str]:
    """The keys and folders of this machine, which no pack may hold, the longest first."""
    keys = (getattr(settings, name) for name in type(settings).model_fields)
    secrets_and_paths = [key.get_secret_value() for key in keys if isinstance(key, SecretStr)]
    secrets_and_paths += [
        str(settings.home.absolute()),
        str(settings.home.resolve()),
        str(Path.home()),
        str(Path.cwd()),
    ]
    return sorted({text for text in secrets_and_paths if len(text) > 1}, key=len, reverse=True)


def _last_part(value: Any) -> Any:
    if isinstance(value, str) and _PATH.match(value):
        return value.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return value
