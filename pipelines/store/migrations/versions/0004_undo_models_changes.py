"""What undo, models side by side and an index that keeps in step need: versions of runs, the active model, changes."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("document_versions", sa.Column("run_id", sa.BigInteger(), nullable=True))
    op.add_column("embedding_models", sa.Column("active", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("embedding_models", sa.Column("serves_since", sa.BigInteger(), nullable=True))
    op.execute(
        "UPDATE embedding_models SET active = true WHERE node_table = (SELECT m.node_table FROM embedding_models AS m "
        "LEFT JOIN document_indexes AS i ON i.node_table = m.node_table "
        "LEFT JOIN documents AS d ON d.id = i.document_id AND d.content_sha = i.content_sha GROUP BY m.node_table "
        "ORDER BY coalesce(sum(i.nodes) FILTER (WHERE d.id IS NOT NULL), 0) DESC, m.added_at DESC, m.node_table "
        "LIMIT 1)"
    )
    _empty_the_others()
    op.create_index(
        "embedding_models_active", "embedding_models", ["active"], unique=True, postgresql_where=sa.text("active")
    )
    op.create_table(
        "corpus_changes",
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.PrimaryKeyConstraint("version"),
    )
    op.execute("INSERT INTO corpus_changes (version, document_id) SELECT version, '' FROM corpus_version")
    op.add_column("ingest_runs", sa.Column("kind", sa.Text(), nullable=False, server_default="ingest"))
    op.add_column("ingest_runs", sa.Column("state", sa.Text(), nullable=False, server_default="running"))
    op.add_column("ingest_runs", sa.Column("undoes", sa.BigInteger(), nullable=True))
    op.execute("UPDATE ingest_runs SET state = CASE WHEN finished_at IS NULL THEN 'stopped' ELSE 'done' END")
    for name in ("kind", "state"):
        op.alter_column("ingest_runs", name, server_default=None)
    op.add_column("ingest_items", sa.Column("version_id", sa.BigInteger(), nullable=True))
    op.create_index("ingest_items_document", "ingest_items", ["document_id", "id"])
    # A version and the row of the run that replaced it were written in one transaction, so at one now().
    op.execute(
        "UPDATE ingest_items SET version_id = kept.id FROM document_versions AS kept "
        "WHERE kept.document_id = ingest_items.document_id AND kept.replaced_at = ingest_items.at"
    )
    op.execute(
        "UPDATE ingest_items SET version_id = 0 "
        "WHERE version_id IS NULL AND outcome IN ('updated', 'metadata', 'removed')"
    )
    op.execute(
        "UPDATE document_versions SET run_id = ingest_items.run_id FROM ingest_items "
        "WHERE ingest_items.version_id = document_versions.id"
    )
    op.create_table(
        "snapshots",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("characters", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("documents_per_second", sa.Float(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("day", "category"),
    )


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
    op.drop_table("snapshots")
    op.drop_index("ingest_items_document", table_name="ingest_items")
    op.drop_column("ingest_items", "version_id")
    for name in ("undoes", "state", "kind"):
        op.drop_column("ingest_runs", name)
    op.drop_table("corpus_changes")
    op.drop_index("embedding_models_active", table_name="embedding_models")
    op.drop_column("embedding_models", "serves_since")
    op.drop_column("embedding_models", "active")
    op.drop_column("document_versions", "run_id")
