"""The audit: every stored node, and every citation of every answer, is exactly its span of the stored text."""

from typing import Any

from sqlalchemy import Connection, Engine, column, select, table
from sqlalchemy.dialects.postgresql import JSONB

from pipelines.store.database import reading
from pipelines.store.node_table import checked
from pipelines.store.tables import document_versions, documents, embedding_models, queries


def audit(engine: Engine) -> dict[str, Any]:
    """Counts of what was checked, and `violations`: kind (span, orphan, duplicate, citation), document, said.

    A citation of a version that is no longer kept counts as `unverifiable`.
    """
    report: dict[str, Any] = {"documents": 0, "nodes": 0, "citations": 0, "unverifiable": 0, "violations": []}
    with reading(engine, "auditing") as connection:
        names = {row.id: row.name for row in connection.execute(select(documents.c.id, documents.c.name))}
        report["documents"] = len(names)
        for name in connection.execute(select(embedding_models.c.node_table)).scalars():
            _check_nodes(connection, name, names, report)
        _check_citations(connection, names, report)
    return report


def node_rows(name: str) -> Any:
    """A node table by name, for statements that need no model."""
    return table(
        f"data_{checked(name)}", column("node_id"), column("text"), column("metadata_", JSONB), column("embedding")
    )


def _check_nodes(connection: Connection, name: str, names: dict[str, str], report: dict[str, Any]) -> None:
    rows = node_rows(name)
    texts: dict[str, str] = {}
    seen: set[str] = set()
    key = rows.c.metadata_["document_id"].astext
    found = connection.execution_options(yield_per=1000).execute(
        select(rows.c.node_id, rows.c.text, rows.c.metadata_, key.label("document_id")).order_by(key)
    )
    for row in found:
        report["nodes"] += 1
        if row.document_id not in names:
            _note(report, "orphan", row.document_id, f"node {row.node_id} of {name} has no document")
            continue
        if row.document_id not in texts:
            texts = {row.document_id: _text(connection, row.document_id)}
        start, end = row.metadata_["start"], row.metadata_["end"]
        if texts[row.document_id][start:end] != row.text:
            _note(report, "span", names[row.document_id], f"node {row.node_id} of {name} is not {start}:{end}")
        if row.node_id in seen:
            _note(report, "duplicate", names[row.document_id], f"node {row.node_id} of {name} is stored twice")
        seen.add(row.node_id)


def _text(connection: Connection, document_id: str) -> str:
    return str(connection.execute(select(documents.c.text).where(documents.c.id == document_id)).scalar_one())


def _check_citations(connection: Connection, names: dict[str, str], report: dict[str, Any]) -> None:
    answers = connection.execute(select(queries.c.id, queries.c.answer).where(queries.c.answer.is_not(None))).all()
    for query in answers:
        for sentence in query.answer["sentences"]:
            for citation in sentence["evidence"]:
                report["citations"] += 1
                start, end = citation["start"], citation["end"]
                text = _version(connection, citation["document_id"], citation["content_sha"])
                if text is None:
                    report["unverifiable"] += 1
                elif text[start:end] != citation["quote"]:
                    said = f"query {query.id} quotes {start}:{end}, which reads otherwise"
                    _note(report, "citation", names.get(citation["document_id"], citation["document_id"]), said)


def _version(connection: Connection, document_id: str, content_sha: str) -> str | None:
    d, v = documents.c, document_versions.c
    now = select(d.text).where(d.id == document_id, d.content_sha == content_sha)
    before = select(v.row["text"].astext).where(v.document_id == document_id, v.content_sha == content_sha).limit(1)
    return connection.execute(now).scalar() or connection.execute(before).scalar()


def _note(report: dict[str, Any], kind: str, document: str, said: str) -> None:
    report["violations"].append({"kind": kind, "document": document, "said": said})
