"""The entries of a conversation: questions with their answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from pipelines.answers import Answer, Citation, Conflict, Footnote, Preview, Sentence, Source, Token, Verdict
from pipelines.errors import FootnoteError
from pipelines.query.answerers.overview import OVERVIEW
from pipelines.query.engine import Event
from pipelines.query.layout import blocks_of
from pipelines.query.question.followup import MOST_TURNS
from pipelines.store.conversations import Message, MessageState
from pipelines.types import Filters, Turn

NO_FILTERS = Filters()
_STORED = ("question", "filters", "reader", "answer", "problem", "waits_for", "id")  # as a message has them, too
EXTRACTIVE = "Extractive: sentences quoted verbatim"


@dataclass(slots=True)
class Exchange:
    """A question and all that has arrived in answer to it; filled while it arrives, so that a stop keeps the rest.

    Attributes:
        pieces: Text, and the numbers of footnotes where they came.
        answer: The whole Answer; None while it is written, and for good when it was stopped or failed.
        problem: What went wrong and what to do; None when nothing did.
        filters: The documents that it was asked of.
        before: The turns that it was read with.
        reader: The language model that answers; empty without one.
        preview: The quotation that is shown while the model reads.
        has_follow_ups: True once the answer has the questions that may be asked next, if there are any.
        id: Of the stored message; 0 where it could not be stored.
        is_stopped: True if the reader stopped it, or asked something else instead.
        waits_for: The job that has to end before it is answered; 0 for none.
        shown: What its widget shows, as JSON; made once, when it is finished.
    """

    question: str
    pieces: list[str | int] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    sources: dict[int, Source] = field(default_factory=dict)
    answer: Answer | None = None
    problem: tuple[str, str] | None = None
    filters: Filters = NO_FILTERS
    before: tuple[Turn, ...] = ()
    reader: str = ""
    preview: Answer | None = None
    has_follow_ups: bool = False
    id: int = 0
    is_stopped: bool = False
    waits_for: int = 0
    shown: str = ""

    @classmethod
    def of(cls, message: Message) -> "Exchange":
        """The exchange that a stored message is."""
        answer, kept = message.answer, {name: getattr(message, name) for name in _STORED}
        return cls(
            **kept,
            pieces=list(message.pieces) or ([answer.answer] if answer else []),
            sentences=list(answer.sentences) if answer else [],
            sources={source.n: source for source in (answer.sources or answer.nearest if answer else message.sources)},
            before=message.turns,
            has_follow_ups=bool(answer and answer.follow_ups),
            is_stopped=message.state == "stopped",
        )

    def message(self) -> Message:
        """The message that is stored of it."""
        state: MessageState = "stopped" if self.is_stopped else "asked"
        return Message(
            **{name: getattr(self, name) for name in _STORED},
            turns=self.before,
            state="answered" if self.answer else "failed" if self.problem else state,
            pieces=tuple(self.pieces),
            sources=tuple(self.sources.values()),
        )

    def begin(self) -> None:
        """Forget what had arrived, so that it is answered from the beginning."""
        self.pieces, self.sentences, self.sources, self.preview, self.shown = [], [], {}, None, ""
        self.answer, self.problem, self.is_stopped, self.has_follow_ups = None, None, False, False

    @property
    def is_unanswered(self) -> bool:
        """True if it still has to be answered: it was interrupted, or is under way."""
        return self.answer is None and self.problem is None and not self.is_stopped

    def follow(self, events: Iterator[Event]) -> Iterator[Event]:
        """Pass events on and keep them; a FootnoteError ends them and becomes the problem."""
        try:
            for event in events:
                self._keep(event)
                yield event
        except FootnoteError as error:
            self.problem = (error.message, error.hint)

    def _keep(self, event: Event) -> None:
        match event:
            case Preview(answer):
                self.preview = answer
            case Token(text):
                self.pieces.append(text)
            case Footnote(n, source):
                self.pieces.append(n)
                self.sources[n] = source
            case Verdict(_, sentence):
                self.sentences.append(sentence)
            case Answer() as answer:
                self.answer = answer
                self.sentences = list(answer.sentences)
                self.sources = {source.n: source for source in answer.sources or answer.nearest}

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The disagreements of its sources."""
        return self.answer.conflicts if self.answer else ()

    @property
    def abstains(self) -> bool:
        """True if it ended without an answer."""
        return self.answer is not None and not self.answer.answered

    @property
    def text(self) -> str:
        """The answer's text without its markers, as far as it came."""
        return "".join(piece for piece in self.pieces if isinstance(piece, str)).strip()

    def running(self) -> list[str | int]:
        """The Markdown so far with its footnotes; before its first word the quotation that stands in."""
        if self.pieces or self.preview is None:
            numbers = self.numbers()
            return [numbers[piece] if isinstance(piece, int) else piece for piece in self.pieces]
        said, shown = self.preview.sentences, list[str | int]()
        cited = list(dict.fromkeys(n for sentence in said for n in sentence.citations))
        for block in blocks_of(self.preview.answer, [sentence.text for sentence in said]):
            fence = "```\n" if block.kind == "code" else ""
            shown += [f"## {block.text}\n\n" if block.text else "", fence]
            for line in block.lines:
                shown.append("- " if block.kind in ("bullets", "numbers") else "")
                for index, after in zip_longest(line, line[1:]):
                    goes_on = after is not None and said[after].citations == said[index].citations
                    marks = () if fence or goes_on else said[index].citations
                    shown += [said[index].text, *(cited.index(n) + 1 for n in marks), " "]
                shown.append("\n")
            shown += [fence, "\n"]
        return [piece for piece in shown if piece != ""]

    @property
    def doing(self) -> str:
        """The step that is done for the answer now."""
        if self.sentences:
            count = len(self.sentences)
            return f"Checking the sentences against their sources: {count} checked "
        if self.pieces:
            return f"{self.reader} writes " if self.reader else "Quoting "
        return f"{self.reader} reads what was found " if self.preview else "Searching the documents "

    @property
    def standing_in(self) -> str:
        """The words above a quotation that stands in for the answer; empty if none does."""
        return f"While {self.reader} reads, in the words of the documents:" if self.preview and not self.pieces else ""

    def turn(self) -> Turn:
        """The turn that a follow-up is read with, also if it was not answered: it may share the subject."""
        titles = tuple(dict.fromkeys(source.title for source in self.cited()))
        return Turn(self.question, self.text, titles)

    def cited(self) -> list[Source]:
        """The sources that the answer cites, by number."""
        used = {n for sentence in self.sentences for n in sentence.citations}
        used |= {piece for piece in self.pieces if isinstance(piece, int)} if self.answer is None else set()
        used |= {side.n for side in self._disputed()}
        return [self.sources[n] for n in self.numbers() if n in used]

    def numbers(self) -> dict[int, int]:
        """The number that each source is shown under, by its own: from 1 in the order in which they are read.

        The sides of a disagreement stand under the first sentence that states one.
        """
        order = dict[int, None]()
        for sentence in self.sentences:
            order |= dict.fromkeys(sentence.citations)
            sides = ([side.n for side in conflict.sides] for conflict in self.conflicts)
            order |= dict.fromkeys(n for each in sides if {*each} & {*sentence.citations} for n in each)
        if self.answer is None:
            order |= dict.fromkeys(piece for piece in self.pieces if isinstance(piece, int))
        order |= dict.fromkeys([*(side.n for side in self._disputed()), *sorted(self.sources)])
        return {n: number for number, n in enumerate(order, start=1)}

    def evidence(self, n: int, sentences: Sequence[int] | None) -> list[Citation]:
        """The spans of source `n` that support these sentences, or all of them and what is disputed."""
        chosen = self.sentences if sentences is None else [self.sentences[index] for index in sentences]
        cited = [citation for each in chosen for citation in each.evidence]
        return [citation for citation in (*cited, *(self._disputed() if sentences is None else ())) if citation.n == n]

    def _disputed(self) -> list[Citation]:
        """The citations of its conflicts."""
        return [side for conflict in self.conflicts for side in conflict.sides]


def read_with(question: str, entries: Sequence[Exchange]) -> tuple[Turn, ...]:
    """The turns that a question is read with, earlier ones without their answers; none for one that was suggested."""
    answers = [entry.answer for entry in entries if entry.answer]
    if answers and question in answers[-1].follow_ups:
        return ()
    turns = [entry.turn() for entry in entries]
    return (*(replace(turn, answer="") for turn in turns[:-MOST_TURNS]), *turns[-MOST_TURNS:])


def written_by(answer: Answer) -> str:
    """Name who wrote an answer."""
    if answer.mode == "llm":
        return f"Written by {answer.model}"
    if answer.model == OVERVIEW:
        return "Put together from facts"
    return f"Computed from {answer.model}" if answer.model else EXTRACTIVE
