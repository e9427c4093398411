"""What undo, models side by side and an index that keeps in step need: versions of runs, the active model, changes."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.execute("""
        ALTER TABLE document_versions ADD COLUMN run_id bigint;
        ALTER TABLE embedding_models ADD COLUMN active boolean NOT NULL DEFAULT false, ADD COLUMN serves_since bigint;
        UPDATE embedding_models SET active = true WHERE node_table = (
            SELECT m.node_table FROM embedding_models AS m
            LEFT JOIN document_indexes AS i ON i.node_table = m.node_table
            LEFT JOIN documents AS d ON d.id = i.document_id AND d.content_sha = i.content_sha
            GROUP BY m.node_table
            ORDER BY coalesce(sum(i.nodes) FILTER (WHERE d.id IS NOT NULL), 0) DESC, m.added_at DESC, m.node_table
            LIMIT 1
        );
    """)
    _empty_the_others()
    op.execute("""
        CREATE UNIQUE INDEX embedding_models_active ON embedding_models (active) WHERE active;
        CREATE TABLE corpus_changes (
            version bigserial PRIMARY KEY, document_id text NOT NULL,
            at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        INSERT INTO corpus_changes (version, document_id) SELECT version, '' FROM corpus_version;
        ALTER TABLE ingest_runs ADD COLUMN kind text NOT NULL DEFAULT 'ingest',
            ADD COLUMN state text NOT NULL DEFAULT 'running', ADD COLUMN undoes bigint;
        UPDATE ingest_runs SET state = CASE WHEN finished_at IS NULL THEN 'stopped' ELSE 'done' END;
        ALTER TABLE ingest_runs ALTER COLUMN kind DROP DEFAULT, ALTER COLUMN state DROP DEFAULT;
        ALTER TABLE ingest_items ADD COLUMN version_id bigint;
        CREATE INDEX ingest_items_document ON ingest_items (document_id, id);
        -- A version and the row of the run that replaced it were written in one transaction, so at one now().
        UPDATE ingest_items SET version_id = kept.id FROM document_versions AS kept
            WHERE kept.document_id = ingest_items.document_id AND kept.replaced_at = ingest_items.at;
        UPDATE ingest_items SET version_id = 0
            WHERE version_id IS NULL AND outcome IN ('updated', 'metadata', 'removed');
        UPDATE document_versions SET run_id = ingest_items.run_id FROM ingest_items
            WHERE ingest_items.version_id = document_versions.id;
        CREATE TABLE snapshots (
            day date NOT NULL, category text NOT NULL, documents integer NOT NULL, nodes integer NOT NULL,
            characters bigint NOT NULL, bytes bigint NOT NULL, documents_per_second double precision,
            at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (day, category)
        );
    """)


def _empty_the_others() -> None:
    """Empty the tables of models that do not serve: until now, documents could change without their nodes there."""
    bind, quote = op.get_bind(), op.get_bind().dialect.identifier_preparer.quote
    for name in bind.execute(sa.text("SELECT node_table FROM embedding_models WHERE NOT active")).scalars().all():
        bind.execute(sa.text("DELETE FROM document_indexes WHERE node_table = :name"), {"name": name})
        bind.execute(sa.text("DELETE FROM lexical_segments WHERE node_table = :name"), {"name": name})
        data, windows = quote(f"data_{name}"), quote(f"{name}_windows")
        if bind.execute(sa.text("SELECT to_regclass(:data)"), {"data": data}).scalar():
            op.execute(f"TRUNCATE {data}, {windows}")


def downgrade() -> None:
    """Loses the days' snapshots, what kind each run was and what it undid, and which embedding model was promoted.

    After an upgrade the model with the most nodes serves, and others have to be added again.
    """
    op.execute("""
        DROP TABLE snapshots, corpus_changes;
        DROP INDEX ingest_items_document, embedding_models_active;
        ALTER TABLE ingest_items DROP COLUMN version_id;
        ALTER TABLE ingest_runs DROP COLUMN undoes, DROP COLUMN state, DROP COLUMN kind;
        ALTER TABLE embedding_models DROP COLUMN serves_since, DROP COLUMN active;
        ALTER TABLE document_versions DROP COLUMN run_id;
    """)
