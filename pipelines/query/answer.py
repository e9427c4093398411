"""Common parts of all writers: their input, abstention, the joined answer text and the answer's JSON."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, TypeAdapter, ValidationError

from config.prompts import no_answer
from config.settings import PersonaSettings
from pipelines.answers import Answer, Footnote, Preview, Sentence, Source, Token, Verdict
from pipelines.errors import StoreError
from pipelines.query.careers.computed_answer import NEUTRAL
from pipelines.query.careers.disagreements import Disagreement
from pipelines.query.citation_markers import escape_markers
from pipelines.query.context import Retrieved
from pipelines.query.delimit import Context
from pipelines.query.layout import CitedText, joined
from pipelines.query.question.language import question_language
from pipelines.query.question.reading import looked_for
from pipelines.query.question.rules import reply_to_courtesy
from pipelines.query.verify import WORDS_ONLY, Judge
from pipelines.store.query_log import jsonable
from pipelines.types import Band, Evidence, QueryIntent

AnswerEvent = Preview | Token | Footnote | Verdict
AnswerEvents = Generator[AnswerEvent, None, Answer]


@dataclass(frozen=True, slots=True)
class WriterInput:
    """The input of a writer: the question as understood, the numbered sources, and how strong the evidence is.

    `searched`, `nearest` and `instead` are of an abstention: what was searched, the words that came nearest, and its
    text if it has another reason than weak evidence. `judge` verifies sentences, `persona` says that nothing answers.
    """

    intent: QueryIntent
    context: Context
    evidence: Evidence
    searched: tuple[str, ...]
    nearest: tuple[Source, ...] = ()
    instead: str = ""
    judge: Judge = WORDS_ONLY
    persona: PersonaSettings = NEUTRAL


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer that is ready to be written: its events, the passages and the disagreements that it is written from."""

    events: Callable[[], AnswerEvents]
    basis: Retrieved | None = None
    doubts: tuple[Disagreement, ...] = ()


def abstain(task: WriterInput, fallback_reason: str = "") -> AnswerEvents:
    """Yield and return an abstention."""
    answer = replace(abstention(task, "extractive", ""), fallback_reason=fallback_reason)
    yield Token(answer.answer)
    return answer


def abstention(task: WriterInput, mode: Literal["llm", "extractive"], model: str) -> Answer:
    """An Answer that says there is none and what was looked for, with the nearest words, and without citations."""
    intent = task.intent
    text = reply_to_courtesy(intent.question) or task.instead
    text = text or escape_markers(
        f"{no_answer(task.persona, question_language(intent.question)[0])} {looked_for(intent)}".rstrip()
    )
    return replace(unanswered(intent.question, text, model, task.nearest), mode=mode, searched=task.searched)


def unanswered(question: str, text: str, model: str, nearest: Sequence[Source] = ()) -> Answer:
    """An Answer without sentences: only this text, and the passages that come nearest."""
    return Answer(question, False, "low", "extractive", model, text, (), (), tuple(nearest))


def write_sentences(
    question: str, written: Sequence[tuple[CitedText, Sentence]], sources: tuple[Source, ...], band: Band, model: str
) -> AnswerEvents:
    """Yield each text after what stands before it, Footnotes after texts that cite the same, then the Verdicts.

    What reads as a marker in a sentence gets round brackets; code stays as it is. `band` is the answer's confidence.
    """
    texts, sentences = zip(*written, strict=True)
    for text, after in zip_longest(texts, texts[1:]):
        yield Token(text.before + (text.text if text.is_code else escape_markers(text.text)))
        if after is None or after.citations != text.citations:
            yield from (Footnote(n, sources[n - 1]) for n in text.citations)
    yield from (Verdict(place, sentence) for place, sentence in enumerate(sentences))
    return Answer(question, True, band, "extractive", model, joined(texts), sentences, sources)


def answer_json(answer: Answer) -> dict[str, Any]:
    """The Answer as plain data that `read_answer` reads; a StoreError if it breaks the schema, which is a bug."""
    shown: dict[str, Any] = jsonable(answer)
    read_answer(shown)
    return shown


def read_answer(shown: Any) -> Answer:
    """The Answer that plain data holds; a StoreError if it holds none.

    A part is missing or of another type, a citation points at no source, a snippet is not as long as its offsets say,
    or an abstention cites something.
    """
    try:
        return _ANSWER.validate_python(shown)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise StoreError(
            f"This is not a valid answer: {place}: {first['msg']}.", hint="Ask again, and report it."
        ) from error


def _consistent(answer: Answer) -> Answer:
    numbers = [source.n for source in answer.sources]
    cited = {n for sentence in answer.sentences for n in sentence.citations}
    cited |= {each.n for each in answer.evidence}
    if numbers != list(range(1, len(numbers) + 1)):
        raise ValueError("the sources are not numbered from 1 on")
    if not cited <= {*numbers}:
        raise ValueError(f"there is no source {min(cited - {*numbers})}")
    if any(len(source.snippet) != source.end - source.start for source in (*answer.sources, *answer.nearest)):
        raise ValueError("a snippet is not as long as its offsets say")
    if not answer.answered and answer.sentences:
        raise ValueError("an abstention has sentences")
    return answer


ConsistentAnswer = Annotated[Answer, AfterValidator(_consistent)]
_ANSWER: TypeAdapter[Answer] = TypeAdapter(ConsistentAnswer)
