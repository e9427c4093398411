"""The persona that the owner states on its page: one row."""

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.execute(
        "CREATE TABLE persona (id integer PRIMARY KEY CONSTRAINT persona_once CHECK (id = 1), stated jsonb NOT NULL, "
        "picture text NOT NULL, changed_at timestamptz NOT NULL DEFAULT now())"
    )


def downgrade() -> None:
    """Loses the persona of the page; that of the environment stays."""
    op.drop_table("persona")
