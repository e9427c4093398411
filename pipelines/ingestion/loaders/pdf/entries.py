"""Where one dated entry ends and the next begins, among lines that follow each other at an even distance."""

import re

SENTENCE_END = re.compile(r"[.!?:;…。！？][\"'”’)\]]*$")

_YEAR = r"(?:19|20)\d\d"
_MONTH_YEAR = rf"(?:[^\W\d_]{{3,12}}\.? |[\d./-]{{1,6}})?{_YEAR}"
_OPEN = r"(?:à ce jour|la actualidad|la fecha|o momento|[^\W\d_]{3,12})"
_RANGE_END = re.compile(
    rf"(?<!\d){_YEAR} ?(?:[-–—] ?(?:{_MONTH_YEAR}|{_OPEN})|(?:to|until|bis|au|à|al?|até) {_MONTH_YEAR})\)?$"
)
_DATE_END = re.compile(rf"[,;|·•(–—] ?{_MONTH_YEAR}\)?$")


def begins_entry(above: str, line: str, *, is_first: bool) -> bool:
    """Whether the line is dated like the one above it or after a sentence, or a date range closes a first line."""
    if not line[0].isupper():
        return False
    if _is_dated(line) and (_is_dated(above) or SENTENCE_END.search(above)):
        return True
    return is_first and _RANGE_END.search(above) is not None


def _is_dated(line: str) -> bool:
    return bool(_RANGE_END.search(line) or _DATE_END.search(line))
