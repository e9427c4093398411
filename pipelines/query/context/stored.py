"""STORED: what was found -> Context, of the words that are stored now."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from sqlalchemy import Engine

from pipelines.models.prompt_tokens import margin
from pipelines.query.context.assemble import Budget, assemble
from pipelines.query.context.spans import Key, Passage
from pipelines.query.searching.find import Finder, Found
from pipelines.query.trace import Ledger
from pipelines.store.database import reading
from pipelines.store.file_lines import lines_uri
from pipelines.store.passages import Shown, names, passages, shown
from pipelines.types import Audience, Context


def context_of(found: Found, finder: Finder, audience: Audience, ledger: Ledger) -> Context:
    """The sources that a writer is shown of what was found, within the budget of the finder's settings.

    Raises:
        ServiceUnavailable: If the database cannot be read.
    """
    limits, database = finder.settings.context, finder.store.engine
    budget = Budget(limits.max_characters, limits.max_tokens, margin(finder.llm_name, limits.token_margin))
    return assemble(
        found.ranking,
        partial(_passages, database, audience=audience),
        ledger,
        budget,
        names=partial(document_names, database, audience=audience),
        named=found.intent.documents,
    )


def document_names(database: Engine, document_ids: Collection[str], audience: Audience) -> dict[str, str]:
    """The names of documents by id; one that this audience must not see is missing.

    Raises:
        ServiceUnavailable: If the database cannot be read.
    """
    if not document_ids:
        return {}
    with reading(database, "reading document names") as connection:
        return names(connection, document_ids, audience)


def documents_shown(database: Engine, document_ids: Collection[str], audience: Audience) -> dict[str, Shown]:
    """What is shown of documents by id; one that this audience must not see is missing.

    Raises:
        ServiceUnavailable: If the database cannot be read.
    """
    if not document_ids:
        return {}
    with reading(database, "reading where documents are") as connection:
        return shown(connection, document_ids, audience)


def _passages(database: Engine, spans: Sequence[Key], audience: Audience) -> Mapping[Key, Passage]:
    with reading(database, "reading passages") as connection:
        rows = passages(connection, spans, audience)
    return {
        key: Passage(
            text=row.text,
            name=row.name,
            title=row.title,
            uri=row.source_uri,
            content_sha=row.content_sha,
            category=row.category,
            pages=tuple(row.pages),
            lines_uri=lines_uri(row.source_kind, row.source_uri, row.mime, row.path),
        )
        for key, row in rows.items()
    }
