"""Where lines stand on their pages, career facts, near-duplicates, and headers that a language model wrote."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("documents", sa.Column("boxes", postgresql.JSONB(), nullable=False, server_default="[]"))
    op.alter_column("documents", "boxes", server_default=None)
    op.execute("UPDATE document_versions SET row = jsonb_set(row, '{boxes}', '[]')")
    op.create_table(
        "facts",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("organisation", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("start_month", sa.Text(), nullable=False),
        sa.Column("end_month", sa.Text(), nullable=True),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("skills", postgresql.JSONB(), nullable=False),
        sa.Column("span_start", sa.Integer(), nullable=False),
        sa.Column("span_end", sa.Integer(), nullable=False),
        sa.Column("record", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("document_id", "ordinal", name="facts_place"),
    )
    op.create_table(
        "families",
        sa.Column("member", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("family", sa.Text(), nullable=False),
        sa.Column("signature", sa.LargeBinary(), nullable=False),
        sa.Column("bands", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("member"),
    )
    op.create_index("families_document", "families", ["document_id"])
    op.create_index("families_family", "families", ["family"])
    # Its list of pending entries would be read whole by every search, and each new document makes one.
    op.create_index(
        "families_bands", "families", ["bands"], postgresql_using="gin", postgresql_with={"fastupdate": "off"}
    )
    op.create_table(
        "headers",
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("node_sha", sa.Text(), nullable=False),
        sa.Column("prompt_version", sa.Integer(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("header", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("document_id", "node_sha", "prompt_version", "model"),
    )


def downgrade() -> None:
    """Loses career facts, near-copies, written headers, and where lines stand on pages.

    `footnote ingest` makes them again after an upgrade: documents stay, and are noted as made by other rules.
    """
    op.execute("UPDATE document_indexes SET recipe = ''")
    op.drop_table("headers")
    op.drop_table("families")
    op.drop_table("facts")
    op.execute("UPDATE document_versions SET row = row - 'boxes'")
    op.drop_column("documents", "boxes")
