"""The words in a job's lines that may be its company, its position or its place."""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice

from pipelines.ingestion.parsers.careers.places import could_be_place, place_score
from pipelines.ingestion.parsers.careers.section_names import section_of
from pipelines.ingestion.parsers.careers.separators import DASHES, Cut, cuts, split_aside
from pipelines.ingestion.parsers.careers.vocabulary import (
    company_score,
    is_department,
    is_employment_type,
    is_industry,
    title_score,
)
from pipelines.ingestion.parsers.resume.entries import ResumeEntry
from pipelines.ingestion.parsers.resume.lines import label_role, split_label, words_of

Segment = tuple[int, int]

_NO_PLACE = -2.0
_UNKNOWN_NAME = 0.2
_FEW_JOBS = 4
_STATE_LENGTH = 4
_MAX_WORDS = 160
SURE_PREPOSITIONS = frozenset({"at", "@", "bei", "beim", "chez", "presso"})
_PREPOSITIONS_BEFORE_NAMES = frozenset(("en", "em", "na", "no", "à", "au", "auprès de"))
_MAX_SEGMENTS, _FEW_SEGMENTS = 10, 4
_MAX_SEPARATORS = 8
_IS_PLACE = 2
_PREPOSITIONS = SURE_PREPOSITIONS | _PREPOSITIONS_BEFORE_NAMES | {"with", "for", "für", "in", "a"}


@dataclass(frozen=True, slots=True)
class PlaceCandidate:
    """Words that may be a job's place: segment `at` of line `row`, or its end after `head`.

    `key` is equal for the same spot in each job; `score` (-2 to 2) is how much the words look like a place.
    """

    words: str
    row: int
    at: int
    key: str
    score: float
    head: str = ""
    aligned: bool = False

    @property
    def segment(self) -> Segment:
        """Its line and its number in the line."""
        return self.row, self.at


def whole_segment_place(row: int, at: int, words: str, aligned: bool = False) -> PlaceCandidate:
    """A whole segment as a place candidate."""
    return PlaceCandidate(words, row, at, f"{row}.{at}", place_likeness(words), aligned=aligned)


def trailing_place(row: int, at: int, side: str, words: str, city: str = "") -> PlaceCandidate | None:
    """The end of the words as a place ("Acme, Lower Brackenby", "Acme (Lindau)"); None if there is none.

    `row` and `at` are the numbers of the line and of the segment in it, `side` the separator and the side if the words
    are one side of a separator, and `city` a known place that was at their end.
    """
    if city:
        return PlaceCandidate(city, row, at, f"{row}.{at}{side},", place_likeness(city), words)
    if len(words) > _MAX_WORDS:
        return None
    head, aside = split_aside(words)
    if aside:
        head, tail, mark = words_of(head), aside.strip(), "("
        if tail.isupper() and not head.isupper() and not place_score(tail):
            return None  # the name in short
    elif last := cuts(words, ",-/")[-1:]:
        head, tail, mark = words[: last[0].start], words[last[0].end :], last[0].sign
        if not head or head[-1] in f",/{DASHES}" or any(sign in tail for sign in ",/–—"):
            return None
        head, tail = words_of(head), _without_full_stop(words_of(tail))
    else:
        return None
    return (
        PlaceCandidate(tail, row, at, f"{row}.{at}{side}{mark}", place_likeness(tail), head) if head and tail else None
    )


def _without_full_stop(words: str) -> str:
    """The words without a full stop at the end of their line."""
    return words[:-1] if words.endswith(".") and words.count(".") == 1 and len(words) > _STATE_LENGTH else words


def place_likeness(words: str) -> float:
    """Score how much the words look like a job's place, -2 to 2; 0.2 for an unknown name."""
    known = place_score(words)
    if known:
        return (0.5, 1.5, 2.0)[known - 1]
    is_other = title_score(words) >= 0.5 or company_score(words) or is_employment_type(words)
    if is_other or not could_be_place(words) or is_industry(words) or is_department(words) or section_of(words):
        return _NO_PLACE
    return _UNKNOWN_NAME


def mean_place_scores(places: Sequence[Sequence[PlaceCandidate]]) -> dict[str, float]:
    """The mean place score of each key over all jobs, about -2 to 2."""
    found: dict[str, float] = defaultdict(float)
    for taken in places:
        best: dict[str, float] = {}
        for place in taken:
            best[place.key] = max(best.get(place.key, _NO_PLACE), place.score)
        for key, score in best.items():
            found[key] += score / max(len(places), _FEW_JOBS)
    return found


