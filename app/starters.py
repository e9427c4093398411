"""Questions to begin with."""

from collections.abc import Sequence

from app.engine import Shelf, Shelved
from app.settings import SAMPLE

_SAMPLE_QUESTIONS = (
    "Does Marit know C++?",
    "What caused the 2021 outage?",
    "How often does Marit meet the people she mentors?",
    "What prize did she win with her talk in Copenhagen?",
)
_OFFERED = 4


def starters(configured: Sequence[str], shelf: Shelf) -> list[str]:
    """At most four questions: those of the settings, those of the sample, or one for each of four documents."""
    if configured:
        return list(configured[:_OFFERED])
    sample = SAMPLE.resolve().as_uri() + "/"
    if shelf.documents and all(document.uri.startswith(sample) for document in shelf.documents):
        return list(_SAMPLE_QUESTIONS)
    return [f"What is “{document.title or document.name}” about?" for document in _varied(shelf.documents)]


def _varied(documents: Sequence[Shelved]) -> list[Shelved]:
    """Four documents with most to say, of different categories as far as there are."""
    largest = sorted(documents, key=lambda document: (-document.nodes, document.name))
    first = {document.category: document for document in reversed(largest)}
    chosen = sorted(first.values(), key=largest.index)
    chosen += [document for document in largest if document not in chosen]
    return chosen[:_OFFERED]
