"""The texts and word lists of languages other than English, one TOML file each."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

FOLDER = Path(__file__).with_name("languages")
LANGUAGES = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
Part = Literal["texts", "questions", "answers"]


@cache
def language_words(language: str, part: Part) -> Mapping[str, str]:
    """The texts of a language by name; or by English words the words of `questions` (split by commas), or `answers`."""
    parts: Mapping[str, Mapping[str, str]] = tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return parts[part]
