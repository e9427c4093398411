"""The sections of resumes and profiles by their headings, in six languages."""

import re

from pipelines.ingestion.parsers.careers.vocabulary import cached_for_short_text
from pipelines.ingestion.words import word_lists
from pipelines.text import fold, plain

MAX_HEADING = 80

SECTION_NAMES = word_lists("section_names")

_SEPARATORS = re.compile(r"\s+(?:and|und|et|y|e|ed|o|or|oder|ou)\s+|[&+/|,;•·–—]")
_BRACKETS = re.compile(r"\([^()]{0,80}\)|\[[^\[\]]{0,80}\]")
_NUMBERING = re.compile(r"(?:\d{1,2}|[ivx]{1,4}|[a-h])[.)]\s")
_NOT_WORD = re.compile(r"[\W_]+")
_CONTINUED = re.compile(
    r"(?<=\w)\W+(?:continued|cont|cont'd|contd|fortsetzung|forts|suite|continuacion|continuacao|segue|continua)\W*$"
)


@cached_for_short_text
def section_of(title: str) -> str:
    """The canonical section of a heading, `experience` for "3. WORK HISTORY:"; "" for other lines.

    The canonical names are the keys of SECTION_NAMES. Case, accents, letter spacing, Markdown marks, emoji, numbering,
    brackets, punctuation and words such as "relevant" are ignored. Of two names ("Awards and publications") the first
    counts, but skills before languages ("Languages and frameworks").
    """
    if not title or len(title) > 3 * MAX_HEADING:
        return ""
    line = plain(title).strip(" \t\n:：")
    if not line or len(line) > 2 * MAX_HEADING or line.casefold() in ("resume", "cv"):
        return ""
    folded = _CONTINUED.sub("", _BRACKETS.sub(" ", fold(line).replace("_", " ")))
    folded = folded.lstrip(" #*-–—•·▪■●►▸»|:/<>=~")
    numbering = _NUMBERING.match(folded)
    folded = folded[numbering.end() :] if numbering else folded
    whole = _NOT_WORD.sub("", folded)
    if not whole or len(whole) > MAX_HEADING or any(char.isdigit() for char in whole):
        return ""
    return _SECTION_OF.get(whole) or _composed(folded)


def _composed(folded: str) -> str:
    """The section of a composed name: names joined by "and", a name with modifiers, or an experience in some field."""
    words = [word for word in _NOT_WORD.split(folded) if word]
    if words[-1] in _ANY_EXPERIENCE and not set(words) - _FIELDS:
        return "experience"
    parts = [_part(part) for part in _SEPARATORS.split(folded) if _NOT_WORD.sub("", part)]
    named = [part for part in parts if part]
    if not named or None in parts or len(parts) > 4:
        return ""
    return "skills" if named[0] == "languages" and "skills" in named else named[0]


def _part(part: str) -> str | None:
    """The section of one name without modifiers; "" if there are only modifiers, None if it is not a name."""
    words = [word for word in _NOT_WORD.split(part) if word]
    if "".join(words) in _SECTION_OF:
        return _SECTION_OF["".join(words)]
    rest = "".join(word for word in words if word not in MODIFIER_WORDS)
    return _SECTION_OF.get(rest) if rest else ""


MODIFIER_WORDS = frozenset(map(fold, word_lists("section_words")["modifiers"]))
_ANY_EXPERIENCE = frozenset(("experience", "experiences", "employment", "appointments", "positions"))
_FIELDS = MODIFIER_WORDS | _ANY_EXPERIENCE | frozenset(word_lists("section_words")["fields"])
_SECTION_OF = {
    _NOT_WORD.sub("", fold(name)): section for section, names in reversed(SECTION_NAMES.items()) for name in names
}
