"""CLASSIFY: the category of a document, from its name, source, structure and words."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, cast, get_args
from urllib.parse import unquote, urlsplit

from pipelines.contacts import email_in, linkedin_slug
from pipelines.errors import ConfigError
from pipelines.ingestion.loaders.sniff import HTML, JSON_RESUME, LINKEDIN, MARKDOWN, RENDERCV
from pipelines.ingestion.parsers.careers.dates import DateRange, date_ranges, durations, stacked_range
from pipelines.ingestion.parsers.careers.people import phone_in
from pipelines.ingestion.parsers.careers.section_names import section_of
from pipelines.ingestion.parsers.linkedin.export import title_section
from pipelines.ingestion.parsers.linkedin.jobs import split_position
from pipelines.ingestion.parsers.projects import is_readme_name
from pipelines.ingestion.words import word_lists
from pipelines.months import fiscal_year
from pipelines.text import digit_runs, fold, is_page_number, word_parts
from pipelines.types import CATEGORIES, Document, Visibility

MOST_CHARACTERS = 60_000

_ON_SITE = ("people have recommended", "person has recommended", "people has recommended")
_LOOKING_BACK = word_lists("reflection")["looking_back"]

_MAX_RESUME = 32_000
_LEAST_WORDS = 120
_FIRST_PERSON = frozenset(word_lists("reflection")["first_person"])
_REFLECTIVE = frozenset(word_lists("reflection")["learning"])


@dataclass(frozen=True)
class Signals:
    """The signals in a document's name and in the structure of its text, computed on demand."""

    document: Document

    @cached_property
    def text(self) -> str:
        """The part of the text that is examined."""
        return self.document.text[:MOST_CHARACTERS]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines that are not empty; tabs separate lines too."""
        return tuple(line for line in (raw.strip() for raw in self.text.replace("\t", "\n").split("\n")) if line)

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """The headings, and the short lines that may be headings."""
        blocks = self.document.blocks
        marked = [self.document.text[block.start : block.end] for block in blocks if block.kind == "heading"]
        return tuple(dict.fromkeys([*marked, *(line for line in self.lines if len(line) <= 50)]))

    @cached_property
    def headings(self) -> int:
        """The number of marked headings."""
        return sum(block.kind == "heading" for block in self.document.blocks)

    @cached_property
    def sections(self) -> frozenset[str]:
        """The career sections that have a title line."""
        return frozenset(section for section in map(section_of, self.titles) if section)

    @cached_property
    def profile_titles(self) -> frozenset[str]:
        """The sections with the titles that LinkedIn uses."""
        return frozenset(section for section in map(title_section, self.titles) if section)

    @cached_property
    def dates(self) -> tuple[DateRange, ...]:
        """Every date and range of the text."""
        return date_ranges(self.text)

    @cached_property
    def spells(self) -> int:
        """The number of date ranges with an end, such as a job has; their ends may be in columns of their own."""
        ends = (f"{one}\t{other}" for one, other in pairwise(self.lines) if len(one) + len(other) < _MAX_ENDS)
        stacked = sum(stacked_range(each, 0, len(each)) is not None for each in ends)
        return sum(found.is_range for found in self.dates) + stacked

    @cached_property
    def lengths(self) -> int:
        """The number of date ranges that are followed by their length, `(3 years 2 months)` or `· 3 yrs 2 mos`."""
        ranges = [found for found in self.dates if found.is_range]
        return sum(any(start <= 3 for start, _ in durations(self.text[found.end : found.end + 40])) for found in ranges)

    @cached_property
    def reachable(self) -> bool:
        """True if there is an e-mail address, a telephone number or a profile link near the top or the end."""
        ends = self.text[:3_000] + "\n" + self.text[-600:]
        return bool(email_in(ends) or linkedin_slug(ends) or phone_in(ends))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The folded words."""
        letters = "".join([char if char.isalpha() or char == "'" else " " for char in fold(self.text)])
        return tuple(word for word in (run.strip("'") for run in letters.split()) if word)

    @cached_property
    def path(self) -> PurePosixPath:
        """The name of the document as a path."""
        return PurePosixPath(self.document.name)

    @cached_property
    def stem(self) -> str:
        """The folded name without folders and the ending."""
        return fold(self.path.stem)

    @cached_property
    def name_words(self) -> frozenset[str]:
        """The words of the stem."""
        return frozenset("".join(char if char.isalpha() else " " for char in self.stem).split())

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """The folders in the name, and the folder of the file; nearest first."""
        above = PurePosixPath(unquote(urlsplit(self.document.source_uri).path)).parent.name
        named = [part.lower() for part in reversed(self.path.parts[:-1])]
        return tuple(dict.fromkeys([*named, above.lower()]))

    @cached_property
    def long(self) -> bool:
        """True if there is enough text to contradict the name."""
        return len(self.document.text) > _SHORT


