"""Search texts from a language model's reply: parsed as data, whatever it says, and kept within bounds."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from config.prompts import NO_ANSWER
from pipelines.store.tokens import tokenise
from pipelines.text import canonical, fold

MAX_REPLY = 8000  # characters of a reply that are read
MAX_SEARCH = 300  # characters of one search
MAX_PASSAGE = 1200  # characters of a hypothetical answer
_LONGEST_WORD = 60
_DEPTH = 4

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_TEMPLATE = re.compile(r"<\|[^|<>]{0,40}\|>|\[/?INST\]|</?s>|<</?SYS>>")
_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
_ITEM = re.compile(r"^\s*(?:[-*+•–—>]\s+|#{1,6}\s+|\(?\d{1,2}\s*[.):]\s+|\(?[a-hA-H][.)]\s+)+")
_LABEL = re.compile(
    r"^\W{0,4}(?:(?:final|new|rewritten|reworded|rephrased|improved|revised|better|alternative|hypothetical|original|"
    r"clarified|standalone|search|sub)[ -]?){0,3}(?:quer(?:y|ies)|questions?|rewrite|rewording|variants?|version|"
    r"alternatives?|answer|passage|paragraph|search|output|result|response|q|a)(?:\s?\d{1,2})?\W{0,4}:\W{0,3}\s*",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(
    r"^\W*(?:sure|certainly|of course|absolutely|okay|ok|great|gladly|happy to|no problem|here(?:'s| is| are|'re)|"
    r"below (?:is|are)|as requested|the following|(?:i(?:'ve| have|'ll| will| would|'d) |my )(?:re)?(?:written|worded|"
    r"phrased|write|word|rewrit\w*|reword\w*|rephras\w*|search|answer)|"
    r"the (?:rewritten|reworded|question|queries|user))\b",
    re.IGNORECASE,
)
_AFTERWORD = re.compile(
    r"^\W*(?:let me know|i hope|hope this|feel free|would you like|these (?:quer|quest|variants|versions)|"
    r"this (?:rewrite|version|rewritten|query|question|passage)|note(?: that)?\b|explanation|reason(?:ing)?\b|"
    r"if you (?:need|want|would))",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"^\W*(?:i(?:'m| am) (?:sorry|afraid|unable|not able)|sorry\b|as an ai|"
    r"(?:unfortunately,? )?i (?:cannot|can't|can not|do not|don't|won't) (?:help|assist|answer|provide|find|rewrite|"
    r"access|comply|do|fulfil|generate|write|determine|know|have (?:enough|any|access|information))|"
    r"(?:n/?a|none|null|unchanged)\W*$|no (?:rewrite|change|answer)\b.{0,40}$)",
    re.IGNORECASE,
)
_DEBRIS = re.compile(r'^[\[{\s]+(?=")|(?<=")[\]},\s]+$')  # of JSON that was cut off
_QUOTED = re.compile(r'"([^"\n]{8,300})"')
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"'))
_FIELDS = re.compile(r"quer|question|rewrit|variant|search|answer|passage|hypothe|text|result|output|version|sub")
_ASIDES = re.compile(r"explan|reason|note|comment|type|thought|original|intent|language|confidence")


def parse_queries(reply: str, question: str, limit: int) -> list[str]:
    """At most `limit` questions of a reply, in its order, each one line of at most 300 characters.

    Reads JSON, code fences, numbered and bulleted lists and lines with labels; leaves out preambles, afterwords,
    refusals, the question itself, repeats, and lines in another script than the question's. A reply that tells to do
    something is a text to search for like any other: nothing reads it as an order.
    """
    found: dict[str, str] = {}
    for line in _lines(reply):
        text = _cut(line, MAX_SEARCH)
        if _is_search(text, question) and not _AFTERWORD.match(text):
            found.setdefault(_key(text), text)
    found.pop(_key(question), None)
    return list(found.values())[:limit]


def parse_passage(reply: str, question: str) -> str:
    """The hypothetical answer of a reply as one paragraph of at most 1,200 characters; empty when it holds none."""
    lines = [line for line in _lines(reply) if not _AFTERWORD.match(line)]
    if not lines or _REFUSAL.match(lines[0]):
        return ""
    text = _cut(" ".join(lines), MAX_PASSAGE)
    return text if _is_search(text, question) and _key(text) != _key(question) else ""


def _lines(reply: str) -> Iterator[str]:
    """The lines of a reply that are meant to be read, without their marks."""
    body = _TEMPLATE.sub(" ", _THOUGHT.sub("\n", canonical(reply[:MAX_REPLY])))
    fenced = "\n".join(_FENCE.findall(body)).strip()
    body = fenced or body
    held = _json(body)
    for line in (line for text in held or [body] for line in text.splitlines()):
        if text := _plain(line):
            yield text


def _plain(line: str) -> str:
    """One line without its number, label, quotes and emphasis; empty when it only introduces others."""
    text = " ".join(_ITEM.sub("", line.replace("**", "").replace("`", "").translate(_QUOTES)).split())
    if _PREAMBLE.match(text):
        quoted, (_, colon, after) = _QUOTED.findall(text), text.rpartition(": ")
        text = quoted[-1] if quoted else after if colon else "" if text.endswith((":", "!")) else text
    text = _DEBRIS.sub("", _LABEL.sub("", text)).strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'*_":
        text = text[1:-1].strip()
    return "" if text.endswith((":", "[", "{")) else text.strip(' "')


def _json(body: str) -> list[str]:
    """The texts of the first JSON value in a body, in their order; empty when there is none."""
    start = min((place for place in (body.find("["), body.find("{")) if place >= 0), default=-1)
    if start < 0:
        return []
    try:
        value, _ = json.JSONDecoder().raw_decode(body[start:])
    except (ValueError, RecursionError):
        return []
    return list(_texts(value, _DEPTH))


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth:
        for item in value:
            yield from _texts(item, depth - 1)
    elif isinstance(value, dict) and depth:
        named = {name: item for name, item in value.items() if not _ASIDES.search(name.casefold())}
        fields = {name: item for name, item in named.items() if _FIELDS.search(name.casefold())}
        for item in (fields or named).values():
            yield from _texts(item, depth - 1)


def _is_search(text: str, question: str) -> bool:
    """True if a text has terms, words of human length, and the question's script, and is no refusal."""
    words = text.split()
    if not words or max(map(len, words)) > _LONGEST_WORD or _REFUSAL.match(text) or fold(NO_ANSWER) in fold(text):
        return False
    return bool(tokenise(text)) and any(map(str.isalpha, text)) and _script(text) == _script(question)


def _script(text: str) -> str:
    """The script of most of its letters: LATIN, CYRILLIC, CJK; empty without letters."""
    return _most(unicodedata.name(char, "").split(" ")[0] for char in text if char.isalpha())


def _most(names: Iterable[str]) -> str:
    counted = Counter(names).most_common(1)
    return counted[0][0] if counted else ""


def _key(text: str) -> str:
    return " ".join(re.findall(r"[\w+#.]+", fold(text).rstrip("?.! ")))


def _cut(text: str, limit: int) -> str:
    """The text, or as many of its whole words as fit."""
    return text if len(text) <= limit else text[: limit + 1].rpartition(" ")[0] or text[:limit]
