"""The persona that the owner states on its page: one row."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "persona",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("stated", postgresql.JSONB(), nullable=False),
        sa.Column("picture", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("id = 1", name="persona_once"),
        sa.PrimaryKeyConstraint("id"),
    )


def downgrade() -> None:
    """Loses the persona of the page; that of the environment stays."""
    op.drop_table("persona")