def linkedin_confidence(signals: Signals) -> float:
    """The confidence (0..1) that a text is a LinkedIn profile, by titles, links, job lengths and page numbers.

    A PDF that LinkedIn typeset is one in any language.
    """
    if signals.document.metadata.get("typeset") == "linkedin":
        return 0.99
    if "linkedin" not in signals.text.lower() and not signals.lengths and "top_skills" not in signals.profile_titles:
        return 0.0
    first = title_section(signals.lines[0]) if signals.lines else ""
    timed = signals.lengths > 0 and 2 * signals.lengths >= signals.spells
    sections = len(signals.profile_titles & {"summary", "experience", "education", "skills", "languages", "contact"})
    signs = (
        3.0 * ("(LinkedIn)" in signals.text[:3_000])
        + 3.0 * ("top_skills" in signals.profile_titles)
        + 3.0 * timed
        + 2.0 * _is_on_site(signals.text)
        + 2.0 * _joined_jobs(signals)
    )
    numbered = [notice.text for notice in signals.document.furniture] + list(signals.lines[:400])
    beside = (first == "contact") + bool(linkedin_slug(signals.text)) + any(map(is_page_number, numbered))
    if sections < 1 or signs < 3 or (signs < 5 and not (signs >= 3 and beside >= 2 and not (timed and signs == 3))):
        return 0.0
    return min(0.99, 0.75 + 0.03 * (signs + beside))


def _joined_jobs(signals: Signals) -> bool:
    """True if the lines above dates with a length read `Position at Company`, as in the old export."""
    if not signals.lengths:
        return False
    above: list[str] = []
    for before, line in zip(signals.lines, signals.lines[1:], strict=False):
        lengths = durations(line) if len(line) < 100 else []
        if lengths and date_ranges(line):
            above.append(before)
    return bool(above) and 4 * sum(split_position(line) is not None for line in above) >= 3 * len(above)


def _is_on_site(page: str) -> bool:
    """True if the words of LinkedIn's own page are there: "Contact Ann on LinkedIn", "500+ connections"."""
    if not any(word in page.lower() for word in ("connections", "recommended", " on linkedin")):
        return False
    words = word_parts(page)
    text = f" {' '.join(words)} "
    _, found, rest = text.partition(" contact ")
    is_contact = bool(found) and " on linkedin " in rest[: _MAX_NAME + 20]
    counted = any(one.isdecimal() and other == "connections" for one, other in pairwise(words))
    return is_contact or counted or any(f" {phrase} " in text for phrase in _ON_SITE)


