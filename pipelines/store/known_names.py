"""Names known to the database (documents, repositories, companies), found in a text by their whole words."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

from sqlalchemy import select

from pipelines.months import without_date
from pipelines.store.database import read_rows
from pipelines.store.facts import stated_names
from pipelines.store.filters import seen_by
from pipelines.store.node_reader import NodeReader
from pipelines.store.read_snapshot import Mark
from pipelines.store.schema import documents
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import count_tokens, fold, word_parts
from pipelines.types import Audience

NameKind = Literal["person", "project", "other"]
_WORD = re.compile(r"[^\W_]+")
_OPENERS = tuple('"“«([')
_MAX_WORDS = 12
CAREER_CATEGORIES = frozenset({"resume", "linkedin"})  # of documents that state whose career they tell
_KEPT = 50_000  # names whose words are kept, as after a change all but a few are those of before
_MOST_CHANGED = 1_000  # documents whose names are read anew; for more all are
_MAX_SHARED = 20  # documents; a name that more of them have identifies none
# Words for kinds of documents: alone, or with stop words, they are no name.
_KINDS = frozenset(
    """about article articles blog blogs career changelog contact contributing cv document documents education
    experience faq github home index introduction job jobs journey license licence linkedin my note notes overview
    page pages portfolio post posts profile project projects readme reflections resume resumes skills summary talk
    talks timeline untitled web work writing""".split()
)


_TITLES = frozenset(
    """dipl dott dr frau herr ing jr madame mba md miss mme monsieur mr mrs ms msc mx phd prof senor senora
    signor signora sr sra""".split()
)


def only_person(names: Sequence[str]) -> str:
    """The longest of names that are all of one person; empty without any, or if there are several people."""
    longest = max(names, key=lambda name: len(name_words(name)), default="")
    return longest if all(is_same_name(name_words(name), name_words(longest)) for name in names) else ""


def name_words(name: str) -> frozenset[str]:
    """The folded words of a person's name, without initials and titles."""
    return frozenset(word for word in word_parts(name) if len(word) > 1 and word not in _TITLES)


def is_same_name(one: frozenset[str], other: frozenset[str]) -> bool:
    """True if the words of one name, two at least, are among those of the other."""
    return bool(one) and (one == other or (min(len(one), len(other)) > 1 and (one <= other or other <= one)))


Words = tuple[str, ...]
_Known = tuple[str, Sequence[str]]  # a name as it is written, and the ids of its documents


class NameIndex:
    """An immutable table of names, by their folded words.

    `people` are those whose careers are stored, as stated, `owner` the only one of them, and `projects` the names of
    projects.
    """

    def __init__(
        self,
        names: Iterable[tuple[str, str]],
        people: Sequence[str] = (),
        projects: Sequence[str] = (),
        *,
        before: "NameIndex | None" = None,
        changed: Collection[str] = (),
    ) -> None:
        """Index (name, document id).

        An index `before` gives the names of all documents but those that `changed` since.
        """
        self.people, self.projects = tuple(dict.fromkeys(people)), tuple(dict.fromkeys(projects))
        self.owner = only_person(self.people)
        self._bearers: dict[Words, tuple[tuple[str, str], ...]] = dict(before._bearers) if before else {}
        self._named: dict[str, tuple[Words, ...]] = dict(before._named) if before else {}
        touched: dict[Words, dict[str, str]] = {}  # the name of each document that bears it
        added: dict[str, list[Words]] = {}
        for document_id in changed:
            for words in self._named.pop(document_id, ()):
                touched.setdefault(words, dict(self._bearers[words])).pop(document_id)
        for name, document_id in names:
            words = _words_of(name)
            if words and len(words) <= _MAX_WORDS:
                bearers = touched.setdefault(words, dict(self._bearers.get(words, ())))
                if document_id not in bearers:
                    bearers[document_id] = name
                    added.setdefault(document_id, []).append(words)
        self._named |= {document_id: tuple(found) for document_id, found in added.items()}
        self._bearers |= {words: tuple(bearers.items()) for words, bearers in touched.items() if bearers}
        for words in (words for words, bearers in touched.items() if not bearers):
            self._bearers.pop(words, None)
        longest = before._longest if before else 0
        self._longest: int = max([longest, *map(len, touched)])

    def _known(self, words: Words) -> _Known | None:
        """The name of these words, if it is that of a few documents."""
        bearers = self._bearers.get(words, ())
        if not 0 < len(bearers) <= _MAX_SHARED:
            return None
        ids, names = zip(*sorted(bearers), strict=True)
        return names[0], ids

    def find(self, text: str) -> list[_Known]:
        """The (name, document ids) of the names whose words are in a text, in its order, the longest first.

        A name of one ordinary word counts only if it has a capital inside a sentence of the text.
        """
        return [known for known, _ in self._found(text)]

    def places(self, text: str) -> list[tuple[int, int]]:
        """The spans of the names that `find` finds in a text, in its order."""
        return [span for _, span in self._found(text)]

    def kind_of(self, name: str) -> NameKind | None:
        """The kind of a name: `person`, `project`, or `other` (a company, a document); None where it is not known."""
        own = frozenset(word_parts(name))
        if own and any(own <= name_words(person) for person in self.people):
            return "person"
        if own and any(own == frozenset(word_parts(project)) for project in self.projects):
            return "project"
        if self._known(tuple(word_parts(name))):
            return "other"
        is_part = (
            len(own) == 1
            and is_own_word(word := next(iter(own)))
            and any(word in words and self._known(words) for words in self._bearers)
        )
        return "other" if is_part else None

    def _found(self, text: str) -> Iterator[tuple[_Known, tuple[int, int]]]:
        spans, place = list(_words(text)), 0
        while place < len(spans):
            for width in range(min(self._longest, len(spans) - place), 0, -1):
                words = tuple(word for word, _, _ in spans[place : place + width])
                known = self._known(words)
                if known and (width > 1 or _is_proper(text, spans[place][1]) or not is_ordinary(words[0])):
                    yield known, (spans[place][1], spans[place + width - 1][2])
                    place += width
                    break
            else:
                place += 1


