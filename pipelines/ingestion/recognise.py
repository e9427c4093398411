"""RECOGNISE: whether a text is a LinkedIn profile, a resume or a journey, from its structure and words alone."""

import re
from dataclasses import dataclass
from functools import cached_property

from pipelines.ingestion.loaders.sniff import HTML
from pipelines.ingestion.parsers.career.dates import DateRange, date_ranges, durations
from pipelines.ingestion.parsers.career.section_names import section_of
from pipelines.ingestion.parsers.linkedin.lines import PAGE_LINE
from pipelines.ingestion.parsers.linkedin.titles import title_section
from pipelines.text import fold
from pipelines.types import Document

MOST_CHARACTERS = 60_000

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}")
_PHONE = re.compile(r"(?<![\w/.,-])(?:\+\d{1,3}[ ./-]?)?\(?\d{2,5}\)?(?:[ ./-]\d{2,5}){1,4}(?![\w-])")
_PROFILE = re.compile(r"linkedin\.com/in/|linkedin\.[\w.]{2,40}/in/", re.IGNORECASE)
_LABEL = re.compile(r"\(LinkedIn\)")
_ON_SITE = re.compile(
    r"\bcontact .{2,60} on linkedin\b|\bpe(?:ople|rson) ha(?:ve|s) recommended\b|\b\d{1,3}\+? connections\b",
    re.IGNORECASE,
)
_AT = re.compile(r"\S (?:at|bei|chez|en|na|no|em|presso) \S")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_LOOKING_BACK = re.compile(
    r"\b(?:my journey|reflections?|looking back|year in review|retrospective|lessons learned|ruckblick|reflexion|bilan"
    r"|retrospectiva|retrospettiva|reflexao|reflexoes|reflexiones|riflessioni|jornada|mein weg|mon parcours"
    r"|mi camino)\b"
)

_MAX_RESUME = 32_000
_LEAST_WORDS = 120
_FIRST_PERSON = frozenset(
    "i me my myself mine i'm i've i'd i'll ich mich mir mein meine meinen meinem meiner je j'ai moi mon ma mes yo mi"
    " mis conmigo eu meu minha meus minhas mim io mio mia miei mie".split()
)
_REFLECTIVE = frozenset(
    """
    learn learned learning learnt lesson lessons decide decided decision decisions realise realised realize realized
    reflect reflecting reflection reflections journey growth grew grown goal goals challenge challenges challenging
    grateful proud struggle struggled struggling felt feel feeling remember remembered regret mistake mistakes improve
    improved mentor mentored mentoring career milestone milestones achievement hope hoped why believed
    gelernt entschieden entscheidung reflexion ziele ziel herausforderung dankbar stolz fehler gefuhl erinnere weg
    appris decide decision reflexion objectif objectifs defi defis fier fiere erreur parcours souviens ressenti
    aprendi aprendido decidi decision reflexion meta metas objetivo objetivos reto retos desafio orgulloso error camino
    aprendizado decisao reflexao desafios orgulho erro jornada senti
    imparato deciso decisione riflessione obiettivo obiettivi sfida sfide orgoglioso errore percorso ricordo
    """.split()
)


