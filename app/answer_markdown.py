"""An answer as Markdown, with its footnotes and their words."""

from collections.abc import Mapping

from app.conversation import Exchange, written_by
from app.typeset import literal
from app.wording import FINDING, near_heading, place, readable
from pipelines.answers import Sentence, Source
from pipelines.query.careers.computed_answer import CAREER_FACTS
from pipelines.query.layout import blocks_of


def as_markdown(exchange: Exchange) -> str:
    """An exchange as a Markdown file: the answer with its numbers, then each source with the words it is cited for."""
    answer = exchange.answer
    parts = [f"# {literal(exchange.question)}", _answer_markdown(exchange) or literal(exchange.text)]
    if answer is None:
        parts.append("*This answer was stopped before it was finished.*")
    else:
        parts.append(f"{literal(written_by(answer))}. Confidence: {answer.confidence}.")
        if answer.nearest:
            parts.append(f"## {near_heading(answer.model)}")
        parts += [_source_markdown(exchange, source) for source in answer.nearest]
        parts += [f"Sources disagree: {literal(exchange.renumbered(conflict.said))}" for conflict in answer.conflicts]
        parts += [f"Note: {literal(note)}" for note in answer.notes]
    if exchange.cited():
        parts.append("## Sources")
    parts += [_source_markdown(exchange, source) for source in exchange.cited()]
    return "\n\n".join(parts) + "\n"


def _answer_markdown(exchange: Exchange) -> str:
    """The sentences with their numbers and verdicts, in the headings, lists and code of the answer."""
    answer, numbers = exchange.answer, exchange.numbers()
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


def _source_markdown(exchange: Exchange, source: Source) -> str:
    quotes = dict.fromkeys(citation.quote for citation in exchange.evidence(source.n, None))
    quoted = "\n>\n".join(f"> {literal(quote)}" for quote in quotes or {source.snippet: None})
    number = f"**[{exchange.numbers()[source.n]}]** " if quotes else ""
    where = literal(f"{readable(source.title, source.documentName)} ({source.documentName}, {place(source)})")
    return f"{number}{where}\n\n{quoted}"
