"""Read a language model's reply: JSON, thoughts, marks of the prompt, repetitions, source lists and refusals."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import ne
from pathlib import Path
from typing import Any

from config.prompts import NO_ANSWER, QUESTION, REMINDER_PROSE
from pipelines.answers import Source
from pipelines.query.citation_markers import numbers_of, split_markers
from pipelines.query.verification.words import read
from pipelines.structure import sentences
from pipelines.text import fold

_LONGEST = 40_000  # characters of a reply that are read
_TRIED = 3  # braces from which JSON is read
WORDS: dict[str, list[str]] = json.loads(Path(__file__).with_name("reply_words.json").read_text(encoding="utf-8"))
_ANSWER_KEYS, _SOURCE_KEYS = WORDS["answer_keys"], WORDS["source_keys"]
_KEY = re.compile(r"""\{\s{0,40}["'“]?(?:answer|response|sources)["'”]?\s{0,9}:""", re.IGNORECASE)
# Of JSON with a fault: the text of the answer up to the key after it or the end, and what is listed as its sources.
_FIELDS = re.compile(
    rf"""["'“]?\b(?:{"|".join(_ANSWER_KEYS)})["'”]?\s*+:\s*+\[?\s*+["'“](?P<text>.*?)"""
    rf"""(?:["'”]\s*+\]?\s*+(?:,\s*+["'“]?(?:{"|".join(_SOURCE_KEYS)})["'”]?\s*+:(?P<sources>.*+)|,\s*+["'“]?\w*+["'”]?|[}}\]\s,]*+))?\Z""",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The text of an answer with its markers, and what it lists as its sources."""

    text: str
    sources: tuple[Any, ...] = ()


def looks_like_json(reply: str) -> bool:
    """True if a reply is meant as JSON, complete or broken, with or without text and fences around it."""
    place = reply[:_LONGEST].find("{")
    before = reply[: max(place, 0)].strip()
    is_fence = before.startswith("```") and len(before.split()) == 1
    return place >= 0 and (not before or is_fence or _KEY.search(reply, place) is not None)


def parse_json_reply(reply_text: str) -> ModelReply | None:
    """The reply's first JSON object with an answer; None when there is none that can be read.

    Read through fences and words around it. Of an object with a fault (commas, quotation marks, line breaks inside
    text, an end that was cut off) the answer and the numbers of its sources are read.
    """
    body = reply_text[:_LONGEST]
    values = (first_json(body[start:]) for start in _braces(body))
    reply = next(filter(None, map(_as_reply, values)), None)
    if reply is not None or (found := _FIELDS.search(body, max(body.find("{"), 0))) is None or "{" not in body:
        return reply
    listed = "".join(sign if sign.isdigit() else " " for sign in found["sources"] or "").split()
    text = _unescaped(found["text"]).strip()
    return ModelReply(text, tuple(int(n[:9]) for n in listed)) if text else None


def _braces(body: str) -> Iterator[int]:
    start = -1
    for _ in range(_TRIED):
        start = body.find("{", start + 1)
        if start < 0:
            return
        yield start


def first_json(text: str) -> Any:
    """The JSON value that a text begins with; None if it begins with none."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _unescaped(text: str) -> str:
    """The text of a JSON string whose quotation marks may lack their strokes, without a stroke that was cut off."""
    text = text[:-1] if text.endswith("\\") else text
    value = first_json('"' + text.replace('\\"', '"').replace('"', '\\"') + '"')
    return value if isinstance(value, str) else text


def listed_source_numbers(listed: Sequence[Any], sources: Sequence[Source]) -> tuple[int, ...]:
    """The numbers of the sources that a reply lists, each once."""
    valid = {source.n for source in sources}
    return tuple(dict.fromkeys(n for item in listed for n in _numbers(item) if n in valid))


def _numbers(item: Any) -> Iterator[int]:
    if isinstance(item, dict):
        item = next((item[key] for key in WORDS["number_keys"] if key in item), None)
    if isinstance(item, str):
        bare = fold(item[:200]).replace("source", "").replace("document", "").replace("ref", "")
        yield from () if any(map(str.isalpha, bare)) else numbers_of(bare)
    elif isinstance(item, int) and not isinstance(item, bool):
        yield item


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


_THOUGHT, _THOUGHT_END = ("<think>", "<thinking>"), re.compile(r"</think(?:ing)?>\s*")
# Marks of a prompt that small models copy: delimiters, headers of sources, tokens of chat templates.
_DELIMITER = re.compile(
    r"[ \t]*<{1,2}\s?(?:/\s?)?(?:source|conversation)\b[ :]{0,2}(?:(\d{1,3})\b)?[^<>\n]{0,40}>{1,2}", re.IGNORECASE
)
_HEADER = re.compile(r"[ \t]*\[(?:Source|Repository|Nearly the same in): ([^\]\n]{1,300})\]")
_CUT_MARK = re.compile(
    r"(?:<{1,2}\s?/?\s?(?:source|conversation)\b[^<>\n]{0,40}|\[Source: [^\]\n]{0,300}|<\|[^|<>\n]{0,30}\|?)\Z",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"<\|[^|<>\n]{1,40}\|>|<(?:start|end)_of_turn>|<(?:bos|eos|/?s)>|\[/?INST\]|<</?SYS>>")
# A token that begins with one of these ends a turn; any other is left out.
_ENDS = tuple(WORDS["turn_ends"])
_ROLES = ("assistant", "model")
_FEWEST_WORDS, _PHRASE, _LONG, _LONGEST_PERIOD, _LEAST_RUN = 5, 4, 8, 40, 12  # words
_TIMES, _ALIKE_ITEMS = 3, 5  # in a row
_ANSWER_LABEL = "Answer: "
_ECHOED_LINES = tuple(line.split("{")[0][:60] for line in REMINDER_PROSE.splitlines())
_BULLETS = ("-", "*", "•", "[", "［", "【")
_MATERIAL = r"(?:the |these |your )?(?:\w+ ){0,2}(?:sources|documents|context|passages|excerpts)"
_TELLS = r"(?:contain|mention|say|state|provide|include|specify|answer|give|tell)"
_REFUSAL = re.compile(
    r"\b(?:i['’]?m|i am) (?:\w+ ){0,2}sorry\b|^(?:sorry|my apologies|i apologi[sz]e)\b|^as an ai\b"
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


@dataclass(frozen=True, slots=True)
class CleanReply:
    """The text of a reply, or of its beginning, that a reader may see, up to its first repetition.

    What follows is of no use if it `is_over`: the model began another turn, or repeats itself.
    """

    text: str
    is_over: bool = False
    repeats: bool = False


def clean_reply(written: str, sources: Sequence[Source]) -> CleanReply:
    """The readable text of what a model wrote, complete or not.

    A block of thoughts at its beginning is left out, also one that is not closed. A delimiter or header of a source
    (`<<source 4 8136>>`, `[Source: resume.pdf (resume), p.2]`) after words of a line becomes a marker of that source;
    any other is left out with its line. The text ends at a token that ends a turn, and before a repetition.
    """
    text, is_over = without_template(without_thoughts(written))
    lines = _CUT_MARK.sub("", text).splitlines(keepends=True)
    text = "".join(line for line in lines if not _is_mark(line))
    text = _DELIMITER.sub(lambda mark: f" [{mark[1]}]" if mark[1] else "", text)
    text = _without_echo(_HEADER.sub(lambda mark: _marker_by_name(mark[1], sources), text))
    place = repetition(text)
    return CleanReply(
        text[:place].rstrip() if place is not None else text, is_over or place is not None, place is not None
    )


def without_template(text: str) -> tuple[str, bool]:
    """(the text without the tokens of a chat template, up to one that ends its turn; whether there is one)."""
    kept, done = "", 0
    for token in _TEMPLATE.finditer(text):
        kept += text[done : token.start()]
        is_begun = bool(kept.strip())
        is_stroke = token[0] == "</s>" and text[token.end() :].partition("\n")[0].strip()
        if is_begun and token[0].startswith(_ENDS) and not is_stroke:
            return kept, True
        done = token.end()
        if not is_begun:
            role = next((role for role in _ROLES if text[done:].lstrip().startswith(role)), "")
            done += text[done:].find(role) + len(role)
            kept = ""
    return kept + text[done:].lstrip("\n" if done and not kept else ""), False


def without_thoughts(text: str) -> str:
    """The text after a block of thoughts that it begins with; empty while that is open."""
    begun = text.lstrip().lower()
    if not begun.startswith(_THOUGHT):
        return "" if begun and any(mark.startswith(begun) for mark in _THOUGHT) else text
    end = _THOUGHT_END.search(text)
    return text[end.end() :] if end else ""


def _is_mark(line: str) -> bool:
    """True for a line of a delimiter, or of a header and headings."""
    header = _HEADER.match(line)
    delimiter = _DELIMITER.match(line)
    is_header = header and not any(sign in line[header.end() :] for sign in ".!?")
    return bool(is_header or (delimiter and not line[delimiter.end() :].strip()))


def repetition(text: str) -> int | None:
    """The offset where a text begins to repeat itself; None if it does not.

    Outside code that is a sentence of at least five words that stood before, one that says four words or more three
    times one after the other, or the second of three that differ in one word (of rows of a list, the fifth in a row).
    Anywhere it is the second of three equal runs of up to forty words, which make twelve words or more.
    """
    said: list[tuple[int, list[str]]] = []
    known: set[str] = set()
    for start, end in sentences(text):
        words = [word.text for word in read(fold(split_markers(text[start:end])[0])) if not word.is_sign]
        if len(words) < _FEWEST_WORDS or text.count("```", 0, start) % 2:
            continue
        if " ".join(words) in known or _says_thrice(words):
            return start
        known.add(" ".join(words))
        said.append((start, words))
        is_item = _is_listed(text[text.rfind("\n", 0, start) + 1 : end])
        most = _ALIKE_ITEMS if is_item else _TIMES
        last = said[-most:]
        alike = (len(a) == len(b) >= _LONG and sum(map(ne, a, b)) == 1 for (_, a), (_, b) in pairwise(last))
        if len(last) == most and all(alike):
            return start if is_item else last[1][0]
    return _repeated_run(text)


def _repeated_run(text: str) -> int | None:
    tokens = read(text)
    said = [token.text for token in tokens]
    for period in range(1, min(_LONGEST_PERIOD, len(said) // _TIMES) + 1):
        run = max(period * _TIMES, _LEAST_RUN)
        if len(said) >= run and said[-run:-period] == said[-run + period :]:
            first = len(said) - run
            while first and said[first - 1] == said[first - 1 + period]:
                first -= 1
            return tokens[first + period].start
    return None


def _says_thrice(words: Sequence[str]) -> bool:
    """True if at least four words stand three times one after the other, with nothing but `and` or `or` between."""
    said = [word for word in words if word not in ("and", "or")]
    return any(
        said[at : at + size] == said[at + size : at + 2 * size] == said[at + 2 * size : at + 3 * size]
        for size in range(_PHRASE, len(said) // _TIMES + 1)
        for at in range(len(said) - _TIMES * size + 1)
    )


def _without_echo(text: str) -> str:
    """The text without lines of the prompt, up to another question that the model puts to itself."""
    kept: list[str] = []
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if bare.startswith(QUESTION) and any(map(str.strip, kept)):
            break
        if not bare.startswith((QUESTION, *_ECHOED_LINES)):
            kept.append(line if any(map(str.strip, kept)) else line.removeprefix(_ANSWER_LABEL))
    return "".join(kept)


def _marker_by_name(header: str, sources: Sequence[Source]) -> str:
    """The marker of the source that a header of a prompt names by its file and page; empty if none or several fit."""
    named = [source for source in sources if fold(header).startswith(fold(source.documentName))]
    of_page = [source for source in named if source.page and header.endswith(f"p.{source.page}")]
    found = of_page or named
    return f" [{found[0].n}]" if len(found) == 1 else ""


def strip_sources_list(text: str) -> str:
    """The answer without thoughts before it and without the list of sources at its end."""
    lines = _THOUGHT_END.split(text)[-1].split("\n")
    left = "\n".join(_without_sources(lines)).strip("\n")
    return left if left.strip() else text


def before_sources_list(text: str) -> str:
    """The beginning of an answer that is still written, up to what may be its list of sources."""
    lines = text.split("\n")
    last = next((at for at in range(1, len(lines)) if _is_sources_heading(lines[at])), len(lines))
    return "\n".join(lines[:last])


def is_empty_reply(text: str) -> bool:
    """True if a whole reply is no answer: `null`, `n/a`, nothing at all."""
    return text.strip("\"'`*_ .!\n\t").casefold() in WORDS["no_answers"]


def is_refusal(sentence: str, *, is_supported: bool) -> bool:
    """True if a sentence holds the phrase for no answer or, unless a source supports it, says that none answers."""
    if fold(NO_ANSWER).rstrip(".") in fold(sentence):
        return True
    return not is_supported and (is_empty_reply(sentence) or _REFUSAL.search(sentence) is not None)


def _without_sources(lines: list[str]) -> list[str]:
    """The lines before the last heading of sources, if only a list follows it."""
    last = next((at for at in range(len(lines) - 1, 0, -1) if _is_sources_heading(lines[at])), None)
    if last is None or any(line.strip() and not _is_listed(line) for line in lines[last + 1 :]):
        return lines
    return lines[:last]


def _is_sources_heading(line: str) -> bool:
    return line.strip("#*_: \t").lower() in WORDS["headings_of_sources"]


def _is_listed(line: str) -> bool:
    """True for an item of a list, or a line that begins with a marker."""
    begun = line.lstrip()
    number = begun[: len(begun) - len(begun.lstrip("0123456789"))]
    return begun.startswith(_BULLETS) or (0 < len(number) < 4 and begun[len(number) :].startswith((".", ")")))
