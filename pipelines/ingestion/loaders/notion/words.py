"""The words of Notion's rich text: no emphasis, links with their targets."""

from collections.abc import Sequence
from itertools import groupby
from urllib.parse import urljoin

Words = Sequence[Sequence[str]]  # [text, target] each; no link = an empty target

SITE = "https://www.notion.so"


def words(told: Words) -> str:
    """The text; a link as `[text](target)`, unless the target is what the text says."""
    parts = ((target, "".join(text for text, _ in run)) for target, run in groupby(told, key=lambda piece: piece[1]))
    return "".join(linked(text, target) for target, text in parts)


def bare(told: Words) -> str:
    """The text without targets, for code and titles."""
    return "".join(text for text, _ in told)


def linked(text: str, target: str) -> str:
    """The text as a link, white space outside of it; without a target, without words, or the same, as it is."""
    shown = text.strip()
    if not target or not shown or _address(shown) == _address(target):
        return text
    start = text.index(shown)
    return f"{text[:start]}[{shown}]({urljoin(SITE, target)}){text[start + len(shown) :]}"


def _address(text: str) -> str:
    for scheme in ("https://", "http://", "mailto:"):
        text = text.removeprefix(scheme)
    return text.rstrip("/")
