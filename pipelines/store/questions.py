"""Questions that were tried about a document and are answered from it, stored with it for the version it has."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Engine, String, cast, exists, func, select, update
from sqlalchemy.dialects.postgresql import JSONB

from pipelines.store.database import read_rows, writing
from pipelines.store.filters import seen_by
from pipelines.store.node_reader import NodeReader
from pipelines.store.schema import documents, facts
from pipelines.types import Audience, Filters

_KEY = "tried"  # of a document's metadata: the version that they were tried for, and those that are answered


class StoredQuestion(NamedTuple):
    """A question, and the document that answers it; `is_sure` if from a fact, with high confidence."""

    question: str
    document_id: str
    is_sure: bool = False


def untried_documents(engine: Engine, limit: int) -> list[tuple[str, str]]:
    """(id, content_sha) of the first documents about which no question was tried, those that state facts first."""
    d = documents.c
    tried = d.metadata[_KEY]["of"].astext
    has_facts = exists().where(facts.c.document_id == d.id)
    statement = select(d.id, d.content_sha).where(tried.is_distinct_from(d.content_sha))
    rows = read_rows(engine, "reading what was tried", statement.order_by(has_facts.desc(), d.name, d.id).limit(limit))
    return [(row.id, row.content_sha) for row in rows]


def keep_questions(
    engine: Engine, document_id: str, content_sha: str, questions: Sequence[str], sure: Sequence[str] = ()
) -> None:
    """Store the questions of a document, and which are sure; nothing where it has another version by now."""
    d = documents.c
    kept = cast({_KEY: {"of": content_sha, "answered": list(questions), "sure": list(sure)}}, JSONB)
    statement = update(documents).where(d.id == document_id, d.content_sha == content_sha)
    with writing(engine, "storing questions") as connection:
        connection.execute(statement.values({"metadata": d.metadata.op("||")(kept)}))


def read_questions(reader: NodeReader, filters: Filters, audience: Audience) -> list[StoredQuestion]:
    """The stored questions of the documents that pass the filters and that this audience may see.

    By document name, those of a document as they were tried.
    """
    d = documents.c
    every = func.jsonb_array_elements_text(d.metadata[_KEY]["answered"])
    asked = every.table_valued("value", with_ordinality="place").render_derived()
    statement = (
        select(d.id, cast(asked.c.value, String).label("question"), d.metadata[_KEY]["sure"].label("sure"))
        .join_from(documents, asked, d.metadata[_KEY]["of"].astext == d.content_sha)
        .where(seen_by(audience))
        .order_by(d.name, d.id, asked.c.place)
    )
    if filters:
        statement = statement.where(d.id.in_(select(reader.passing(filters, audience).c.document_id)))
    rows = read_rows(reader.engine, "reading questions", statement)
    return [StoredQuestion(row.question, row.id, row.question in (row.sure or ())) for row in rows]
