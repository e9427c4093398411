"""The sections of resumes and profiles by their headings, in six languages."""

import re

from pipelines.ingestion.parsers.careers.separators import without_asides
from pipelines.ingestion.parsers.careers.vocabulary import cached_for_short_text
from pipelines.ingestion.words import word_lists
from pipelines.text import fold, letters_of, plain, word_parts

MAX_HEADING = 80

SECTION_NAMES = word_lists("section_names")

_SEPARATORS = re.compile(r"\s+(?:and|und|et|y|e|ed|o|or|oder|ou)\s+|[&+/|,;•·–—]")
_CONTINUED = frozenset(
    "continued cont cont'd contd fortsetzung forts suite continuacion continuacao segue continua".split()
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
    folded = without_asides(without_asides(fold(line).replace("_", " ")), "[]").lstrip(" #*-–—•·▪■●►▸»|:/<>=~").rstrip()
    head, _, last = folded.rpartition(" ")
    folded = head if head and last.strip("().,:;-–—…") in _CONTINUED else folded
    first, _, rest = folded.partition(" ")
    folded = rest if rest and _is_number(first) else folded
    whole = letters_of(folded)
    if not whole or len(whole) > MAX_HEADING or any(char.isdigit() for char in whole):
        return ""
    return _SECTION_OF.get(whole) or _composed(folded)


def _is_number(word: str) -> bool:
    """True for the number of a section: "3.", "iv)", "b."."""
    number = word[:-1]
    is_letters = (not number.strip("ivx") and len(number) < 5) or (len(number) == 1 and "a" <= number <= "h")
    return bool(number) and word[-1] in ".)" and (is_letters or (number.isdecimal() and len(number) < 3))


def _composed(folded: str) -> str:
    """The section of a composed name: names joined by "and", a name with modifiers, or an experience in some field."""
    words = word_parts(folded)
    if words[-1] in _ANY_EXPERIENCE and not set(words) - _FIELDS:
        return "experience"
    parts = [_part(part) for part in _SEPARATORS.split(folded) if letters_of(part)]
    named = [part for part in parts if part]
    if not named or None in parts or len(parts) > 4:
        return ""
    return "skills" if named[0] == "languages" and "skills" in named else named[0]


def _part(part: str) -> str | None:
    """The section of one name without modifiers; "" if there are only modifiers, None if it is not a name."""
    words = word_parts(part)
    if "".join(words) in _SECTION_OF:
        return _SECTION_OF["".join(words)]
    rest = "".join(word for word in words if word not in MODIFIER_WORDS)
    return _SECTION_OF.get(rest) if rest else ""


MODIFIER_WORDS = frozenset(map(fold, word_lists("section_words")["modifiers"]))
_ANY_EXPERIENCE = frozenset(("experience", "experiences", "employment", "appointments", "positions"))
_FIELDS = MODIFIER_WORDS | _ANY_EXPERIENCE | frozenset(word_lists("section_words")["fields"])
_SECTION_OF = {letters_of(name): section for section, names in reversed(SECTION_NAMES.items()) for name in names}
