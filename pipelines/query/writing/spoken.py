"""SPOKEN: what a language model says around its answer: thoughts, headings, lists of sources, and that it has none."""

import re
from collections.abc import Iterable, Iterator

from config.prompts import NO_ANSWER
from pipelines.text import fold

_THOUGHT, _END = ("<think>", "<thinking>"), re.compile(r"</think(?:ing)?>\s*")
_LONGEST_END = 12  # characters of a mark
_HEADING = re.compile(r" {0,3}(?:#{1,6} .{1,120}|(?:\*\*|__)[^*_\n]{1,80}(?:\*\*|__):?)\s*")
_SOURCES = re.compile(
    r"[#*_\s]{0,9}(?:sources?(?: cited)?|references|citations|footnotes|bibliography|works cited)"
    r"[*_]{0,3}:?[*_\s]{0,5}",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\s*(?:[-*•]|\d{1,3}[.)]|[\[［【]).{0,300}")
_MARKER = re.compile(r"[\[［【]\s{0,2}\d")
_NOTHING = frozenset(["", "null", "none", "nil", "undefined", "n/a", "na", "nothing", "no answer", "nan", "...", "…"])
_REFUSED = re.compile(
    r"\b(?:i['’]?m|i am) (?:\w+ ){0,2}sorry\b|^(?:sorry|my apologies|i apologi[sz]e)\b"
    r"|\b(?:i|we) (?:cannot|can ?not|can['’]t|could not|couldn['’]t|am not able to|am unable to|are unable to|won['’]t"
    r"|will not) (?:\w+ ){0,2}(?:help|assist|answer|comply|provide|find|determine|tell|say|confirm|fulfil+|discuss)\b"
    r"|\b(?:i|we) (?:do not|don['’]t) (?:know|have)\b"
    r"|\b(?:sources|documents|context|passages|excerpts) (?:do|does|did) ?(?:not|n['’]t) (?:\w+ ){0,2}"
    r"(?:contain|mention|say|state|provide|include|specify|answer|give|tell)\b",
    re.IGNORECASE,
)


def outside_thoughts(pieces: Iterable[str]) -> Iterator[str]:
    """A stream without the block of thoughts that it begins with; one that is never closed hides all after it."""
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
            if (end := _END.search(held)) is None:
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


def sentences_only(text: str) -> str:
    """An answer without its headings and the list of sources at its end; as it was where nothing else is left."""
    text = _END.split(text)[-1]
    kept: list[str] = []
    fenced = False
    for line in _without_sources(text.split("\n")):
        fenced ^= line.lstrip().startswith("```")
        if fenced or _MARKER.search(line) or not _HEADING.fullmatch(line):
            kept.append(line)
    left = "\n".join(kept).strip("\n")
    return left if left.strip() else text


def says_nothing(text: str) -> bool:
    """Whether a whole reply is no answer: `null`, `n/a`, nothing at all."""
    return text.strip("\"'`*_ .!\n\t").casefold() in _NOTHING


def gives_up(sentence: str, *, is_cited: bool) -> bool:
    """Whether a sentence says that the sources do not answer, or, without a source, that the model will not."""
    if fold(NO_ANSWER).rstrip(".") in fold(sentence):
        return True
    return not is_cited and (says_nothing(sentence) or _REFUSED.search(sentence) is not None)


def _without_sources(lines: list[str]) -> list[str]:
    """The lines before the last heading of sources, where only a list of them follows."""
    last = next((at for at in range(len(lines) - 1, 0, -1) if _SOURCES.fullmatch(lines[at][:200])), None)
    if last is None or any(line.strip() and not _LISTED.match(line) for line in lines[last + 1 :]):
        return lines
    return lines[:last]
