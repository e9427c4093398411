"""Word lists as data: files of one word or name a line, in groups; a line that begins with `#` is a comment."""

from functools import cache
from pathlib import Path


@cache
def word_lists(name: str) -> dict[str, tuple[str, ...]]:
    """The groups of the file `<name>.txt`: the words below each `[group]`, in their order."""
    groups: dict[str, list[str]] = {}
    words: list[str] = []
    for line in Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("["):
            words = groups.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            words.append(line)
    return {group: tuple(words) for group, words in groups.items()}
