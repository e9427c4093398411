"""The questions that the chat begins with."""

from collections.abc import Sequence

from app.chat_engine import Shelf, Shelved
from app.settings import SAMPLE
from pipelines.store.questions import StoredQuestion

_SAMPLE_QUESTIONS = (
    "Does Marit know C++?",
    "What caused the 2021 outage?",
    "How often does Marit meet the people she mentors?",
    "What prize did she win with her talk in Copenhagen?",
)
_OFFERED = 4


def starters(configured: Sequence[str], shelf: Shelf, tried: Sequence[StoredQuestion] = ()) -> list[str]:
    """At most four questions: those of the settings, those of the sample, or one for each of four documents.

    Of the documents those about which a question was tried, where there are any.
    """
    if configured:
        return list(configured[:_OFFERED])
    sample = SAMPLE.resolve().as_uri() + "/"
    if shelf.documents and all(document.uri.startswith(sample) for document in shelf.documents):
        return list(_SAMPLE_QUESTIONS)
    answered = {each.document_id: each.question for each in reversed(tried)}
    known = [document for document in shelf.documents if document.id in answered]
    if known:
        return [answered[document.id] for document in _varied(known)]
    return [f"What is “{document.title or document.name}” about?" for document in _varied(shelf.documents)]


def _varied(documents: Sequence[Shelved]) -> list[Shelved]:
    """Four documents with most to say, of different categories as far as there are."""
    largest = sorted(documents, key=lambda document: (-document.nodes, document.name))
    first = {document.category: document for document in reversed(largest)}
    chosen = sorted(first.values(), key=largest.index)
    chosen += [document for document in largest if document not in chosen]
    return chosen[:_OFFERED]
