"""WRITE: Context -> events and an Answer: by a language model (streamed), by extraction, by facts, or an abstention."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from llama_index.core.llms import LLM

from config.prompts import ANSWER_SYSTEM, GREETING, NO_ANSWER, QUESTION
from pipelines.query.cite import MarkerFilter, cited_sentences, verify, verify_computed
from pipelines.query.extract import Pick
from pipelines.query.reckoning import Reckoning, cited_facts
from pipelines.store.tokens import tokenise
from pipelines.types import Answer, Context, Evidence, Footnote, QueryIntent, Sentence, Source, Token, Turn, Verdict

BY_FACTS = "career facts"  # what stands for the model of a computed answer
Written = Generator[Token | Footnote | Verdict, None, Answer]
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Brief:
    """What a writer is given: the question as understood, its sources, and how good they are."""

    intent: QueryIntent
    context: Context
    evidence: Evidence
    searched: tuple[str, ...]


def messages(question: str, context: Context, history: Sequence[Turn]) -> list[tuple[str, str]]:
    """(role, content) for a chat model: the rules, the last turns, then the sources and the question."""
    turns = [pair for turn in history for pair in (("user", turn.question), ("assistant", turn.answer))]
    return [("system", ANSWER_SYSTEM), *turns, ("user", f"{context.text}\n\n{QUESTION}{question}")]


def write_by_llm(brief: Brief, llm: LLM, history: Sequence[Turn]) -> Written:
    """Tokens and Footnotes as the model speaks, then a Verdict for each sentence; returns the Answer.

    Raises:
        ModelError, ServiceUnavailable: If the model fails before its first word.
    """
    from pipelines.models.llm import complete  # its libraries take a second to import

    sources = {source.n: source for source in brief.context.sources}
    model = str(llm.metadata.model_name)
    completion = complete(llm, messages(brief.intent.question, brief.context, history))
    markers, said = MarkerFilter(), ""
    for piece in completion:
        said += piece
        yield from _shown(markers.feed(piece), sources)
    yield from _shown(markers.close(), sources)
    if NO_ANSWER.casefold().rstrip(".") in said.casefold():
        return _abstention(brief, "llm", model)
    written = [verify(text, cited, brief.context.sources) for text, cited in cited_sentences(said, list(sources))]
    yield from (Verdict(index, sentence) for index, sentence in enumerate(written))
    return Answer(
        question=brief.intent.question,
        answered=True,
        confidence=confidence(brief.evidence, written, brief.intent.terms),
        mode="llm",
        model=model,
        answer=joined(written),
        sentences=tuple(written),
        sources=brief.context.sources,
        truncated=completion.truncated,
        fallback_reason=str(completion.failure or ""),
        usage=completion.usage,
    )


def write_by_extraction(brief: Brief, picks: Iterable[Pick], fallback_reason: str = "") -> Written:
    """The picked sentences with their markers, then a Verdict for each; without picks, an abstention."""
    written: list[Sentence] = []
    for pick in picks:
        yield Token(pick.text if not written else f" {pick.text}")
        yield Footnote(pick.source.n, pick.source)
        written.append(verify(pick.text, (pick.source.n,), brief.context.sources))
    if not written:
        return (yield from abstain(brief))
    yield from (Verdict(index, sentence) for index, sentence in enumerate(written))
    return Answer(
        question=brief.intent.question,
        answered=True,
        confidence=confidence(brief.evidence, written, brief.intent.terms),
        mode="extractive",
        model="",
        answer=joined(written),
        sentences=tuple(written),
        sources=brief.context.sources,
        fallback_reason=fallback_reason,
    )


def write_by_facts(question: str, reckoning: Reckoning) -> Written:
    """The one sentence that was computed, with a footnote for each fact that went into it, then its Verdict."""
    sources, quoted = cited_facts(reckoning)
    sentence = verify_computed(reckoning.sentence, quoted, (reckoning.value,), sources)
    yield Token(sentence.text)
    yield from (Footnote(source.n, source) for source in sources)
    yield Verdict(0, sentence)
    is_sure = sentence.verdict == "supported" and reckoning.exact and not reckoning.doubts
    return Answer(
        question=question,
        answered=True,
        confidence="high" if is_sure else "medium" if sentence.verdict == "supported" else "low",
        mode="extractive",
        model=BY_FACTS,
        answer=joined([sentence]),
        sentences=(sentence,),
        sources=sources,
        conflicts=reckoning.doubts,
    )


def abstain(brief: Brief) -> Written:
    """Says that there is no answer; the Answer holds what was searched and the nearest passages, and cites nothing."""
    yield Token(GREETING if brief.intent.greeting else NO_ANSWER)
    return _abstention(brief, "extractive", "")


def _abstention(brief: Brief, mode: Literal["llm", "extractive"], model: str) -> Answer:
    return Answer(
        question=brief.intent.question,
        answered=False,
        confidence="low",
        mode=mode,
        model=model,
        answer=GREETING if brief.intent.greeting else NO_ANSWER,
        sentences=(),
        sources=(),
        nearest=brief.context.sources[:_NEAREST],
        searched=brief.searched,
    )


def joined(sentences: Sequence[Sentence]) -> str:
    """The answer's text, each sentence followed by its markers."""
    return " ".join(sentence.text + "".join(f" [{n}]" for n in sentence.citations) for sentence in sentences)


def confidence(
    evidence: Evidence, sentences: Sequence[Sentence], terms: Sequence[str]
) -> Literal["high", "medium", "low"]:
    """high: every sentence is supported and the question well covered; low: most are not, or it is hardly covered.

    Never high when no one sentence holds half of the question's terms, or it has none: terms that are scattered over
    sentences about other things are no answer.
    """
    supported = sum(sentence.verdict == "supported" for sentence in sentences) / max(len(sentences), 1)
    spoken = [set(tokenise(sentence.text)) for sentence in sentences]
    held = max((sum(term in said for term in terms) / max(len(terms), 1) for said in spoken), default=0.0)
    if supported == 1 and evidence.coverage >= 0.8 and held >= 0.5:
        return "high"
    return "medium" if supported >= 0.5 and evidence.coverage >= 0.5 else "low"


def _shown(pieces: Iterator[str | int], sources: Mapping[int, Source]) -> Iterator[Token | Footnote]:
    for piece in pieces:
        if isinstance(piece, str):
            yield Token(piece)
        elif piece in sources:
            yield Footnote(piece, sources[piece])