NO_NAMES = NameIndex(())


def read_name_index(
    store: NodeReader, audience: Audience, before: NameIndex | None = None, since: Mark | None = None
) -> NameIndex:
    """The names that this audience may see: file names, titles, and names that nodes state as facts.

    Of an index `before`, which is that of the mark `since`, only what changed is read, if that is known and not much.
    """
    changed = store.changed_since(since) if before and since else None
    if changed is None or len(changed) > _MOST_CHANGED:
        before = changed = None
    d = documents.c
    statement = select(d.id, d.name, d.title).where(seen_by(audience))
    if changed is not None:
        statement = statement.where(d.id.in_(changed))
    rows = read_rows(store.engine, "reading document names", statement.order_by(d.id))
    named = [(name, row.id) for row in rows for name in names_of(row.name, row.title)]
    stated = [(name, own) for name, own in store.stated_names(audience, changed) if _is_distinctive(name)]
    people = stated_names(store, audience, "person")
    projects = [name for name, _, _ in stated_names(store, audience, "project")]
    people_names = names_of_people((name, category) for name, _, category in people)
    return NameIndex([*named, *stated], people_names, projects, before=before, changed=changed or ())


def names_of_people(stated: Iterable[tuple[str, str]]) -> list[str]:
    """Of (name, category of its document), in order, the names that are people's: those of resumes and profiles.

    Another page is seldom about somebody ("For organisers"): its name counts if it is one of theirs, or if they name
    nobody.
    """
    found = list(stated)
    sure = [name_words(name) for name, category in found if category in CAREER_CATEGORIES]
    return [
        name
        for name, category in found
        if category in CAREER_CATEGORIES or not sure or any(is_same_name(name_words(name), own) for own in sure)
    ]


@lru_cache(_KEPT)
def _words_of(name: str) -> tuple[str, ...]:
    return tuple(word_parts(name))


@lru_cache(_KEPT)
def names_of(file_name: str, title: str) -> tuple[str, ...]:
    """The names of a document: its title, its file name with and without folder, extension and date.

    A file with the name of a kind (`README.md`) has the name of its folder.
    """
    path = PurePosixPath(file_name)
    stem = without_date(path.stem)
    folder = path.parent.name if fold(stem) in _KINDS else ""
    whole = [name for name in (file_name, path.name) if len(word_parts(name)) > 1]
    return tuple(dict.fromkeys([*whole, *filter(_is_distinctive, (path.stem, stem, folder, title))]))


def _is_distinctive(name: str) -> bool:
    """True if a name has a word of three letters or more that is no stop word and no kind of document."""
    words = word_parts(name)
    return any(len(word) > 2 and not word.isdigit() and word not in STOP_WORDS | _KINDS for word in words)


def is_own_word(text: str) -> bool:
    """True if a text is one word that is not ordinary, as names of projects are."""
    return text.isalnum() and not is_ordinary(text.casefold())


@lru_cache(_KEPT)
def is_ordinary(word: str) -> bool:
    """True if a word is one token of cl100k, as common words are."""
    return count_tokens(f" {word}") == 1


def _is_proper(text: str, start: int) -> bool:
    """True if the word at `start` has a capital inside a sentence, in a text that is not all capitals."""
    before = text[: start - 1] if text[:start].endswith(_OPENERS) else text[:start]
    is_inside = before[-1:].isspace() and before.rstrip()[-1:] not in ("", ".", "?", "!", ":")
    return text[start].isupper() and text != text.upper() and is_inside


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """The folded words of a text with their spans."""
    for match in _WORD.finditer(text):
        for word in word_parts(match.group()):
            yield word, *match.span()
