"""CLASSIFY: category, subcategory, year, dates and visibility of a document, each by the first rule that knows."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, cast, get_args
from urllib.parse import unquote, urlsplit

from pipelines.errors import ConfigError
from pipelines.ingestion.loaders.sniff import HTML, MARKDOWN
from pipelines.ingestion.parsers.career.section_names import section_of
from pipelines.ingestion.recognise import (
    Shape,
    has_career,
    is_personal,
    journey_confidence,
    linkedin_confidence,
    resume_confidence,
)
from pipelines.ingestion.year import fiscal_year, head_of, name_date, year_of
from pipelines.text import fold
from pipelines.types import CATEGORIES, Document, Visibility

_DATED = re.compile(r"\d{4}[-_]\d{1,2}[-_]\d{1,2}(?!\d)")
_RESUME_WORDS = frozenset({"resume", "resumes", "cv", "lebenslauf"})
_SHORT = 600
_LEAST_CONFIDENCE = 0.6
_MAX_NAME = 60
_NOTION_ID = re.compile(r"[ -][0-9a-f]{32}(?:_all)?$")
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
    def shape(self) -> Shape:
        return Shape(self.document)

    @cached_property
    def long(self) -> bool:
        """Whether there is enough text for it to gainsay a name."""
        return len(self.document.text) > _SHORT


Answer = tuple[str, float] | None
Rule = tuple[str, Callable[[_Signals], Answer]]


def _declared(signals: _Signals) -> Answer:
    declared = str(signals.document.metadata.get("category", "")).lower()
    return (declared, 1.0) if declared in CATEGORIES else None


def _by_source(signals: _Signals) -> Answer:
    kind = signals.document.source_kind
    return (kind, 0.98) if kind in ("github", "notion", "web") else None


def _dated_name(signals: _Signals) -> Answer:
    return ("blog", 0.9) if signals.document.mime == MARKDOWN and _DATED.match(signals.stem) else None


def _by_name(signals: _Signals) -> Answer:
    """What the name says, unless a long text has nothing of it ("how-to-write-a-resume.md")."""
    if "linkedin" in signals.words:
        return ("linkedin", 0.9) if not signals.long or has_career(signals.shape) else None
    if signals.words & {"journey", "journeys", "reflection", "reflections"}:
        return ("journey", 0.9) if not signals.long or is_personal(signals.shape) else None
    named = signals.words & _RESUME_WORDS or "curriculum vitae" in signals.stem.replace("_", " ")
    return ("resume", 0.9) if named and (not signals.long or has_career(signals.shape)) else None


def _by_folder(signals: _Signals) -> Answer:
    return next(((_FOLDERS[folder], 0.8) for folder in signals.folders if folder in _FOLDERS), None)


def _readme(signals: _Signals) -> Answer:
    return ("github", 0.95) if signals.stem.startswith("readme") else None


def _notion_export(signals: _Signals) -> Answer:
    within = PurePosixPath(unquote(urlsplit(signals.document.source_uri).fragment)).stem  # in an exported archive
    return ("notion", 0.85) if _NOTION_ID.search(signals.stem) or _NOTION_ID.search(within) else None


def _dated_front_matter(signals: _Signals) -> Answer:
    dated = signals.document.published_at is not None and "front_matter" in signals.document.metadata
    return ("blog", 0.85) if signals.document.mime == MARKDOWN and dated else None


def _linkedin_export(signals: _Signals) -> Answer:
    return _sure("linkedin", linkedin_confidence(signals.shape))


def _resume_structure(signals: _Signals) -> Answer:
    return _sure("resume", resume_confidence(signals.shape))


def _journey_words(signals: _Signals) -> Answer:
    return _sure("journey", journey_confidence(signals.shape))


def _fiscal_name(signals: _Signals) -> Answer:
    personal = fiscal_year(f"{signals.stem}\n{head_of(signals.document.text)}") and is_personal(signals.shape)
    return ("journey", 0.7) if personal else None


def _page(signals: _Signals) -> Answer:
    return ("web", 0.6) if signals.document.mime == HTML else None


def _sure(category: str, confidence: float) -> Answer:
    return (category, round(confidence, 2)) if confidence >= _LEAST_CONFIDENCE else None


RULES: tuple[Rule, ...] = (
    ("front matter", _declared),
    ("source", _by_source),
    ("dated name", _dated_name),
    ("README", _readme),
    ("LinkedIn export", _linkedin_export),
    ("file name", _by_name),
    ("folder", _by_folder),
    ("Notion export name", _notion_export),
    ("dated front matter", _dated_front_matter),
    ("resume sections", _resume_structure),
    ("fiscal year", _fiscal_name),
    ("first person", _journey_words),
    ("web page", _page),
)


def classify(document: Document, *, category: str = "", visibility: Visibility | None = None) -> Document:
    """The document with category, subcategory, year, published date and visibility filled in; the text is untouched.

    The first rule of `RULES` that answers gives the category; its name becomes `metadata["category_reason"]`, and how
    sure it is (0..1) `metadata["category_confidence"]`. For the year see `year_of`; a fiscal year of the name, or of a
    journey's first lines, is kept as `metadata["fiscal_year"]` too. What the document already says of itself (title,
    author, year, dates) stays.

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
    found, confidence, reason = (category, 1.0, "given") if category else _category(signals)
    fiscal = fiscal_year(signals.stem)
    if found == "journey" and not fiscal:
        fiscal = fiscal_year(head_of(document.text))
    metadata: dict[str, Any] = {
        **document.metadata,
        "category_reason": reason,
        "category_confidence": confidence,
    }
    if fiscal:
        metadata["fiscal_year"] = fiscal
    return document.with_(
        title=_title(document, found),
        category=found,
        subcategory=document.subcategory or _subcategory(document, found),
        year=document.year or year_of(document.with_(category=found), signals.stem, fiscal),
        published_at=document.published_at or name_date(signals.stem),
        visibility=visibility or _visibility(document),
        metadata=metadata,
    )


def _title(document: Document, category: str) -> str:
    """The title; a resume or profile that was named after its first section is named after its first line."""
    first = document.text.strip().partition("\n")[0].strip("# *_\t")
    named = category in ("resume", "linkedin") and section_of(document.title) and first and len(first) <= _MAX_NAME
    return first if named and not section_of(first) else document.title


def _category(signals: _Signals) -> tuple[str, float, str]:
    for reason, rule in RULES:
        found = rule(signals)
        if found:
            return found[0], found[1], reason
    return "generic", 0.5, "no rule"


def _subcategory(document: Document, category: str) -> str:
    declared = str(document.metadata.get("subcategory") or document.metadata.get("category") or "")
    return "" if declared.lower() in CATEGORIES or declared.lower() == category else declared


def _visibility(document: Document) -> Visibility:
    declared = str(document.metadata.get("visibility", "")).lower()
    return cast(Visibility, declared) if declared in get_args(Visibility) else document.visibility
