"""Search texts from a language model's reply: parsed as data, whatever it says, and kept within bounds."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pipelines.query.reply import WORDS, first_json, is_refusal, without_template, without_thoughts
from pipelines.query.verification.words import lowered
from pipelines.store.tokens import tokenise
from pipelines.text import canonical, fold

MAX_REPLY = 8000  # characters of a reply that are read
MAX_SEARCH = 300  # characters of one search
MAX_PASSAGE = 1200  # characters of a hypothetical answer
_LONGEST_WORD = 60
_SHORTEST_QUOTE = 8
_DEPTH = 4

_ITEM = re.compile(r"^\s*(?:[-*+•–—>]\s+|#{1,6}\s+|\(?\d{1,2}\s*[.):]\s+|\(?[a-hA-H][.)]\s+)+")
_LABEL = re.compile(
    r"^\W{0,4}(?:(?:final|new|rewritten|reworded|rephrased|improved|revised|better|alternative|hypothetical|original|"
    r"clarified|standalone|search|sub)[ -]?){0,3}(?:quer(?:y|ies)|questions?|rewrite|rewording|variants?|version|"
    r"alternatives?|answer|passage|paragraph|search|output|result|response|q|a)(?:\s?\d{1,2})?\W{0,4}:\W{0,3}\s*",
    re.IGNORECASE,
)
# First words of a line that speaks of the questions, before and after them.
_PREAMBLES, _AFTERWORDS, _NO_REWRITES = (tuple(WORDS[name]) for name in ("preambles", "afterwords", "no_rewrites"))
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"'))


def parse_queries(reply: str, question: str, limit: int) -> list[str]:
    """At most `limit` questions of a reply, in its order, each one line of at most 300 characters.

    Reads JSON, code fences, numbered and bulleted lists and lines with labels; leaves out preambles, afterwords,
    refusals, the question itself, repeats, and lines in another script than the question's. A reply that tells to do
    something is a text to search for like any other: nothing reads it as an order.
    """
    found: dict[str, str] = {}
    for line in _lines(reply):
        text = _cut(line, MAX_SEARCH)
        if _is_search(text, question) and not _begins(text, _AFTERWORDS):
            found.setdefault(_key(text), text)
    found.pop(_key(question), None)
    return list(found.values())[:limit]


def parse_passage(reply: str, question: str) -> str:
    """The hypothetical answer of a reply as one paragraph of at most 1,200 characters; empty when it holds none."""
    lines = [line for line in _lines(reply) if not _begins(line, _AFTERWORDS)]
    if not lines or _is_refusal(lines[0]):
        return ""
    text = _cut(" ".join(lines), MAX_PASSAGE)
    return text if _is_search(text, question) and _key(text) != _key(question) else ""


def _lines(reply: str) -> Iterator[str]:
    """The lines of a reply that are meant to be read, without their marks."""
    body, _ = without_template(without_thoughts(canonical(reply[:MAX_REPLY])))
    fenced = "\n".join(block.partition("\n")[2] for block in body.split("```")[1::2]).strip()
    body = fenced or body
    held = _json(body)
    for line in (line for text in held or [body] for line in text.splitlines()):
        if text := _plain(line):
            yield text


def _plain(line: str) -> str:
    """One line without its number, label, quotes and emphasis; empty when it only introduces others."""
    text = " ".join(_ITEM.sub("", line.replace("**", "").replace("`", "").translate(_QUOTES)).split())
    if _begins(text, _PREAMBLES):
        quoted = [part for part in text.split('"')[1::2] if len(part) >= _SHORTEST_QUOTE]
        _, colon, after = text.rpartition(": ")
        text = quoted[-1] if quoted else after if colon else "" if text.endswith((":", "!")) else text
    text = _LABEL.sub("", text)
    if '"' in text:  # of JSON that was cut off
        text = text.strip("[]{}, ") if text.strip("[]{}, ")[:1] == '"' or text.rstrip("[]{}, ")[-1:] == '"' else text
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'*_":
        text = text[1:-1].strip()
    return "" if text.endswith((":", "[", "{")) else text.strip(' "')


def _begins(text: str, openings: tuple[str, ...]) -> bool:
    """True if a line begins with one of these words, whatever signs stand before it."""
    folded = fold(text)
    first = next((at for at, sign in enumerate(folded) if sign.isalnum()), 0)
    begun = f"{folded[first:]} "
    return any(begun.startswith(opening) and not begun[len(opening)].isalnum() for opening in openings)


def _json(body: str) -> list[str]:
    """The texts of the first JSON value in a body, in their order; empty when there is none."""
    start = min((place for place in (body.find("["), body.find("{")) if place >= 0), default=-1)
    return list(_texts(first_json(body[start:]), _DEPTH)) if start >= 0 else []


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth:
        for item in value:
            yield from _texts(item, depth - 1)
    elif isinstance(value, dict) and depth:
        named = {name.casefold(): item for name, item in value.items()}
        named = {name: item for name, item in named.items() if not any(word in name for word in WORDS["asides"])}
        fields = {name: item for name, item in named.items() if any(word in name for word in WORDS["fields"])}
        for item in (fields or named).values():
            yield from _texts(item, depth - 1)


def _is_refusal(text: str) -> bool:
    return is_refusal(text, is_supported=False) or _begins(text, _NO_REWRITES)


def _is_search(text: str, question: str) -> bool:
    """True if a text has terms, words of human length, and the question's script, and is no refusal."""
    words = text.split()
    if not words or max(map(len, words)) > _LONGEST_WORD or _is_refusal(text):
        return False
    return bool(tokenise(text)) and any(map(str.isalpha, text)) and _script(text) == _script(question)


def _script(text: str) -> str:
    """The script of most of its letters: LATIN, CYRILLIC, CJK; empty without letters."""
    counted = Counter(unicodedata.name(char, "").split(" ")[0] for char in text if char.isalpha()).most_common(1)
    return counted[0][0] if counted else ""


def _key(text: str) -> str:
    return " ".join(lowered(fold(text).rstrip("?.! ")))


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit + 1].rpartition(" ")[0] or text[:limit]
