"""The ways to read a job's lines: which part is the company, which the position, which the place."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from itertools import pairwise, permutations

from pipelines.ingestion.parsers.career.job_words import title_score
from pipelines.ingestion.parsers.resume.job_fit import fit
from pipelines.ingestion.parsers.resume.job_groups import HEAD, UNDER
from pipelines.ingestion.parsers.resume.job_places import Segment, Spot
from pipelines.ingestion.parsers.resume.job_slots import SURE_AT, Slot, Slots

# What it costs to find the place behind the position: where the company stands before that, and where it does not.
_BEHIND, _BEFORE = 0.1, 0.3
_NOWHERE = Slot("", 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Job:
    """What a job's lines say; `keys` name the way in which they were read, `like` those that it speaks for."""

    company: str = ""
    position: str = ""
    location: str = ""
    industry: str = ""
    keys: tuple[str, ...] = ("",)
    like: tuple[str, ...] = ()
    score: float = 0.0


def readings(slots: Slots, places: Mapping[str, float], group: str) -> Iterator[Job]:
    """Every way to read a job, each with its score, about -6 to 6.

    Args:
        slots: Its parts.
        places: How much the words at each spot look like places over all jobs.
        group: Whether it stands under a company, or is one's head.
    """
    yield from _pairs(slots, places)
    yield from _singles(slots, places, group)


def _pairs(slots: Slots, places: Mapping[str, float]) -> Iterator[Job]:
    """The jobs of all pairs of slots that do not overlap, with each place that they leave."""
    whole = permutations(slots.whole, 2)
    sides = [pair for pair in pairwise(slots.slots) if pair[0].side == "L" and pair[1].side == "R"]
    for company, position in [*whole, *sides, *((right, left) for left, right in sides)]:
        cost = 0.4 * (company.later + (position.later and not position.joint))
        if company.joint:
            cost += -1.0 if company.joint.sign in SURE_AT else 0.3
        for job, spot in _placed(slots, places, company, position, cost):
            keys, like = _keys(company, position, spot)
            yield replace(job, keys=keys, like=like)


def _keys(company: Slot, position: Slot, spot: Spot | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """How a pair was read, and what it speaks for: a further position at a company stands where the first one did."""
    first, second = _at(company, spot), _at(position, spot)
    if company.joint is None or position.joint is None:
        return (f"{first}|{second}",), (f"{first}|{second}", f"under {second}")
    sign = company.joint.sign
    cut = spot.key[-2] if spot and spot.head and spot.key.endswith((f"L{sign}", f"R{sign}")) else ""
    sides = zip(company.joint.names(company.side, cut), position.joint.names(position.side, cut), strict=True)
    ways = tuple(f"{first}{one}|{second}{other}" for one, other in sides)
    return ways, ways


def _singles(slots: Slots, places: Mapping[str, float], group: str) -> Iterator[Job]:
    """The jobs of each slot alone: a company above its positions, or a further position at one."""
    alone = len({slot.segment for slot in slots.slots}) == 1
    for one in slots.slots:
        cost = 0.8 + one.later + bool(one.joint)
        for job, spot in _placed(slots, places, one, _NOWHERE, cost - 2.5 * (group == HEAD)):
            yield replace(job, keys=(f"only {_at(one, spot)}",))
        cost += (title_score(one.words) < 1 and group != UNDER) - 2.5 * (group == UNDER)
        for job, spot in _placed(slots, places, _NOWHERE, one, cost):
            yield replace(job, keys=(f"under {_at(one, spot)}", "") if alone and not one.joint else ("",))


def _placed(
    slots: Slots, places: Mapping[str, float], company: Slot, position: Slot, cost: float
) -> Iterator[tuple[Job, Spot | None]]:
    """The job with these slots, without an unknown place and with the likeliest ones, each with where that stood."""
    used = [slot for slot in (company, position) if slot.words]
    held = {slot.segment for slot in used}
    city = slots.known.get("location", "") or company.city or position.city
    cost += 0.4 * (company.is_place or position.is_place) + 0.25 * (company.aligned or position.aligned)
    base = fit(company.words, position.words) - cost
    yield Job(company.words, position.words, city, score=base + 0.2 * bool(city) - _unused(slots, held)), None
    if city:
        return
    for spot in sorted(slots.apart(held), key=lambda spot: -_worth(spot, places, company))[:2]:
        score = base + _worth(spot, places, company) - _unused(slots, {*held, spot.segment})
        yield Job(company.words, position.words, spot.words, score=score), spot
    for slot in used:
        if tail := slot.tail:
            names = [tail.head if each is slot else each.words for each in (company, position)]
            score = fit(*names) - cost - _unused(slots, held) + _worth(tail, places, company)
            score -= 0.0 if slot is company else _BEHIND if _follows(position, company) else _BEFORE
            yield Job(names[0], names[1], tail.words, score=score), tail


def _follows(slot: Slot, other: Slot) -> bool:
    """Whether a slot stands after another."""
    return slot.side == "R" if slot.joint else slot.segment > other.segment


def _unused(slots: Slots, held: Set[Segment]) -> float:
    """What it costs to leave segments unused: those before one that is used the most, later lines nothing."""
    last = max(held)
    left = [slot.segment for slot in slots.whole if slot.segment not in held]
    return sum(0.5 if segment < last else 0.4 if segment[0] <= 0 else 0.0 for segment in left)


def _worth(spot: Spot, places: Mapping[str, float], company: Slot) -> float:
    """How likely the spot is to hold the place of a job with this company, about -3 to 2."""
    worth = 0.3 * spot.score + 0.7 * places[spot.key]
    if spot.head:
        return worth + 0.2 * spot.key.endswith("(")
    if spot.row == 0 or (spot.row, spot.at - 1) == company.segment:
        worth += 0.1
    elif spot.row > 0:
        worth -= 0.1 * spot.row
    worth += 0.25 * spot.aligned
    early = bool(company.words) and spot.segment < company.segment
    return worth - (0.2 if spot.row == 0 or spot.aligned else 0.5) * early


def _at(slot: Slot, spot: Spot | None) -> str:
    before = spot is not None and not spot.head and spot.row == slot.row and spot.at < slot.at
    return f"{slot.row}.{slot.rank - before}"
