"""The skills and languages that the lines of a resume list, with the names of groups and how well each is known."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from pipelines.facts import LanguageFacts, SkillsFacts
from pipelines.ingestion.parsers.careers.dates import durations
from pipelines.ingestion.parsers.careers.section_names import section_of
from pipelines.ingestion.parsers.careers.separators import DASHES, split_aside, split_at
from pipelines.ingestion.parsers.careers.vocabulary import is_level, language_names, spoken_languages
from pipelines.ingestion.parsers.resume.lines import ResumeLine, is_rule, words_of
from pipelines.text import fold

# How well a skill or a language is known, as drawn or in figures: "●●●○", "80 %", "4/5".
_LEVEL_MARKS = re.compile(r"[●○◉◯⬤★☆✩✪■□▮▯▰▱█░]{2,}|[•·]{3,}|\(?\b\d{1,3}\s?%\)?|\b\d{1,2}\s?/\s?(?:5|10)\b")
_MAX_LANGUAGE_LEVEL = 60

_MAX_SKILL_WORDS = 7
_MAX_GROUP, _MAX_GROUP_WORDS = 50, 5
_MAX_ITEM_WORDS = 4
_PAIRED = (2, 3)  # cells of a row of skills: a name, a list, and perhaps a level
_ITEM_ENDS = frozenset(",;|\t\n•·∙●⋅▪◦‖¦")
_LIST_MARKS = ",;•·"
_AND = frozenset(("and", "und", "et", "y", "e", "&"))
_SENTENCE_ENDS = (".", "!", "?")


def skills_or_languages(text: str, lines: Sequence[ResumeLine]) -> list[SkillsFacts | LanguageFacts]:
    """The skills of the lines by group; a list most of whose items name a language gives these."""
    found: list[SkillsFacts | LanguageFacts] = []
    for record in skill_facts(text, lines):
        spoken = language_facts(text, *record.span)
        found += spoken if len(spoken) > 1 and 2 * len(spoken) > len(record.skills) else [record]
    return found


def skill_facts(text: str, lines: Sequence[ResumeLine]) -> list[SkillsFacts]:
    """The skills of the lines in order, one record per group; consecutive lines without a group name are one group."""
    return [
        SkillsFacts(skills=tuple(skills), group=group, span=span) for group, skills, span in _skill_groups(text, lines)
    ]


def _skill_groups(text: str, lines: Sequence[ResumeLine]) -> Iterator[tuple[str, Iterable[str], tuple[int, int]]]:
    """Yield (group name, skills, span); unnamed lines join the group before.

    A name without skills is a skill, unless it is a title of skills.
    """
    group, found, span = "", dict[str, None](), (0, 0)
    heads = {line for line, below in pairwise(lines) if below.kind == "row" and is_rule(text, below)}
    lines = [line for line in lines if not is_rule(text, line) and not (line in heads and _is_head(_cells(text, line)))]
    for line, (name, skills) in zip(lines, _names_and_skills(text, lines), strict=True):
        if name:
            if found or (group and not (skills and section_of(group) == "skills")):
                yield (group, found, span) if found else ("", [group], span)
            group, found, span = name, {}, (line.start, line.end)
        if any(skill not in found for skill in skills):
            span = (span[0] if found or group else line.start), line.end
        found |= dict.fromkeys(skills)
    if found or group:
        yield (group, found, span) if found else ("", [group], span)


def _names_and_skills(text: str, lines: Sequence[ResumeLine]) -> list[tuple[str, list[str]]]:
    """The group name and the skills of each line; headings are names, and so are single words and lists in turn."""
    paired = any(_is_pair(_cells(text, line)) for line in lines)
    read = [_group_and_skills(text, line, paired) for line in lines]
    counts = [0 if name else len(skills) for name, skills in read]
    in_turn = len(counts) > 3 and set(counts[::2]) == {1} and min(counts[1::2]) > 1
    return [
        (words_of(text[line.body : line.end]).rstrip(":"), [])
        if not name and (line.kind == "heading" or (in_turn and not number % 2))
        else (name, skills)
        for number, (line, (name, skills)) in enumerate(zip(lines, read, strict=True))
    ]


def _cells(text: str, line: ResumeLine) -> list[str]:
    """The cells of a table row, or of a line with tabs."""
    raw = text[line.body : line.end]
    return [cell for cell in raw.split("|" if line.kind == "row" else "\t") if cell.strip()]


def _is_pair(cells: Sequence[str]) -> bool:
    """True if the cells are a group name and a list, perhaps with a level behind."""
    return len(cells) in _PAIRED and _is_list(cells[1]) and not _is_list(cells[0])


def _is_head(cells: Sequence[str]) -> bool:
    """True for the names of three columns or more."""
    return len(cells) > min(_PAIRED) and not any(map(_is_list, cells))


def _is_list(words: str) -> bool:
    return any(sign in _LIST_MARKS and after.isspace() for sign, after in pairwise(words))


def _group_and_skills(text: str, line: ResumeLine, paired: bool) -> tuple[str, list[str]]:
    """The group name and the skills of a line; if `paired`, a line of two cells has one in each."""
    raw = text[line.body : line.end]
    cells = _cells(text, line)
    if paired and len(cells) in _PAIRED:
        return words_of(cells[0]).rstrip(":"), list(_skills(cells[1]))
    name, listed = _split_group(raw)
    if not name and line.breaks and len(text[line.body : line.breaks[0]].split()) <= _MAX_GROUP_WORDS:
        name, listed = text[line.body : line.breaks[0]], text[line.breaks[0] : line.end]
    if name and len(name.split()) <= _MAX_GROUP_WORDS:
        return words_of(name), list(_skills(listed))
    if raw.rstrip("*_ ").endswith(":") and len(raw.split()) <= _MAX_GROUP_WORDS:
        return words_of(raw).rstrip(":"), []
    return "", list(_skills(raw))


def _split_group(raw: str) -> tuple[str, str]:
    """(the group name, the list) of "Languages: Go, Rust" and "**Languages** Go, Rust"; both "" for other lines."""
    mark = raw[:2] if raw[:2] in ("**", "__") else ""
    bold, closed, listed = raw[len(mark) :].partition(mark or ":")
    if not mark or not closed or listed.startswith(("*", "_")):
        bold, _, listed = raw.replace("：", ":").partition(":")
    name, listed = bold.strip("*_: "), listed.lstrip(" \t*_:")
    is_name = name[:1].isalnum() and len(name) <= _MAX_GROUP and not any(sign in name for sign in ":|\t,;•")
    return (name, listed) if is_name and listed else ("", "")


def _skills(raw: str) -> Iterator[str]:
    items = [item for item in split_outside_brackets(_LEVEL_MARKS.sub("\t", raw)) if item.strip()]
    if items and items[-1].strip().endswith(_SENTENCE_ENDS) and len(raw.split()) > _MAX_ITEM_WORDS * len(items):
        return  # a sentence
    for number, item in enumerate(_unlabelled(items)):
        last = number == len(items) - 1 and number > 0
        for part in _split_last_item(item) if last else [item]:
            skill = _clean_skill(part)
            if skill and len(skill.split()) <= _MAX_SKILL_WORDS and not is_level(skill):
                yield skill


def _unlabelled(items: Sequence[str]) -> Iterator[str]:
    """The items without the label of a group that begins in the middle of a list: "Go; Tools: dbt"."""
    for item in items:
        label, colon, value = item.partition(": ")
        yield value if colon and value.strip() and len(label.split()) <= _MAX_GROUP_WORDS else item


def split_outside_brackets(raw: str) -> Iterator[str]:
    """The items between separators that are outside brackets."""
    opened = depth = 0
    for place, char in enumerate(raw):
        depth = max(0, depth + (char == "(") - (char == ")"))
        if place >= opened and (depth == 0 or char in "\n\t") and (length := _separator_at(raw, place)):
            yield raw[opened:place]
            opened, depth = place + length, 0
    yield raw[opened:]


def _separator_at(raw: str, place: int) -> int:
    """The length of the separator of items at a place: a sign, a dash or slash between spaces, a gap; 0 without one."""
    if raw[place] in _ITEM_ENDS:
        return 1
    if raw[place] == "<":
        return (raw.find(">", place) + 1 - place) if raw[place + 1 : place + 3] == "br" else 0
    around = raw[place : place + 3]
    is_between = len(around) == 3 and around[1] in f"/{DASHES}" and around[0].isspace() and around[2].isspace()
    gap = len(raw[place:]) - len(raw[place:].lstrip()) if around.isspace() else 0
    return 3 if is_between else gap if gap > 2 else 0


def _split_last_item(item: str) -> list[str]:
    """The last item of a list; "Go and Rust" is two."""
    first, _, rest = item.strip().partition(" ")
    item = rest.lstrip() if first.lower() in _AND and rest else item.strip()
    sides = split_at(item, "", _AND)
    is_two = len(sides) == 2 and all(0 < len(side.split()) <= 2 for side in sides) and "&" not in item
    return sides if is_two else [item]


def _clean_skill(item: str) -> str:
    skill = words_of(item).rstrip(".")
    bare, aside = split_aside(skill)
    if is_level(aside) or _is_length(aside):
        skill = bare
    return skill if any(map(str.isalnum, skill)) and not _is_length(skill) else ""


def _is_length(words: str) -> bool:
    """True if the words begin with a duration: "5+ years"."""
    return any(start == 0 for start, _ in durations(words))


def language_facts(text: str, start: int, end: int) -> list[LanguageFacts]:
    """The languages of `text[start:end]` in order, each once; its level is the words up to the next language."""
    names: list[tuple[int, int]] = []
    for first, last in ((start + one, start + other) for one, other in language_names(text[start:end])):
        if names and fold(text[names[-1][0] : last]) in spoken_languages():  # "Norwegian Bokmål"
            names[-1] = names[-1][0], last
        else:
            names.append((first, last))
    found: dict[str, LanguageFacts] = {}
    for (first, last), (following, _) in pairwise([*names, (end, end)]):
        language = text[first:last]
        if language in found:
            continue
        ends = (at for sign in (". ", ";") if (at := text.find(sign, last, following)) >= 0)
        until = next(ends, following)
        words = text[last:until]
        is_of_next = (
            until < end and words.lstrip().startswith(",") and words.count(",") == 1
        )  # "English, a bit of French"
        is_level = not is_of_next and until - last <= 3 * _MAX_LANGUAGE_LEVEL
        level = _language_level(words) if is_level else ""
        if level and level in " ".join(text[last:until].split()) and len(level) <= _MAX_LANGUAGE_LEVEL:
            found[language] = LanguageFacts(language=language, level=level, span=(first, until))
        else:
            found[language] = LanguageFacts(language=language, span=(first, last))
    return list(found.values())


def _language_level(words: str) -> str:
    """The words behind a language up to a comma outside brackets, without "and", signs and the brackets around them."""
    level = " ".join(part for part in words_of(_LEVEL_MARKS.sub(" ", words)).split() if any(map(str.isalnum, part)))
    if words.lstrip().startswith("(") and ")" in words:
        return words_of(_LEVEL_MARKS.sub(" ", words.partition(")")[0])).lstrip("( ")
    sides = (level.count("(", 0, at) - level.count(")", 0, at) for at in range(len(level)))
    level = level[: next((at for at, depth in enumerate(sides) if level[at] == "," and not depth), None)]
    parts = level.split()
    edges = slice(bool(parts) and parts[0] in _AND, -1 if len(parts) > 1 and parts[-1] in _AND else None)
    level = " ".join(parts[edges])
    return level.strip("()[] ") if level.count("(") != level.count(")") or level.startswith("(") else level
