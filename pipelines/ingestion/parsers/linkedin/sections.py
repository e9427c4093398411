"""The sections of a LinkedIn profile, and the line that is the person's name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from pipelines.ingestion.parsers.career.section_names import section_of
from pipelines.ingestion.parsers.linkedin.lines import Row, location_of, rows_of
from pipelines.ingestion.parsers.linkedin.titles import LISTED, TITLES, UNKNOWN, title_section
from pipelines.text import fold
from pipelines.types import Document

_NOT_WORD = re.compile(r"[\W_]+")
_SLUG = re.compile(r"linkedin\.com/in/((?:[^\s()/?#]{1,120}-[ ]?\n?)?[^\s()/?#]{1,120})", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_][\w.'’-]*(?: [^\W\d_(\"“][\w.'’\")”-]*){1,5}")
_NAME_ROWS = 4


@dataclass(frozen=True, slots=True)
class ProfileSection:
    """A stretch of a profile from its title on, and the rows under the title; `name` is a key of TITLES, or `person`.

    What has no known title is `other`.
    """

    name: str
    title: Row | None
    rows: tuple[Row, ...]

    @property
    def start(self) -> int:
        """Where the title, else the first row, begins."""
        return self.title.start if self.title else self.rows[0].start


def profile_sections(document: Document) -> list[ProfileSection]:
    """The sections of a profile in order; only white space and page numbers lie outside of them."""
    rows = rows_of(document)
    names = _section_names(rows, _slug_of(document.text))
    opened: list[tuple[str, Row | None, list[Row]]] = []
    for row, (name, titled) in zip(rows, names, strict=True):
        if titled or not opened or opened[-1][0] != name:
            opened.append((name, row if titled else None, []))
        if not titled:
            opened[-1][2].append(row)
    return [ProfileSection(name, title, tuple(under)) for name, title, under in opened]


def _section_names(rows: Sequence[Row], slug: str) -> list[tuple[str, bool]]:
    """For each row its section, and whether it is that section's title."""
    levels = [row.level for row in rows if title_section(row.words)]
    marked = 3 * sum(map(bool, levels)) > 2 * len(levels)
    named = _name_row(rows, slug, marked)
    found: list[tuple[str, bool]] = []
    current, level, person = "person", 0, rows[named].words if named is not None else ""
    opened: set[str] = set()
    for at, row in enumerate(rows):
        title = _title(row, current, level, marked)
        if not title and row.apart and at != named and section_of(row.words) in TITLES.keys() - opened:
            title = section_of(row.words) if " " in row.words else ""
        if title:
            current, level = title, row.level
            opened.add(title)
        elif at == named:
            current, level = "person", 0
        elif row.words == person and named is not None and at > named:
            current, level = "other", 0
        elif row.level and (current in UNKNOWN or (current in LISTED and row.level < level)):
            current, level, title = "other", row.level, "other"
        found.append((current, bool(title)))
    return found


def _title(row: Row, current: str, level: int, marked: bool) -> str:
    """The section that the row opens as its title; "" for other rows."""
    known = title_section(row.words)
    if known and (row.level or not marked or row.alone):
        return known
    if not row.level or row.level > (level or 6):
        return ""
    section = section_of(row.words)
    return section if section in TITLES else "other" if section and current != "person" else ""


def _name_row(rows: Sequence[Row], slug: str, marked: bool) -> int | None:
    """Which row is the person's name; None if none can be told."""
    titles = [at for at, row in enumerate(rows) if _title(row, "", 6, marked)]
    if not rows or not titles:
        return None
    if titles[0] > 0:
        return next((at for at in range(titles[0]) if _is_slug(rows[at].words, slug)), 0)
    main = next((at for at in titles if title_section(rows[at].words) in ("summary", "experience", "education")), None)
    last = main if main is not None else len(rows)
    within = sorted(set(range(1, last)).difference(titles))
    addressed = [at for at in within if _is_slug(rows[at].words, slug)]
    headed = [at for at in within if rows[at].level and _NAME.fullmatch(rows[at].words)]
    if addressed or headed:
        return addressed[0] if addressed else min(headed, key=lambda at: (rows[at].level, -at))
    return _name_before(rows, max(title for title in titles if title < last), last) if within else None


def _name_before(rows: Sequence[Row], title: int, main: int) -> int | None:
    """The name where only its shape tells: up to three rows below it, the last of them a place."""
    if main - title < 3 or not location_of(rows[main - 1]):
        return None
    levelled = [at for at in range(title + 1, main) if rows[at].words.endswith(")")]
    if title_section(rows[title].words) == "languages" and levelled and levelled[-1] + 1 < main:
        return levelled[-1] + 1
    order = [at for at in (main - 3, main - _NAME_ROWS, main - 2) if at > title]
    return next((at for at in order if _NAME.fullmatch(rows[at].words) and rows[at].words.istitle()), None)


def _slug_of(text: str) -> str:
    match = _SLUG.search(text)
    return _NOT_WORD.sub("", fold(unquote(match[1]))) if match else ""


def _is_slug(words: str, slug: str) -> bool:
    """Whether every word of a name stands in the profile's address."""
    parts = [part for part in _NOT_WORD.split(fold(words)) if len(part) > 1]
    return len(parts) > 1 and len(words) <= 60 and all(part in slug for part in parts)