def split_known_place(words: str) -> tuple[str, str]:
    """Split a known place off the words; "" if there is none.

    "Acme, Princeton, NJ", "Acme (Berlin)", "Berlin – Acme", "Austin, TX: Acme".
    """
    bare, aside = split_aside(words)
    if aside:
        return (words_of(bare), aside.strip()) if place_score(aside) >= 2 else (words, "")
    head, comma, state = words.rpartition(", ")
    parts = head.split()
    for size in (2, 1) if comma else ():  # "Acme Foods Princeton, NJ"
        name, city = parts[:-size], f"{' '.join(parts[-size:])}, {state}"
        is_named = len(name) > 1 and name[-1][0].isupper() and (name[-1][-1].isalnum() or name[-1][-1] in ".)")
        if is_named and parts[-size][0].isalpha() and place_score(city) >= 3:
            return " ".join(name), city
    for cut in cuts(words, ",-/;", {"in"})[-4:]:
        head, tail = words_of(words[: cut.start]), words_of(words[cut.end :])
        known = place_score(tail)
        if head and (known >= 3 or (known == 2 and not title_score(tail) and not company_score(tail))):
            return head, tail
    for cut in reversed(cuts(words, ",-/:")[:2]):
        head, tail = words_of(words[: cut.start]), words_of(words[cut.end :])
        if tail and place_score(head) >= 3 and ("," in head or cut.sign != ","):
            return tail, head
    return words, ""


@dataclass(frozen=True, slots=True)
class Separator:
    """A separator inside a segment: number `number` of `count` with the same sign, at offset `start`."""

    sign: str
    number: int
    count: int
    start: int

    def names(self, side: str, cut: str = "") -> tuple[str, ...]:
        """Layout keys of a side, equal for the same side in each job: counted from the first and from the last sign.

        Args:
            side: "L" or "R".
            cut: The side from whose end a place after the same sign was taken; "" = neither.
        """
        number, count = self.number - (cut == "L"), self.count - (cut != "")
        which = [f"{self.sign}<"] * (number == 0) + [f"{self.sign}>"] * (number == count - 1)
        return tuple(f"{one}{side}" for one in which or [self.sign])