def resume_confidence(signals: Signals) -> float:
    """The confidence (0..1) that a text is a resume, by career sections, date ranges and contact details.

    Each section and each dated entry may have a few headings.
    """
    if len(signals.document.text) > _MAX_RESUME:
        return 0.0
    main = signals.sections & {"experience", "education"}
    others = signals.sections - {"experience", "education", "contact", "references", "summary", "courses", "interests"}
    known = len(main) + len(others) + len(signals.sections & {"summary", "contact"})
    complete = (len(main) == 2 or "skills" in others) and signals.spells >= 2 and signals.reachable
    if not main or known < 3 - complete or signals.headings > 3 * (known + signals.spells) + 4:
        return 0.0
    signs = (len(main) == 2) + ("skills" in others) + (signals.spells >= 2) + (signals.spells >= 4) + signals.reachable
    if signs < 3 or (signals.spells == 0 and len(main) < 2):
        return 0.0
    return min(0.98, 0.4 + 0.1 * signs + 0.02 * known)


def journey_confidence(signals: Signals) -> float:
    """The confidence (0..1) that a text is a personal reflection, by first person and words of learning."""
    words = signals.words
    if len(words) < _LEAST_WORDS or signals.sections & {"experience", "education"}:
        return 0.0
    first_person = sum(word in _FIRST_PERSON for word in words) / len(words)
    reflective = [word for word in words if word in _REFLECTIVE]
    rate, kinds = len(reflective) / len(words), len(set(reflective))
    titles = "\n".join(line for line in signals.lines[:3] if len(line) <= 120)
    if signals.document.mime == HTML:
        return 0.0
    looks_back = any(f" {phrase} " in f" {' '.join(word_parts(titles))} " for phrase in _LOOKING_BACK)
    if first_person >= 0.015 and kinds >= 3 and looks_back:
        return 0.8
    if first_person < 0.06 or rate < 0.008 or kinds < 6:
        return 0.0
    return min(0.9, 0.5 + 4 * (first_person - 0.04) + 5 * rate)


def has_career(signals: Signals) -> bool:
    """True if the text has signs of a career: sections, date ranges, or a section and contact details."""
    return bool(len(signals.sections) >= 2 or signals.spells >= 2 or (signals.sections and signals.reachable))


