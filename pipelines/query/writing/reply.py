"""REPLY: a language model's JSON -> text and the sources it names; what is broken is mended, or is no reply."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.text import fold
from pipelines.types import Source

_LONGEST = 40_000  # characters of a reply that are read
_ANSWER = ("answer", "response", "text", "content", "reply", "result")
_SOURCES = ("sources", "source", "citations", "references", "footnotes")
_NUMBERED = ("n", "id", "number", "index", "source", "source_id", "ref")
_NAMED = ("documentName", "document_name", "document", "name", "title", "file")
_QUOTED = ("snippet", "quote", "text", "passage")
_KEY = re.compile(r"""\{\s{0,40}["'“]?(?:answer|response|sources)["'”]?\s{0,9}:""", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_LITERALS = ("true", "false", "null")
_FENCE = re.compile(r"```\w{0,20}")
_NUMBER = re.compile(r"\A\W{0,4}(?:source|document|ref)?\W{0,4}(\d{1,4})\W{0,4}\Z", re.IGNORECASE)
_QUOTES = {'"': '"', "“": "”", "'": "'"}
_AFTER_TEXT = re.compile(r"\s*(?:[,}\]:]|\Z)")
_DEPTH = 30


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of an answer with its markers, and what it lists as its sources: numbers, names, or objects."""

    text: str
    sources: tuple[Any, ...] = ()


def is_json(said: str) -> bool:
    """Whether a reply is meant to be JSON, whole or broken, with or without words and fences around it."""
    place = said[:_LONGEST].find("{")
    return place >= 0 and (not _FENCE.sub("", said[:place]).strip() or _KEY.search(said, place) is not None)


def read_json(said: str) -> Reply | None:
    """The reply's first JSON object with an answer; None when there is none that can be read.

    Read through fences and words around it; trailing commas, single and missing quotation marks, line breaks inside
    text and an end that was cut off are mended. Keys beside the answer and its sources are left out.
    """
    body = said[:_LONGEST]
    start = body.find("{")
    for _ in range(3):
        if start < 0:
            return None
        value = _parsed(body[start:])
        if (reply := _reply(value)) is not None:
            return reply
        start = body.find("{", start + 1)
    return None


def numbers_of(listed: Sequence[Any], sources: Sequence[Source]) -> tuple[int, ...]:
    """The numbers of the sources that a reply lists, each once: by number, by name, or by words that stand in them."""
    found = (n for item in listed for n in _numbers(item, sources))
    valid = {source.n for source in sources}
    return tuple(dict.fromkeys(n for n in found if n in valid))


def _reply(value: Any) -> Reply | None:
    if not isinstance(value, dict):
        return None
    named = {str(name).casefold(): item for name, item in value.items()}
    text = next((named[name] for name in _ANSWER if name in named), None)
    if isinstance(text, list) and all(isinstance(line, str) for line in text):
        text = " ".join(text)
    if not isinstance(text, str) or not text.strip():
        return None
    listed = next((named[name] for name in _SOURCES if name in named), ())
    return Reply(text.strip(), tuple(listed) if isinstance(listed, list) else (listed,))


def _numbers(item: Any, sources: Sequence[Source]) -> Iterator[int]:
    if isinstance(item, bool) or item is None:
        return
    if isinstance(item, int):
        yield item
    elif isinstance(item, str):
        parts = [_NUMBER.match(part) for part in item[:200].split(",")]
        yield from (int(part[1]) for part in parts if part) if all(parts) else _by_name(item, "", sources)
    elif isinstance(item, dict):
        number = next((item[key] for key in _NUMBERED if key in item), None)
        name = next((item[key] for key in _NAMED if isinstance(item.get(key), str)), "")
        quote = next((item[key] for key in _QUOTED if isinstance(item.get(key), str)), "")
        numbered = list(_numbers(number, sources)) if isinstance(number, (int, str)) else []
        yield from numbered or _by_name(name, quote, sources)


def _by_name(name: str, quote: str, sources: Sequence[Source]) -> Iterator[int]:
    """The source of that document which holds the quote; without one, the document's first."""
    wanted, words = fold(name[:500]), fold(quote[:2_000])
    titled = [s for s in sources if wanted and wanted in (fold(s.documentName), fold(s.title))]
    held = [s for s in titled or sources if words and words in fold(s.snippet)]
    yield from (source.n for source in (held or titled)[:1])


def _parsed(text: str) -> Any:
    for form in (text, _mended(text)):
        try:
            return json.JSONDecoder(strict=False).raw_decode(form)[0]
        except (ValueError, RecursionError):
            continue
    return None


def _mended(text: str) -> str:
    """The first object of a text with its commas, quotation marks and brackets set right; read once, left to right."""
    made: list[str] = []
    closers: list[str] = []
    place = 0
    while place < len(text):
        char = text[place]
        if char in _QUOTES:
            inside, place = _string(text, place)
            made.append(json.dumps(inside, ensure_ascii=False))
            continue
        if word := _WORD.match(text, place):
            made.append(word.group() if word.group() in _LITERALS else json.dumps(word.group()))
            place = word.end()
            continue
        if char in "{[":
            closers.append("}" if char == "{" else "]")
        elif char in "}]":
            if made and made[-1] == ",":
                made.pop()
            if closers:
                closers.pop()
        if len(closers) > _DEPTH:
            return ""
        if not char.isspace():
            made.append(char)
        place += 1
        if not closers:
            break
    while made and made[-1] in ",:":
        made.pop()
    return "".join(made) + "".join(reversed(closers))


def _string(text: str, start: int) -> tuple[str, int]:
    """(what stands in quotation marks, where it goes on); a mark inside that nothing of JSON follows belongs to it."""
    closing, place, inside = _QUOTES[text[start]], start + 1, []
    while place < len(text):
        char = text[place]
        if char == "\\" and place + 1 < len(text):
            inside.append(_escaped(text[place : place + 6]))
            place += 6 if text[place + 1] == "u" else 2
            continue
        if char == closing and _AFTER_TEXT.match(text, place + 1):
            return "".join(inside), place + 1
        inside.append(char)
        place += 1
    return "".join(inside), place


def _escaped(text: str) -> str:
    try:
        said = json.loads(f'"{text if text[1] == "u" else text[:2]}"')
    except ValueError:
        return text[1]
    return said if isinstance(said, str) else ""
