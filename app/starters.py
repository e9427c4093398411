"""The questions that the chat begins with."""

from collections.abc import Sequence

from app.shelf import Shelf, Shelved
from pipelines.store.questions import StoredQuestion

_OFFERED = 4


def starters(configured: Sequence[str], shelf: Shelf, tried: Sequence[StoredQuestion] = ()) -> list[str]:
    """At most four questions: those of the persona, or one about a fact for each of four documents, which is answered.

    The largest documents come first, of different categories as far as there are.
    """
    if configured:
        return list(configured[:_OFFERED])
    answered = {each.document_id: each.question for each in reversed(tried) if each.is_sure}
    known = [document for document in shelf.documents if document.id in answered]
    largest: list[Shelved] = sorted(known, key=lambda document: (-document.nodes, document.name))
    first = {document.category: document for document in reversed(largest)}
    chosen = sorted(first.values(), key=largest.index)
    chosen += [document for document in largest if document not in chosen]
    return list(dict.fromkeys(answered[document.id] for document in chosen))[:_OFFERED]
