"""The SQL condition that a text holds a phrase: bound parameters, no pattern language."""

import re

from sqlalchemy import ColumnElement, and_, func

_TYPOGRAPHIC = dict(zip("‘’‚‛“”„‟«»‐‑‒–—−\xa0", "''''" + '""""""' + "------ ", strict=True))
_READ_AS = str.maketrans("".join(_TYPOGRAPHIC), "".join(_TYPOGRAPHIC.values()))
_PLAIN_WORD = re.compile(r"[A-Za-z0-9]+")


def holds(text: ColumnElement[str], phrase: str) -> ColumnElement[bool]:
    """Whether a text holds a phrase, whatever the case, the line breaks, and the look of quotes and dashes.

    The database folds the case of ASCII letters (in its C locale it knows no others); the phrase's own other letters
    are folded by name. Its longest word is looked for first, which is cheap and rules most texts out.
    """
    wanted = " ".join(phrase.translate(_READ_AS).lower().split())
    written, read = _folding(wanted)
    plain = max(_PLAIN_WORD.findall(wanted), key=len, default="")
    longest = max(wanted.split(), key=len, default="")
    lowered = func.lower(text)
    folded = func.translate(lowered, written, read)
    likely = func.strpos(lowered, plain) > 0 if plain else func.strpos(folded, longest) > 0
    return and_(likely, func.strpos(func.regexp_replace(folded, r"\s+", " ", "g"), wanted) > 0)


def _folding(wanted: str) -> tuple[str, str]:
    """What `translate` is given: typographic marks, and the capitals of the phrase's own letters beyond ASCII."""
    capitals = {char.upper(): char for char in wanted if not char.isascii() and len(char.upper()) == 1}
    pairs = _TYPOGRAPHIC | capitals
    return "".join(pairs), "".join(pairs.values())
