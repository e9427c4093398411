"""Answers and their packs as Markdown, each footnote with its words; a pack is an archive of that and its JSON."""

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence

from app.conversation import Exchange, written_by
from app.typeset import literal
from app.wording import FINDING, how_it_ended, near_heading, place, readable
from pipelines.answers import Answer, Sentence, Source
from pipelines.query.careers.computed_answer import CAREER_FACTS
from pipelines.query.layout import blocks_of
from pipelines.query.pack import Pack, pack_json
from pipelines.store.conversations import Message

PACK_NAME = "answer"  # of both files in an archive
_DISPUTED = "one side of what the sources disagree about"


def as_markdown(exchange: Exchange) -> str:
    """An exchange as a Markdown file: the answer with the chat's numbers, then each source with its cited words."""
    return "\n\n".join(_parts(exchange, exchange.numbers())) + "\n"


def numbered_markdown(answer: Answer) -> str:
    """An answer with its own numbers, then each cited source with its words; of an abstention what came nearest."""
    exchange = Exchange.of(Message(answer.question, answer=answer))
    return "\n\n".join(_parts(exchange, {n: n for n in exchange.sources})[1:])


def pack_archive(pack: Pack) -> bytes:
    """A ZIP archive with the Markdown and the JSON of a pack."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{PACK_NAME}.md", pack_markdown(pack))
        archive.writestr(f"{PACK_NAME}.json", pack_json(pack))
    return buffer.getvalue()


def pack_markdown(pack: Pack) -> str:
    """A pack for people: the answer with the numbers of its JSON, its footnotes, what it was made of and with."""
    exchange = Exchange.of(Message(pack.asked.question, answer=pack.answer))
    parts = _parts(exchange, {n: n for n in exchange.sources})
    cited = exchange.cited()
    rest = [source for source in pack.answer.sources if source not in cited]
    if rest:
        listed = (f"- [{source.n}] {_where(source)}" for source in rest)
        parts += ["## Also read, not cited", "\n".join(listed)]
    if pack.documents:
        rows = [(source.documentName, source.content_sha, pack.file_hashes.get(key) or "not known")
                for key, source in pack.documents.items()]  # fmt: skip
        parts += ["## Documents", _table(("document", "content hash", "file SHA-256"), rows)]
    parts += ["## How it was made", _table(("what", "value"), list(_made(pack)))]
    parts.append("`footnote replay` with the JSON file beside this one asks again, and says what changed and why.")
    return "\n\n".join(parts) + "\n"


def _parts(exchange: Exchange, numbers: Mapping[int, int]) -> list[str]:
    """The question, the answer, what to know about it, and the sources under these numbers."""
    answer = exchange.answer
    parts = [f"# {literal(exchange.question)}", _text(exchange, numbers) or literal(exchange.text)]
    if answer is None:
        parts.append("*This answer was stopped before it was finished.*")
    else:
        made = f"{literal(written_by(answer))}. Confidence: {answer.confidence}."
        parts.append(made if answer.answered else "No answer was found.")
        parts += [f"Searched for: {literal(search)}" for search in answer.searched if not answer.answered]
        if answer.nearest and not answer.answered:
            parts.append(f"## {near_heading(answer.model)}")
            parts += [f"{_where(near)}\n\n> {literal(near.words)}" for near in answer.nearest]
        parts += [f"Sources disagree: {literal(_renumbered(conflict.said, numbers))}" for conflict in answer.conflicts]
        ended = how_it_ended(answer.mode, answer.fallback_reason, truncated=answer.truncated, answered=answer.answered)
        parts += [f"Note: {literal(note)}" for note in (*answer.notes, *ended)]
    cited = sorted(exchange.cited(), key=lambda source: numbers[source.n])
    return [*parts, *(["## Sources"] if cited else []), *(_footnote(exchange, source, numbers) for source in cited)]


def _text(exchange: Exchange, numbers: Mapping[int, int]) -> str:
    """The sentences with their numbers and verdicts, in the headings, lists and code of the answer."""
    answer = exchange.answer
    if answer is None or answer.model == CAREER_FACTS:
        return " ".join(f"{literal(sentence.text)}{_marks(sentence, numbers)}" for sentence in exchange.sentences)
    parts = []
    for block in blocks_of(answer.answer, [sentence.text for sentence in exchange.sentences]):
        lines = [[exchange.sentences[index] for index in line] for line in block.lines]
        if block.kind == "heading":
            parts.append(f"## {literal(block.text)}")
        elif block.kind == "code":
            code = (indent + line[0].text for indent, line in zip(block.indents, lines, strict=True))
            marks = dict.fromkeys(_marks(sentence, numbers).strip() for line in lines for sentence in line)
            parts.append("\n".join(["```", *code, "```", " ".join(filter(None, marks))]).rstrip())
        else:
            begin = {"bullets": "- ", "numbers": "1. "}.get(block.kind, "")
            texts = (
                " ".join(f"{literal(sentence.text)}{_marks(sentence, numbers)}" for sentence in line) for line in lines
            )
            parts.append("\n".join(f"{begin}{line}" for line in texts))
    return "\n\n".join(parts)


def _marks(sentence: Sentence, numbers: Mapping[int, int]) -> str:
    """The shown numbers of a sentence's sources, and its verdict if they do not support it."""
    finding = "" if sentence.verdict == "supported" else f" *({FINDING[sentence.verdict]})*"
    return "".join(f" [{numbers[n]}]" for n in sentence.citations) + finding


def _footnote(exchange: Exchange, source: Source, numbers: Mapping[int, int]) -> str:
    """A source with the words that it is cited for, and what they support or dispute."""
    evidence = exchange.evidence(source.n, range(len(exchange.sentences)))
    quoted = {(each.quote, FINDING[each.verdict]): None for each in evidence}
    quoted |= {(each.quote, _DISPUTED): None for each in exchange.evidence(source.n, None) if each not in evidence}
    lines = [f"> {literal(quote)}\n>\n> *{finding.capitalize()}.*" for quote, finding in quoted]
    words = "\n>\n".join(lines) or f"> {literal(source.snippet)}"
    return f"**[{numbers[source.n]}]** {_where(source)}\n\n{words}"


def _where(source: Source) -> str:
    return literal(f"{readable(source.title, source.documentName)} ({source.documentName}, {place(source)})")


def _renumbered(said: str, numbers: Mapping[int, int]) -> str:
    """A text with the shown numbers in its markers: `Leith [7]`."""
    head, *rest = said.split("[")
    for part in rest:
        inside, bracket, after = part.partition("]")
        number = numbers.get(int(inside), inside) if inside.isdecimal() else inside
        head += f"[{number}{bracket}{after}"
    return head


def _made(pack: Pack) -> Iterator[tuple[str, str]]:
    asked, searched_for = pack.asked, pack.trace.intent.search_text if pack.trace else ""
    yield "asked at", pack.made_at
    yield "asked by", asked.audience
    if asked.history:
        yield "after", "; ".join(turn.question for turn in asked.history)
    if searched_for and searched_for != asked.question:
        yield "searched for", searched_for
    if asked.filters:
        parts = (
            f"{name}: {value if isinstance(value, str) else ', '.join(map(str, value))}"
            for name, value in asked.filters.given.items()
        )
        yield "only in", "; ".join(parts)
    yield "searched by", asked.mode
    yield "language model", pack.language_model or "none"
    yield "embedding model", pack.embedding_model
    yield "settings", pack.fingerprint
    yield "corpus version", str(pack.corpus_version)
    yield "Footnote", pack.footnote


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *([literal(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
