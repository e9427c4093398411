"""An answer as the plain data that its widget shows: text and numbers, all of them the engine's."""

from collections.abc import Iterator, Sequence
from typing import Any

from app.conversation import Exchange, written_by
from app.wording import FINDING, by_document, cited_place, how_it_ended, near_heading, place_and_others, readable
from pipelines.answers import Answer, Citation, Sentence, Source
from pipelines.query.careers.computed_answer import CAREER_FACTS
from pipelines.query.layout import AnswerBlock, blocks_of

_TAGS = {"partial": "partly", "misattributed": "wrong source", "unsupported": "unsupported", "uncited": "uncited"}
_QUOTED = 320  # characters of words that nothing cites


def answer_data(exchange: Exchange, opened: tuple[int, int | None] | None, *, latest: bool) -> dict[str, Any]:
    """Blocks of sentences with their marks, notes, and sources grouped by document, which stand first if it abstains.

    Args:
        exchange: A question with its answer.
        opened: The number of its open source, and the sentence whose footnote opened it.
        latest: True for the last one, which is shown from its beginning.
    """
    return {
        "blocks": _blocks(exchange) or _unverified(exchange),
        "notes": list(_notes(exchange)),
        "abstains": exchange.answer is not None and not exchange.answer.answered,
        "groups": [group for group in _groups(exchange) if group["documents"]],
        "open": None if opened is None else {"n": opened[0], "sentence": opened[1]},
        "latest": latest,
    }


def _blocks(exchange: Exchange) -> list[dict[str, Any]]:
    """The verified sentences in the headings, paragraphs, lists and code of the answer.

    Quotations from another document begin a new block.
    """
    answer = exchange.answer
    if answer is not None and answer.model != CAREER_FACTS:
        found = blocks_of(answer.answer, [sentence.text for sentence in exchange.sentences])
    else:
        found = _quotations(exchange)
    shown = [_sentence(index, sentence, exchange.sources) for index, sentence in enumerate(exchange.sentences)]
    return [
        {
            "kind": block.kind,
            "text": block.text,
            "indents": list(block.indents),
            "lines": [[shown[index] for index in line] for line in block.lines],
        }
        for block in found
    ]


def _quotations(exchange: Exchange) -> list[AnswerBlock]:
    """A block for the sentences of each document, items of a list if several things are asked for."""
    is_list = exchange.answer is not None and exchange.answer.answer.startswith("- ")
    is_extractive = exchange.answer is not None and exchange.answer.mode == "extractive"
    groups: list[list[int]] = []
    before = ""
    for index, sentence in enumerate(exchange.sentences):
        document = exchange.sources[sentence.citations[0]].document_id if sentence.citations else ""
        if not groups or (is_extractive and document != before):
            groups.append([])
        groups[-1].append(index)
        before = document
    if is_extractive and is_list:
        return [AnswerBlock("bullets", lines=tuple((index,) for index in group)) for group in groups]
    return [AnswerBlock("paragraph", lines=(tuple(group),)) for group in groups]


def _sentence(index: int, sentence: Sentence, sources: dict[int, Source]) -> dict[str, Any]:
    finding = FINDING[sentence.verdict]
    found = {citation.n: citation.verdict for citation in sentence.evidence}
    tick = "✓ " if sentence.verdict == "supported" else ""
    return {
        "index": index,
        "text": sentence.text,
        "verdict": sentence.verdict,
        "tag": _TAGS.get(sentence.verdict, ""),
        "tip": f"{tick}{finding.capitalize()}",
        "marks": [
            {"n": n, "tip": f"{'✓ ' if found.get(n) == 'supported' else ''}{_tip(sources[n], sentence.evidence)}"}
            for n in sentence.citations
        ],
    }


def _unverified(exchange: Exchange) -> list[dict[str, Any]]:
    """The text of an answer without verdicts, as far as it arrived, cut at its footnotes."""
    parts: list[dict[str, Any]] = []
    for piece in exchange.pieces:
        if isinstance(piece, str):
            if not parts or parts[-1]["marks"]:
                parts.append({"index": len(parts), "text": "", "verdict": "", "tag": "", "tip": "", "marks": []})
            parts[-1]["text"] += piece
        elif parts:
            source = exchange.sources[piece]
            parts[-1]["marks"].append({"n": piece, "tip": _tip(source, ())})
    return [{"kind": "paragraph", "text": "", "indents": [], "lines": [parts]}] if parts else []


def _notes(exchange: Exchange) -> Iterator[str]:
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
    yield from (f"Sources disagree: {conflict.said}" for conflict in answer.conflicts)
    yield from how_it_ended(answer.mode, answer.fallback_reason, truncated=answer.truncated, answered=answer.answered)
    yield from answer.notes
    yield _signature(answer)


def _signature(answer: Answer) -> str:
    seconds = answer.timings_ms.get("total", 0.0) / 1000
    parts = [written_by(answer)] if answer.answered or answer.mode == "llm" else ["No language model"]
    parts += [f"{answer.confidence} confidence"] if answer.answered else []
    parts += [f"{seconds:.1f} s"] if seconds else []
    return " · ".join([*parts, *_spent(answer)])


def _spent(answer: Answer) -> list[str]:
    """The tokens that a language model took, and what they cost where that is known and not nothing."""
    about = "about " if answer.usage.get("estimated_tokens") else ""
    tokens = answer.usage.get("total_tokens", 0)
    parts = [f"{about}{tokens:,} tokens"] if tokens else []
    return [*parts, f"{about}${answer.cost:.5f}"] if answer.cost else parts


def _groups(exchange: Exchange) -> list[dict[str, Any]]:
    if exchange.answer and not exchange.answer.answered:
        return [_group(near_heading(exchange.answer.model), list(exchange.sources.values()), quoted=True)]
    cited = exchange.cited()
    rest = [source for source in exchange.sources.values() if source not in cited]
    return [_group("Sources", cited), _group(f"More from the sources ({len(rest)})", rest, quoted=True, folded=True)]


def _group(heading: str, sources: Sequence[Source], *, quoted: bool = False, folded: bool = False) -> dict[str, Any]:
    """The sources by document, those at one place in one row; `quoted` ones, which nothing cites, with their words."""
    return {
        "heading": heading,
        "folded": folded,
        "documents": [
            {"title": document.title, "name": document.name, "rows": _rows(document.sources, quoted=quoted)}
            for document in by_document(sources)
        ],
    }


def _rows(sources: Sequence[Source], *, quoted: bool) -> list[dict[str, Any]]:
    if quoted:
        return [
            {"numbers": [source.n], "place": place_and_others(source), "quote": _clipped(source.words)}
            for source in sources
        ]
    places: dict[str, list[int]] = {}
    for source in sources:
        places.setdefault(place_and_others(source), []).append(source.n)
    return [{"numbers": numbers, "place": place, "quote": ""} for place, numbers in places.items()]


def _clipped(words: str) -> str:
    return words if len(words) <= _QUOTED else f"{words[:_QUOTED].rsplit(' ', 1)[0]} …"


def _tip(source: Source, evidence: Sequence[Citation]) -> str:
    cited = [citation for citation in evidence if citation.n == source.n]
    return f"{readable(source.title, source.documentName)}, {cited_place(source, cited)}"
