"""The relational tables: documents, indexes, caches and logs. The migrations build them."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
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


def _owned() -> Column[Any]:
    return Column("document_id", Text, ForeignKey("documents.id", ondelete="CASCADE"), nullable=False)


documents = Table(
    "documents",
    metadata,
    Column("id", Text, primary_key=True),
    Column("collection", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("source_kind", Text, nullable=False),
    Column("source_uri", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("mime", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("category", Text, nullable=False),
    Column("subcategory", Text, nullable=False),
    Column("year", Integer),
    Column("visibility", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("published_at", DateTime(timezone=True)),
    Column("modified_at", DateTime(timezone=True)),
    _now("ingested_at"),
    Column("file_sha", Text, nullable=False),
    Column("content_sha", Text, nullable=False),
    Column("meta_sha", Text, nullable=False),
    Column("stamp", Text, nullable=False),
    Column("first_line", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("furniture", JSONB, nullable=False),
    Column("pages", JSONB, nullable=False),
    Column("pages_without_text", JSONB, nullable=False),
    Column("blocks", JSONB, nullable=False),
    Column("boxes", JSONB, nullable=False),
    Column("metadata", JSONB, nullable=False),
    UniqueConstraint("collection", "source_uri", name="documents_uri"),
    Index("documents_file_sha", "file_sha"),
    Index("documents_source", "source"),
)

document_versions = Table(
    "document_versions",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("document_id", Text, nullable=False),
    Column("content_sha", Text, nullable=False),
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
    Column("content_sha", Text, nullable=False),
    Column("recipe", Text, nullable=False),
    Column("parser", Text, nullable=False),
    Column("nodes", Integer, nullable=False),
    Column("covered", Integer, nullable=False),
    Column("characters", Integer, nullable=False),
)

embedding_models = Table(
    "embedding_models",
    metadata,
    Column("node_table", Text, primary_key=True),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
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
    Column("kind", Text, nullable=False),
    Column("organisation", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("start_month", Text, nullable=False),
    Column("end_month", Text),
    Column("current", Boolean, nullable=False),
    Column("skills", JSONB, nullable=False),
    Column("span_start", Integer, nullable=False),
    Column("span_end", Integer, nullable=False),
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
    "corpus_version",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("version", BigInteger, nullable=False),
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
    Column("sources", JSONB, nullable=False),
    Column("counts", JSONB, nullable=False),
    Column("seconds", Float),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("undoes", BigInteger),
)

ingest_items = Table(
    "ingest_items",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("run_id", BigInteger, ForeignKey("ingest_runs.id", ondelete="CASCADE"), nullable=False),
    Column("collection", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("source_uri", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("document_id", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("stage", Text, nullable=False),
    Column("error", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("hint", Text, nullable=False),
    Column("nodes", Integer, nullable=False),
    Column("embedded", Integer, nullable=False),
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
    Column("documents", Integer, nullable=False),
    Column("nodes", Integer, nullable=False),
    Column("characters", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("documents_per_second", Float),
    _now("at"),
)

queries = Table(
    "queries",
    metadata,
    Column("id", Text, primary_key=True),
    _now("asked_at"),
    Column("kind", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("audience", Text, nullable=False),
    Column("corpus_version", BigInteger, nullable=False),
    Column("settings", Text, nullable=False),
    Column("trace", JSONB, nullable=False),
    Column("answer", JSONB(none_as_null=True)),
    Column("latency_ms", Float, nullable=False),
    Column("route", Text, nullable=False),
    Column("tags", JSONB, nullable=False),
    Column("timings_ms", JSONB, nullable=False),
    Column("usage", JSONB, nullable=False),
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
    Column("session", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("source", Integer, nullable=False),
    _now("at"),
    Column("value", Integer, nullable=False),
    Column("place", Text, nullable=False),
    Column("words", Text, nullable=False),
    Column("audience", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("document_id", Text, nullable=False),
    Column("node_ids", JSONB, nullable=False),
    Column("shown", JSONB, nullable=False),
    UniqueConstraint("query_id", "session", "kind", "source", name="feedback_once"),
    Index("feedback_at", "at"),
    Index("feedback_session", "session"),
)
