"""An answer and its ledger as a pack: what may leave this machine of them, and nothing else."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from config.settings import Settings
from pipelines.errors import RetrievalError
from pipelines.query.engine import Engine
from pipelines.query.packs.pack import (
    Asked,
    Pack,
    PackedCitation,
    PackedDocument,
    PackedFilters,
    PackedSentence,
    PackedSettings,
    PackedSource,
    PackedTurn,
    Ranked,
    Said,
    web_address,
)
from pipelines.query.parts import TUNABLE
from pipelines.query.searching.find import Request
from pipelines.store.citations import hashes_of
from pipelines.store.database import reading
from pipelines.store.queries import jsonable, read_query
from pipelines.types import Answer, Citation, Filters, Source, Trace, Turn

_SPARED = {"retrieval.cache_entries", "answer.follow_ups", "answer.follow_ups_by", "answer.follow_up_seconds"}
_WRITER = ("max_tokens", "context_window", "temperature")
_PATH = re.compile(r"(?:[A-Za-z]:)?[\\/~]")
_ADDRESS = re.compile(r"(https?://)(?:[^\s/@'\"]*@)?([^\s/'\"<>()?#]+)[^\s'\"<>()]*")


def pack_answer(engine: Engine, request: Request, answer: Answer, trace: Trace | None = None) -> Pack:
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
        Ranked(
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
        footnote=own_version(),
        made_at=made_at,
        asked=_asked(request, answer.question, ledger),
        answer=_said(answer, {row.node_id: row.rank for row in ranking}, _private(engine.settings)),
        documents=_documents(engine, request, [*answer.sources, *answer.nearest]),
        ranking=tuple(ranking),
        settings=PackedSettings(fingerprint=ledger.get("settings", engine.fingerprint), values=values),
        embedding_model=engine.identity.label,
        language_model=_last_part(engine.model_name),
        corpus_version=ledger.get("corpus_version") or engine.store.version(),
        trace_id=answer.trace_id,
    )


def request_of(pack: Pack, top_n: int) -> Request:
    """The request that a pack was made of."""
    asked = pack.asked
    turns = tuple(Turn(turn.question, turn.answer, turn.sources) for turn in asked.history)
    return Request(asked.question, Filters(**asked.filters.model_dump()), asked.audience, asked.mode, top_n, turns)


def relevant_settings(settings: Settings) -> dict[str, Any]:
    """The settings that an answer hangs on, by dotted name; of a path only its last part."""
    stages = {name: getattr(settings, name).model_dump(mode="json") for name in (*TUNABLE, "persona")}
    stages["llm"] = {name: getattr(settings.llm, name) for name in _WRITER}
    stages["embedding"] = {"precision": settings.embedding.precision}
    values = {f"{stage}.{name}": value for stage, held in stages.items() for name, value in held.items()}
    return {name: _last_part(value) for name, value in values.items() if name not in _SPARED}


def own_version() -> str:
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


def _logged(engine: Engine, trace_id: str) -> tuple[Mapping[str, Any], str]:
    """(ledger, moment) of an answer as they were logged."""
    try:
        row = read_query(engine.database.engine, trace_id)
    except RetrievalError:  # the log was pruned, or could not be written
        return {}, datetime.now(UTC).isoformat()
    return row["trace"], datetime.fromisoformat(row["asked_at"]).astimezone(UTC).isoformat()


def _asked(request: Request, question: str, ledger: Mapping[str, Any]) -> Asked:
    turns = (PackedTurn(question=turn.question, answer=turn.answer, sources=turn.sources) for turn in request.history)
    return Asked(
        question=question,
        history=tuple(turns),
        filters=PackedFilters(**jsonable(request.filters)),
        audience=request.audience,
        mode=request.mode,
        searched_for=ledger.get("intent", {}).get("search_text", ""),
    )


def _said(answer: Answer, ranks: Mapping[str, int], private: Sequence[str]) -> Said:
    return Said(
        answered=answer.answered,
        text=answer.answer,
        confidence=answer.confidence,
        mode=answer.mode,
        model=_last_part(answer.model),
        sentences=tuple(
            PackedSentence(
                text=sentence.text,
                citations=sentence.citations,
                verdict=sentence.verdict,
                evidence=tuple(map(_citation, sentence.evidence)),
            )
            for sentence in answer.sentences
        ),
        sources=tuple(_source(source, ranks) for source in answer.sources),
        nearest=tuple(_source(source, ranks) for source in answer.nearest),
        searched=tuple(without_secrets(search, private) for search in answer.searched),
        conflicts=tuple(conflict.said for conflict in answer.conflicts),
        disputed=tuple(_citation(side) for conflict in answer.conflicts for side in conflict.sides),
        notes=tuple(without_secrets(note, private) for note in answer.notes),
        truncated=answer.truncated,
        failed=bool(answer.fallback_reason),
    )


def _citation(citation: Citation) -> PackedCitation:
    return PackedCitation(
        n=citation.n,
        document_id=citation.document_id,
        content_sha=citation.content_sha,
        start=citation.start,
        end=citation.end,
        quote=citation.quote,
        verdict=citation.verdict,
    )


def _source(source: Source, ranks: Mapping[str, int]) -> PackedSource:
    return PackedSource(
        n=source.n,
        document_id=source.document_id,
        page=source.page,
        line_start=source.line_start,
        line_end=source.line_end,
        section_path=source.section_path,
        start=source.start,
        end=source.end,
        snippet=source.snippet,
        node_ids=source.node_ids,
        rank=min((ranks[node_id] for node_id in source.node_ids if node_id in ranks), default=0),
    )


def _documents(engine: Engine, request: Request, sources: Sequence[Source]) -> tuple[PackedDocument, ...]:
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
    """What must not leave this machine, the longest first."""
    keys = (getattr(settings, name) for name in type(settings).model_fields)
    held = [key.get_secret_value() for key in keys if isinstance(key, SecretStr)]
    held += [str(settings.home.absolute()), str(settings.home.resolve()), str(Path.home()), str(Path.cwd())]
    return sorted({text for text in held if len(text) > 1}, key=len, reverse=True)


def _last_part(value: Any) -> Any:
    if isinstance(value, str) and _PATH.match(value):
        return value.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return value
