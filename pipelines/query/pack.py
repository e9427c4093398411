"""PACK: an answer with all that it takes to check it elsewhere or later, and to ask it again."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr, TypeAdapter, ValidationError
from pydantic_core import from_json

from config.settings import Settings
from pipelines.answers import Answer, Source
from pipelines.errors import PackError, RetrievalError
from pipelines.query.ablation import TUNABLE
from pipelines.query.answer import ConsistentAnswer
from pipelines.store.database import reading
from pipelines.store.query_log import jsonable, read_query
from pipelines.store.versions import hashes_of
from pipelines.types import Audience, Filters, Mode, Trace, Turn

if TYPE_CHECKING:
    from pipelines.query.engine import QueryEngine
    from pipelines.query.search import Request

FORMAT: Literal["footnote-answer-pack"] = "footnote-answer-pack"
SCHEMA_VERSION: Literal[2] = 2
MAX_BYTES = 20_000_000
_HINT = "Name a file that `footnote ask --pack` or the chat wrote."
_MODEL_FAILED = "The language model failed."
_TRACE: TypeAdapter[Trace] = TypeAdapter(Trace)
try:
    _VERSION = version("footnote")
except PackageNotFoundError:
    _VERSION = "unknown"  # where it was not installed


class PackedRequest(BaseModel, frozen=True):
    """The question with its history, filters, audience and mode."""

    question: str
    history: tuple[Turn, ...] = ()
    filters: Filters = Filters()
    audience: Audience = "owner"
    mode: Mode = "hybrid"


class Pack(BaseModel, frozen=True):
    """An answer pack.

    `made_at` is the time of the answer (ISO 8601, UTC), `footnote` the version that wrote it. `trace` is the ledger
    without prompts, None where the query log has none. `file_hashes` are the SHA-256 of the files by document id, where
    the version is still stored. `settings` are those that an answer depends on, `fingerprint` is that of all.
    """

    format: Literal["footnote-answer-pack"] = FORMAT
    schema_version: Literal[2] = SCHEMA_VERSION
    footnote: str
    made_at: str
    asked: PackedRequest
    answer: ConsistentAnswer
    trace: Trace | None = None
    file_hashes: dict[str, str] = {}
    settings: dict[str, Any]
    fingerprint: str
    embedding_model: str
    language_model: str = ""
    corpus_version: int

    @property
    def documents(self) -> dict[str, Source]:
        """The first source of each document that the answer draws on, or that came nearest, by the document's id."""
        first: dict[str, Source] = {}
        for source in (*self.answer.sources, *self.answer.nearest):
            first.setdefault(source.document_id, source)
        return first


def pack_json(pack: Pack) -> str:
    """The pack for programs: one JSON document."""
    return pack.model_dump_json(indent=2) + "\n"


def read_pack(raw: bytes, name: str) -> Pack:
    """The pack that a file holds; a PackError if it is too large, damaged, no answer pack or of another version."""
    if len(raw) > MAX_BYTES:
        raise PackError(f"{name} is larger than an answer pack can be ({MAX_BYTES:,} bytes).", hint=_HINT)
    try:
        data = from_json(raw)
    except ValueError as error:
        raise PackError(f"{name} is damaged or not an answer pack: it is not JSON.", hint=_HINT) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT or b"\\u0000" in raw:
        raise PackError(f"{name} is not an answer pack.", hint=_HINT)
    if (written := data.get("schema_version")) != SCHEMA_VERSION:
        raise PackError(
            f"{name} is an answer pack of version {str(written)[:20]}, and this Footnote reads version "
            f"{SCHEMA_VERSION}.",
            hint="Replay it with the version of Footnote that wrote it, or a newer one.",
        )
    try:
        return Pack.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][:6])
        raise PackError(f"{name} is damaged: {place}: {first['msg']}.", hint=_HINT) from error


# Nothing private


_WRITER = ("max_tokens", "context_window", "temperature")
_ADDRESS = re.compile(r"(https?://)(?:[^\s/@'\"]*@)?([^\s/'\"<>()?#]+)[^\s'\"<>()]*")


