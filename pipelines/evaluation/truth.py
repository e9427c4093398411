"""What a document states, read from the file that says so: our JSON, rendercv's YAML, JSON Resume, Reactive Resume."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pipelines.errors import SourceError
from pipelines.evaluation.truth_entries import Entry, records_in
from pipelines.facts import CareerRecord
from pipelines.text import fold

SUFFIXES = (".json", ".yaml", ".yml")
_STEMS = ("{}", "{}_expected", "{}.expected", "{}.truth", "{}_truth", "{}-expected")
_FOLDERS = (".", "expected", "truth", "../expected", "../truth")
_WRAPPERS = 2

# What a section is called, folded, without spaces and signs; in the order in which an entry's section is looked up.
SECTIONS = {
    "job": "jobs job work experience experiences workexperience professionalexperience employment positions career",
    "education": "education educations schools studies degrees academicbackground",
    "skills": "skills skill topskills technicalskills technologies tools competencies corecompetencies softskills"
    " skillsandtechnologies programmingskills",
    "project": "projects project personalprojects selectedprojects openprojects opensource opensourceprojects",
    "certification": "certifications certificates certification licenses licensescertifications",
    "language": "languages language spokenlanguages",
}
_OTHERS = ("volunteer", "award", "honor", "publication", "organization", "course", "reference", "patent")
_KIND_OF = {name: kind for kind, names in SECTIONS.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class Truth:
    """What a file says that a document states.

    Attributes:
        kinds: Record types that the file speaks of; of the others it says nothing, so nothing found is wrong.
        category: The document's category; empty when the file does not say.
        theme: The layout; empty when the file does not say.
    """

    records: tuple[CareerRecord, ...]
    kinds: frozenset[str]
    category: str = ""
    theme: str = ""


def truth_of(document: Path) -> Path | None:
    """The truth file of a document: its stem (or that with `_expected`, `.truth`) beside it or in `expected/`."""
    names = [pattern.format(stem) + suffix for stem in (document.stem, document.name) for pattern in _STEMS
             for suffix in SUFFIXES]  # fmt: skip
    places = (document.parent / folder / name for folder in _FOLDERS for name in names)
    return next((place.resolve() for place in places if place.is_file()), None)


def read_truth(path: Path) -> Truth:
    """The truth that a file holds; keys that are not known are passed over.

    Raises:
        SourceError: If the file cannot be read, or holds no section of a career that is known.
    """
    hint = "See the formats in data/README.md."
    try:
        read: Callable[[str], Any] = json.loads if path.suffix == ".json" else yaml.safe_load
        held = read(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SourceError(f"{path} cannot be read as truth: {error}.", hint=hint) from error
    sections = dict(_sections(held, 0))
    kinds = frozenset(kind for kind, _ in sections.values())
    if not kinds:
        raise SourceError(f"{path} holds no section that is known (such as jobs, education, skills).", hint=hint)
    records = [record for kind, entries in sections.values() for record in records_in(kind, entries)]
    theme = _said(held, "theme", "layout", "template") or _said(held.get("design"), "theme")
    return Truth(tuple(records), kinds, _said(held, "category", "kind"), theme)


def _said(held: Any, *names: str) -> str:
    if not isinstance(held, Mapping):
        return ""
    return next((str(held[name]) for name in names if isinstance(held.get(name), str)), "")


def _sections(held: Any, depth: int) -> Iterator[tuple[str, tuple[str, Any]]]:
    """(name, (kind, entries)) of every section that is known, looked for in what wraps it when it is not at the top."""
    if not isinstance(held, Mapping):
        return
    found = False
    for name, value in held.items():
        entries = value.get("items") if isinstance(value, Mapping) and "items" in value else value
        if kind := _kind(str(name), entries):
            found = True
            yield str(name), (kind, entries)
    if not found and depth < _WRAPPERS:
        for value in held.values():
            yield from _sections(value, depth + 1)


def _kind(name: str, entries: Any) -> str:
    """The kind of a section, by its name, else by the keys of its entries; empty for one that is not judged."""
    bare = re.sub(r"[\W_]", "", fold(name))
    if not isinstance(entries, (list, Mapping)) and not (isinstance(entries, str) and _KIND_OF.get(bare) == "skills"):
        return ""
    if bare in _KIND_OF or not isinstance(entries, list) or bare.startswith(_OTHERS):
        return _KIND_OF.get(bare, "")
    first = next((Entry(each) for each in entries if isinstance(each, Mapping)), Entry({}))
    if first.text("company") and first.text("position"):
        return "job"
    return "education" if first.text("institution") and (first.text("area") or first.text("degree")) else ""
