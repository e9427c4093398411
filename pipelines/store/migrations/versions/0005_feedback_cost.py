"""Feedback on answers, opened footnotes, and the cost of an answer."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("queries", sa.Column("cost", sa.Float(), nullable=True))
    op.create_table(
        "feedback",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("query_id", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("source", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("node_ids", postgresql.JSONB(), nullable=False),
        sa.Column("shown", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(["query_id"], ["queries.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("query_id", "session", "kind", "source", name="feedback_once"),
    )
    op.create_index("feedback_at", "feedback", ["at"])
    op.create_index("feedback_session", "feedback", ["session"])


def downgrade() -> None:
    """Loses all feedback: thumbs, reports of wrong sources, words, opened footnotes; and what each answer cost."""
    op.drop_table("feedback")
    op.drop_column("queries", "cost")
