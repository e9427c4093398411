"""Category, subcategory, year, author and dates of a document, each by the first rule that knows."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, cast, get_args
from urllib.parse import unquote, urlsplit

from pipelines.errors import ConfigError
from pipelines.ingestion.loaders.sniff import HTML, MARKDOWN
from pipelines.text import fold
from pipelines.types import CATEGORIES, Document, Visibility

_FISCAL = re.compile(r"(?<![a-z0-9])fy[\s_-]*(\d{4}|\d{2})(?:[\s_/-]+(\d{4}|\d{2}))?(?!\d)")
_NAME_DATE = re.compile(r"(?<!\d)(\d{4})[-_](\d{1,2})[-_](\d{1,2})(?!\d)")
_NAME_YEAR = re.compile(r"(?<!\d)(19[5-9]\d|20\d\d)(?!\d)")
_NOTION_ID = re.compile(r"[ -][0-9a-f]{32}$")
_FOLDERS = {
    "resume": "resume",
    "resumes": "resume",
    "cv": "resume",
    "cvs": "resume",
    "linkedin": "linkedin",
    "journey": "journey",
    "journeys": "journey",
    "reflections": "journey",
    "github": "github",
    "readmes": "github",
    "repositories": "github",
    "blog": "blog",
    "blogs": "blog",
    "posts": "blog",
    "_posts": "blog",
    "notion": "notion",
    "web": "web",
}
_RESUME_HEADINGS = frozenset(
    "summary profile experience education skills projects certifications languages awards publications interests"
    " employment volunteering".split()
) | {
    "work experience",
    "professional experience",
    "employment history",
    "work history",
    "technical skills",
    "core skills",
    "professional summary",
    "volunteer experience",
}
_RESUME_MAX_WORDS = 4_000


@dataclass(frozen=True)
class _Signals:
    """What the rules look at, worked out when one asks."""

    document: Document

    @cached_property
    def path(self) -> PurePosixPath:
        return PurePosixPath(self.document.name)

    @cached_property
    def stem(self) -> str:
        return fold(self.path.stem)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(re.split(r"[\W_\d]+", self.stem))

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """The folders of the name, and the one that holds the file; nearest first."""
        above = PurePosixPath(unquote(urlsplit(self.document.source_uri).path)).parent.name
        named = [part.lower() for part in reversed(self.path.parts[:-1])]
        return tuple(dict.fromkeys([*named, above.lower()]))

    @cached_property
    def head(self) -> str:
        return fold(self.document.text[:3_000])

    @cached_property
    def headings(self) -> frozenset[str]:
        text, blocks = self.document.text, self.document.blocks
        titles = (text[block.start : block.end] for block in blocks if block.kind == "heading")
        return frozenset(fold(title).strip("# *:_") for title in titles)


Rule = tuple[str, Callable[[_Signals], str | None]]


def _declared(signals: _Signals) -> str | None:
    declared = str(signals.document.metadata.get("category", "")).lower()
    return declared if declared in CATEGORIES else None


def _by_source(signals: _Signals) -> str | None:
    kind = signals.document.source_kind
    return kind if kind in ("github", "notion", "web") else None


def _by_name(signals: _Signals) -> str | None:
    if "linkedin" in signals.words:
        return "linkedin"
    if signals.words & {"journey", "reflection", "reflections"}:
        return "journey"
    named = signals.words & {"resume", "cv", "lebenslauf"} or "curriculum vitae" in signals.stem.replace("_", " ")
    return "resume" if named else None


def _by_folder(signals: _Signals) -> str | None:
    return next((_FOLDERS[folder] for folder in signals.folders if folder in _FOLDERS), None)


def _readme(signals: _Signals) -> str | None:
    return "github" if signals.stem.startswith("readme") else None


def _notion_export(signals: _Signals) -> str | None:
    return "notion" if _NOTION_ID.search(signals.stem) else None


def _dated_name(signals: _Signals) -> str | None:
    return "blog" if signals.document.mime == MARKDOWN and _NAME_DATE.match(signals.stem) else None


def _dated_front_matter(signals: _Signals) -> str | None:
    dated = signals.document.published_at is not None and "front_matter" in signals.document.metadata
    return "blog" if signals.document.mime == MARKDOWN and dated else None


def _linkedin_export(signals: _Signals) -> str | None:
    return "linkedin" if "linkedin.com/in/" in signals.head and "(linkedin)" in signals.head else None


def _resume_sections(signals: _Signals) -> str | None:
    found = signals.headings & _RESUME_HEADINGS
    short = len(signals.document.text) < 8 * _RESUME_MAX_WORDS
    return "resume" if len(found) >= 3 and short else None


def _page(signals: _Signals) -> str | None:
    return "web" if signals.document.mime == HTML else None


RULES: tuple[Rule, ...] = (
    ("front matter", _declared),
    ("source", _by_source),
    ("dated name", _dated_name),
    ("file name", _by_name),
    ("README", _readme),
    ("folder", _by_folder),
    ("Notion export name", _notion_export),
    ("dated front matter", _dated_front_matter),
    ("LinkedIn export", _linkedin_export),
    ("resume headings", _resume_sections),
    ("web page", _page),
)


def classify(document: Document, *, category: str = "", visibility: Visibility | None = None) -> Document:
    """The document with category, subcategory, year, published date and visibility filled in; the text is untouched.

    The first rule of `RULES` that answers gives the category, and its name becomes `metadata["category_reason"]`.
    The year is that of the front matter, else the fiscal year in the name (`FY25-26` and `fy-2025-2026` are 2025,
    `FY2026` is 2026), else that of a `YYYY-MM-DD` in the name, else that of the published date, else a year in the
    name. What the document already says of itself (title, author, dates) stays.

    Args:
        document: As a loader made it.
        category: Given from outside; no rule is asked.
        visibility: Given from outside; None = what the front matter says, else as it was.

    Raises:
        ConfigError: If the given category is not one of `CATEGORIES`.
    """
    if category and category not in CATEGORIES:
        raise ConfigError(f"There is no category called {category!r}.", hint=f"Categories: {', '.join(CATEGORIES)}.")
    signals = _Signals(document)
    found, reason = (category, "given") if category else _category(signals)
    name_date = _name_date(signals.stem)
    fiscal = fiscal_year(signals.stem)
    published = document.published_at or name_date
    metadata: dict[str, Any] = {**document.metadata, "category_reason": reason}
    if fiscal:
        metadata["fiscal_year"] = fiscal
    return document.with_(
        category=found,
        subcategory=document.subcategory or _subcategory(document, found),
        year=document.year or _year(document, signals.stem, fiscal, name_date),
        published_at=published,
        visibility=visibility or _visibility(document),
        metadata=metadata,
    )


def fiscal_year(name: str) -> int | None:
    """The year in which the fiscal year of a name begins, or the only one that it names; None without `FY`."""
    match = _FISCAL.search(name.lower())
    if match is None:
        return None
    year = int(match[1])
    return year + 2000 if year < 100 else year


def _category(signals: _Signals) -> tuple[str, str]:
    for reason, rule in RULES:
        found = rule(signals)
        if found:
            return found, reason
    return "generic", "no rule"


def _year(document: Document, stem: str, fiscal: int | None, name_date: datetime | None) -> int | None:
    declared = document.metadata.get("year")
    if isinstance(declared, int):
        return declared
    dated = name_date or document.published_at
    in_name = _NAME_YEAR.search(stem)
    return fiscal or (dated.year if dated else int(in_name[1]) if in_name else None)


def _name_date(stem: str) -> datetime | None:
    match = _NAME_DATE.search(stem)
    if match is None:
        return None
    try:
        return datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC)
    except ValueError:
        return None


def _subcategory(document: Document, category: str) -> str:
    declared = str(document.metadata.get("subcategory") or document.metadata.get("category") or "")
    return "" if declared.lower() in CATEGORIES or declared.lower() == category else declared


def _visibility(document: Document) -> Visibility:
    declared = str(document.metadata.get("visibility", "")).lower()
    return cast(Visibility, declared) if declared in get_args(Visibility) else document.visibility
