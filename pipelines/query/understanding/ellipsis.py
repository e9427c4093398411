"""ELLIPSIS: a follow-up that only swaps a part of the last question ("And when?", "What about Berlin?") put into it."""

import re
from dataclasses import replace

from pipelines.query.extraction.irregular import participle
from pipelines.query.understanding.naming import PLACED, YEAR, bounds_in, names_in
from pipelines.query.understanding.refer import PERSON, answered_by, is_somebody, said_of, with_person
from pipelines.store.names import is_own_word
from pipelines.types import Turn

OPENER = r"(?:and|but|so|or|ok(?:ay)?|then|also|und|aber|oder)"
_OPENERS = rf"(?:{OPENER}\b[ ,]{{1,3}}){{0,3}}"
_ASKS = (
    r"(?:(?:since|until|till|from|by|with|for|to|seit|bis|von|mit|für) )?"
    r"(?:how (?:long|much|many|often|far|old|come)|how|when|where|why|whom?|whose|which"
    r"|wie (?:lange|viele?|oft)|wie|wann|woher|wohin|wo|warum|wieso|weshalb|wer|wen|wem)"
)
_AUX = (
    r"(?:did|does|do|has|have|had|is|are|was|were|can|could|will|would|should|may|might|must"
    r"|hat|haben|ist|sind|war|waren|wurden?|kann|hatte)"
)
_BARE = re.compile(
    rf"{_OPENERS}({_ASKS})(?: (?:exactly|then|so|not|is (?:that|this|it)|(?:was|is) (?:that|this)|genau|denn|nicht"
    r"|war das))?[ ?.!]*",
    re.IGNORECASE,
)
_LED = re.compile(rf"{_OPENERS}(?:{_ASKS}|what|was)\b([^?]{{0,60}}?) ({_AUX})\b(.*)", re.IGNORECASE)
_SUBJECT = re.compile(r"(?:who|what|which \w+|how many \w+) (\w+) (.+)", re.IGNORECASE)
_YES_NO = re.compile(rf"{_AUX}\b.*", re.IGNORECASE)
_ASKS_FIRST = re.compile(rf"{_OPENERS}(?:{_ASKS}|what)\b ?", re.IGNORECASE)
_BEING = frozenset("is are was were".split())
_DANGLING = re.compile(r" (?:about|for|of|like|at|in|on|with|from|to)$", re.IGNORECASE)
_AT = re.compile(rf" {PLACED} ", re.IGNORECASE)

_ORDINALS = (
    r"(?:first|second|third|fourth|fifth|last|next|previous|former|latter|latest|erste|zweite|dritte|letzte|nächste)"
)
_INSTEAD = re.compile(
    rf"(?:(?:{OPENER} ){{0,2}}(?:what|how) about|{OPENER}(?: was ist mit| wie (?:ist|steht) es (?:mit|um))?"
    r"|was ist mit|wie (?:ist|steht) es (?:mit|um)),? (.{1,60}?)[ ?.!]*",
    re.IGNORECASE,
)
_NTH = re.compile(
    rf"(?:(?:the|her|his|its|their|der|die|das|den) )?({_ORDINALS}[nrs]?)(?: (?:ones?|time))?", re.IGNORECASE
)
_ORDINAL = re.compile(rf"\b{_ORDINALS}\b", re.IGNORECASE)
_IN_YEAR = re.compile(rf"(?:({PLACED}) )?({YEAR})", re.IGNORECASE)
_RELATION = re.compile(
    rf"(?:(?:(?:that|those|the ones?) (?=[a-z]+ ))?({PLACED}|for|with|by|of|about|für|mit|von) )?(?:the )?",
    re.IGNORECASE,
)
_BY_THEN = re.compile(r"(before|after|since|until) (?:that|this|it|then)", re.IGNORECASE)
_PLACE = re.compile(rf"\b{PLACED}$", re.IGNORECASE)
_SIGNED = re.compile(r"[A-Z][+#]{1,2}|\.[A-Z]\w+")  # C++, C#, .NET
_MOST_WORDS = 5


def is_cut(question: str) -> bool:
    """Whether a question only names a part of another."""
    return bool(_BARE.fullmatch(question) or _other(question))


def put_into(question: str, last: Turn) -> str:
    """The last question with the part of it swapped that a follow-up names; empty where it names no such part.

    Args:
        question: The follow-up.
        last: The turn before it, its question as it stands alone.
    """
    asked = last.question.rstrip(" ?.!")
    return _asked_anew(question, asked) or _instead(_other(question), replace(last, question=asked)) if asked else ""


