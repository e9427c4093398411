"""The parts of a job's lines that may be its company or its position, and what tells at once what it is."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from pipelines.ingestion.parsers.career.job_words import company_score, is_employment_type, title_score
from pipelines.ingestion.parsers.career.places import place_score
from pipelines.ingestion.parsers.resume.entries import Entry
from pipelines.ingestion.parsers.resume.lines import Segment, words_of
from pipelines.text import fold

LABELS = {
    "company": "company employer organization organisation client unternehmen firma arbeitgeber entreprise employeur"
    " societe empresa empleador empregador azienda datore",
    "position": "position title role job jobtitle designation stelle funktion rolle poste fonction titre puesto cargo"
    " posicion funcao ruolo posizione mansione",
    "location": "location place city ort standort arbeitsort lieu ville ubicacion lugar ciudad local localizacao"
    " cidade luogo sede citta",
    "": "date dates duration period when from zeitraum dauer datum periode duree fecha fechas periodo duracion data"
    " datas duracao durata department abteilung team industry branche",
}
SURE_AT = frozenset({"at", "@", "bei", "beim", "chez", "presso"})

_MAX_SEGMENTS = 10
_MAX_JOINTS = 8
_LABELLED = re.compile(r"([^\W\d_]{2,15})(?: (?:name|title))?:\s+(?=\S)")
_AT = re.compile(r"\s+(?:at|@|bei|beim|chez|presso|with|for|für|en|em|na|no|in|à|au|a|auprès de)\s+")
_WEAK = re.compile(r",\s+|\s+[–—-]{1,2}\s+|\s+/\s+|:\s+|\s+//\s+|\s+>\s+")
_TAIL = re.compile(r",\s+|\s+[–—-]\s+|\s+/\s+|\s+in\s+|;\s+")
_ASIDE = re.compile(r"([^()]*[^\s()])\s*\(([^()]{2,60})\)")
_ROLES = {name: role for role, names in LABELS.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class Slot:
    """A candidate for a company or a position.

    `place` says where it stands, the same for the same place in each job; `later` that it stands after the dates'
    line, where a description may stand as well; `joint` which separator inside a segment it is a side of; `city` what
    place was taken off its end.
    """

    words: str
    place: str
    later: bool = False
    joint: str = ""
    city: str = ""


@dataclass(frozen=True, slots=True)
class Slots:
    """The candidates of a job, and what is known of it without them: its place and labelled words, by role."""

    slots: tuple[Slot, ...]
    known: dict[str, str]


def slots_of(entry: Entry, sure: int) -> Slots:
    """The slots of a job, in order.

    Args:
        entry: The job's lines.
        sure: The place score from which a whole segment is taken for the job's place.
    """
    slots: list[Slot] = []
    known: dict[str, str] = {}
    count: dict[int, int] = defaultdict(int)
    for row, part in islice(_rows(entry), _MAX_SEGMENTS):
        role, words = _told(part.words, sure)
        if role is not None:
            known.setdefault(role, words)
            continue
        words, city = without_place(part.words)
        if city:
            known.setdefault("location", city)
        at = f"{row}.{count[row]}"
        slots.append(Slot(words, at, row > 0, city=city))
        slots.extend(islice(_sides(words, at, row > 0), 2 * _MAX_JOINTS))
        count[row] += 1
    for one in entry.body:
        if one.line.kind == "bullet" and one.parts:
            known.setdefault("location", one.parts[0].words)
    return Slots(tuple(slots), {role: words for role, words in known.items() if role and words})


def _rows(entry: Entry) -> Iterator[tuple[int, Segment]]:
    """The segments, each with the number of its line; 0 is the line of the dates."""
    for number, marked in enumerate(entry.head):
        for part in marked.parts:
            yield number - len(entry.head) + 1, part
    if not any(one.anchor == "beside" for one in entry.body[:1]):
        for number, marked in enumerate(entry.after):
            for part in marked.parts:
                yield number + 1, part


def _told(words: str, sure: int) -> tuple[str | None, str]:
    """The role of words that tell it ("Employer: Acme", a place), "" for those that say nothing of the job, and what.

    None for all others.
    """
    label = _LABELLED.match(words)
    if label and (role := _ROLES.get(fold(label[1]))) is not None:
        return role, words[label.end() :]
    score = place_score(words)
    if _ROLES.get(fold(words)) == "" or (is_employment_type(words) and score < 3 and not title_score(words)):
        return "", ""
    return ("location", words) if score >= sure else (None, "")


def _sides(words: str, place: str, later: bool) -> Iterator[Slot]:
    """Both sides of each separator inside a segment: "Engineer, Acme", "Engineer at Acme", "Acme - Engineer"."""
    for pattern in (_AT, _WEAK):
        for match in pattern.finditer(words):
            left, city = without_place(words_of(words[: match.start()]))
            right = words_of(words[match.end() :])
            if not left or not right or words.count("(", 0, match.start()) > words.count(")", 0, match.start()):
                continue
            mark = match[0].strip()
            sign = mark if pattern is _AT else "-" if mark[0] in "–—-" else mark[0]
            if pattern is _AT and sign not in SURE_AT and (title_score(left) < 2 or title_score(right) >= 2):
                continue
            joint = f"{place} {match.start()} {sign}"
            yield Slot(left, f"{place}{sign}L", later, joint, city)
            yield Slot(right, f"{place}{sign}R", later, joint)


def without_place(words: str) -> tuple[str, str]:
    """The words without a place at their end, and that place: "Acme, Princeton, NJ", "Acme (Berlin)"."""
    for match in list(_TAIL.finditer(words))[-4:]:
        head, tail = words_of(words[: match.start()]), words_of(words[match.end() :])
        known = place_score(tail)
        if head and (known >= 3 or (known == 2 and not title_score(tail) and not company_score(tail))):
            return head, tail
    aside = _ASIDE.fullmatch(words)
    if aside and place_score(aside[2]) >= 2:
        return words_of(aside[1]), aside[2].strip()
    return words, ""
