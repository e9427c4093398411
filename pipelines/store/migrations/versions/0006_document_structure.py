"""The structure of each document: its elements, sentences and markup, made again where it is of an older version."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("documents", sa.Column("structure", postgresql.JSONB(none_as_null=True), nullable=True))
    version = sa.Column("structure_version", sa.Integer(), server_default=sa.text("0"), nullable=False)
    op.add_column("documents", version)


def downgrade() -> None:
    """Loses the structures of documents, which the next start of a newer release makes again from their texts."""
    op.drop_column("documents", "structure_version")
    op.drop_column("documents", "structure")
