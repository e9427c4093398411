"""Where lines stand on their pages, career facts, near-duplicates, and headers that a language model wrote."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.execute("""
        ALTER TABLE documents ADD COLUMN boxes jsonb NOT NULL DEFAULT '[]';
        ALTER TABLE documents ALTER COLUMN boxes DROP DEFAULT;
        UPDATE document_versions SET row = jsonb_set(row, '{boxes}', '[]');
        CREATE TABLE facts (
            id bigserial PRIMARY KEY, document_id text NOT NULL REFERENCES documents ON DELETE CASCADE,
            ordinal integer NOT NULL, kind text NOT NULL, organisation text NOT NULL, title text NOT NULL,
            start_month text NOT NULL, end_month text, current boolean NOT NULL, skills jsonb NOT NULL,
            span_start integer NOT NULL, span_end integer NOT NULL, record jsonb NOT NULL,
            CONSTRAINT facts_place UNIQUE (document_id, ordinal)
        );
        CREATE TABLE families (
            member text PRIMARY KEY, kind text NOT NULL,
            document_id text NOT NULL REFERENCES documents ON DELETE CASCADE, family text NOT NULL,
            signature bytea NOT NULL, bands bigint[] NOT NULL
        );
        CREATE INDEX families_document ON families (document_id);
        CREATE INDEX families_family ON families (family);
        -- Its list of pending entries would be read whole by every search, and each new document makes one.
        CREATE INDEX families_bands ON families USING gin (bands) WITH (fastupdate = off);
        CREATE TABLE headers (
            document_id text NOT NULL, node_sha text NOT NULL, prompt_version integer NOT NULL, model text NOT NULL,
            header text NOT NULL, at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (document_id, node_sha, prompt_version, model)
        );
    """)


def downgrade() -> None:
    """Loses career facts, near-copies, written headers, and where lines stand on pages.

    `footnote ingest` makes them again after an upgrade: documents stay, and are noted as made by other rules.
    """
    op.execute("UPDATE document_indexes SET recipe = ''")
    op.execute("DROP TABLE headers, families, facts")
    op.execute("UPDATE document_versions SET row = row - 'boxes'")
    op.drop_column("documents", "boxes")
