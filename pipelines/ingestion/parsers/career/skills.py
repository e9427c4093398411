"""The skills of a section: lists after commas, bullets and pipes, in groups with names, levels taken off."""

import re
from collections.abc import Iterable, Iterator, Sequence

from pipelines.facts import SkillsFacts
from pipelines.ingestion.parsers.career.career_words import LEVELS
from pipelines.ingestion.parsers.resume.lines import Line, is_rule, words_of
from pipelines.text import fold

MAX_WORDS = 7

_SPLIT = re.compile(r"[,;|\t\n•·∙●⋅▪◦‖¦]|\s/\s|\s{3,}|\s[–—-]\s|<br\s?/?>")
_LIST = re.compile(r"[,;•·]\s")
_GROUP = re.compile(r"[*_]{0,3}([^\W_][^:：|\t,;•]{0,50}?)[*_]{0,3}\s?[:：][*_]{0,3}\s*(?=\S)")
_BOLD = re.compile(r"(?:\*\*|__)([^*_:|,;]{2,50}):?(?:\*\*|__):?\s+(?=[^\s*_|])")
_DOTS = re.compile(r"[●○◉◯⬤★☆✩✪■□▮▯▰▱█░]{2,}|[•·]{3,}|\(?\b\d{1,3}\s?%\)?|\b\d{1,2}\s?/\s?(?:5|10)\b")
_ASIDE = re.compile(r"\s*\(([^()]{1,40})\)$")
_YEARS = re.compile(r"\d{1,2}\+?\s?(?:years?|yrs?|jahre?n?|ans?|años?|anos?|anni|anno)\b.*", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|und|et|y|e|&)\s+")
_LEADING_AND = re.compile(r"^(?:and|und|et|y|e|&)\s+", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?]$")
_CELL = re.compile(r"\s*\|\s*")

_LEVEL_WORDS = frozenset(LEVELS)


def skill_facts(text: str, lines: Sequence[Line]) -> list[SkillsFacts]:
    """The skills of these lines in order, a record for each group; lines that hang together without a name are one."""
    return [SkillsFacts(skills=tuple(skills), group=group, span=span) for group, skills, span in _merged(text, lines)]


def _merged(text: str, lines: Sequence[Line]) -> Iterator[tuple[str, Iterable[str], tuple[int, int]]]:
    """The groups; lines without a name of their own are put to the group before, a name without skills is one."""
    group, found, span = "", dict[str, None](), (0, 0)
    paired = any(_is_pair(_cells(text, line)) for line in lines)
    for line in lines:
        if is_rule(text, line):
            continue
        name, skills = _read(text, line, paired)
        if line.kind == "heading" and not name:
            name, skills = words_of(text[line.body : line.end]).rstrip(":"), []
        if name:
            if found or group:
                yield (group, found, span) if found else ("", [group], span)
            group, found, span = name, {}, (line.start, line.end)
        if any(skill not in found for skill in skills):
            span = (span[0] if found or group else line.start), line.end
        found |= dict.fromkeys(skills)
    if found or group:
        yield (group, found, span) if found else ("", [group], span)


def _cells(text: str, line: Line) -> list[str]:
    """The cells of a table's row, or of a line with tabs."""
    raw = text[line.body : line.end]
    return [cell for cell in (_CELL.split(raw) if line.kind == "row" else raw.split("\t")) if cell.strip()]


def _is_pair(cells: Sequence[str]) -> bool:
    """Whether these are a group's name and a list."""
    return len(cells) == 2 and _LIST.search(cells[1]) is not None and not _LIST.search(cells[0])


def _read(text: str, line: Line, paired: bool) -> tuple[str, list[str]]:
    """The group that a line names, and the skills after it; `paired` says that lines of two cells are such."""
    raw = text[line.body : line.end]
    cells = _cells(text, line)
    if paired and len(cells) == 2:
        return words_of(cells[0]).rstrip(":"), list(_skills(cells[1]))
    match = _BOLD.match(raw) or _GROUP.match(raw)
    if match and len(match[1].split()) <= 5:
        return words_of(match[1]), list(_skills(raw[match.end() :]))
    if raw.rstrip("*_ ").endswith(":") and len(raw.split()) <= 5:
        return words_of(raw).rstrip(":"), []
    return "", list(_skills(raw))


def _skills(raw: str) -> Iterator[str]:
    items = [item for item in _outside(_DOTS.sub("\t", raw)) if item.strip()]
    if len(items) == 1 and _SENTENCE.search(items[0].strip()) and len(items[0].split()) > 4:
        return
    for number, item in enumerate(items):
        last = number == len(items) - 1 and number > 0
        for part in _parted(item) if last else [item]:
            skill = _clean(part)
            if skill and len(skill.split()) <= MAX_WORDS and not _is_level(skill):
                yield skill


def _outside(raw: str) -> Iterator[str]:
    """The items between separators that stand outside brackets."""
    opened = done = 0
    depth = 0
    cuts = {match.start(): match.end() for match in _SPLIT.finditer(raw)}
    for place, char in enumerate(raw):
        depth = max(0, depth + (char == "(") - (char == ")"))
        if place in cuts and place >= done and (depth == 0 or char in "\n\t"):
            yield raw[opened:place]
            opened = done = cuts[place]
            depth = 0
    yield raw[opened:]


def _parted(item: str) -> list[str]:
    """The last item of a list, "Go and Rust" made two."""
    item = _LEADING_AND.sub("", item.strip())
    sides = _AND.split(item)
    return (
        sides if len(sides) == 2 and all(0 < len(side.split()) <= 2 for side in sides) and "&" not in item else [item]
    )


def _clean(item: str) -> str:
    skill = words_of(item).rstrip(".")
    aside = _ASIDE.search(skill)
    if aside and (_is_level(aside[1]) or _YEARS.fullmatch(aside[1])):
        skill = skill[: aside.start()].rstrip()
    return skill if any(map(str.isalnum, skill)) and not _YEARS.fullmatch(skill) else ""


def _is_level(words: str) -> bool:
    found = [word.strip(".,()") for word in fold(words).replace("-", " ").split()]
    return bool(found) and all(word in _LEVEL_WORDS for word in found)