def _asked_anew(question: str, last: str) -> str:
    """ "When ..." of "And when?": the last question with another word to ask with."""
    bare = _BARE.fullmatch(question)
    if not bare:
        return ""
    asks = bare[1][:1].upper() + bare[1][1:].lower()
    if led := _LED.fullmatch(last):
        matter, verb, rest = led.groups()
        rest = _DANGLING.sub("", rest)
        if verb.lower() in _BEING:
            return f"{asks} {verb}{matter}{rest}?"
        place = at.start() if (at := _AT.search(rest)) else len(rest)
        return f"{asks} {verb}{rest[:place]}{matter}{rest[place:]}?"
    if _YES_NO.fullmatch(last):
        return f"{asks} {last[:1].lower()}{last[1:]}?"
    if (told := _SUBJECT.fullmatch(last)) and (made := participle(told[1])):
        return f"{asks} was {told[2]} {made}?"
    opening = _ASKS_FIRST.match(last)
    return f"{asks} {last[opening.end() :]}?" if opening else f"{asks}: {last}?"


def _other(question: str) -> str:
    """The name, year, place in a row or time that a question brings instead of another; empty where it brings none."""
    asked = _INSTEAD.fullmatch(question)
    if not asked or len(asked[1].split()) > _MOST_WORDS:
        return ""
    known = any(pattern.fullmatch(asked[1]) for pattern in (_BY_THEN, _NTH, _IN_YEAR))
    return asked[1] if known or _is_name(_relation_and_name(asked[1])[1]) else ""


def _relation_and_name(other: str) -> tuple[str, str]:
    told = _RELATION.match(other)
    return (told[1] or "", other[told.end() :]) if told else ("", other)


def _is_name(text: str) -> bool:
    named = names_in(f"x {text}")
    return bool(named and named[0].text == text) or is_own_word(text) or bool(_SIGNED.fullmatch(text))


def _follows(relation: str, before: str) -> bool:
    """Whether a text ends with a preposition, and an article or none."""
    words = before.lower().split()[-2:]
    return relation.lower() in (words[1:] if words[-1:] != ["the"] else words[:1])


def _instead(other: str, last: Turn) -> str:
    """The last question with another name, year, place in a row, or time."""
    asked = last.question
    if not other:
        return ""
    if then := _BY_THEN.fullmatch(other):
        return _beside(then[1].lower(), last)
    if nth := _NTH.fullmatch(other):
        return f"{_ORDINAL.sub(nth[1].lower(), asked, count=1)}?" if _ORDINAL.search(asked) else ""
    return _with_year(other, asked) if _IN_YEAR.fullmatch(other) else _with_name(other, last)


def _beside(relation: str, last: Turn) -> str:
    """The last question, asked of the time before or after the one that it names, or that its answer does."""
    times = [name for name in bounds_in(last.question) if name.placed]
    if not times:
        return ""
    at, end = times[-1].start, times[-1].end
    before, rest = last.question[:at].rstrip(), last.question[end:]
    when = answered_by(last) if said_of(last.question, relation) else times[-1].text
    return f"{_PLACE.sub(relation, before)} {when}{rest}?" if when and _PLACE.search(before) else ""


def _with_year(other: str, last: str) -> str:
    years = list(_IN_YEAR.finditer(last))
    if not years:
        return f"{last} {other if ' ' in other else f'in {other}'}?"
    at = years[-1]
    kept = other if " " in other or not at[1] else f"{at[1]} {other}"
    return f"{last[: at.start()]}{kept}{last[at.end() :]}?"


def _with_name(other: str, last: Turn) -> str:
    """With the last name that stands there as the other does: after the same preposition, or after any."""
    relation, name = _relation_and_name(other)
    asked, found = last.question, names_in(last.question, last.sources)
    same = [one for one in found if not relation or _follows(relation, asked[: one.start])]
    is_person = not relation and is_somebody(name, last.sources)
    if not relation and PERSON.search(asked) and (is_person or not same):
        return f"{with_person(asked, name)}?"
    if is_person:
        same = [one for one in same if one.acts or is_somebody(one.text, last.sources)] or same
    if not relation and other.lower().startswith("the "):
        same = [one for one in found if one.article] or same
    if same:
        return f"{asked[: same[-1].start]}{name}{asked[same[-1].end :]}?"
    return f"{asked} {other}?" if found else ""
