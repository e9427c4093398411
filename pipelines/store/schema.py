"""The relational tables: documents, indexes, caches and logs. The migrations build them."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

metadata = MetaData()


def _now(name: str) -> Column[Any]:
    return Column(name, DateTime(timezone=True), nullable=False, server_default=func.now())


def _required(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False) for name in names]


def _owned() -> Column[Any]:
    return Column("document_id", Text, ForeignKey("documents.id", ondelete="CASCADE"), nullable=False)


documents = Table(
    "documents",
    metadata,
    Column("id", Text, primary_key=True),
    *_required(Text, "collection", "source", "source_kind", "source_uri", "name", "title", "mime"),
    Column("bytes", BigInteger, nullable=False),
    *_required(Text, "category", "subcategory"),
    Column("year", Integer),
    *_required(Text, "visibility", "author"),
    Column("published_at", DateTime(timezone=True)),
    Column("modified_at", DateTime(timezone=True)),
    _now("ingested_at"),
    *_required(Text, "file_sha", "content_sha", "meta_sha", "stamp"),
    Column("first_line", Integer, nullable=False),
    Column("text", Text, nullable=False),
    *_required(JSONB, "furniture", "pages", "pages_without_text", "blocks", "boxes", "metadata"),
    Column("structure", JSONB(none_as_null=True)),
    Column("structure_version", Integer, nullable=False, server_default=text("0")),
    UniqueConstraint("collection", "source_uri", name="documents_uri"),
    Index("documents_file_sha", "file_sha"),
    Index("documents_source", "source"),
)

document_versions = Table(
    "document_versions",
    metadata,
    Column("id", BigInteger, primary_key=True),
    *_required(Text, "document_id", "content_sha"),
    Column("row", JSONB, nullable=False),
    _now("replaced_at"),
    Column("run_id", BigInteger),
    Index("document_versions_document", "document_id", "id"),
)

document_indexes = Table(
    "document_indexes",
    metadata,
    Column("document_id", Text, ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("node_table", Text, primary_key=True),
    *_required(Text, "content_sha", "recipe", "parser"),
    *_required(Integer, "nodes", "covered", "characters"),
)

embedding_models = Table(
    "embedding_models",
    metadata,
    Column("node_table", Text, primary_key=True),
    *_required(Text, "provider", "model"),
    Column("dimension", Integer, nullable=False),
    _now("added_at"),
    Column("active", Boolean, nullable=False, server_default=false()),
    Column("serves_since", BigInteger),
    Index("embedding_models_active", "active", unique=True, postgresql_where=text("active")),
)

embedding_cache = Table(
    "embedding_cache",
    metadata,
    Column("model", Text, primary_key=True),
    Column("text_sha", Text, primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)

lexical_segments = Table(
    "lexical_segments",
    metadata,
    Column("node_table", Text, primary_key=True),
    Column("node_id", Text, primary_key=True),
    _owned(),
    Column("tokeniser", Integer, nullable=False),
    Column("tokens", Text, nullable=False),
    Index("lexical_segments_document", "document_id"),
)

facts = Table(
    "facts",
    metadata,
    Column("id", BigInteger, primary_key=True),
    _owned(),
    Column("ordinal", Integer, nullable=False),
    *_required(Text, "kind", "organisation", "title", "start_month"),
    Column("end_month", Text),
    Column("current", Boolean, nullable=False),
    Column("skills", JSONB, nullable=False),
    *_required(Integer, "span_start", "span_end"),
    Column("record", JSONB, nullable=False),
    UniqueConstraint("document_id", "ordinal", name="facts_place"),
)

families = Table(
    "families",
    metadata,
    Column("member", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    _owned(),
    Column("family", Text, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    Column("bands", ARRAY(BigInteger), nullable=False),
    Index("families_document", "document_id"),
    Index("families_family", "family"),
    Index("families_bands", "bands", postgresql_using="gin", postgresql_with={"fastupdate": "off"}),
)

headers = Table(
    "headers",
    metadata,
    Column("document_id", Text, primary_key=True),
    Column("node_sha", Text, primary_key=True),
    Column("prompt_version", Integer, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("header", Text, nullable=False),
    _now("at"),
)

corpus_version = Table(
    "corpus_version", metadata, Column("id", Integer, primary_key=True), Column("version", BigInteger, nullable=False)
)

corpus_changes = Table(
    "corpus_changes",
    metadata,
    Column("version", BigInteger, primary_key=True),
    Column("document_id", Text, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
)

ingest_runs = Table(
    "ingest_runs",
    metadata,
    Column("id", BigInteger, primary_key=True),
    _now("started_at"),
    Column("finished_at", DateTime(timezone=True)),
    *_required(JSONB, "sources", "counts"),
    Column("seconds", Float),
    *_required(Text, "kind", "state"),
    Column("undoes", BigInteger),
)

ingest_items = Table(
    "ingest_items",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("run_id", BigInteger, ForeignKey("ingest_runs.id", ondelete="CASCADE"), nullable=False),
    *_required(Text, "collection", "source", "source_uri", "document", "document_id"),
    *_required(Text, "outcome", "stage", "error", "message", "hint"),
    *_required(Integer, "nodes", "embedded"),
    Column("seconds", Float, nullable=False),
    _now("at"),
    Column("version_id", BigInteger),
    Index("ingest_items_uri", "collection", "source_uri", "id"),
    Index("ingest_items_run", "run_id"),
    Index("ingest_items_document", "document_id", "id"),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("day", Date, primary_key=True),
    Column("category", Text, primary_key=True),
    *_required(Integer, "documents", "nodes"),
    *_required(BigInteger, "characters", "bytes"),
    Column("documents_per_second", Float),
    _now("at"),
)

queries = Table(
    "queries",
    metadata,
    Column("id", Text, primary_key=True),
    _now("asked_at"),
    *_required(Text, "kind", "question", "audience"),
    Column("corpus_version", BigInteger, nullable=False),
    Column("settings", Text, nullable=False),
    Column("trace", JSONB, nullable=False),
    Column("answer", JSONB(none_as_null=True)),
    Column("latency_ms", Float, nullable=False),
    Column("route", Text, nullable=False),
    *_required(JSONB, "tags", "timings_ms", "usage"),
    Column("band", Text, nullable=False),
    Column("answered", Boolean),
    Column("cost", Float),
    Index("queries_asked", "asked_at"),
)

feedback = Table(
    "feedback",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("query_id", Text, ForeignKey("queries.id", ondelete="CASCADE"), nullable=False),
    *_required(Text, "session", "kind"),
    Column("source", Integer, nullable=False),
    _now("at"),
    Column("value", Integer, nullable=False),
    *_required(Text, "place", "words", "audience", "settings", "document_id"),
    *_required(JSONB, "node_ids", "shown"),
    UniqueConstraint("query_id", "session", "kind", "source", name="feedback_once"),
    Index("feedback_at", "at"),
    Index("feedback_session", "session"),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", Text, primary_key=True),
    *_required(Text, "holder", "title", "draft"),
    _now("created_at"),
    _now("changed_at"),
    Column("deleted_at", DateTime(timezone=True)),
    Index("conversations_holder", "holder", "changed_at"),
)

messages = Table(
    "messages",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("conversation_id", Text, ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    *_required(Text, "question", "reader", "state"),
    *_required(JSONB, "filters", "turns", "arrived", "problem"),
    Column("answer", JSONB(none_as_null=True)),
    Column("waits_for", BigInteger),
    _now("asked_at"),
    Column("ended_at", DateTime(timezone=True)),
    Index("messages_conversation", "conversation_id", "id"),
)

shared_answers = Table(
    "shared_answers",
    metadata,
    Column("token", Text, primary_key=True),
    Column("message_id", BigInteger, ForeignKey("messages.id", ondelete="CASCADE"), nullable=False),
    _now("shared_at"),
    UniqueConstraint("message_id", name="shared_answers_message"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", BigInteger, primary_key=True),
    *_required(Text, "kind", "title", "state", "worker", "message", "hint"),
    *_required(JSONB, "task", "runs"),
    Column("cancelled", Boolean, nullable=False, server_default=false()),
    Column("dismissed", Boolean, nullable=False, server_default=false()),
    _now("created_at"),
    Column("started_at", DateTime(timezone=True)),
    Column("beat_at", DateTime(timezone=True)),
    Column("finished_at", DateTime(timezone=True)),
    Index("jobs_state", "state", "id"),
)

job_files = Table(
    "job_files",
    metadata,
    Column("job_id", BigInteger, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("place", Integer, primary_key=True, autoincrement=False),
    *_required(Text, "name", "uri", "outcome", "message", "hint"),
    Column("nodes", Integer, nullable=False),
)

persona = Table(
    "persona",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    *_required(JSONB, "stated"),
    *_required(Text, "picture"),
    _now("changed_at"),
    CheckConstraint("id = 1", name="persona_once"),
)

evaluations = Table(
    "evaluations",
    metadata,
    Column("id", BigInteger, primary_key=True),
    _now("made_at"),
    *_required(JSONB, "report"),
)
