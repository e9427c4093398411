"""The lines and sections of a LinkedIn profile, and the line that is the person's name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from pipelines.blocks import text_blocks
from pipelines.bullets import BULLETS, SIGNS
from pipelines.contacts import linkedin_slug
from pipelines.headings import trim_span
from pipelines.ingestion.parsers.careers.people import is_name
from pipelines.ingestion.parsers.careers.places import place_score
from pipelines.ingestion.parsers.careers.section_names import section_of
from pipelines.ingestion.parsers.resume.lines import LineKind, ResumeLine
from pipelines.ingestion.words import word_lists
from pipelines.store.known_names import is_ordinary
from pipelines.text import fold, is_page_number, letters_of, plain, word_parts
from pipelines.types import Block, Document

_BULLETS = SIGNS + BULLETS
_AREAS = frozenset(
    map(fold, "area region périphérie alrededores região großraum umgebung dintorni greater metropolitan".split())
)
_MARKUP = "*`[<\\"
# Each title opens its section as a line of its own.
TITLES = word_lists("linkedin_titles")
LISTED = frozenset(
    ("contact", "top_skills", "skills", "languages", "certifications", "awards", "publications", "patents")
)
UNKNOWN = frozenset(("other", "recommendations", "interests"))
_SECTION_OF = {letters_of(title): section for section, titles in TITLES.items() for title in titles}
_NAME_ROWS = 4


@dataclass(frozen=True, slots=True)
class Row:
    """A line `text[start:end]`, or its part between tabs, with its words; `level` is that of a heading, else 0.

    `alone` is True for a whole block, `apart` below an empty line.
    """

    start: int
    end: int
    words: str
    level: int = 0
    alone: bool = False
    apart: bool = False
    bullet: bool = False

    @property
    def line(self) -> ResumeLine:
        """The row as a line of a resume."""
        kind: LineKind = "heading" if self.level else "bullet" if self.bullet else "text"
        return ResumeLine(self.start, self.end, self.start + 2 * self.bullet, kind, self.level)


def rows_of(document: Document) -> list[Row]:
    """The lines of the document in order, without page numbers.

    A line is joined with the one that closes its bracket.
    """
    text = document.text
    blocks = document.blocks or text_blocks(text)
    levels = {block.start: block.level for block in blocks if block.kind == "heading"}
    whole = {(block.start, block.end) for block in blocks}
    found: list[Row] = []
    for start, end in _lines(text):
        before = found[-1] if found else None
        if before and not before.level and _is_open(before.words) and _closes(text[start:end]):
            found[-1] = replace(before, end=end, words=_words_of(text[before.start : end]))
            continue
        bullet = text[start] in _BULLETS and text[start + 1 : start + 2].isspace()
        words = _words_of(text[start + bullet : end])
        if words and not (before and before.words == words and before.level == levels.get(start, 0)):
            apart = before is None or text.count("\n", before.end, start) > 1
            found.append(Row(start, end, words, levels.get(start, 0), (start, end) in whole, apart, bullet))
    return found


def block_row(document: Document, block: Block) -> Row:
    """A block of the document as one row."""
    text = document.text[block.start : block.end]
    bullet = text[0] in _BULLETS and text[1:2].isspace()
    return Row(block.start, block.end, _words_of(text[bullet:]), block.level, alone=True, apart=True, bullet=bullet)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    for line in text.replace("\t", "\n").split("\n"):
        start, end = trim_span(text, position, position + len(line))
        position += len(line) + 1
        if start == end or is_page_number(text[start:end]):
            continue
        yield start, end


def location_of(row: Row, *, strict: bool = False) -> str:
    """The place that a row names; "" for other rows.

    Args:
        row: The row below a job's dates, or the last one below a name.
        strict: True to accept only known places.
    """
    words = row.words.split(" · ")[0].strip()
    if row.bullet or len(words) > 80 or words.endswith((".", ":", "!", ";")):
        return ""
    if place_score(words) >= 2:
        return words
    parts = [part.split() for part in words.split(",")]
    named = len(parts) <= 4 and all(part and len(part) <= 4 and part[0][0].isupper() for part in parts)
    short = len(parts) == 1 and len(parts[0]) <= 2 and words.istitle()
    is_area = not _AREAS.isdisjoint(fold(words).replace(",", " ").split())
    return words if named and not strict and (len(parts) > 1 or short or is_area) else ""


def _closes(raw: str) -> bool:
    return raw.count(")") > raw.count("(")


def _is_open(words: str) -> bool:
    return len(words) < 300 and words.count("(") > words.count(")")


def _words_of(raw: str) -> str:
    is_marked = raw[:1] in ("#", ">") or any(mark in raw for mark in _MARKUP) or ("&" in raw and ";" in raw)
    return " ".join((plain(raw) if is_marked else raw).split())


def title_section(words: str) -> str:
    """The section with this LinkedIn title; "" for other words."""
    return _SECTION_OF.get(letters_of(words), "") if len(words) <= 60 else ""


@dataclass(frozen=True, slots=True)
class ProfileSection:
    """A section of a profile: its title and the rows below; `name` is a key of TITLES, `person`, or `other`.

    `typeset` is True if the levels of its rows are those of LinkedIn's typesetting.
    """

    name: str
    title: Row | None
    rows: tuple[Row, ...]
    typeset: bool = False

    @property
    def start(self) -> int:
        """The start of the title, else of the first row."""
        return self.title.start if self.title else self.rows[0].start

    @property
    def lines(self) -> list[ResumeLine]:
        """Its rows as the lines that the readers of resumes take."""
        return [row.line for row in self.rows]


def profile_sections(document: Document) -> list[ProfileSection]:
    """The sections of a profile in order; only white space and page numbers are outside of them."""
    rows = rows_of(document)
    names = _section_names(rows, letters_of(unquote(linkedin_slug(document.text))))
    opened: list[tuple[str, Row | None, list[Row]]] = []
    for row, (name, titled) in zip(rows, names, strict=True):
        if titled or not opened or opened[-1][0] != name:
            opened.append((name, row if titled else None, []))
        if not titled:
            opened[-1][2].append(row)
    return [ProfileSection(name, title, tuple(under)) for name, title, under in opened]


def _section_names(rows: Sequence[Row], slug: str) -> list[tuple[str, bool]]:
    """The section of each row, and True for a row that is its title."""
    levels = [row.level for row in rows if title_section(row.words)]
    marked = 3 * sum(map(bool, levels)) > 2 * len(levels)
    named = _name_row(rows, slug, marked)
    found: list[tuple[str, bool]] = []
    current, level, person = "other" if named else "person", 0, rows[named].words if named is not None else ""
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
    """The section of which the row is the title; "" for other rows."""
    known = title_section(row.words)
    if known and (row.level or not marked or row.alone):
        return known
    if not row.level or row.level > (level or 6):
        return ""
    section = section_of(row.words)
    return section if section in TITLES else "other" if section and current != "person" else ""


def _name_row(rows: Sequence[Row], slug: str, marked: bool) -> int | None:
    """The index of the row with the person's name; None if unknown."""
    titles = [at for at, row in enumerate(rows) if _title(row, "", 6, marked)]
    if not rows or not titles:
        return None
    if titles[0] > 0:
        return next((at for at in range(titles[0]) if _is_slug(rows[at].words, slug)), _said_again(rows, titles[0]))
    main = next((at for at in titles if title_section(rows[at].words) in ("summary", "experience", "education")), None)
    last = main if main is not None else len(rows)
    within = sorted(set(range(1, last)).difference(titles))
    addressed = [at for at in within if _is_slug(rows[at].words, slug)]
    headed = [at for at in within if rows[at].level and is_name(rows[at].words.split())]
    if addressed or headed:
        return addressed[0] if addressed else min(headed, key=lambda at: (rows[at].level, -at))
    return _name_before(rows, max(title for title in titles if title < last), last) if within else None


