"""Conversations with their messages and shared answers, and the jobs of the worker with their files."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _now(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def upgrade() -> None:
    op.create_table(
        "conversations",
        *_text("id", "holder", "title", "draft"),
        _now("created_at"),
        _now("changed_at"),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("conversations_holder", "conversations", ["holder", "changed_at"])
    op.create_table(
        "messages",
        sa.Column("id", sa.BigInteger(), nullable=False),
        *_text("conversation_id", "question", "reader", "state"),
        *(sa.Column(name, postgresql.JSONB(), nullable=False) for name in ("filters", "turns", "arrived", "problem")),
        sa.Column("answer", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("waits_for", sa.BigInteger(), nullable=True),
        _now("asked_at"),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("messages_conversation", "messages", ["conversation_id", "id"])
    op.create_table(
        "shared_answers",
        *_text("token"),
        sa.Column("message_id", sa.BigInteger(), nullable=False),
        _now("shared_at"),
        sa.ForeignKeyConstraint(["message_id"], ["messages.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token"),
        sa.UniqueConstraint("message_id", name="shared_answers_message"),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.BigInteger(), nullable=False),
        *_text("kind", "title", "state", "worker", "message", "hint"),
        sa.Column("task", postgresql.JSONB(), nullable=False),
        sa.Column("runs", postgresql.JSONB(), nullable=False),
        sa.Column("cancelled", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("dismissed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        _now("created_at"),
        *(sa.Column(name, sa.DateTime(timezone=True), nullable=True) for name in ("started_at", "beat_at")),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("jobs_state", "jobs", ["state", "id"])
    op.create_table(
        "job_files",
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        *_text("name", "uri", "outcome", "message", "hint"),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", "place"),
    )


def downgrade() -> None:
    """Loses all conversations and their share links, and the jobs of uploads; uploaded files and documents stay."""
    for table in ("job_files", "jobs", "shared_answers", "messages", "conversations"):
        op.drop_table(table)
