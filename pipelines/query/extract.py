"""The extractive writer: the sentences of the sources that answer best, verbatim."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pipelines.query.postprocess.duplicates import jaccard
from pipelines.store.tokens import tokenise
from pipelines.text import fold, plain, sentences
from pipelines.types import Context, QueryIntent, Source

_MIN_WORDS = 4
_MAX_CHARACTERS = 600
_EMBEDDED = 32  # sentences by terms that are worth embedding
_KEEP_SHARE = 0.62  # of the best sentence's score
_REPEAT = 0.6
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_CAPITALS = 60  # characters up to which a line in capitals is a heading
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


@dataclass(frozen=True, slots=True)
class Pick:
    """A sentence of a source that may answer: its span in the snippet, its words, and how well it does."""

    source: Source
    start: int
    end: int
    text: str
    score: float


def extract(
    intent: QueryIntent,
    context: Context,
    *,
    weight: Callable[[str], float],
    similarity: Callable[[str, Sequence[str]], np.ndarray],
    max_sentences: int,
) -> list[Pick]:
    """The sentences that answer best, verbatim, in the order of their sources; at most `max_sentences`.

    A sentence scores by the share of the question's term weight that it (with its heading) holds and by its
    similarity to the question, each in 0..1; those far below the best are left out, and so are repeats.

    Args:
        intent: What is asked.
        context: Where the sentences stand.
        weight: The idf of a term.
        similarity: Cosine similarities (n,) of a question to n sentences.
        max_sentences: How many to pick.
    """
    picks = [_with_terms(pick, intent, weight) for source in context.sources for pick in _sentences_of(source)]
    picks = sorted(picks, key=lambda pick: -pick.score)[:_EMBEDDED]
    if not picks:
        return []
    near = similarity(intent.search_text, [pick.text for pick in picks])
    scored = [
        Pick(pick.source, pick.start, pick.end, pick.text, 0.5 * pick.score + 0.5 * max(0.0, float(value)))
        for pick, value in zip(picks, near, strict=True)
    ]
    chosen = _distinct(sorted(scored, key=lambda pick: -pick.score), max_sentences)
    return sorted(chosen, key=lambda pick: (pick.source.n, pick.start))


def _sentences_of(source: Source) -> Iterator[Pick]:
    titles = {fold(plain(title)) for title in (source.title, *source.section_path)}
    for start, end in sentences(source.snippet):
        raw = source.snippet[start:end]
        text = " ".join(plain(raw).split())
        if _words(text) >= _MIN_WORDS and len(text) <= _MAX_CHARACTERS and not _is_heading(raw, text, titles):
            yield Pick(source, start, end, text, 0.0)


def _words(text: str) -> int:
    """How many words there are; without spaces between words, a CJK character counts as one."""
    return max(len(text.split()), len(_CJK.findall(text)))


def _is_heading(raw: str, text: str, titles: set[str]) -> bool:
    """Whether a sentence says nothing: a heading, a line in capitals or without letters, a question, a lead-in."""
    capitals = len(text) <= _CAPITALS and (text.isupper() or not any(map(str.isalpha, text)))
    return bool(_HEADING.match(raw)) or fold(text) in titles or capitals or text.endswith(("?", ":", "？", "："))


def _with_terms(pick: Pick, intent: QueryIntent, weight: Callable[[str], float]) -> Pick:
    own = set(tokenise(pick.text))
    around = set(tokenise(" ".join((pick.source.title, *pick.source.section_path))))
    total = sum(weight(term) for term in intent.terms) or 1.0
    held = sum(weight(term) * (1.0 if term in own else 0.5 if term in around else 0.0) for term in intent.terms)
    return Pick(pick.source, pick.start, pick.end, pick.text, held / total)


def _distinct(picks: Sequence[Pick], limit: int) -> list[Pick]:
    chosen: list[tuple[Pick, frozenset[str]]] = []
    for pick in picks:
        terms = frozenset(tokenise(pick.text))
        if len(chosen) == limit or pick.score < _KEEP_SHARE * picks[0].score:
            break
        if all(jaccard(terms, other) < _REPEAT for _, other in chosen):
            chosen.append((pick, terms))
    return [pick for pick, _ in chosen]
