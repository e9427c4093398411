"""Programming languages and technologies that a text states, by their usual names."""

from collections.abc import Iterator, Sequence
from functools import cache

from pipelines.ingestion.words import word_lists
from pipelines.text import fold
from pipelines.topics import terms_of

_MAX_WORDS = 3
_FIRST_CJK = "\u3040"  # scripts without spaces between words
_AROUND = "()[]{}<>,;:!?\"'`*_|“”‘’«»…→"
_BEFORE_LETTER = ("in", "and", "or", "with", "for", "using", "pure", "modern", "plain", "")
_ENDS = (".", ":", "!", "?")


def technologies_in(text: str, *, badge: bool = False) -> tuple[str, ...]:
    """The languages and technologies that a text states, in its order, each once.

    In the text of a `badge` a name counts whatever its case.
    """
    spaced = text if text.isascii() else "".join(f" {char} " if char >= _FIRST_CJK else char for char in text)
    words = [part for word in spaced.split() for part in _parts(word)]
    found: dict[str, None] = {}
    at = 0
    while at < len(words):
        size, name = next(_names_at(words, at, badge=badge), (1, ""))
        if name:
            found[name] = None
        at += size
    return tuple(found)


def topic_terms(text: str) -> tuple[str, ...]:
    """The terms of fields of work that a text uses, without those that are technologies."""
    return tuple(term for term in terms_of(text) if not technologies_in(term, badge=True))


def language_of_fence(word: str) -> str:
    """The language of a code block by the word after its fence; empty if it is no programming language."""
    return _spellings("fences").get(fold(word), "")


def language_of_command(code: str) -> str:
    """The language of the package that a line of code installs; empty for other lines."""
    line = code.strip().removeprefix("$").strip().removeprefix("sudo ").casefold()
    commands = _spellings("commands").items()
    return next((name for command, name in commands if line.startswith(command)), "")


def is_language(name: str) -> bool:
    """True for a programming language, False for another technology."""
    return name in _languages()


def _parts(word: str) -> Iterator[str]:
    """The word, or its sides where a slash or a comma joins two ("C/C++", "HTML,CSS")."""
    if "://" in word or "@" in word:
        return
    for part in word.replace(",", "/").split("/"):
        if part.strip(_AROUND):
            yield part
    if word.endswith(",") or "," in word:
        yield ","


def _names_at(words: Sequence[str], at: int, *, badge: bool) -> Iterator[tuple[int, str]]:
    """(number of words, name) of the names that begin at a word, the longest first."""
    loose, exact = _loose(), _spellings("exact")
    for size in range(min(_MAX_WORDS, len(words) - at), 0, -1):
        phrase = " ".join(_bare(word) for word in words[at : at + size])
        bare = (phrase if phrase.endswith("++") else phrase.removesuffix("+")).rstrip("0123456789.")  # "Python3.11+"
        for spelt in dict.fromkeys((phrase, bare, phrase.partition("-")[0])):
            name, common = loose.get(fold(spelt), ""), exact.get(fold(phrase), "")
            if name or (common and (badge or (phrase == common and _is_meant(words, at, size)))):
                yield size, name or common


def _is_meant(words: Sequence[str], at: int, size: int) -> bool:
    """True if a common word is a name here: a version or a kind of software follows, or it is inside a sentence."""
    following = _bare(words[at + size]) if at + size < len(words) else ""
    if following[:1].isdigit() or fold(following) in word_lists("technologies")["kinds"]:
        return True
    inside = at > 0 and not words[at - 1].endswith(_ENDS) and words[at - 1][:1] not in "-*•#|"
    is_letter = len(words[at].strip(_AROUND)) == 1
    return inside and (not is_letter or fold(_bare(words[at - 1])) in _BEFORE_LETTER)


def _bare(word: str) -> str:
    bare = word.strip(_AROUND)
    return bare.rstrip(".") if not bare.startswith(".") else bare


@cache
def _spellings(group: str) -> dict[str, str]:
    """The name of each folded spelling of a group; the lines of a group are `name: spelling, spelling`."""
    found: dict[str, str] = {}
    for line in word_lists("technologies")[group]:
        name, _, others = line.partition(":")
        own = [] if group in ("commands", "fences") else [name]
        found |= {fold(spelt): name for spelt in [*own, *others.split(",")] if spelt.strip()}
    return found


@cache
def _loose() -> dict[str, str]:
    """The name of each spelling that counts whatever its case."""
    exact = {spelt: name for spelt, name in _spellings("exact").items() if spelt != fold(name)}
    return {**_spellings("languages"), **_spellings("technologies"), **exact}


@cache
def _languages() -> frozenset[str]:
    listed = (line.partition(":")[0] for line in word_lists("technologies")["languages"])
    return frozenset([*listed, *_spellings("fences").values(), "SQL", "D", "Elm", "Nim", "Scheme", "Ada", "Crystal"])
