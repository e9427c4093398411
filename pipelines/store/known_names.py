"""The names that the database knows (documents, repositories, companies), found in a text by their whole words."""

import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from sqlalchemy import select

from pipelines.store.database import reading
from pipelines.store.filters import seen_by
from pipelines.store.node_reader import NodeReader
from pipelines.store.schema import documents
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import count_tokens, fold
from pipelines.types import Audience

_WORD = re.compile(r"[^\W_]+")
_DATE = re.compile(r"^\d{4}[-_]\d{1,2}[-_]\d{1,2}[-_ ]+")
_INSIDE_SENTENCE = re.compile(r"[^.?!:\s][\"“«(\[]?\s+[\"“«(\[]?$")
_MAX_WORDS = 12
_MAX_SHARED = 20  # a name of more documents tells none of them apart
# Words that say what kind of thing a document is: alone, or with stop words, they are no name.
_KINDS = frozenset(
    """about article articles blog blogs career changelog contact contributing cv document documents education
    experience faq github home index introduction job jobs journey license licence linkedin my note notes overview
    page pages portfolio post posts profile project projects readme reflections resume resumes skills summary talk
    talks timeline untitled web work writing""".split()
)


@dataclass(frozen=True, slots=True)
class _Known:
    name: str
    documents: tuple[str, ...]
    ordinary: bool


class NameIndex:
    """An immutable table of names, by their folded words."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        gathered: dict[tuple[str, ...], tuple[str, dict[str, None]]] = {}
        for name, document_id in names:
            words = tuple(_WORD.findall(fold(name)))
            if words and len(words) <= _MAX_WORDS:
                gathered.setdefault(words, (name, {}))[1][document_id] = None
        self._known: Mapping[tuple[str, ...], _Known] = {
            words: _Known(name, tuple(held), len(words) == 1 and is_ordinary(words[0]))
            for words, (name, held) in gathered.items()
            if len(held) <= _MAX_SHARED
        }
        self._longest = max(map(len, self._known), default=0)

    def __len__(self) -> int:
        return len(self._known)

    def find(self, text: str) -> list[tuple[str, Sequence[str]]]:
        """The (name, document ids) of the names whose words stand in a text, in its order, the longest first.

        A name of one ordinary word counts only where the text gives it a capital inside a sentence.
        """
        spans = list(_words(text))
        found: list[tuple[str, Sequence[str]]] = []
        place = 0
        while place < len(spans):
            width, known = self._longest_at(text, spans, place)
            if known is not None:
                found.append((known.name, known.documents))
            place += width
        return found

    def _longest_at(self, text: str, spans: Sequence[tuple[str, int]], place: int) -> tuple[int, _Known | None]:
        for width in range(min(self._longest, len(spans) - place), 0, -1):
            known = self._known.get(tuple(word for word, _ in spans[place : place + width]))
            if known is not None and (not known.ordinary or _is_proper(text, spans[place][1])):
                return width, known
        return 1, None


NO_NAMES = NameIndex(())


class KnownNames:
    """The names that each audience may see, read once for a corpus version."""

    def __init__(self, store: NodeReader) -> None:
        self._store = store
        self._held: dict[Audience, tuple[int, NameIndex]] = {}
        self._reading = threading.Lock()

    def current(self, audience: Audience, version: int) -> NameIndex:
        """The names as of a corpus version."""
        with self._reading:
            held = self._held.get(audience)
            if held is None or held[0] != version:
                held = (version, NameIndex(read_names(self._store, audience)))
                self._held[audience] = held
            return held[1]


def read_names(store: NodeReader, audience: Audience) -> Iterator[tuple[str, str]]:
    """Every (name, document id) that this audience may see: file names, titles, and what nodes state as facts."""
    d = documents.c
    statement = select(d.id, d.name, d.title).where(seen_by(audience)).order_by(d.name, d.id)
    with reading(store.engine, "reading document names") as connection:
        rows = connection.execute(statement).all()
    for row in rows:
        for name in names_of(row.name, row.title):
            yield name, row.id
    for name, document_id in store.stated_names(audience):
        if _tells_apart(name):
            yield name, document_id


def names_of(file_name: str, title: str) -> list[str]:
    """What a document may be called: its title, its file name with and without folder, extension and date.

    A file that is named for its kind (`README.md`) is called by its folder.
    """
    path = PurePosixPath(file_name)
    stem = _DATE.sub("", path.stem)
    folder = path.parent.name if fold(stem) in _KINDS else ""
    whole = [name for name in (file_name, path.name) if len(_WORD.findall(name)) > 1]
    return list(dict.fromkeys([*whole, *filter(_tells_apart, (path.stem, stem, folder, title))]))


def _tells_apart(name: str) -> bool:
    """Whether a name has a word of its own: of three letters or more, no stop word, and no mere kind of document."""
    words = _WORD.findall(fold(name))
    return any(len(word) > 2 and not word.isdigit() and word not in STOP_WORDS | _KINDS for word in words)


def is_own_word(text: str) -> bool:
    """Whether a text is one word that is no ordinary one, as projects are called."""
    return text.isalnum() and not is_ordinary(text.casefold())


def is_ordinary(word: str) -> bool:
    """Whether a word is so common that cl100k's vocabulary has it whole."""
    return count_tokens(f" {word}") == 1


def _is_proper(text: str, start: int) -> bool:
    """Whether the word at `start` has a capital that neither a sentence's start nor shouting gives it."""
    return text[start].isupper() and text != text.upper() and bool(_INSIDE_SENTENCE.search(text[:start]))


def _words(text: str) -> Iterator[tuple[str, int]]:
    """The folded words of a text with their offsets."""
    for match in _WORD.finditer(text):
        for word in _WORD.findall(fold(match.group())):
            yield word, match.start()
