"""What opens a list item: bullets, dashes and numbers."""

BULLETS = "•‣◦▪▫●○∙·➢➤►▶▸✓✔■□◆◇❖›⁃"
SIGNS = "-*+–"  # that also have other uses
_MAX_DIGITS = 3
_CLOSERS = ".)"


def mark_end(text: str, start: int = 0, end: int | None = None, *, letters: bool = False) -> int:
    """Where the mark ends that stands at `start`: a bullet, `1.`, `(2)`; `start` without one.

    Args:
        text: The text.
        start, end: The line, from its first word on.
        letters: True to count a small letter with a bracket, `a)`.
    """
    end = len(text) if end is None else end
    if start >= end:
        return start
    if text[start] in BULLETS or text[start] in SIGNS:
        return start + 1
    first = at = start + (text[start] == "(")
    while at < end and at - first < _MAX_DIGITS and text[at].isdecimal():
        at += 1
    if letters and at == first and "a" <= text[at : at + 1] <= "z" and text[at + 1 : at + 2] == ")":
        return min(at + 2, end)
    return at + 1 if first < at < end and text[at] in _CLOSERS else start


def item_body(text: str, start: int, end: int) -> int:
    """Where the words of a list item begin, after its mark and a space; `start` for a line that is none."""
    body = after = mark_end(text, start, end)
    while body < end and text[body] in " \t":
        body += 1
    return body if start < after < body < end and not text[body].isspace() else start
