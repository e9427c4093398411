"""Read truth files (our JSON, rendercv YAML, JSON Resume, Reactive Resume) as career records."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pipelines.errors import SourceError
from pipelines.facts import (
    CareerRecord,
    CertificationFacts,
    EducationFacts,
    JobFacts,
    LanguageFacts,
    PersonFacts,
    ProjectFacts,
    SkillsFacts,
)
from pipelines.ingestion.parsers.careers.dates import date_ranges
from pipelines.markup import plain
from pipelines.text import fold

# What fields and sections are called, without capitals and signs: of a field the first that an entry has is taken, and
# sections are looked up in their order.
_NAMES = json.loads(Path(__file__).with_name("truth_names.json").read_text(encoding="utf-8"))
_KEYS: dict[str, str] = _NAMES["fields"]
SECTIONS: dict[str, str] = _NAMES["sections"]
_OTHERS = ("volunteer", "award", "honor", "publication", "organization", "course", "reference", "patent")
_KIND_OF = {name: kind for kind, names in SECTIONS.items() for name in names.split()}
_SUFFIXES = (".json", ".yaml", ".yml")
_STEMS = ("{}", "{}_expected", "{}.expected", "{}.truth", "{}_truth", "{}-expected")
_FOLDERS = (".", "expected", "truth", "../expected", "../truth")
_WRAPPERS = 2
_HINT = "See the formats in data/README.md."


@dataclass(frozen=True, slots=True)
class Truth:
    """The facts that a document states, as its truth file lists them, its category and layout if the file says them.

    Found records of other types than `kinds` are not errors: the file does not cover them.
    """

    records: tuple[CareerRecord, ...]
    kinds: frozenset[str]
    category: str = ""
    theme: str = ""


def truth_of(document: Path) -> Path | None:
    """The truth file of a document: its stem (or that with `_expected`, `.truth`) beside it or in `expected/`."""
    names = [pattern.format(stem) + suffix for stem in (document.stem, document.name) for pattern in _STEMS
             for suffix in _SUFFIXES]  # fmt: skip
    places = (document.parent / folder / name for folder in _FOLDERS for name in names)
    return next((place.resolve() for place in places if place.is_file()), None)


def read_truth(path: Path) -> Truth:
    """The truth that a file holds; keys that are not known are passed over.

    Raises:
        SourceError: If the file cannot be read, or holds no section of a career that is known.
    """
    try:
        read: Callable[[str], Any] = json.loads if path.suffix == ".json" else yaml.safe_load
        held = read(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SourceError(f"{path} cannot be read as truth: {error}.", hint=_HINT) from error
    sections = _sections(held, 0).values()
    if not sections:
        raise SourceError(f"{path} has no known section (such as jobs, education, skills).", hint=_HINT)
    records = tuple(record for kind, entries in sections for record in _records(kind, entries))
    kinds = frozenset(kind for kind, _ in sections)
    wraps = [held, *(held.get(key) for key in ("person", "basics", "cv", "personal"))]
    if name := next((name for each in wraps if (name := _text_at(each, "name", "fullName"))), ""):
        records, kinds = (PersonFacts(name=name), *records), kinds | {"person"}
    theme = _text_at(held, "theme", "layout", "template") or _text_at(held.get("design"), "theme")
    return Truth(records, kinds, _text_at(held, "category", "kind"), theme)


def _text_at(held: Any, *names: str) -> str:
    values = [held.get(name) for name in names] if isinstance(held, Mapping) else []
    return next((value for value in values if isinstance(value, str)), "")


def _sections(held: Any, depth: int) -> dict[str, tuple[str, Any]]:
    """By name, (kind, entries) of every known section, looked for in what wraps it when it is not at the top."""
    found: dict[str, tuple[str, Any]] = {}
    if not isinstance(held, Mapping):
        return found
    for name, value in held.items():
        entries = value.get("items") if isinstance(value, Mapping) and "items" in value else value
        if kind := _kind(str(name), entries):
            found[str(name)] = kind, entries
    if not found and depth < _WRAPPERS:
        for value in held.values():
            found |= _sections(value, depth + 1)
    return found


def _kind(name: str, entries: Any) -> str:
    """The kind of a section, by its name, else by the keys of its entries; empty for one that is not judged."""
    bare = _bare(fold(name))
    if not isinstance(entries, (list, Mapping)) and not (isinstance(entries, str) and _KIND_OF.get(bare) == "skills"):
        return ""
    if bare in _KIND_OF or not isinstance(entries, list) or bare.startswith(_OTHERS):
        return _KIND_OF.get(bare, "")
    first = next((TruthEntry(each) for each in entries if isinstance(each, Mapping)), TruthEntry({}))
    if first.text("company") and first.text("position"):
        return "job"
    return "education" if first.text("institution") and (first.text("area") or first.text("degree")) else ""


def _bare(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


class TruthEntry:
    """An entry of a truth file, asked by the names of `_KEYS`."""

    def __init__(self, held: Mapping[str, Any]) -> None:
        self.held = {_bare(str(key)): value for key, value in held.items()}

    def get(self, name: str) -> Any:
        """The value of the first of the field's keys that has one; None if none has."""
        values = (self.held.get(key) for key in _KEYS[name].split())
        return next((value for value in values if value not in (None, "", [], {})), None)

    def text(self, name: str) -> str:
        """The value of a field as plain text, without markup; empty if it is not text."""
        value = self.get(name)
        return _worded(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""

    def dated(self) -> dict[str, Any]:
        """`start_month`, `end_month` and `current` as a record has them; a start without an end lasts until today."""
        given = self.get("range")
        if isinstance(given, Mapping):
            return TruthEntry(given).dated()
        start, end = _month(self.get("start")), _month(self.get("end"))
        if start:
            open_end = not end and (self.get("current") is not False or bool(self.get("end")))
            return {"start_month": start, "end_month": end or None, "current": open_end}
        ranges = date_ranges(f"{given or ''}")
        if not ranges:
            return {"end_month": end or None}
        return {"start_month": ranges[0].start_month, "end_month": ranges[0].end_month, "current": ranges[0].current}


def _worded(value: object) -> str:
    return " ".join(plain(str(value)).split())


def _records(kind: str, entries: Any) -> Iterator[CareerRecord]:
    """The records of a section of that kind, in order; entries that name nothing are passed over."""
    if kind == "skills":
        yield from _skills(entries)
        return
    for each in entries if isinstance(entries, list) else [entries]:
        entry = TruthEntry(each if isinstance(each, Mapping) else {"name": each})
        name = entry.text("institution" if kind == "education" else "name")
        if kind == "job":
            yield from _jobs(entry)
        elif name and kind == "education":
            texts = {field: entry.text(field) for field in ("degree", "area", "location")}
            yield EducationFacts(institution=name, **texts, **entry.dated())
        elif name and kind == "project":
            yield ProjectFacts(name=name)
        elif name and kind == "certification":
            yield CertificationFacts(name=name, issuer=entry.text("issuer"))
        elif name and kind == "language":
            level = entry.text("level") or entry.text("keywords")
            if not level:  # "German (fluent)", "German: fluent"
                name, _, level = (part.strip(" )") for part in name.replace(":", "(", 1).partition("("))
            yield LanguageFacts(language=name, level=level)


def _jobs(entry: TruthEntry) -> Iterator[JobFacts]:
    """The jobs of an entry: itself, or each of the positions under its company."""
    company = entry.text("company") or entry.text("name")
    under = entry.get("positions")
    if company and isinstance(under, list):
        for each in under:
            if isinstance(each, Mapping):
                yield from _jobs(TruthEntry({"location": entry.text("location"), "company": company, **each}))
    elif company:
        bullets = entry.get("bullets")
        lines = bullets if isinstance(bullets, list) else str(bullets or "").splitlines()
        if "highlights" in entry.held:  # rendercv sets what follows " - " as an item of its own
            lines = [item for line in lines for item in str(line).split(" - ")]
        yield JobFacts(
            company=company,
            position=entry.text("position"),
            location=entry.text("location"),
            bullets=tuple(filter(None, map(_worded, lines))),
            **entry.dated(),
        )


def _skills(entries: Any) -> Iterator[SkillsFacts]:
    """Lists of skills with what they are called: of plain words, of named groups, or of names with keywords."""
    if isinstance(entries, Mapping):
        entries = [{"name": name, "keywords": listed} for name, listed in entries.items()]
    for each in [entries] if isinstance(entries, str) else entries:
        group, given = "", each
        if isinstance(each, Mapping):
            entry = TruthEntry(each)
            group, given = entry.text("name"), entry.get("keywords") or entry.text("name")
            group = "" if given == group else group
        elif ": " in str(each):
            group, given = str(each).split(": ", 1)
        skills = tuple(filter(None, map(_worded, given if isinstance(given, list) else _apart(str(given)))))
        if skills:
            yield SkillsFacts(skills=skills, group=_worded(group))


def _apart(text: str) -> list[str]:
    """The items of a list in one line; a comma in brackets parts nothing."""
    items, depth = [""], 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char in ",;•·|" and depth <= 0:
            items.append("")
        else:
            items[-1] += char
    return [item.strip() for item in items if item.strip()]


def _month(value: Any) -> str:
    """A date as ISO to its precision, `2023-04` or `2023`; empty for none and for what is open."""
    if isinstance(value, Mapping):
        year, month = value.get("year"), value.get("month")
        return f"{year}-{month:02d}" if year and isinstance(month, int) else str(year or "")
    if value is None or isinstance(value, bool):
        return ""
    year, month, *_ = (*str(value).strip().split("-", 2), "", "")
    if year.isdecimal() and len(year) == 4 and len(month) in (0, 2) and month.isdecimal() == bool(month):
        return f"{year}-{month}" if month else year
    ranges = date_ranges(str(value))
    return ranges[0].start_month if ranges else ""
