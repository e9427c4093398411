"""WRITE: Context -> events and an Answer: by extraction, by facts, or an abstention; `write_llm` has the other way."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from config.prompts import GREETING, NO_ANSWER
from pipelines.query.careers.reckoning import Reckoning, cited_facts
from pipelines.query.extraction.extract import Extract
from pipelines.query.extraction.lines import readable
from pipelines.query.verification.cite import verify, verify_computed
from pipelines.query.verification.judge import BY_WORDS, Judge
from pipelines.query.verification.markers import unmarked
from pipelines.query.writing.confidence import confidence
from pipelines.types import Answer, Context, Evidence, Footnote, QueryIntent, Sentence, Token, Verdict

BY_FACTS = "career facts"  # what stands for the model of a computed answer
Written = Generator[Token | Footnote | Verdict, None, Answer]
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Brief:
    """What a writer is given: the question as understood, its sources, and how good they are.

    `instead` is what an abstention says where it is not the want of evidence: that there are no documents. `judge` is
    what sentences are verified with.
    """

    intent: QueryIntent
    context: Context
    evidence: Evidence
    searched: tuple[str, ...]
    instead: str = ""
    judge: Judge = BY_WORDS


def write_by_extraction(brief: Brief, told: Extract, fallback_reason: str = "") -> Written:
    """The picked lines with their markers, then a Verdict for each; without picks, an abstention.

    What answers a question after several things stands in bullets, a line each.
    """
    bullet = "- " if told.listed else ""
    between = f"\n{bullet}" if told.listed else " "
    written: list[Sentence] = []
    for pick in told.picks:
        text = readable(pick)
        yield Token(f"{between if written else bullet}{unmarked(text)}")
        yield Footnote(pick.source.n, pick.source)
        written.append(verify(text, (pick.source.n,), brief.context.sources, brief.judge))
    if not written:
        return (yield from abstain(brief, fallback_reason))
    yield from (Verdict(index, sentence) for index, sentence in enumerate(written))
    return Answer(
        question=brief.intent.question,
        answered=True,
        confidence=confidence(brief.evidence, written, brief.intent.terms, quoted=True, sure=told.sure),
        mode="extractive",
        model="",
        answer=bullet + joined(written, between),
        sentences=tuple(written),
        sources=brief.context.sources,
        fallback_reason=fallback_reason,
    )


def write_by_facts(question: str, reckoning: Reckoning) -> Written:
    """What was computed, with a footnote for each fact that went into it, then a Verdict; a list has a bullet each."""
    sources, said = cited_facts(reckoning)
    derived = (reckoning.value,) if reckoning.value else ()
    bullet, between = ("- ", "\n- ") if reckoning.listed else ("", " ")
    written = [verify_computed(text, quoted, derived, sources) for text, quoted in said]
    shown: set[int] = set()
    for place, sentence in enumerate(written):
        yield Token(f"{between if place else bullet}{unmarked(sentence.text)}")
        yield from (Footnote(n, sources[n - 1]) for n in sentence.citations if n not in shown)
        shown.update(sentence.citations)
    yield from (Verdict(place, sentence) for place, sentence in enumerate(written))
    supported = all(sentence.verdict == "supported" for sentence in written)
    is_sure = supported and reckoning.exact and not reckoning.doubts
    return Answer(
        question=question,
        answered=True,
        confidence="high" if is_sure else "medium" if supported else "low",
        mode="extractive",
        model=BY_FACTS,
        answer=bullet + joined(written, between),
        sentences=tuple(written),
        sources=sources,
    )


def abstain(brief: Brief, fallback_reason: str = "") -> Written:
    """Says that there is no answer; the Answer holds what was searched and the nearest passages, and cites nothing."""
    answer = replace(abstention(brief, "extractive", ""), fallback_reason=fallback_reason)
    yield Token(answer.answer)
    return answer


def abstention(brief: Brief, mode: Literal["llm", "extractive"], model: str) -> Answer:
    """An Answer that cites nothing and holds what was searched and the nearest passages."""
    return Answer(
        question=brief.intent.question,
        answered=False,
        confidence="low",
        mode=mode,
        model=model,
        answer=GREETING if brief.intent.greeting else brief.instead or NO_ANSWER,
        sentences=(),
        sources=(),
        nearest=brief.context.sources[:_NEAREST],
        searched=brief.searched,
    )


def joined(sentences: Sequence[Sentence], between: str = " ") -> str:
    """The answer's text, each sentence followed by its markers; what reads as one in a quotation is none of ours."""
    return between.join(
        unmarked(sentence.text) + "".join(f" [{n}]" for n in sentence.citations) for sentence in sentences
    )
