"""ANALYSE: question -> QueryIntent."""

import re
from collections.abc import Sequence

from pipelines.errors import RetrievalError
from pipelines.store.tokens import tokenise
from pipelines.text import canonical
from pipelines.types import QueryIntent, Turn

# Words about the answer's form, not its matter: they are searched for, but evidence does not ask for them.
_FORM = frozenset(
    tokenise(
        """tell give show list name describe explain please many much long often kind sort type some any ever there
        also about know say said does has have being been most more first last"""
    )
)
_POINTING = re.compile(
    r"^\s*(and|but|so|also|what about|how about|why|when|where|who)\b"
    r"|\b(it|its|that|those|they|them|this|these|there|he|she)\b",
    re.IGNORECASE,
)
_SHORT = 6


def analyse(question: str, *, history: Sequence[Turn] = (), limit: int = 2000) -> QueryIntent:
    """What is asked: the text to search for, and the terms that an answer must be about.

    A short question that points back ("and when?", "why did she leave it?") is searched together with the question
    before it.

    Raises:
        RetrievalError: If the question is empty or longer than `limit` characters.
    """
    if len(question) > limit:
        raise RetrievalError(
            f"The question has {len(question):,} characters, and {limit:,} is the limit.", hint="Ask it more briefly."
        )
    cleaned = " ".join(canonical(question).split())
    if not cleaned:
        raise RetrievalError("The question is empty.", hint="Write what you would like to know.")
    follow_up = bool(history) and _points_back(cleaned)
    search_text = f"{history[-1].question} {cleaned}" if follow_up else cleaned
    terms = tuple(dict.fromkeys(term for term in tokenise(search_text) if term not in _FORM))
    return QueryIntent(question=cleaned, search_text=search_text[:limit], terms=terms, follow_up=follow_up)


def _points_back(question: str) -> bool:
    return len(question.split()) <= _SHORT and bool(_POINTING.search(question))
