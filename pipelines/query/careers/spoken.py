"""SPOKEN: a question after the languages that somebody speaks is not answered by those that they program in."""

import re

from pipelines.query.careers.listing import SPEAKING
from pipelines.text import fold
from pipelines.types import QueryIntent, Source

_WORD = re.compile(r"[^\W_]+(?:\+\+|#)?")
_LANGUAGE = re.compile(r"\b(?:languages?|multilingual|bilingual)\b")
_OF_CODE = frozenset(
    """bash c c# c++ clojure cobol dart elixir erlang fortran golang groovy haskell html java javascript kotlin
    lua matlab ocaml perl php prolog python r ruby rust scala sql swift typescript""".split()
)


def asks_for_spoken(intent: QueryIntent) -> bool:
    """Whether a question is after languages that people speak."""
    words = _WORD.findall(fold(intent.search_text))
    return not SPEAKING.isdisjoint(words) and bool(_LANGUAGE.search(fold(intent.search_text)))


def lists_code(source: Source, start: int, end: int) -> bool:
    """Whether a span of a source lists what programs are written in: it names two such languages at least."""
    words = set(_WORD.findall(fold(source.snippet[start:end])))
    return len(words & _OF_CODE) > 1
