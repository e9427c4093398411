"""IN PART: what a reader is told of the documents under an answer of which their source gave only a part."""

from collections.abc import Iterator

from sqlalchemy import Engine

from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.trace import Ledger
from pipelines.store.database import reading
from pipelines.store.in_part import in_part, only_part
from pipelines.types import Answer, Audience


def note_parts(answer: Answer, database: Engine, audience: Audience, ledger: Ledger) -> None:
    """Note each document that is stored in part and that the answer cites; of an abstention, that came nearest.

    Nothing is read where there are none. Where it cannot be read, that is noted.
    """
    titles = dict(_under(answer))
    if not titles:
        return
    try:
        with reading(database, "reading which documents are stored in part") as connection:
            found = in_part(connection, titles, audience)
    except FootnoteError as error:
        log_failure("not known which documents are stored in part", error)
        ledger.lacking(f"Whether the documents are stored as a whole is not known: {error.message}")
        return
    for document_id, title in titles.items():
        if document_id in found:
            ledger.note(only_part(title, found[document_id]))


def _under(answer: Answer) -> Iterator[tuple[str, str]]:
    """(document id, title) of the sources that an answer cites, also as sides of a conflict, or that came nearest."""
    cited = {n for sentence in answer.sentences for n in sentence.citations}
    cited |= {side.n for conflict in answer.conflicts for side in conflict.sides}
    sources = [each for each in answer.sources if each.n in cited] if answer.answered else answer.nearest
    yield from ((each.document_id, each.title) for each in sources)
