"""The misspelt words of a question: which they are, and the question with those corrected that are certain."""

from collections.abc import Callable, Iterator
from itertools import groupby, islice

from pipelines.query.question.words import words
from pipelines.store.lexical_index import LexicalIndex
from pipelines.store.tokens import Spelling, tokenise

_MOST_RESPELT = 8  # words of a question, so that a text in another language is not read as typos


def respelt(question: str, index: LexicalIndex) -> Iterator[tuple[str, str, list[Spelling]]]:
    """(word, its term, the nearest spellings in the index) of the question's first words that no node holds."""
    typed = (word for word in dict.fromkeys(_runs(question)) if word.isalpha() and not word.isupper())
    read = ((word, tokenise(word, aliases=False)) for word in typed if word.lower() not in words("overview-self"))
    unknown = ((word, terms[0]) for word, terms in read if len(terms) == 1 and not index.document_frequency(terms[0]))
    for word, term in islice(unknown, _MOST_RESPELT):
        if spellings := index.nearest(word.lower()):
            yield word, term, spellings


def corrected(question: str, index: LexicalIndex, note: Callable[[str], None]) -> str:
    """The question with each misspelt word replaced that has one near word in the index, one edit away; noted.

    Both retrievers, the evidence and the answer then read the same words. A word with two near ones, or at two edits,
    stays as it is: only the sparse retriever searches for those, at a lower weight.
    """
    certain = {
        word: spellings[0].spelling
        for word, _, spellings in respelt(question, index)
        if len(spellings) == 1 and spellings[0].edits == 1
    }
    for word, spelling in certain.items():
        note(correction_note(word, [spelling]))
    certain |= {word: right.capitalize() for word, right in certain.items() if word[0].isupper()}
    return "".join(certain.get(run, run) for run in _runs(question))


def _runs(text: str) -> list[str]:
    """The runs of letters of a text and what stands between them, in order."""
    return ["".join(run) for _, run in groupby(text, str.isalpha)]


def correction_note(word: str, spellings: list[str]) -> str:
    """The note on a word that was searched for in another spelling."""
    found = " or ".join(f'"{spelling}"' for spelling in spellings)
    return f'"{word}" was not found; searched for {found}.'