@dataclass(frozen=True, slots=True)
class NameCandidate:
    """A candidate for a company or a position: segment `at` of a line, or one side of a separator inside it.

    Attributes:
        row: Number of the line; 0 = the line of the dates.
        rank: Number of the segment among those of the line that are not known places.
        separator: The separator of which it is the left or right `side`.
        city: A known place that was split off.
        is_place: True if words and city may be one place together.
        aligned: True if it is at the right margin.
        tail: Its end, if that may be a place.
    """

    words: str
    row: int
    at: int
    rank: int
    separator: Separator | None = None
    side: str = ""
    city: str = ""
    is_place: bool = False
    aligned: bool = False
    tail: PlaceCandidate | None = None

    @property
    def segment(self) -> Segment:
        """Its line and its number in the line."""
        return self.row, self.at

    @property
    def is_later(self) -> bool:
        """True if it is below the line of the dates, where a description may also be."""
        return self.row > 0


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of a job, the values that are known by label or as a place, and its place candidates."""

    items: tuple[NameCandidate, ...]
    known: dict[str, str]
    places: tuple[PlaceCandidate, ...]

    @property
    def whole(self) -> list[NameCandidate]:
        """The candidates that are whole segments."""
        return [candidate for candidate in self.items if candidate.separator is None]

    def apart(self, taken: Set[Segment]) -> list[PlaceCandidate]:
        """Place candidates outside the segments: other whole segments, and known places at their ends."""
        whole = [place for place in self.places if not place.head and place.segment not in taken]
        known = taken | {place.segment for place in whole if place.score > 1}
        return whole + [place for place in self.places if place.head and place.score > 1 and place.segment not in known]


def candidates_of(entry: ResumeEntry, *, sides: bool = True) -> Candidates:
    """Find the candidates of a job, in order.

    With `sides`, segments are split at the separators inside them.
    """
    candidates: list[NameCandidate] = []
    places: list[PlaceCandidate] = []
    known: dict[str, str] = {}
    count: dict[int, int] = defaultdict(int)
    for row, at, role, raw, aligned in islice(_segments_with_roles(entry), _MAX_SEGMENTS if sides else _FEW_SEGMENTS):
        if role is not None:
            known.setdefault(role, raw)
            places += [whole_segment_place(row, at, raw)] if role == "location" else []
            continue
        words, city = split_known_place(raw)
        one = NameCandidate(
            words, row, at, count[row], city=city, is_place=place_score(raw) == _IS_PLACE, aligned=aligned
        )
        made = [
            _with_trailing_place(candidate)
            for candidate in (one, *islice(_sides(one), 2 * _MAX_SEPARATORS if sides else 0))
        ]
        candidates += made
        places += [
            whole_segment_place(row, at, raw, aligned),
            *(candidate.tail for candidate in made if candidate.tail),
        ]
        count[row] += 1
    for item in entry.body:
        if item.line.kind == "bullet" and item.parts:
            known.setdefault("location", item.parts[0].words)
    return Candidates(
        tuple(candidates), {role: words for role, words in known.items() if role and words}, tuple(places)
    )


def _with_trailing_place(candidate: NameCandidate) -> NameCandidate:
    side = f"{candidate.separator.sign}{candidate.side}" if candidate.separator else ""
    return replace(candidate, tail=trailing_place(candidate.row, candidate.at, side, candidate.words, candidate.city))


def _segments_with_roles(entry: ResumeEntry) -> Iterator[tuple[int, int, str | None, str, bool]]:
    """Yield (line, number in the line, role, words, aligned) for each segment; line 0 is that of the dates.

    The role is that of a label before the words or in a column of its own, `location` for a known place, "" for words
    that are irrelevant to the job, and None if unknown.
    """
    after = () if any(one.anchor == "beside" for one in entry.body[:1]) else entry.after
    for row, marked in enumerate((*entry.head, *after), start=1 - len(entry.head)):
        label: str | None = None
        for at, part in enumerate(marked.parts):
            bare = label_role(part.words) if at == 0 else None
            if bare is not None and len(marked.parts) > 1:
                label = bare
            elif label is not None:
                yield row, at, label, part.words, part.aligned
            else:
                yield row, at, *_role(part.words), part.aligned


def _role(words: str) -> tuple[str | None, str]:
    if found := split_label(words):
        return found
    score = place_score(words)
    if label_role(words) == "" or (
        is_employment_type(words) and score < 3 and not title_score(words) and not company_score(words)
    ):
        return "", ""
    is_town = score == _IS_PLACE and words[-4:-2] == ", " and words[-2:].isupper()
    is_town = is_town and not company_score(words) and not split_known_place(words)[1]
    return ("location", words) if score >= 3 or is_town else (None, words)


def _sides(whole: NameCandidate) -> Iterator[NameCandidate]:
    """Both sides of each separator in a segment: "Engineer, Acme", "Engineer at Acme", "Acme - Engineer"."""
    words = whole.words
    at_words = [cut for cut in cuts(words, "@", _PREPOSITIONS) if _is_outside_brackets(words, cut)]
    at_signs = [cut for cut in cuts(words, ",-/:>(") if _is_outside_brackets(words, cut)]
    found = [*at_words, *(cut for cut in at_signs if cut.sign != "(" or words.find(")", cut.end) == len(words) - 1)]
    signs = [cut.sign for cut in found]
    for index, cut in enumerate(found):
        sign = cut.sign
        left, city = split_known_place(words_of(words[: cut.start]))
        right = words_of(words[cut.end :].removesuffix(")") if sign == "(" else words[cut.end :])
        if not left or not right or is_employment_type(right):
            continue
        is_unsure = cut in at_words and sign not in SURE_PREPOSITIONS
        if is_unsure and not _parts_position_from_company(left, sign, right):
            continue
        separator = Separator(sign, signs[:index].count(sign), signs.count(sign), cut.start)
        yield replace(whole, words=left, separator=separator, side="L", city=city or whole.city, is_place=False)
        yield replace(whole, words=right, separator=separator, side="R", is_place=False)


def _parts_position_from_company(left: str, sign: str, right: str) -> bool:
    """True if an ambiguous preposition is between a position and a company."""
    named = sign in _PREPOSITIONS_BEFORE_NAMES and right[0].isupper()
    return title_score(right) < 2 and (named or title_score(left) >= 1)


def _is_outside_brackets(words: str, cut: Cut) -> bool:
    return words.count("(", 0, cut.start) <= words.count(")", 0, cut.start)
