"""Read a language model's reply: JSON repair, thoughts, headings, source lists and refusals."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from config.prompts import NO_ANSWER
from pipelines.answers import Source
from pipelines.text import fold

_LONGEST = 40_000  # characters of a reply that are read
_ANSWER_KEYS = ("answer", "response", "text", "content", "reply", "result")
_SOURCE_KEYS = ("sources", "source", "citations", "references", "footnotes")
_NUMBER_KEYS = ("n", "id", "number", "index", "source", "source_id", "ref")
_NAME_KEYS = ("documentName", "document_name", "document", "name", "title", "file")
_QUOTE_KEYS = ("snippet", "quote", "text", "passage")
_KEY = re.compile(r"""\{\s{0,40}["'“]?(?:answer|response|sources)["'”]?\s{0,9}:""", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_LITERALS = ("true", "false", "null")
_FENCE = re.compile(r"```\w{0,20}")
_NUMBER = re.compile(r"\A\W{0,4}(?:source|document|ref)?\W{0,4}(\d{1,4})\W{0,4}\Z", re.IGNORECASE)
_QUOTES = {'"': '"', "“": "”", "'": "'"}
_AFTER_TEXT = re.compile(r"\s*(?:[,}\]:]|\Z)")
_DEPTH = 30


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The text of an answer with its markers, and what it lists as its sources: numbers, names, or objects."""

    text: str
    sources: tuple[Any, ...] = ()


def looks_like_json(reply: str) -> bool:
    """True if a reply is meant as JSON, complete or broken, with or without text and fences around it."""
    place = reply[:_LONGEST].find("{")
    return place >= 0 and (not _FENCE.sub("", reply[:place]).strip() or _KEY.search(reply, place) is not None)


def parse_json_reply(reply_text: str) -> ModelReply | None:
    """The reply's first JSON object with an answer; None when there is none that can be read.

    Read through fences and words around it; trailing commas, single and missing quotation marks, line breaks inside
    text and an end that was cut off are repaired. Keys beside the answer and its sources are left out.
    """
    body = reply_text[:_LONGEST]
    start = body.find("{")
    for _ in range(3):
        if start < 0:
            return None
        value = _parse_json(body[start:])
        if (reply := _as_reply(value)) is not None:
            return reply
        start = body.find("{", start + 1)
    return None


def listed_source_numbers(listed: Sequence[Any], sources: Sequence[Source]) -> tuple[int, ...]:
    """The numbers of the sources that a reply lists, each once: by number, by name, or by words that stand in them."""
    found = (n for item in listed for n in _source_numbers(item, sources))
    valid = {source.n for source in sources}
    return tuple(dict.fromkeys(n for n in found if n in valid))


def _as_reply(value: Any) -> ModelReply | None:
    if not isinstance(value, dict):
        return None
    named = {str(name).casefold(): item for name, item in value.items()}
    text = next((named[name] for name in _ANSWER_KEYS if name in named), None)
    if isinstance(text, list) and all(isinstance(line, str) for line in text):
        text = " ".join(text)
    if not isinstance(text, str) or not text.strip():
        return None
    listed = next((named[name] for name in _SOURCE_KEYS if name in named), ())
    return ModelReply(text.strip(), tuple(listed) if isinstance(listed, list) else (listed,))


def _source_numbers(item: Any, sources: Sequence[Source]) -> Iterator[int]:
    if isinstance(item, bool) or item is None:
        return
    if isinstance(item, int):
        yield item
    elif isinstance(item, str):
        parts = [_NUMBER.match(part) for part in item[:200].split(",")]
        yield from (int(part[1]) for part in parts if part) if all(parts) else _source_by_name(item, "", sources)
    elif isinstance(item, dict):
        number = next((item[key] for key in _NUMBER_KEYS if key in item), None)
        name = next((item[key] for key in _NAME_KEYS if isinstance(item.get(key), str)), "")
        quote = next((item[key] for key in _QUOTE_KEYS if isinstance(item.get(key), str)), "")
        numbered = list(_source_numbers(number, sources)) if isinstance(number, (int, str)) else []
        yield from numbered or _source_by_name(name, quote, sources)


def _source_by_name(name: str, quote: str, sources: Sequence[Source]) -> Iterator[int]:
    """The source of the named document that holds the quote; without a quote, the document's first source."""
    wanted, words = fold(name[:500]), fold(quote[:2_000])
    titled = [s for s in sources if wanted and wanted in (fold(s.documentName), fold(s.title))]
    held = [s for s in titled or sources if words and words in fold(s.snippet)]
    yield from (source.n for source in (held or titled)[:1])


def _parse_json(text: str) -> Any:
    for form in (text, _repaired_json(text)):
        try:
            return json.JSONDecoder(strict=False).raw_decode(form)[0]
        except (ValueError, RecursionError):
            continue
    return None


def _repaired_json(text: str) -> str:
    """The first object of a text with commas, quotation marks and brackets repaired, in one pass."""
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
    """(the quoted text, the offset after it); a quotation mark that no JSON punctuation follows is part of the text."""
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
        character = json.loads(f'"{text if text[1] == "u" else text[:2]}"')
    except ValueError:
        return text[1]
    return character if isinstance(character, str) else ""


_THOUGHT, _THOUGHT_END = ("<think>", "<thinking>"), re.compile(r"</think(?:ing)?>\s*")
_LONGEST_END = 12  # characters of a mark
_SOURCES_HEADING = re.compile(
    r"[#*_\s]{0,9}(?:sources?(?: cited)?|references|citations|footnotes|bibliography|works cited)"
    r"[*_]{0,3}:?[*_\s]{0,5}",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\s*(?:[-*•]|\d{1,3}[.)]|[\[［【]).{0,300}")
_NOTHING = frozenset(["", "null", "none", "nil", "undefined", "n/a", "na", "nothing", "no answer", "nan", "...", "…"])
_MATERIAL = r"(?:the |these |your )?(?:\w+ ){0,2}(?:sources|documents|context|passages|excerpts)"
_TELLS = r"(?:contain|mention|say|state|provide|include|specify|answer|give|tell)"
_REFUSAL = re.compile(
    r"\b(?:i['’]?m|i am) (?:\w+ ){0,2}sorry\b|^(?:sorry|my apologies|i apologi[sz]e)\b"
    r"|\b(?:i|we) (?:cannot|can ?not|can['’]t|could not|couldn['’]t|am not able to|am unable to|are unable to|won['’]t"
    r"|will not) (?:\w+ ){0,2}(?:help|assist|answer|comply|provide|find|determine|tell|say|confirm|fulfil+|discuss)\b"
    r"|\b(?:i|we) (?:do not|don['’]t) (?:know|have)\b"
    rf"|\b(?:sources|documents|context|passages|excerpts) (?:do|does|did) ?(?:not|n['’]t) (?:\w+ ){{0,2}}{_TELLS}\b"
    rf"|\b(?:none of|nothing in) {_MATERIAL} (?:\w+ ){{0,2}}{_TELLS}s?\b"
    rf"|\bno (?:\w+ ){{0,2}}(?:information|mention|details?|answer|evidence) (?:\w+ ){{0,4}}(?:in|from) {_MATERIAL}\b"
    r"|\b(?:cannot|can ?not|can['’]t|could not|couldn['’]t) be (?:determined|answered|found|inferred|confirmed)"
    rf" (?:in|from|by|with|based on) {_MATERIAL}\b",
    re.IGNORECASE,
)


def strip_thoughts(pieces: Iterable[str]) -> Iterator[str]:
    """The stream without a leading block of thoughts; a block that is never closed hides the rest."""
    held, state = "", "start"
    for piece in pieces:
        held += piece
        if state == "start":
            begun = held.lstrip().lower()
            if begun.startswith(_THOUGHT):
                state = "thinking"
            elif not any(mark.startswith(begun) for mark in _THOUGHT):
                state = "speaking"
        if state == "thinking":
            if (end := _THOUGHT_END.search(held)) is None:
                held = held[-_LONGEST_END:]
                continue
            held, state = held[end.end() :], "over"
        if state == "over":
            held = held.lstrip()
            state = "speaking" if held else state
        if state == "speaking" and held:
            yield held
            held = ""
    if state == "start" and held:
        yield held


def strip_sources_list(text: str) -> str:
    """The answer without thoughts before it and without the list of sources at its end."""
    lines = _THOUGHT_END.split(text)[-1].split("\n")
    left = "\n".join(_without_sources(lines)).strip("\n")
    return left if left.strip() else text


def is_empty_reply(text: str) -> bool:
    """True if a whole reply is no answer: `null`, `n/a`, nothing at all."""
    return text.strip("\"'`*_ .!\n\t").casefold() in _NOTHING


def is_refusal(sentence: str, *, is_supported: bool) -> bool:
    """True if a sentence holds the phrase for no answer or, unless a source supports it, says that none answers."""
    if fold(NO_ANSWER).rstrip(".") in fold(sentence):
        return True
    return not is_supported and (is_empty_reply(sentence) or _REFUSAL.search(sentence) is not None)


def _without_sources(lines: list[str]) -> list[str]:
    """The lines before the last heading of sources, if only a list follows it."""
    last = next((at for at in range(len(lines) - 1, 0, -1) if _SOURCES_HEADING.fullmatch(lines[at][:200])), None)
    if last is None or any(line.strip() and not _LISTED.match(line) for line in lines[last + 1 :]):
        return lines
    return lines[:last]
