"""What a reader is told of how a question was read and of how its answer ended, in sentences."""

from collections.abc import Iterator

FINDING = {
    "supported": "borne out by its source",
    "partial": "partly borne out by its source",
    "misattributed": "borne out by another source than the one it cites",
    "unsupported": "not borne out by its source",
    "uncited": "without a source",
}
_BY = {"rules": "by rules, from the questions before it", "model": "by the language model"}


def read_as(condensed: str, condensed_by: str) -> str:
    """What a follow-up was read as, and who made it so; empty when the question stood alone."""
    return f"Read as: {condensed} (made whole {_BY.get(condensed_by, condensed_by)})" if condensed else ""


def how_it_ended(mode: str, fallback_reason: str, *, truncated: bool, answered: bool = True) -> Iterator[str]:
    """Why the answer is not, or not all, what the language model was to write."""
    if mode == "llm" and fallback_reason:
        yield f"The language model broke off, and the answer ends there. {fallback_reason}"
    elif fallback_reason and not answered:
        yield f"The language model did not answer, and no sentence that does was found. {fallback_reason}"
    elif fallback_reason:
        yield f"The language model did not answer, so sentences are quoted instead. {fallback_reason}"
    elif truncated:
        yield "The language model's answer was cut short, by its length limit or on the way; it may be incomplete."