def is_personal(signals: Signals) -> bool:
    """True if the text is in the first person."""
    return sum(word in _FIRST_PERSON for word in signals.words) >= max(2, len(signals.words) // 100)


_RESUME_WORDS = frozenset({"resume", "resumes", "cv", "lebenslauf"})
_SHORT = 600
_LEAST_CONFIDENCE = 0.6
NOTION_ID = 32  # hexadecimal digits at the end of an exported page's name
_MAX_NAME = 60
_MAX_ENDS = 40  # characters of the two ends of a range
_FOLDERS = {
    "resume": "resume",
    "resumes": "resume",
    "cv": "resume",
    "cvs": "resume",
    "linkedin": "linkedin",
    "journey": "journey",
    "journeys": "journey",
    "reflections": "journey",
    "journal": "journey",
    "diary": "journey",
    "github": "github",
    "readmes": "github",
    "repositories": "github",
    "blog": "blog",
    "blogs": "blog",
    "posts": "blog",
    "articles": "blog",
    "devlog": "blog",
    "_posts": "blog",
    "notion": "notion",
    "web": "web",
}


Guess = tuple[str, float] | None
Rule = tuple[str, Callable[[Signals], Guess]]


def _declared(signals: Signals) -> Guess:
    declared = str(signals.document.metadata.get("category", "")).lower()
    return (declared, 1.0) if declared in CATEGORIES else None


def _by_name(signals: Signals) -> Guess:
    """The category that the name states, unless a long text does not fit it ("how-to-write-a-resume.md")."""
    if "linkedin" in signals.name_words:
        return ("linkedin", 0.9) if not signals.long or has_career(signals) else None
    if signals.name_words & {"journey", "journeys", "reflection", "reflections"}:
        return ("journey", 0.9) if not signals.long or is_personal(signals) else None
    named = signals.name_words & _RESUME_WORDS or "curriculum vitae" in signals.stem.replace("_", " ")
    return ("resume", 0.9) if named and (not signals.long or has_career(signals)) else None


def _notion_export(signals: Signals) -> Guess:
    within = PurePosixPath(unquote(urlsplit(signals.document.source_uri).fragment)).stem  # in an exported archive
    return ("notion", 0.85) if _ends_in_notion_id(signals.stem) or _ends_in_notion_id(within) else None


def _ends_in_notion_id(stem: str) -> bool:
    """True if a name ends in the id of a Notion page, 32 hexadecimal digits."""
    start, found = stem.removesuffix("_all")[:-NOTION_ID], stem.removesuffix("_all")[-NOTION_ID:]
    return start.endswith((" ", "-")) and len(found) == NOTION_ID and not found.strip("0123456789abcdef")


def _dated_front_matter(signals: Signals) -> Guess:
    dated = signals.document.published_at is not None and "front_matter" in signals.document.metadata
    return ("blog", 0.85) if signals.document.mime == MARKDOWN and dated else None


def _fiscal_name(signals: Signals) -> Guess:
    personal = fiscal_year(f"{signals.stem}\n{head_of(signals.document.text)}") and is_personal(signals)
    return ("journey", 0.7) if personal else None


def _if_confident(category: str, confidence: float) -> Guess:
    return (category, round(confidence, 2)) if confidence >= _LEAST_CONFIDENCE else None


RULES: tuple[Rule, ...] = (
    ("front matter", _declared),
    ("source", lambda of: (kind, 0.98) if (kind := of.document.source_kind) in ("github", "notion", "web") else None),
    ("career data", lambda of: ("resume", 1.0) if of.document.mime in (JSON_RESUME, RENDERCV, LINKEDIN) else None),
    ("dated name", lambda of: ("blog", 0.9) if of.document.mime == MARKDOWN and name_date(of.stem[:10]) else None),
    ("README", lambda of: ("github", 0.95) if is_readme_name(of.stem) else None),
    ("LinkedIn export", lambda of: _if_confident("linkedin", linkedin_confidence(of))),
    ("file name", _by_name),
    ("folder", lambda of: next(((_FOLDERS[folder], 0.8) for folder in of.folders if folder in _FOLDERS), None)),
    ("profile", lambda of: ("linkedin", 0.8) if "profile" in of.name_words and has_career(of) else None),
    ("Notion export name", _notion_export),
    ("dated front matter", _dated_front_matter),
    ("resume sections", lambda of: _if_confident("resume", resume_confidence(of))),
    ("fiscal year", _fiscal_name),
    ("first person", lambda of: _if_confident("journey", journey_confidence(of))),
    ("web page", lambda of: ("web", 0.6) if of.document.mime == HTML else None),
)


def classify(document: Document, *, category: str = "", visibility: Visibility | None = None) -> Document:
    """Fill in category, subcategory, year, published date and visibility; the text stays as it is.

    The first rule of `RULES` that matches gives the category; its name becomes `metadata["category_reason"]`, and its
    confidence (0..1) `metadata["category_confidence"]`. For the year see `year_of`; a fiscal year in the name, or in a
    journey's first lines, is also stored as `metadata["fiscal_year"]`. Title, author, year and dates that the document
    states itself stay.

    `category` and `visibility` are those that the caller states: then no rule is asked, and the front matter's does not
    count.

    Raises:
        ConfigError: If the given category is not one of `CATEGORIES`.
    """
    if category and category not in CATEGORIES:
        raise ConfigError(f"There is no category called {category!r}.", hint=f"Categories: {', '.join(CATEGORIES)}.")
    signals = Signals(document)
    guesses = ((reason, guess) for reason, rule in RULES if (guess := rule(signals)))
    given, none = ("given", (category, 1.0)), ("no rule", ("generic", 0.5))
    reason, (found, confidence) = given if category else next(guesses, none)
    fiscal = fiscal_year(signals.stem)
    if found == "journey" and not fiscal:
        fiscal = fiscal_year(head_of(document.text))
    metadata: dict[str, Any] = {**document.metadata, "category_reason": reason, "category_confidence": confidence}
    if fiscal:
        metadata["fiscal_year"] = fiscal
    stated = document.metadata
    part, seen_by = str(stated.get("subcategory") or stated.get("category") or ""), str(stated.get("visibility", ""))
    if part.lower() in CATEGORIES or part.lower() == found:
        part = ""
    if visibility is None and seen_by.lower() in get_args(Visibility):
        visibility = cast(Visibility, seen_by.lower())
    return document.with_(
        title=_title(document, found),
        category=found,
        subcategory=document.subcategory or part,
        year=document.year or year_of(document.with_(category=found), signals.stem, fiscal),
        published_at=document.published_at or name_date(signals.stem),
        visibility=visibility or document.visibility,
        metadata=metadata,
    )


def _title(document: Document, category: str) -> str:
    """The title; a resume or profile titled by its first section gets its first line instead."""
    first = document.text.strip().partition("\n")[0].strip("# *_\t")
    named = category in ("resume", "linkedin") and section_of(document.title) and first and len(first) <= _MAX_NAME
    return first if named and not section_of(first) else document.title


# The year, from the most reliable evidence

_DATELINES = frozenset(
    map(
        fold,
        "by von par por di published posted updated date datum veröffentlicht publié publicado pubblicato le el il am"
        " on".split(),
    )
)
_HEAD_LINES = 6


def year_of(document: Document, stem: str, fiscal: int | None) -> int | None:
    """The first year that is known: front matter, fiscal year, date in the name, date of publication, year in the
    name, then the text: a resume's or profile's latest year, else the date in its first lines. None if none is known.

    `stem` is its folded name without the ending, `fiscal` the fiscal year of its name or its first lines.
    """
    declared = document.metadata.get("year")
    if isinstance(declared, int):
        return declared
    dated = name_date(stem) or document.published_at
    in_name = (int(run) for run in digit_runs(stem) if len(run) == 4 and run.isascii())
    known = fiscal or (dated.year if dated else next((year for year in in_name if 1950 <= year < 2100), None))
    if known:
        return known
    if document.category not in ("resume", "linkedin"):
        return dateline_year(document.text)
    # In which a career entry began or ended; future years (a graduation) do not count.
    years = [int((each.end_month or each.start_month)[:4]) for each in date_ranges(document.text[:100_000])]
    return max((year for year in years if year <= datetime.now(UTC).year), default=None)


def head_of(text: str) -> str:
    """The first lines that are not empty, which may hold a title and a date."""
    lines = [line.strip() for line in text[:3_000].split("\n") if line.strip()]
    return "\n".join(line[:200] for line in lines[:_HEAD_LINES])


def name_date(stem: str) -> datetime | None:
    """The date of a `YYYY-MM-DD` in a name; None without one."""
    runs = digit_runs(stem)
    for year, month, day in zip(runs, runs[1:], runs[2:], strict=False):
        shape = len(year) == 4 and len(month) <= 2 and len(day) <= 2
        if shape and any(f"{year}{sign}{month}{other}{day}" in stem for sign in "-_" for other in "-_"):
            try:
                return datetime(int(year), int(month), int(day), tzinfo=UTC)
            except ValueError:
                return None
    return None


def dateline_year(text: str) -> int | None:
    """The year of a date that is alone in one of the first lines ("March 3, 2021", "By Ann | 3 March 2021")."""
    for line in head_of(text).split("\n"):
        ranges = date_ranges(line) if len(line) <= 120 else []
        if len(ranges) != 1 or ranges[0].is_range or len(ranges[0].text) < 7:
            continue
        before, after = line[: ranges[0].start].strip(" \t*_#|·•—–-:,("), line[ranges[0].end :].strip(" \t*_|·•—–-:,.)")
        first = next(iter(word_parts(before)), "")  # "By Ann Lee", "Published"
        named = first in _DATELINES and len(before) <= _MAX_NAME and not any(map(str.isdigit, before))
        if not after and (not before or named or "|" in line or "·" in line):
            return int(ranges[0].start_month[:4])
    return None
