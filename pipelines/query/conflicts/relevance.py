"""RELEVANCE: which sentences of an answer are about its question, and whether a dispute can be."""

import re
from collections.abc import Iterable

from pipelines.query.conflicts.disagreement import Disagreement
from pipelines.store.tokens import tokenise
from pipelines.types import Answer, Sentence, Source

_SHARE = 0.6  # of the question's terms that the best sentence has
_ASKING = frozenset(
    tokenise(
        "when how what which who where long many much since until year month date time start begin end join leave work"
        " job title position role company employer employed career tenure period exactly still current currently"
    )
)
_CAPITALISED = re.compile(r"(?<!\w)[A-Z][\w'’-]*")


def relevant_sentences(answer: Answer) -> tuple[Sentence, ...]:
    """The sentences that have nearly as much of what is asked as the best of them.

    What stands in the words that bear a sentence out, and in the headings and the title above them, counts as its own.
    Those of a language model are all about the question.
    """
    if answer.mode == "llm":
        return answer.sentences
    asked = {term for term in tokenise(answer.question) if not term.isdigit()}
    by_number = {source.n: source for source in answer.sources}
    held = [len(asked & _terms_of(sentence, by_number)) for sentence in answer.sentences]
    least = _SHARE * max(held, default=0)
    return tuple(sentence for sentence, count in zip(answer.sentences, held, strict=True) if count >= least)


def may_be_asked(found: Disagreement, question: str) -> bool:
    """Whether a question that names what is disputed asks for nothing that no side knows: `the outage` of a company."""
    sides = " ".join(f"{side.source.snippet} {_above(side.source)}" for side in found.sides)
    asked = {*tokenise(question)} - _ASKING
    strange = asked - {*tokenise(sides), *tokenise(found.about)} - {*tokenise(_names(question))}
    return len(strange) * 2 < len(asked) or not strange


def _terms_of(sentence: Sentence, sources: dict[int, Source]) -> set[str]:
    numbers = {*sentence.citations, *(cited.n for cited in sentence.evidence)}
    above = (_above(sources[n]) for n in sorted(numbers) if n in sources)
    quotes = (cited.quote for cited in sentence.evidence)
    return set(tokenise(" ".join([sentence.text, *quotes, *above])))


def _above(source: Source) -> str:
    return " ".join([source.title, *source.section_path])


def _names(question: str) -> str:
    """The capitalised words of a question, but for the first."""
    found: Iterable[str] = _CAPITALISED.findall(question.partition(" ")[2])
    return " ".join(found)
