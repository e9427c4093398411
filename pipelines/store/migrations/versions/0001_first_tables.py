"""The first tables: documents, their versions and indexes, caches, run log and query log."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "corpus_version",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "document_versions",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("content_sha", sa.Text(), nullable=False),
        sa.Column("row", postgresql.JSONB(), nullable=False),
        sa.Column("replaced_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("document_versions_document", "document_versions", ["document_id", "id"], unique=False)
    op.create_table(
        "documents",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("source_kind", sa.Text(), nullable=False),
        sa.Column("source_uri", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("mime", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("subcategory", sa.Text(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=True),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("modified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ingested_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("file_sha", sa.Text(), nullable=False),
        sa.Column("content_sha", sa.Text(), nullable=False),
        sa.Column("meta_sha", sa.Text(), nullable=False),
        sa.Column("stamp", sa.Text(), nullable=False),
        sa.Column("first_line", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("furniture", postgresql.JSONB(), nullable=False),
        sa.Column("pages", postgresql.JSONB(), nullable=False),
        sa.Column("pages_without_text", postgresql.JSONB(), nullable=False),
        sa.Column("blocks", postgresql.JSONB(), nullable=False),
        sa.Column("metadata", postgresql.JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("collection", "source_uri", name="documents_uri"),
    )
    op.create_index("documents_file_sha", "documents", ["file_sha"], unique=False)
    op.create_index("documents_source", "documents", ["source"], unique=False)
    op.create_table(
        "embedding_cache",
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("text_sha", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("model", "text_sha"),
    )
    op.create_table(
        "embedding_models",
        sa.Column("node_table", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("node_table"),
    )
    op.create_table(
        "ingest_runs",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sources", postgresql.JSONB(), nullable=False),
        sa.Column("counts", postgresql.JSONB(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "queries",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("corpus_version", sa.BigInteger(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("trace", postgresql.JSONB(), nullable=False),
        sa.Column("answer", postgresql.JSONB(), nullable=True),
        sa.Column("latency_ms", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("queries_asked", "queries", ["asked_at"], unique=False)
    op.create_table(
        "document_indexes",
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("node_table", sa.Text(), nullable=False),
        sa.Column("content_sha", sa.Text(), nullable=False),
        sa.Column("recipe", sa.Text(), nullable=False),
        sa.Column("parser", sa.Text(), nullable=False),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("covered", sa.Integer(), nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("document_id", "node_table"),
    )
    op.create_table(
        "ingest_items",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("source_uri", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("hint", sa.Text(), nullable=False),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("embedded", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["ingest_runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ingest_items_run", "ingest_items", ["run_id"], unique=False)
    op.create_index("ingest_items_uri", "ingest_items", ["collection", "source_uri", "id"], unique=False)
    op.create_table(
        "lexical_segments",
        sa.Column("node_table", sa.Text(), nullable=False),
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("tokeniser", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("node_table", "node_id"),
    )
    op.create_index("lexical_segments_document", "lexical_segments", ["document_id"], unique=False)
    # Begins at the time, so that a database which was made anew never repeats a version of the one before it.
    op.execute("INSERT INTO corpus_version VALUES (1, (extract(epoch from clock_timestamp()) * 1000)::bigint)")


def downgrade() -> None:
    """Loses everything: documents, nodes, caches and logs."""
    quote = op.get_bind().dialect.identifier_preparer.quote
    for name in op.get_bind().execute(sa.text("SELECT node_table FROM embedding_models")).scalars().all():
        op.execute(f"DROP TABLE IF EXISTS {quote(f'{name}_windows')}, {quote(f'data_{name}')}")
    op.drop_index("lexical_segments_document", table_name="lexical_segments")
    op.drop_table("lexical_segments")
    op.drop_index("ingest_items_uri", table_name="ingest_items")
    op.drop_index("ingest_items_run", table_name="ingest_items")
    op.drop_table("ingest_items")
    op.drop_table("document_indexes")
    op.drop_index("queries_asked", table_name="queries")
    op.drop_table("queries")
    op.drop_table("ingest_runs")
    op.drop_table("embedding_models")
    op.drop_table("embedding_cache")
    op.drop_index("documents_source", table_name="documents")
    op.drop_index("documents_file_sha", table_name="documents")
    op.drop_table("documents")
    op.drop_index("document_versions_document", table_name="document_versions")
    op.drop_table("document_versions")
    op.drop_table("corpus_version")
