"""The education entries of a resume: institution, degree, subject and place of each."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from pipelines.facts import EducationFacts
from pipelines.ingestion.parsers.careers.places import could_be_place, is_region, place_score
from pipelines.ingestion.parsers.careers.records import date_fields
from pipelines.ingestion.parsers.careers.separators import Cut, cuts, split_aside
from pipelines.ingestion.parsers.careers.vocabulary import (
    MAX_CACHED_LENGTH,
    degree_score,
    has_school,
    institution_score,
    is_employment_type,
)
from pipelines.ingestion.parsers.resume.entries import ResumeEntry
from pipelines.ingestion.parsers.resume.lines import words_of

_MAX_NAME = 200
_BEFORE_SCHOOL = frozenset(("at", "an der", "an", "bei", "à", "presso", "na", "chez"))
_OF = frozenset(form for word in ("of", "de", "der") for form in (word, word.upper(), word.capitalize()))
_IN = frozenset(form for word in ("in", "en", "em") for form in (word, word.upper(), word.capitalize()))
_DETAIL = re.compile(
    r"[\"'“„‘«]|(?:thesis|dissertation|advisor|supervisor|title|relevant|coursework|concentration|abschlussarbeit|thema"
    r"|mémoire|tesis|tesi|minor)\b",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"(?:(?:bachelor|master|doctor|associate)s?(?:'s|’s)? (?:of|in) (?:applied |fine |executive )?"
    r"(?:arts|sciences?|engineering|laws?|philosophy|education|commerce|technology|business administration"
    r"|public (?:health|administration|policy)"
    r"|medicine|music|architecture|nursing|design|social work)|laurea (?:magistrale|triennale)|licence professionnelle"
    r"|(?:máster|master|mestrado) (?:universitario|integrado|universitaire)|grado superior|formación profesional)"
    r"(?: \([^()]*\))?(?= )",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"[^\W\d_][\w.'’-]*(?: degree)?(?: \([^()]*\))? (?!(?:of|de|en|in|em|degree|an|at)\b)", re.IGNORECASE
)
_SHORT_DEGREE = re.compile(r"([A-Z](?:[a-z]{0,3}\.?[A-Z]{1,3}[a-z]{0,4}\.?|\.[\w.]{1,6}))\s+(?!in\b|of\b)")
_GRADE = re.compile(
    r"\b(?:gpa|grade|note|abschlussnote|moyenne|mention|nota|media|voto|cgpa|gwa|honou?rs|distinction|merit|cum laude"
    r"|first class)\b|\d[.,/:]\d",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^(?:(?:degree|institution|school|university|major|abschluss|hochschule|institut|diplôme|école|établissement|título"
    r"|institución|universidad|grau|instituição|titolo|istituto|università|field|area|studiengang|fach):\s+"
    r"|major in\s+(?=\S))",
    re.IGNORECASE,
)


def education_records(text: str, entries: Sequence[ResumeEntry]) -> list[EducationFacts]:
    """The institution, degree, subject and place of each entry, in order.

    The institution is the part with a school word, the degree the part with a degree word. If neither has one, the
    order of the parts in most other entries decides.
    """
    parsed = [_parts_and_places(entry) for entry in entries]
    known = [_school_and_degree(parts) for parts, _ in parsed]
    balance = sum(1 if school < degree else -1 for school, degree in known if school >= 0 and degree >= 0)
    records = [
        _record(entry, parts, places, indices, balance >= 0)
        for entry, (parts, places), indices in zip(entries, parsed, known, strict=True)
    ]
    return list(accumulate(records, _under_one_school))


def _under_one_school(above: EducationFacts, record: EducationFacts) -> EducationFacts:
    """The record; a degree without a school of its own is at the school of the entry above."""
    if record.institution or not record.degree:
        return record
    return record.model_copy(update={"institution": above.institution, "location": record.location or above.location})


def _parts_and_places(entry: ResumeEntry) -> tuple[list[str], list[str]]:
    """The parts that may be a school, a degree or a subject, and the places."""
    parts: list[str] = []
    places: list[str] = []
    later = (
        []
        if any(one.anchor == "beside" for one in entry.body[:1])
        else [one for one in entry.after if one.line.kind != "bullet"]
    )
    found = [part for one in (*entry.head, *later) for part in one.parts]
    beside = [part for one in entry.body if one.line.kind == "bullet" for part in one.parts]
    for segment in [*found, *beside]:
        if len(segment.words) > MAX_CACHED_LENGTH:
            continue
        words = _LABEL.sub("", segment.words, count=1)
        if place_score(words) >= 3 or (
            place_score(words) == 2 and not institution_score(words) and not degree_score(words)
        ):
            places.append(words)
            continue
        if segment in beside or is_employment_type(words):
            continue
        for piece in _pieces(words):
            if place_score(piece) >= 3:
                places.append(piece)
            elif piece and not _is_grade(split_aside(piece)[0]) and not (parts and _DETAIL.match(piece)):
                parts.append(piece)
    asides = [split_aside(part) for part in parts]
    dropped = [_is_grade(aside) or is_employment_type(aside) for _, aside in asides]
    parts = [bare if drop else part for part, drop, (bare, _) in zip(parts, dropped, asides, strict=True)]
    if len(parts) == 1 and degree_score(parts[0]):
        head, tail = _last_of_list(parts[0])
        parts = [head, tail] if tail and degree_score(head) and not degree_score(tail) else parts
    return parts, places


def _last_of_list(words: str) -> tuple[str, str]:
    """The words before and behind the last comma; the second is "" without one."""
    commas = cuts(words, ",")
    return (words[: commas[-1].start], words[commas[-1].end :]) if commas else (words, "")


def _is_grade(words: str) -> bool:
    return bool(_GRADE.search(words)) and not institution_score(words) and not degree_score(words)


def _without_grade(words: str) -> str:
    """The words without a grade at their end: "BSc Physics; GPA: 3.6/4"."""
    for cut in cuts(words, ";,(-"):
        if cut.start and _is_grade(words[cut.end :]):
            return words[: cut.start]
    return words


def _pieces(words: str) -> Iterator[str]:
    """The segment cut where it holds more than one item: a place at its end, a school and a degree."""
    words = _without_grade(words)
    if _is_campus(words):
        yield words
        return
    words, place = _without_place(words)
    short = _SHORT_DEGREE.match(words)
    if short and degree_score(short[1]) and institution_score(words[short.end() :]):
        yield short[1]
        words = words[short.end() :]
    best: Cut | None = None
    most = 0.0
    for cut in cuts(words, ",-@;/:", _BEFORE_SCHOOL):
        left, right = words_of(words[: cut.start]), words_of(words[cut.end :])
        score = max(_split_score(left, right), _split_score(right, left))
        is_outside = words.count("(", 0, cut.start) == words.count(")", 0, cut.start)
        if is_outside and left and right and score > most:
            best, most = cut, score
    if best is None:
        yield words
    else:
        yield words_of(words[: best.start])
        yield words_of(words[best.end :])
    if place:
        yield place


def _is_campus(words: str) -> bool:
    """True if the words are a school that a region alone does not name, and its city: "University of Texas, Austin"."""
    school, city = _last_of_list(words)
    of = next(iter(cuts(school, "", _OF)), None)
    if not city or not of or not has_school(school[: of.start]):
        return False
    return is_region(school[of.end :]) and could_be_place(city) and not is_region(city)


def _split_score(school: str, other: str) -> float:
    """Score how well a cut separates a school from another item; 0 if it does not."""
    if not institution_score(school) or institution_score(other):
        return 0.0
    return 1.0 + bool(degree_score(other)) - 0.9 * bool(degree_score(school)) - 0.001 * len(school)


def _without_place(words: str) -> tuple[str, str]:
    bare, aside = split_aside(words)
    if place_score(aside) >= 2:
        return words_of(bare), aside
    for cut in cuts(words, ",-", {"in"})[-3:]:
        head, tail = words_of(words[: cut.start]), words_of(words[cut.end :])
        known = place_score(tail)
        if head and (known >= 3 or (known == 2 and not degree_score(tail) and not institution_score(tail))):
            return head, tail
    return words, ""


def _school_and_degree(parts: Sequence[str]) -> tuple[int, int]:
    """The indices of the school and the degree, by their words; -1 for none."""
    school = max(
        range(len(parts)), key=lambda at: institution_score(parts[at]) - 0.9 * degree_score(parts[at]) / 2, default=-1
    )
    if school >= 0 and not institution_score(parts[school]):
        school = -1
    others = [at for at in range(len(parts)) if at != school]
    degree = max(others, key=lambda at: (degree_score(parts[at]), bool(_degree_and_area(parts[at])[1])), default=-1)
    if degree >= 0 and not degree_score(parts[degree]):
        degree = -1
    return school, degree


def _record(
    entry: ResumeEntry, parts: Sequence[str], places: Sequence[str], found: tuple[int, int], school_first: bool
) -> EducationFacts:
    school, degree = found
    rest = [at for at in range(len(parts)) if at not in found]
    if school < 0 and rest:
        after = [at for at in rest if at > degree]
        before = [at for at in rest if at < degree]
        subject_first = len(after) > 1 and degree >= 0 and not _degree_and_area(parts[degree])[1]
        school = before[0] if before and school_first else (after[subject_first:] or rest)[0]
        rest.remove(school)
    if degree < 0 and rest:
        degree = rest.pop(0)
    title, area = _degree_and_area(parts[degree]) if degree >= 0 else ("", "")
    rest = [at for at in rest if not degree_score(parts[at]) and len(parts[at].split()) <= 8 and "," not in parts[at]]
    if not area and rest:
        area = parts[rest[0]]
    return EducationFacts(
        span=(entry.start, entry.end),
        institution=parts[school][:_MAX_NAME] if school >= 0 else "",
        degree=title[:_MAX_NAME],
        area=area[:_MAX_NAME],
        location=places[0] if places else "",
        **date_fields(entry.dated),
    )


def _degree_and_area(words: str) -> tuple[str, str]:
    """The degree and its subject: "PhD in Physics", "BSc Physics", "Master of Science, Physics", "Physics, BSc"."""
    subject, last = _last_of_list(words)
    if degree_score(last) and not degree_score(subject):
        return last, subject
    for cut in cuts(words, ",:-(", _IN | _OF):
        left, right = (
            words_of(words[: cut.start]),
            words_of(words[cut.end :].removesuffix(")" if cut.sign == "(" else "")),
        )
        is_degree = cut.sign == "-" and degree_score(right.partition(",")[0])  # "Bachelor of Science - BS, Physics"
        is_degree = is_degree or (cut.sign == "(" and right.startswith("Hon"))  # "B.A. (Hons) in Law"
        if left and right and degree_score(left) and cut.sign not in _OF and not is_degree:
            return left, right
    known = _PHRASE.match(words) or _LEADING.match(words)
    if known and degree_score(known[0]) and words[known.end()] != "(" and (area := words_of(words[known.end() :])):
        return known[0].strip(), area
    return words, ""