def _said_again(rows: Sequence[Row], title: int) -> int:
    """Above the first title, the row like a name of which a rare word stands in a later row ("Ifeoma posted this").

    A page copied from a browser opens with its menu; 0 without such a row.
    """
    later = [set(word_parts(row.words)) for row in rows]
    return next(
        (
            at
            for at, row in enumerate(rows[:title])
            if is_name(row.words.split())
            and any(word in said for word in word_parts(row.words) if not is_ordinary(word) for said in later[at + 1 :])
        ),
        0,
    )


def _name_before(rows: Sequence[Row], title: int, main: int) -> int | None:
    """The name by its shape alone: it has up to three rows below it, the last of them a place."""
    if main - title < 3 or not location_of(rows[main - 1]):
        return None
    levelled = [at for at in range(title + 1, main) if rows[at].words.endswith(")")]
    if title_section(rows[title].words) == "languages" and levelled and levelled[-1] + 1 < main:
        return levelled[-1] + 1
    order = [at for at in (main - 3, main - _NAME_ROWS, main - 2) if at > title]
    return next((at for at in order if is_name(rows[at].words.split()) and rows[at].words.istitle()), None)


def _is_slug(words: str, slug: str) -> bool:
    """True if every word of a name is in the profile's address."""
    parts = [part for part in word_parts(words) if len(part) > 1]
    return len(parts) > 1 and len(words) <= 60 and all(part in slug for part in parts)
