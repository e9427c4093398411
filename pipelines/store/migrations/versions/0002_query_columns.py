"""Columns of the query log: the systems used, the strength of the evidence, and the cost."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
_EMPTY = {"tags": "[]", "timings_ms": "{}", "usage": "{}"}


def upgrade() -> None:
    op.add_column("queries", sa.Column("route", sa.Text(), nullable=False, server_default="base"))
    for name, empty in _EMPTY.items():
        op.add_column("queries", sa.Column(name, postgresql.JSONB(), nullable=False, server_default=empty))
    op.add_column("queries", sa.Column("band", sa.Text(), nullable=False, server_default=""))
    op.add_column("queries", sa.Column("answered", sa.Boolean(), nullable=True))
    op.execute(
        "UPDATE queries SET timings_ms = coalesce(trace->'timings_ms', '{}'), "
        "tags = coalesce(trace->'tags', '[]'), "
        "route = CASE WHEN trace->'tags' ? 'auto' THEN 'auto' ELSE 'base' END, "
        "band = coalesce(answer->>'confidence', ''), answered = (answer->>'answered')::boolean, "
        "usage = coalesce(answer->'usage', '{}')"
    )
    for name in ("route", "band", *_EMPTY):
        op.alter_column("queries", name, server_default=None)


def downgrade() -> None:
    """Loses how strong the evidence of logged searches was; the rest stands in their traces and answers."""
    for name in ("answered", "band", *reversed(_EMPTY), "route"):
        op.drop_column("queries", name)
