"""Feedback on answers, opened footnotes, and the cost of an answer."""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.execute("""
        ALTER TABLE queries ADD COLUMN cost double precision;
        CREATE TABLE feedback (
            id bigserial PRIMARY KEY, query_id text NOT NULL REFERENCES queries ON DELETE CASCADE,
            session text NOT NULL, kind text NOT NULL, source integer NOT NULL,
            at timestamptz NOT NULL DEFAULT now(), value integer NOT NULL, place text NOT NULL, words text NOT NULL,
            audience text NOT NULL, settings text NOT NULL, document_id text NOT NULL, node_ids jsonb NOT NULL,
            shown jsonb NOT NULL, CONSTRAINT feedback_once UNIQUE (query_id, session, kind, source)
        );
        CREATE INDEX feedback_at ON feedback (at);
        CREATE INDEX feedback_session ON feedback (session);
    """)


def downgrade() -> None:
    """Loses all feedback: thumbs, reports of wrong sources, words, opened footnotes; and what each answer cost."""
    op.drop_table("feedback")
    op.drop_column("queries", "cost")
