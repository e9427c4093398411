"""An answer as the plain data that its widget shows: text and numbers, all of them the engine's."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from app.conversation import Exchange, written_by
from app.typeset import runs
from app.wording import (
    FINDING,
    by_document,
    cited_place,
    how_it_ended,
    near_heading,
    place_and_others,
    read_as,
    readable,
)
from pipelines.answers import Answer, Citation, Conflict, Sentence, Source
from pipelines.query.layout import AnswerBlock, blocks_of
from pipelines.wording import format_count

_TAGS = {"partial": "partly", "misattributed": "wrong source", "unsupported": "unsupported", "uncited": "uncited"}
_CITED = 220  # characters of a quotation in the margin


def answer_data(exchange: Exchange) -> dict[str, Any]:
    """Blocks of sentences with their marks, what to know about it, and sources by document, first if it abstains."""
    blocks = blocks_in(exchange)
    answer = exchange.answer
    return {
        "blocks": _blocks(exchange, blocks) or _unverified(exchange),
        "disputes": [_dispute(exchange, conflict) for conflict in exchange.conflicts],
        "alerts": list(alerts(exchange)),
        "line": line_under(exchange),
        "trace": answer.trace_id if answer else "",
        "how": [list(pair) for pair in how_made(answer)] if answer else [],
        "abstains": exchange.abstains,
        "groups": [group for group in source_groups(exchange) if group["documents"]],
    }


# The text


def blocks_in(exchange: Exchange) -> list[AnswerBlock]:
    """The headings, paragraphs, lists, tables and code of an answer.

    A list item whose source disagrees with that of an item before it, and says the same but for the detail, is left
    out: the disagreement shows both.
    """
    answer = exchange.answer
    found = blocks_of(answer.answer, [sentence.text for sentence in exchange.sentences]) if answer else []
    gone = {index for conflict in exchange.conflicts for index in _repeated(exchange, conflict)}
    kept = [
        block._replace(lines=tuple(line for line in block.lines if not set(line) <= gone)) if block.lines else block
        for block in found
    ]
    return [block for block in kept if block.lines or block.text]


def run_before(exchange: Exchange, last: int) -> range:
    """The neighbouring sentences of one line that share the sources of the last, which carries their footnote."""
    line = next((line for block in blocks_in(exchange) for line in block.lines if last in line), (last,))
    return _run(exchange, line, last)


def _run(exchange: Exchange, line: Sequence[int], last: int) -> range:
    first = last
    while first - 1 in line and _alike(exchange.sentences[first - 1], exchange.sentences[last]):
        first -= 1
    return range(first, last + 1)


def _alike(one: Sentence, other: Sentence) -> bool:
    return one.citations == other.citations and one.verdict == other.verdict == "supported"


def _repeated(exchange: Exchange, conflict: Conflict) -> list[int]:
    """The sentences that only repeat what an earlier one says about the other side of a disagreement."""
    disputed = {side.n for side in conflict.sides}
    stating = [index for index, each in enumerate(exchange.sentences) if {*each.citations} & disputed]
    heads = [parted(exchange.sentences[index].text)[0] for index in stating]
    return [index for at, index in enumerate(stating) if heads[at] in heads[:at]]


def parted(text: str) -> tuple[str, str]:
    """An entry of a list and its detail: `Editor at Signalweir`, `2016 – 2018`; the detail is empty without figures."""
    head, gap, detail = text.rpartition(" (") if text.endswith(")") else text.rpartition(", ")
    if gap == " (":
        return (head, detail[:-1]) if any(map(str.isdecimal, detail)) else (text, "")
    return (head, detail) if detail[:1].isdecimal() else (text, "")


def _blocks(exchange: Exchange, blocks: Sequence[AnswerBlock]) -> list[dict[str, Any]]:
    numbers = exchange.numbers()
    is_written = exchange.answer is not None and exchange.answer.mode == "llm"
    return [_block(exchange, block, numbers, is_written=is_written) for block in blocks]


def _block(exchange: Exchange, block: AnswerBlock, numbers: dict[int, int], *, is_written: bool) -> dict[str, Any]:
    """A block with a footnote after each run of sentences that share their sources, of code one after all."""
    said = exchange.sentences
    lines: list[list[dict[str, Any]]] = []
    for indexes in block.lines:
        shown = [_sentence(exchange, indexes, index, numbers) for index in indexes]
        for at, index in enumerate(indexes[:-1]):
            if block.kind == "code" or _alike(said[index], said[indexes[at + 1]]):
                shown[at]["marks"] = []
        lines.append(shown)
    if block.kind == "code":
        every = {mark["n"]: mark for line in lines for each in line for mark in each["marks"]}
        for line in lines:
            line[-1]["marks"] = []
        lines[-1][-1]["marks"] = list(every.values())
    elif block.kind == "table" or is_written:
        for each in (each for line in lines for each in line):
            each["runs"] = runs(each["text"])
    if columns := _head_of_rows([said[index] for line in block.lines for index in line], lines):
        return {"kind": "table", "text": block.text, "indents": [], "lines": [[columns], *lines]}
    details = [parted(line[-1]["text"]) for line in lines] if block.kind == "bullets" else []
    if len(details) > 1 and all(detail for _, detail in details):
        for line, (head, detail) in zip(lines, details, strict=True):
            line[-1].update(runs=[["", head]], detail=detail)
    return {"kind": block.kind, "text": block.text, "indents": list(block.indents), "lines": lines}


def _head_of_rows(said: Sequence[Sentence], lines: Sequence[list[dict[str, Any]]]) -> dict[str, Any] | None:
    """The head of a table, if every line quotes one row of it; the lines become its rows."""
    names = [name for name, _ in max((each.cells for each in said), key=len, default=())]
    if len(said) != len(lines) or not names:
        return None
    if any(not each.cells or [name for name, _ in each.cells] != names[: len(each.cells)] for each in said):
        return None
    for line, each in zip(lines, said, strict=True):
        line[0]["runs"] = _row(cell for _, cell in each.cells)
    return {"text": "", "verdict": "", "tag": "", "marks": [], "runs": _row(names)}


def _row(cells: Iterable[str]) -> list[list[str]]:
    return [run for cell in cells for run in (["|", ""], ["", cell])]


def _sentence(exchange: Exchange, line: Sequence[int], index: int, numbers: dict[int, int]) -> dict[str, Any]:
    sentence = exchange.sentences[index]
    run = _run(exchange, line, index)
    finding = FINDING[sentence.verdict]
    tick = "✓ " if sentence.verdict == "supported" else ""
    return {
        "index": index,
        "text": sentence.text,
        "verdict": sentence.verdict,
        "tag": _TAGS.get(sentence.verdict, ""),
        "tip": f"{tick}{finding.capitalize()}",
        "marks": [_mark(exchange, n, run, numbers) for n in sentence.citations],
        "dispute": next((at for at, each in enumerate(exchange.conflicts) if _is_side(sentence, each)), None),
    }


def _is_side(sentence: Sentence, conflict: Conflict) -> bool:
    """True for a sentence of a list that states a side of a disagreement, which is shown under it."""
    return parted(sentence.text)[1] != "" and bool({*sentence.citations} & {side.n for side in conflict.sides})


def _mark(exchange: Exchange, n: int, run: range, numbers: dict[int, int]) -> dict[str, Any]:
    """A footnote: its number, document and place, its verdict, and the quotation where the sentence is not the same."""
    index, evidence = run[-1], exchange.evidence(n, run)
    said = " ".join(exchange.sentences[at].text for at in run)
    quote = " … ".join(dict.fromkeys(_words(exchange.sources[n], citation) for citation in evidence))
    sentence = exchange.sentences[index]
    found = next((each.verdict for each in sentence.evidence if each.n == n), sentence.verdict)
    verbatim = bool(quote) and all(_words(exchange.sources[n], each) in said for each in evidence)
    finding = "word for word" if verbatim and found == "supported" else FINDING[found]
    return {
        **_place(exchange.sources[n], evidence),
        "n": n,
        "number": numbers[n],
        "sentence": index,
        "verdict": found,
        "finding": finding.capitalize(),
        "quote": "" if verbatim else clipped(quote, _CITED),
    }


def _place(source: Source, evidence: Sequence[Any]) -> dict[str, str]:
    return {"title": readable(source.title, source.documentName), "where": cited_place(source, evidence)}


def _dispute(exchange: Exchange, conflict: Conflict) -> dict[str, Any]:
    """A disagreement between sources, with the words of each side."""
    numbers = exchange.numbers()
    subject, _, _ = conflict.said.partition(":")
    sides = [
        {
            **_place(exchange.sources[side.n], [side]),
            "name": exchange.sources[side.n].documentName,
            "n": side.n,
            "number": numbers[side.n],
            "quote": clipped(_words(exchange.sources[side.n], side, " · "), _CITED),
        }
        for side in conflict.sides
        if side.n in exchange.sources
    ]
    return {"heading": f"The sources disagree about {subject}", "sides": sides}


def _words(source: Source, citation: Citation, between: str = " ") -> str:
    """The cited words without markup, on one line."""
    at, lines = citation.start - source.start, list[str]()
    for line in citation.quote.split("\n"):
        lines.append(source.read().words(at, at + len(line)) if at >= 0 else line.strip())
        at += len(line) + 1
    return between.join(filter(None, lines))


def _unverified(exchange: Exchange) -> list[dict[str, Any]]:
    """The text of an answer without verdicts, as far as it arrived, cut at its footnotes."""
    parts: list[dict[str, Any]] = []
    numbers = exchange.numbers()
    for piece in exchange.pieces:
        if isinstance(piece, str):
            if not parts or parts[-1]["marks"]:
                parts.append({"index": len(parts), "text": "", "verdict": "", "tag": "", "tip": "", "marks": []})
            parts[-1]["text"] += piece
        elif parts:
            known = {"n": piece, "number": numbers[piece], "verdict": "", "finding": "Not checked", "quote": ""}
            parts[-1]["marks"].append({**_place(exchange.sources[piece], ()), **known})
    return [{"kind": "paragraph", "text": "", "indents": [], "lines": [parts]}] if parts else []


_QUOTED = 320  # characters of words that nothing cites
_SHOWN_PLACES = 4


def clipped(words: str, most: int) -> str:
    """The words, cut before the word that reaches over `most` characters."""
    return words if len(words) <= most else f"{words[:most].rsplit(' ', 1)[0]} …"


# What is said about it


def alerts(exchange: Exchange) -> Iterator[str]:
    """The notes that a reader needs before they believe the answer."""
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
    made = "put together from facts" if answer.model else "quoted"
    made = f"written by {answer.model}" if answer.mode == "llm" else made
    return ", ".join([f"{checked} of {format_count(len(exchange.sentences), 'sentence')} checked", made, *took])


def how_made(answer: Answer) -> Iterator[tuple[str, str]]:
    """(what, how) of the search and the making of an answer."""
    if answer.answered or answer.mode == "llm":
        yield "Made", f"{written_by(answer)}, {answer.confidence} confidence"
    else:
        yield "Made", "No language model"
    if answer.condensed not in ("", answer.question):
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
    if exchange.answer and exchange.abstains:
        nearest = list(exchange.sources.values())
        return [_group("near", near_heading(exchange.answer.model), nearest, numbers)]
    cited = exchange.cited()
    rest = [source for source in exchange.sources.values() if source not in cited]
    more = f"Show {format_count(len(rest), 'more place')}"
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
    rows: dict[tuple[str, str], list[list[int]]] = {}
    for source in sources:
        spot = place_and_others(source), clipped(source.words, _QUOTED) if quoted else ""
        rows.setdefault(spot, []).append([source.n, numbers[source.n]])
    return [{"numbers": each, "place": place, "quote": quote} for (place, quote), each in rows.items()]