def pack_answer(engine: "QueryEngine", request: "Request", answer: Answer, trace: Trace | None = None) -> Pack:
    """The pack of an answer that this engine gave to a request.

    Without a `trace` it has the ledger of the query log; where that has none, the pack has no ranking.
    """
    ledger, made_at = (jsonable(trace), datetime.now(UTC).isoformat()) if trace else _logged(engine, answer.trace_id)
    private = _private(engine.settings)
    shas = {(source.document_id, source.content_sha) for source in (*answer.nearest, *answer.sources)}
    with reading(engine.database.engine, "reading the hashes of documents") as connection:
        stored = hashes_of(connection, {document_id for document_id, _ in shas}, request.audience)
    return Pack(
        footnote=_VERSION,
        made_at=made_at,
        asked=PackedRequest.model_validate(replace(request, question=answer.question), from_attributes=True),
        answer=_public_answer(answer, private),
        trace=_public_trace(ledger, private),
        file_hashes={key: held.file_sha for key, held in stored.items() if (key, held.content_sha) in shas},
        settings=relevant_settings(engine.settings),
        fingerprint=ledger.get("settings", engine.fingerprint),
        embedding_model=engine.identity.label,
        language_model=_last_part(engine.model_name),
        corpus_version=ledger.get("corpus_version") or engine.store.version(),
    )


def _logged(engine: "QueryEngine", trace_id: str) -> tuple[Mapping[str, Any], str]:
    """(ledger, moment) of an answer as they were logged."""
    try:
        row = read_query(engine.database.engine, trace_id)
    except RetrievalError:  # the log was pruned, or could not be written
        return {}, datetime.now(UTC).isoformat()
    return row["trace"], datetime.fromisoformat(row["asked_at"]).astimezone(UTC).isoformat()


def _public_answer(answer: Answer, private: Sequence[str]) -> Answer:
    """The answer with its words as they are, and without addresses, keys, and names of documents that are not shown."""

    def public(sources: Sequence[Source]) -> tuple[Source, ...]:
        hidden: dict[str, Any] = {"lines_uri": "", "also_in": (), "near_copies": (), "structure": None}
        return tuple(replace(each, uri=web_address(each.lines_uri or each.uri), **hidden) for each in sources)

    return replace(
        answer,
        model=_last_part(answer.model),
        sources=public(answer.sources),
        nearest=public(answer.nearest),
        searched=tuple(without_secrets(answer.searched, private)),
        notes=tuple(without_secrets(answer.notes, private)),
        fallback_reason=_MODEL_FAILED if answer.fallback_reason else "",
    )


def _public_trace(ledger: Mapping[str, Any], private: Sequence[str]) -> Trace | None:
    """The ledger without secrets, prompts, and titles of candidates; None where it is not a ledger of this Footnote."""
    candidates = [{**row, "title": "", "also_in": ()} for row in ledger.get("candidates", ())]
    try:
        return _TRACE.validate_python(without_secrets({**ledger, "candidates": candidates, "readings": ()}, private))
    except ValidationError:
        return None


def without_secrets(value: Any, private: Sequence[str]) -> Any:
    """Plain data with texts that hold no keys and folders of this machine; of an address they have only the host."""
    if isinstance(value, str):
        for secret in private:
            value = value.replace(secret, "…")
        return _ADDRESS.sub(r"\1\2", value)
    if isinstance(value, Mapping):
        return {name: without_secrets(item, private) for name, item in value.items()}
    return [without_secrets(item, private) for item in value] if isinstance(value, (list, tuple)) else value


def _private(settings: Settings) -> list[str]:
    """The keys and folders of this machine, which no pack may hold, the longest first."""
    keys = (getattr(settings, name) for name in type(settings).model_fields)
    folders = settings.home.absolute(), settings.home.resolve(), Path.home(), Path.cwd()
    secrets = {*map(str, folders), *(key.get_secret_value() for key in keys if isinstance(key, SecretStr))}
    return sorted((text for text in secrets if len(text) > 1), key=len, reverse=True)


def web_address(uri: str) -> str:
    """The address of a page on the web, without what may be secret in it; empty for files and the like."""
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    return f"{parts.scheme}://{host}{port}{parts.path}" if parts.scheme in ("http", "https") and host else ""


def relevant_settings(settings: Settings) -> dict[str, Any]:
    """The settings that affect an answer, by dotted name; of a path only its last part."""
    stages = {name: getattr(settings, name).model_dump(mode="json") for name in (*TUNABLE, "persona")}
    stages["llm"] = {name: getattr(settings.llm, name) for name in _WRITER}
    stages["embedding"] = {"precision": settings.embedding.precision}
    values = {f"{stage}.{name}": value for stage, of_stage in stages.items() for name, value in of_stage.items()}
    return {name: _last_part(value) for name, value in values.items() if name != "answer.follow_ups"}


def _last_part(value: Any) -> Any:
    if isinstance(value, str) and (PureWindowsPath(value).root or value.startswith("~")):  # of any system
        return PureWindowsPath(value).name
    return value
