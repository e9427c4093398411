"""What stands under an answer: what to know about it, how it was made, and its sources."""

from collections.abc import Iterator, Sequence
from typing import Any

from app.conversation import Exchange, written_by
from app.wording import by_document, how_it_ended, near_heading, place_and_others, read_as
from pipelines.answers import Answer, Source

_QUOTED = 320  # characters of words that nothing cites
_SHOWN_PLACES = 4


def clipped(words: str, most: int) -> str:
    """The words, cut before the word that reaches over `most` characters."""
    return words if len(words) <= most else f"{words[:most].rsplit(' ', 1)[0]} …"


# What is said about it


def alerts(exchange: Exchange) -> Iterator[str]:
    """What a reader must know before they believe the answer."""
    answer = exchange.answer
    if answer is None:
        stopped = "" if exchange.problem else "Stopped. "
        yield f"{stopped}This is as far as it came; nothing in it was checked."
        return
    if not answer.answered and answer.filters:
        yield f"Only a part of the documents was searched, by {' and '.join(answer.filters.narrowing)}."
    doubtful = sum(sentence.verdict != "supported" for sentence in exchange.sentences)
    if doubtful:
        yield f"{doubtful} of {len(exchange.sentences)} sentences are marked: their sources do not fully support them."
    yield from answer.notes
    yield from how_it_ended(answer.mode, answer.fallback_reason, truncated=answer.truncated, answered=answer.answered)


def line_under(exchange: Exchange) -> str:
    """The one line under an answer: how many sentences were checked, what made them, how long it took."""
    answer = exchange.answer
    if answer is None:
        return ""
    seconds = answer.timings_ms.get("total", 0.0) / 1000
    took = [f"{seconds:.1f} s"] if seconds else []
    if not answer.answered:
        return ", ".join(["Nothing that answers was found", *took])
    checked = sum(sentence.verdict == "supported" for sentence in exchange.sentences)
    every = len(exchange.sentences)
    made = (
        f"written by {answer.model}"
        if answer.mode == "llm"
        else "put together from facts"
        if answer.model
        else "quoted"
    )
    return ", ".join([f"{checked} of {every} sentence{'s' * (every != 1)} checked", made, *took])


def how_made(answer: Answer) -> Iterator[tuple[str, str]]:
    """(what, how) of the search and the making of an answer."""
    if answer.answered or answer.mode == "llm":
        yield "Made", f"{written_by(answer)}, {answer.confidence} confidence"
    else:
        yield "Made", "No language model"
    if answer.condensed:
        yield "Question", read_as(answer.condensed, answer.condensed_by, answer.added)
    yield from (("Searched", search) for search in answer.searched)
    steps = [(name, ms) for name, ms in answer.timings_ms.items() if ms >= 1]
    if steps:
        yield "Time", ", ".join(f"{name} {ms:.0f} ms" for name, ms in steps)
    if spent := list(_spent(answer)):
        yield "Spent", ", ".join(spent)


def _spent(answer: Answer) -> Iterator[str]:
    """The tokens that a language model took, and what they cost where that is known and not nothing."""
    about = "about " if answer.usage.get("estimated_tokens") else ""
    if tokens := answer.usage.get("total_tokens", 0):
        yield f"{about}{tokens:,} tokens"
    if answer.cost:
        yield f"{about}${answer.cost:.5f}"


# The sources


def source_groups(exchange: Exchange) -> list[dict[str, Any]]:
    """The cited places, then those that were only read; folded from the fifth on."""
    numbers = exchange.numbers()
    if exchange.answer and not exchange.answer.answered:
        nearest = list(exchange.sources.values())
        return [_group("near", near_heading(exchange.answer.model), nearest, numbers)]
    cited = exchange.cited()
    rest = [source for source in exchange.sources.values() if source not in cited]
    more = f"Show {len(rest)} more place{'s' * (len(rest) != 1)}"
    return [_group("cited", "Sources", cited, numbers), _group("rest", more, rest, numbers)]


def _group(kind: str, heading: str, sources: Sequence[Source], numbers: dict[int, int]) -> dict[str, Any]:
    """The sources by document; those that are cited by place, the others, which nothing cites, with their words."""
    quoted = kind != "cited"
    return {
        "kind": kind,
        "heading": heading,
        "folded": kind == "rest" or (kind == "cited" and len(sources) > _SHOWN_PLACES),
        "documents": [
            {"title": document.title, "name": document.name, "rows": _rows(document.sources, numbers, quoted=quoted)}
            for document in by_document(sources)
        ],
    }


def _rows(sources: Sequence[Source], numbers: dict[int, int], *, quoted: bool) -> list[dict[str, Any]]:
    """A row for each place of a document, with (number, shown number) of the sources at it."""
    if quoted:
        return [
            {
                "numbers": [[source.n, numbers[source.n]]],
                "place": place_and_others(source),
                "quote": clipped(source.words, _QUOTED),
            }
            for source in sources
        ]
    places: dict[str, list[list[int]]] = {}
    for source in sources:
        places.setdefault(place_and_others(source), []).append([source.n, numbers[source.n]])
    return [{"numbers": found, "place": place, "quote": ""} for place, found in places.items()]
