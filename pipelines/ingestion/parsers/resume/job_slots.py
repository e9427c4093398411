"""The parts of a job's lines that may be its company or its position, and what tells at once what it is."""

import re
from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from itertools import islice

from pipelines.ingestion.parsers.career.job_words import company_score, is_employment_type, title_score
from pipelines.ingestion.parsers.career.places import place_score
from pipelines.ingestion.parsers.resume.entries import Entry
from pipelines.ingestion.parsers.resume.job_labels import label_role, labelled
from pipelines.ingestion.parsers.resume.job_places import Segment, Spot, tail_spot, whole_spot, without_place
from pipelines.ingestion.parsers.resume.lines import words_of

SURE_AT = frozenset({"at", "@", "bei", "beim", "chez", "presso"})

_AT_NAMES = frozenset(("en", "em", "na", "no", "à", "au", "auprès de"))
_MAX_SEGMENTS, _FEW_SEGMENTS = 10, 4
_MAX_JOINTS = 8
_PLACE = 2
_AT = re.compile(r"\s+(?:at|@|bei|beim|chez|presso|with|for|für|en|em|na|no|in|à|au|a|auprès de)\s+")
_WEAK = re.compile(r",\s+|\s+[–—-]{1,2}\s+|\s+/\s+|:\s+|\s+//\s+|\s+>\s+|\s+\((?=[^()]{2,60}\)$)")


@dataclass(frozen=True, slots=True)
class Joint:
    """A separator inside a segment, number `number` of the `count` ones of its sign; `start` is its offset in it."""

    sign: str
    number: int
    count: int
    start: int

    def names(self, side: str, cut: str = "") -> tuple[str, ...]:
        """The names of a side ("L" or "R"), the same for the same place in each job: by the first and the last sign.

        Args:
            side: Which one.
            cut: The side from whose end a place after the same sign was taken; "" = neither.
        """
        number, count = self.number - (cut == "L"), self.count - (cut != "")
        which = [f"{self.sign}<"] * (number == 0) + [f"{self.sign}>"] * (number == count - 1)
        return tuple(f"{one}{side}" for one in which or [self.sign])


@dataclass(frozen=True, slots=True)
class Slot:
    """A candidate for a company or a position: segment number `at` of a line, or a side of a separator inside it.

    `row` counts the lines from that of the dates on, `rank` the segments of the line that are no known places; `joint`
    is the separator that it is the left or right `side` of; `city` is the known place that was taken off its end,
    `is_place` says that they may be one place together, `aligned` that they stand at the right;
    `tail` is their end, which may be a place.
    """

    words: str
    row: int
    at: int
    rank: int
    joint: Joint | None = None
    side: str = ""
    city: str = ""
    is_place: bool = False
    aligned: bool = False
    tail: Spot | None = None

    @property
    def segment(self) -> Segment:
        """The segment that it is, or is a side of."""
        return self.row, self.at

    @property
    def later(self) -> bool:
        """Whether it stands after the dates' line, where a description may stand as well."""
        return self.row > 0


@dataclass(frozen=True, slots=True)
class Slots:
    """The candidates of a job, what its labels say by role and its known place, and where places stand or may stand."""

    slots: tuple[Slot, ...]
    known: dict[str, str]
    spots: tuple[Spot, ...]

    @property
    def whole(self) -> list[Slot]:
        """Those that are whole segments."""
        return [slot for slot in self.slots if slot.joint is None]

    def apart(self, held: Set[Segment]) -> list[Spot]:
        """Where the place may stand outside of these segments: whole others, and the known places at their ends."""
        whole = [spot for spot in self.spots if not spot.head and spot.segment not in held]
        known = held | {spot.segment for spot in whole if spot.score > 1}
        return whole + [spot for spot in self.spots if spot.head and spot.score > 1 and spot.segment not in known]


def slots_of(entry: Entry, *, sides: bool = True) -> Slots:
    """The slots of a job, in order.

    Args:
        entry: The job's lines.
        sides: Whether segments are looked into.
    """
    slots: list[Slot] = []
    spots: list[Spot] = []
    known: dict[str, str] = {}
    count: dict[int, int] = defaultdict(int)
    for row, at, role, raw, aligned in islice(_told(entry), _MAX_SEGMENTS if sides else _FEW_SEGMENTS):
        if role is not None:
            known.setdefault(role, raw)
            spots += [whole_spot(row, at, raw)] if role == "location" else []
            continue
        words, city = without_place(raw)
        one = Slot(words, row, at, count[row], city=city, is_place=place_score(raw) == _PLACE, aligned=aligned)
        made = [_tailed(slot) for slot in (one, *islice(_sides(one), 2 * _MAX_JOINTS if sides else 0))]
        slots += made
        spots += [whole_spot(row, at, raw, aligned), *(slot.tail for slot in made if slot.tail)]
        count[row] += 1
    for item in entry.body:
        if item.line.kind == "bullet" and item.parts:
            known.setdefault("location", item.parts[0].words)
    return Slots(tuple(slots), {role: words for role, words in known.items() if role and words}, tuple(spots))


def _tailed(slot: Slot) -> Slot:
    side = f"{slot.joint.sign}{slot.side}" if slot.joint else ""
    return replace(slot, tail=tail_spot(slot.row, slot.at, side, slot.words, slot.city))


def _told(entry: Entry) -> Iterator[tuple[int, int, str | None, str, bool]]:
    """The segments: line (0 = that of the dates), number in it, role if they tell it, words, whether behind a tab.

    A role is told by a label before the words or in a column of its own, and by the words of a known place; it is ""
    for what says nothing of the job.
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
    if found := labelled(words):
        return found
    score = place_score(words)
    if label_role(words) == "" or (
        is_employment_type(words) and score < 3 and not title_score(words) and not company_score(words)
    ):
        return "", ""
    return ("location", words) if score >= 3 else (None, words)


def _sides(whole: Slot) -> Iterator[Slot]:
    """Both sides of each separator inside a segment: "Engineer, Acme", "Engineer at Acme", "Acme - Engineer"."""
    words = whole.words
    found = [
        (match, _sign(match), pattern is _AT)
        for pattern in (_AT, _WEAK)
        for match in pattern.finditer(words)
        if _is_open(words, match)
    ]
    signs = [sign for _, sign, _ in found]
    for place, (match, sign, is_at) in enumerate(found):
        left, city = without_place(words_of(words[: match.start()]))
        right = words_of(words[match.end() :].removesuffix(")") if sign == "(" else words[match.end() :])
        if not left or not right or is_employment_type(right):
            continue
        if is_at and sign not in SURE_AT and not _is_at(left, sign, right):
            continue
        joint = Joint(sign, signs[:place].count(sign), signs.count(sign), match.start())
        yield replace(whole, words=left, joint=joint, side="L", city=city or whole.city, is_place=False)
        yield replace(whole, words=right, joint=joint, side="R", is_place=False)


def _is_at(left: str, sign: str, right: str) -> bool:
    """Whether a preposition that is not always one of places stands between a position and a company."""
    named = sign in _AT_NAMES and right[0].isupper()
    return title_score(right) < 2 and (named or title_score(left) >= 1)


def _sign(match: re.Match[str]) -> str:
    mark = match[0].strip()
    return "-" if mark[0] in "–—-" else mark if mark.isalpha() else mark[0]


def _is_open(words: str, match: re.Match[str]) -> bool:
    """Whether the separator stands outside of brackets."""
    return words.count("(", 0, match.start()) <= words.count(")", 0, match.start())
