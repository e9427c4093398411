"""The first tables: documents, their versions and indexes, caches, run log and query log."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE corpus_version (id serial PRIMARY KEY, version bigint NOT NULL);
        CREATE TABLE document_versions (
            id bigserial PRIMARY KEY, document_id text NOT NULL, content_sha text NOT NULL, row jsonb NOT NULL,
            replaced_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX document_versions_document ON document_versions (document_id, id);
        CREATE TABLE documents (
            id text PRIMARY KEY, collection text NOT NULL, source text NOT NULL, source_kind text NOT NULL,
            source_uri text NOT NULL, name text NOT NULL, title text NOT NULL, mime text NOT NULL,
            bytes bigint NOT NULL, category text NOT NULL, subcategory text NOT NULL, year integer,
            visibility text NOT NULL, author text NOT NULL, published_at timestamptz, modified_at timestamptz,
            ingested_at timestamptz NOT NULL DEFAULT now(), file_sha text NOT NULL, content_sha text NOT NULL,
            meta_sha text NOT NULL, stamp text NOT NULL, first_line integer NOT NULL, text text NOT NULL,
            furniture jsonb NOT NULL, pages jsonb NOT NULL, pages_without_text jsonb NOT NULL, blocks jsonb NOT NULL,
            metadata jsonb NOT NULL, CONSTRAINT documents_uri UNIQUE (collection, source_uri)
        );
        CREATE INDEX documents_file_sha ON documents (file_sha);
        CREATE INDEX documents_source ON documents (source);
        CREATE TABLE embedding_cache (
            model text NOT NULL, text_sha text NOT NULL, vector bytea NOT NULL, PRIMARY KEY (model, text_sha)
        );
        CREATE TABLE embedding_models (
            node_table text PRIMARY KEY, provider text NOT NULL, model text NOT NULL, dimension integer NOT NULL,
            added_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE TABLE ingest_runs (
            id bigserial PRIMARY KEY, started_at timestamptz NOT NULL DEFAULT now(), finished_at timestamptz,
            sources jsonb NOT NULL, counts jsonb NOT NULL, seconds double precision
        );
        CREATE TABLE queries (
            id text PRIMARY KEY, asked_at timestamptz NOT NULL DEFAULT now(), kind text NOT NULL,
            question text NOT NULL, audience text NOT NULL, corpus_version bigint NOT NULL, settings text NOT NULL,
            trace jsonb NOT NULL, answer jsonb, latency_ms double precision NOT NULL
        );
        CREATE INDEX queries_asked ON queries (asked_at);
        CREATE TABLE document_indexes (
            document_id text NOT NULL REFERENCES documents ON DELETE CASCADE, node_table text NOT NULL,
            content_sha text NOT NULL, recipe text NOT NULL, parser text NOT NULL, nodes integer NOT NULL,
            covered integer NOT NULL, characters integer NOT NULL, PRIMARY KEY (document_id, node_table)
        );
        CREATE TABLE ingest_items (
            id bigserial PRIMARY KEY, run_id bigint NOT NULL REFERENCES ingest_runs ON DELETE CASCADE,
            collection text NOT NULL, source text NOT NULL, source_uri text NOT NULL, document text NOT NULL,
            document_id text NOT NULL, outcome text NOT NULL, stage text NOT NULL, error text NOT NULL,
            message text NOT NULL, hint text NOT NULL, nodes integer NOT NULL, embedded integer NOT NULL,
            seconds double precision NOT NULL, at timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX ingest_items_run ON ingest_items (run_id);
        CREATE INDEX ingest_items_uri ON ingest_items (collection, source_uri, id);
        CREATE TABLE lexical_segments (
            node_table text NOT NULL, node_id text NOT NULL,
            document_id text NOT NULL REFERENCES documents ON DELETE CASCADE, tokeniser integer NOT NULL,
            tokens text NOT NULL, PRIMARY KEY (node_table, node_id)
        );
        CREATE INDEX lexical_segments_document ON lexical_segments (document_id);
    """)
    # Begins at the time, so that a database which was made anew never repeats a version of the one before it.
    op.execute("INSERT INTO corpus_version VALUES (1, (extract(epoch from clock_timestamp()) * 1000)::bigint)")


def downgrade() -> None:
    """Loses everything: documents, nodes, caches and logs."""
    quote = op.get_bind().dialect.identifier_preparer.quote
    for name in op.get_bind().execute(sa.text("SELECT node_table FROM embedding_models")).scalars().all():
        op.execute(f"DROP TABLE IF EXISTS {quote(f'{name}_windows')}, {quote(f'data_{name}')}")
    op.execute(
        "DROP TABLE lexical_segments, ingest_items, document_indexes, queries, ingest_runs, embedding_models, "
        "embedding_cache, documents, document_versions, corpus_version"
    )