@dataclass(frozen=True)
class Shape:
    """What a document's text shows of itself, each worked out when it is asked for."""

    document: Document

    @cached_property
    def text(self) -> str:
        """The text as far as it is looked at."""
        return self.document.text[:MOST_CHARACTERS]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines that hold something, tabs parting them too."""
        return tuple(line for line in (raw.strip() for raw in re.split(r"[\n\t]", self.text)) if line)

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """The headings, and the short lines that could be headings."""
        blocks = self.document.blocks
        marked = [self.document.text[block.start : block.end] for block in blocks if block.kind == "heading"]
        return tuple(dict.fromkeys([*marked, *(line for line in self.lines if len(line) <= 50)]))

    @cached_property
    def headings(self) -> int:
        """How many headings the document marks as such."""
        return sum(block.kind == "heading" for block in self.document.blocks)

    @cached_property
    def sections(self) -> frozenset[str]:
        """The sections of a career that are named by lines of their own."""
        return frozenset(section for section in map(section_of, self.titles) if section)

    @cached_property
    def profile_titles(self) -> frozenset[str]:
        """The sections that LinkedIn's own titles name."""
        return frozenset(section for section in map(title_section, self.titles) if section)

    @cached_property
    def dates(self) -> tuple[DateRange, ...]:
        """Every date and range of the text."""
        return tuple(date_ranges(self.text))

    @cached_property
    def spells(self) -> int:
        """How many stretches of time there are, such as a job has."""
        return sum(bool(found.end_month or found.current) for found in self.dates)

    @cached_property
    def lengths(self) -> int:
        """How many stretches of time are followed by their length, `(3 years 2 months)` or `· 3 yrs 2 mos`."""
        ranges = [found for found in self.dates if found.end_month or found.current]
        return sum(any(start <= 3 for start, _ in durations(self.text[found.end : found.end + 40])) for found in ranges)

    @cached_property
    def reachable(self) -> bool:
        """Whether there is an e-mail address or a telephone number near the top or the end."""
        ends = self.text[:3_000] + "\n" + self.text[-600:]
        return bool(_EMAIL.search(ends) or _PHONE.search(ends) or _PROFILE.search(ends))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The folded words."""
        return tuple(_WORD.findall(fold(self.text)))


def linkedin_confidence(shape: Shape) -> float:
    """How surely (0..1) a text is a LinkedIn profile: by titles, labelled links, lengths after dates, page numbers."""
    if "linkedin" not in shape.text.lower() and not shape.lengths and "top_skills" not in shape.profile_titles:
        return 0.0
    first = title_section(shape.lines[0]) if shape.lines else ""
    timed = shape.lengths > 0 and 2 * shape.lengths >= shape.spells
    sections = len(shape.profile_titles & {"summary", "experience", "education", "skills", "languages", "contact"})
    own = (
        3.0 * bool(_LABEL.search(shape.text[:3_000]))
        + 3.0 * ("top_skills" in shape.profile_titles)
        + 3.0 * timed
        + 2.0 * bool(_ON_SITE.search(shape.text))
        + 2.0 * _joined_jobs(shape)
    )
    numbered = [notice.text for notice in shape.document.furniture] + list(shape.lines[:400])
    beside = (
        (first == "contact")
        + bool(_PROFILE.search(shape.text))
        + any(map(PAGE_LINE.fullmatch, map(str.strip, numbered)))
    )
    if sections < 1 or own < 3 or (own < 5 and not (own >= 3 and beside >= 2 and not (timed and own == 3))):
        return 0.0
    return min(0.99, 0.75 + 0.03 * (own + beside))


def _joined_jobs(shape: Shape) -> bool:
    """Whether the lines over dates with their length read `Position at Company`, as in the old export."""
    if not shape.lengths:
        return False
    above: list[str] = []
    for before, line in zip(shape.lines, shape.lines[1:], strict=False):
        lengths = durations(line) if len(line) < 100 else []
        if lengths and date_ranges(line):
            above.append(before)
    return bool(above) and 4 * sum(bool(_AT.search(line)) for line in above) >= 3 * len(above)


def resume_confidence(shape: Shape) -> float:
    """How surely (0..1) a text is a resume: sections of a career, stretches of time, an address to write to."""
    if len(shape.document.text) > _MAX_RESUME:
        return 0.0
    main = shape.sections & {"experience", "education"}
    others = shape.sections - {"experience", "education", "contact", "references", "summary", "courses", "interests"}
    known = len(main) + len(others) + len(shape.sections & {"summary", "contact"})
    if not main or known < 3 or shape.headings > 3 * known + 4:
        return 0.0
    signs = (len(main) == 2) + ("skills" in others) + (shape.spells >= 2) + (shape.spells >= 4) + shape.reachable
    if signs < 3 or (shape.spells == 0 and len(main) < 2):
        return 0.0
    return min(0.98, 0.4 + 0.1 * signs + 0.02 * known)


def journey_confidence(shape: Shape) -> float:
    """How surely (0..1) a text is somebody's own reflections: first person throughout, and words of learning."""
    words = shape.words
    if len(words) < _LEAST_WORDS or shape.sections & {"experience", "education"}:
        return 0.0
    own = sum(word in _FIRST_PERSON for word in words) / len(words)
    reflective = [word for word in words if word in _REFLECTIVE]
    rate, kinds = len(reflective) / len(words), len(set(reflective))
    titles = "\n".join(line for line in shape.lines[:3] if len(line) <= 120)
    if shape.document.mime == HTML:
        return 0.0
    if own >= 0.015 and kinds >= 3 and _LOOKING_BACK.search(fold(titles)):
        return 0.8
    if own < 0.06 or rate < 0.008 or kinds < 6:
        return 0.0
    return min(0.9, 0.5 + 4 * (own - 0.04) + 5 * rate)


def has_career(shape: Shape) -> bool:
    """Whether anything of a career stands in the text: sections, stretches of time, or an address to write to."""
    return bool(len(shape.sections) >= 2 or shape.spells >= 2 or (shape.sections and shape.reachable))


def is_personal(shape: Shape) -> bool:
    """Whether somebody speaks of himself or herself."""
    return sum(word in _FIRST_PERSON for word in shape.words) >= max(2, len(shape.words) // 100)
