"""The jobs of a resume: company, position and place of each, by the layout that most of them share."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, permutations

from pipelines.facts import JobFacts
from pipelines.ingestion.parsers.careers.dates import DateRange
from pipelines.ingestion.parsers.careers.places import place_score
from pipelines.ingestion.parsers.careers.records import date_fields, end_year, job_line, supported_by
from pipelines.ingestion.parsers.careers.section_names import section_of
from pipelines.ingestion.parsers.careers.separators import cuts, split_aside, without_asides
from pipelines.ingestion.parsers.careers.vocabulary import (
    NOT_INDUSTRIES,
    company_score,
    is_break,
    is_department,
    is_employment_type,
    is_industry,
    is_own_work,
    is_unit,
    looks_named,
    title_score,
    tokens,
)
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.resume.entries import (
    PiecesByPart,
    ResumeEntry,
    bullet_spans,
    entries_by_part,
    leading_pieces,
)
from pipelines.ingestion.parsers.resume.job_candidates import (
    SURE_PREPOSITIONS,
    Candidates,
    NameCandidate,
    PlaceCandidate,
    Segment,
    candidates_of,
    mean_place_scores,
    split_known_place,
    trailing_place,
)
from pipelines.ingestion.parsers.resume.lines import words_of
from pipelines.ingestion.parsers.resume.sections import SectionPart

BEFORE_NAMES = frozenset(("en", "em", "na", "no", "presso", "chez", "bei", "at"))
COMPANY_ONLY, POSITION_BELOW, OWN_ENTRY = "head", "under", ""
_COST_BEHIND = 0.1  # of a place after the position
_COST_UNNAMED = 1.5  # of a name before a place that no employer takes
_NO_CANDIDATE = NameCandidate("", 0, 0, 0)
_MIN_VOTE, _MAX_VOTE = -2.0, 4.0
_FEW_JOBS = 4
# With more jobs than this, only whole segments are candidates.
_MANY_JOBS = 200


@lru_cache(maxsize=16384)
def role_fit(company: str, position: str) -> float:
    """Score the words as a company and a position, about -6 to 5; either may be empty."""
    first, _, more = position.partition(", ")
    titled = first if is_department(more) else position
    score = title_score(titled) - title_score(without_asides(company)) + company_score(company) - company_score(titled)
    score -= 2.0 * (place_score(company) >= 3) + 2.0 * (place_score(position) >= 2)
    return score - 3.0 * is_break(company) - 1.5 * (is_department(company) or is_unit(company))


def _first_part(words: str) -> str:
    """The words before the first dash, slash or colon between them, or before a word that a name follows."""
    inside = cuts(words, "-/:", BEFORE_NAMES)
    ends = (cut.start for cut in inside if cut.sign not in BEFORE_NAMES or words[cut.end].isupper())
    return words[: next(ends, len(words))]


def group_roles(entries: Sequence[ResumeEntry], candidates: Sequence[Candidates]) -> list[str]:
    """The role of each entry: a company with its dates, a position within those dates, or a job of its own."""
    found: list[str] = []
    head: DateRange | None = None
    for number, entry in enumerate(entries):
        bare = sum(not candidate.separator for candidate in candidates[number].items) == 1
        titled = any(title_score(candidate.words) >= 1 for candidate in candidates[number].items)
        if bare and (titled or COMPANY_ONLY in found[-1:]) and _is_within(entry.dated, head):
            found.append(POSITION_BELOW)
            continue
        following = entries[number + 1].dated if number + 1 < len(entries) else None
        heads = not titled and not entry.body and _is_within(following, entry.dated)
        head = entry.dated if heads else None
        found.append(COMPANY_ONLY if heads else OWN_ENTRY)
    return found


def _is_within(inner: DateRange | None, outer: DateRange | None) -> bool:
    """True if the inner range lies within the outer one, compared by year."""
    if inner is None or outer is None:
        return False
    ends = outer.current or (not inner.current and (inner.end_month or "")[:4] <= (outer.end_month or "")[:4])
    return inner.start_month[:4] >= outer.start_month[:4] and ends


@dataclass(frozen=True, slots=True)
class JobReading:
    """One reading of a job's lines.

    `layouts` name the arrangement that it assumes; `votes_for` those that it supports in the other jobs.
    """

    company: str = ""
    position: str = ""
    location: str = ""
    industry: str = ""
    layouts: tuple[str, ...] = ("",)
    votes_for: tuple[str, ...] = ()
    score: float = 0.0


def job_readings(candidates: Candidates, place_scores: Mapping[str, float], group: str) -> Iterator[JobReading]:
    """All readings of a job with their scores, about -6 to 6.

    `place_scores` are the means of each key over all jobs; for the `group` of the entry see `group_roles`.
    """
    yield from _pairs(candidates, place_scores)
    yield from _singles(candidates, place_scores, group)


def _pairs(candidates: Candidates, place_scores: Mapping[str, float]) -> Iterator[JobReading]:
    """The readings of all pairs of candidates that do not overlap, with the places that they leave free."""
    whole = permutations(candidates.whole, 2)
    sides = [pair for pair in pairwise(candidates.items) if pair[0].side == "L" and pair[1].side == "R"]
    for company, position in [*whole, *sides, *((right, left) for left, right in sides)]:
        cost = 0.4 * (company.is_later + (position.is_later and not position.separator))
        if company.separator:
            cost += -1.0 if company.separator.sign in SURE_PREPOSITIONS else 0.3
        for job, place in _with_places(candidates, place_scores, company, position, cost):
            keys, like = _layout_keys(company, position, place)
            yield replace(job, layouts=keys, votes_for=like)


def _layout_keys(
    company: NameCandidate, position: NameCandidate, place: PlaceCandidate | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The layouts of a pair, and those it votes for: a further position at a company is where the first one was."""
    first, second = _position_key(company, place), _position_key(position, place)
    if company.separator is None or position.separator is None:
        return (f"{first}|{second}",), (f"{first}|{second}", f"under {second}")
    sign = company.separator.sign
    cut = place.key[-2] if place and place.head and place.key.endswith((f"L{sign}", f"R{sign}")) else ""
    sides = zip(company.separator.names(company.side, cut), position.separator.names(position.side, cut), strict=True)
    ways = tuple(f"{first}{one}|{second}{other}" for one, other in sides)
    return ways, ways


def _singles(candidates: Candidates, place_scores: Mapping[str, float], group: str) -> Iterator[JobReading]:
    """The readings of each candidate alone: a company above its positions, or a further position at a company."""
    alone = len({candidate.segment for candidate in candidates.items}) == 1
    for one in candidates.items:
        cost = 0.8 + one.is_later + bool(one.separator)
        for job, place in _with_places(
            candidates, place_scores, one, _NO_CANDIDATE, cost - 2.5 * (group == COMPANY_ONLY)
        ):
            yield replace(job, layouts=(f"only {_position_key(one, place)}",))
        cost += (title_score(one.words) < 1 and group != POSITION_BELOW) - 2.5 * (group == POSITION_BELOW)
        for job, place in _with_places(candidates, place_scores, _NO_CANDIDATE, one, cost):
            yield replace(
                job, layouts=(f"under {_position_key(one, place)}", "") if alone and not one.separator else ("",)
            )


def _with_places(
    candidates: Candidates,
    place_scores: Mapping[str, float],
    company: NameCandidate,
    position: NameCandidate,
    cost: float,
) -> Iterator[tuple[JobReading, PlaceCandidate | None]]:
    """The reading of these candidates without an unknown place, and with the likeliest places; each with its place."""
    used = [candidate for candidate in (company, position) if candidate.words]
    taken = {candidate.segment for candidate in used}
    city = candidates.known.get("location", "") or company.city or position.city
    cost += 0.4 * (company.is_place or position.is_place) + 0.25 * (company.aligned or position.aligned)
    base = role_fit(company.words, position.words) - cost
    yield (
        JobReading(
            company.words, position.words, city, score=base + 0.2 * bool(city) - _unused_penalty(candidates, taken)
        ),
        None,
    )
    if city:
        return
    for place in sorted(candidates.apart(taken), key=lambda place: -_place_worth(place, place_scores, company))[:2]:
        # the name of an employer before the place
        unnamed = _COST_UNNAMED * (not company.words and looks_named(place.head))
        score = (
            base
            - unnamed
            + _place_worth(place, place_scores, company)
            - _unused_penalty(candidates, {*taken, place.segment})
        )
        yield JobReading(company.words, position.words, place.words, score=score), place
    for candidate in used:
        if tail := candidate.tail:
            names = [tail.head if each is candidate else each.words for each in (company, position)]
            score = (
                role_fit(*names) - cost - _unused_penalty(candidates, taken) + _place_worth(tail, place_scores, company)
            )
            score -= 0.0 if candidate is company else _COST_BEHIND
            yield JobReading(names[0], names[1], tail.words, score=score), tail


def _unused_penalty(candidates: Candidates, taken: Set[Segment]) -> float:
    """The cost of unused segments: highest before a used one, none on later lines."""
    last = max(taken)
    left = [candidate.segment for candidate in candidates.whole if candidate.segment not in taken]
    return sum(0.5 if segment < last else 0.4 if segment[0] <= 0 else 0.0 for segment in left)


def _place_worth(place: PlaceCandidate, place_scores: Mapping[str, float], company: NameCandidate) -> float:
    """Score how likely the place is the job's location, about -3 to 2."""
    worth = 0.3 * place.score + 0.7 * place_scores[place.key]
    if place.head:
        return worth + 0.2 * place.key.endswith("(")
    if place.row == 0 or (place.row, place.at - 1) == company.segment:
        worth += 0.1
    elif place.row > 0:
        worth -= 0.1 * place.row
    worth += 0.25 * place.aligned
    early = bool(company.words) and place.segment < company.segment
    return worth - (0.2 if place.row == 0 or place.aligned else 0.5) * early


def _position_key(candidate: NameCandidate, place: PlaceCandidate | None) -> str:
    before = place is not None and not place.head and place.row == candidate.row and place.at < candidate.at
    return f"{candidate.row}.{candidate.rank - before}"


def read_jobs(entries: Sequence[ResumeEntry]) -> list[JobReading]:
    """The best reading of each entry, in order.

    A reading is scored by its words, and by how well the same layout reads the other entries: a resume usually keeps to
    one layout.
    """
    candidates = [candidates_of(entry, sides=len(entries) <= _MANY_JOBS) for entry in entries]
    place_scores = mean_place_scores([one.places for one in candidates])
    found = [
        _labelled_reading(one) or list(job_readings(one, place_scores, group))
        for one, group in zip(candidates, group_roles(entries, candidates), strict=True)
    ]
    votes: dict[str, float] = defaultdict(float)
    for options in found:
        for key, score in _votes(options).items():
            votes[key] += score
    weight = 3 / max(len(entries), _FEW_JOBS)
    jobs = [_best_reading(options, votes, weight) for options in found]
    aside = sum(bool(split_aside(job.company)[1]) for job in jobs)
    usual = aside > 1 and 2 * aside >= sum(bool(job.company) for job in jobs)
    return [_with_industry(job, usual=usual) for job in jobs]


def _best_reading(options: Sequence[JobReading], votes: Mapping[str, float], weight: float) -> JobReading:
    without = _votes(options)
    return max(
        options,
        key=lambda job: (
            job.score + weight * max(votes[key] - without.get(key, 0.0) for key in job.layouts),
            job.layouts,
        ),
        default=JobReading(),
    )


def _votes(options: Sequence[JobReading]) -> dict[str, float]:
    """The votes of a job's readings for layouts: the best score of each."""
    best: dict[str, float] = {}
    for job in options:
        for key in job.votes_for:
            best[key] = max(best.get(key, _MIN_VOTE), min(job.score, _MAX_VOTE))
    return best


def _labelled_reading(candidates: Candidates) -> list[JobReading]:
    """The reading of lines with labels ("Employer: ..."); a missing role is the first part without a label."""
    company, position = candidates.known.get("company", ""), candidates.known.get("position", "")
    if not company and not position:
        return []
    other = next(
        (candidate.words for candidate in candidates.items if not candidate.is_later), ""
    ) or candidates.known.get("client", "")
    read = JobReading(company or other, position or other, candidates.known.get("location", ""), layouts=("label",))
    tail = trailing_place(0, 0, "", read.company)
    if not read.location and tail and tail.score > 0:
        return [replace(read, company=tail.head, location=tail.words)]
    return [read]


def _with_industry(job: JobReading, *, usual: bool) -> JobReading:
    """The job without the street after its company, and with the words in brackets there as industry or location.

    Words of no known industry are one where brackets are `usual`, else of the name: "Oakline (Kestrel)".
    """
    streets = (cut.start for cut in cuts(job.company, ",") if job.company[cut.end].isdigit())
    job = replace(job, company=job.company[: next(streets, None)])  # "British Council, 123 Bridge Street"
    company, inside = map(words_of, split_aside(job.company))
    if not tokens(inside):
        return job
    if inside.isupper() and len(inside) < 6 and " " not in inside and not place_score(inside):
        return job
    if place_score(inside) >= 2:
        return replace(job, company=company, location=job.location or inside)
    if tokens(inside)[0] in NOT_INDUSTRIES or any(map(str.isdigit, inside)) or is_employment_type(inside):
        return replace(job, company=company)
    return replace(job, company=company, industry=inside) if usual or is_industry(inside) else job


def read_experience(text: str, parts: Sequence[SectionPart]) -> PiecesByPart:
    """A piece for each job of the experience sections, in order."""
    splits = entries_by_part(text, parts, "experience")
    entries = [entry for split in splits.values() for entry in split.entries if not _is_break(entry)]
    readings = {id(entry): job for entry, job in zip(entries, read_jobs(entries), strict=True)}
    found: PiecesByPart = {}
    lead = ""
    headed = [number for number in splits if parts[number].heading and not section_of(parts[number].title)]
    for number, split in splits.items():
        read_here = [(entry, readings.get(id(entry), JobReading())) for entry in split.entries]
        pairs = _join_company_lines(_with_banners(text, read_here))
        made = leading_pieces(split, parts[number], "" if parts[number].heading else lead, "job")
        is_employer = number in headed and (len(headed) > 1 or company_score(parts[number].title) >= 1)
        group = JobReading(parts[number].title) if is_employer else JobReading()
        for entry, job in pairs:
            if _is_break(entry):
                made.append(Piece(entry.start, entry.end, parts[number].path, "job", None, end_year(entry.dated)))
                continue
            alone = bool(job.company) or not (group.company and job.position)
            alone = alone or is_break(job.position) or is_own_work(job.position)
            group = job if alone else group
            location = job.location or group.location
            read = job if alone else replace(job, company=group.company, industry=group.industry, location=location)
            above = "" if alone else " | ".join(filter(None, (group.company, group.location)))
            made.append(_job_piece(text, entry, read, above, parts[number]))
            lead = job_line(made[-1].facts)
        found[number] = made
    return found


def _is_break(entry: ResumeEntry) -> bool:
    """True for a time without work ("Career break, parental leave"): its first words name one, and none a position."""
    words = [part.words for one in (*entry.head, *entry.after) for part in one.parts]
    first = _first_part(words[0].partition(", ")[0]) if words else ""
    return is_break(first) and not any(title_score(each) >= 1 for each in (first, *words))


def _with_banners(text: str, pairs: Sequence[tuple[ResumeEntry, JobReading]]) -> list[tuple[ResumeEntry, JobReading]]:
    """The jobs; below a line that names an employer, "Engineer, Payments" is a position in a team of that employer."""
    made: list[tuple[ResumeEntry, JobReading]] = []
    employer = ""
    counts = [sum(bool(one.parts) for one in entry.head) for entry, _ in pairs]
    for number, (entry, read) in enumerate(pairs):
        goes_on = counts[number + 1 : number + 2] == [1]  # with another position there
        lines = [one.parts for one in entry.head if one.parts]
        words = lines[-1][0].words if lines and len(lines[-1]) == 1 else ""
        is_below = len(lines) == 2 and len(lines[0]) == 1
        name, city = split_known_place(lines[0][0].words) if is_below else ("", "")
        marked = next((one.line for one in entry.head if one.parts), None)
        is_employer = company_score(name) >= 1 or (marked and (marked.kind == "heading" or text[marked.start] == "*"))
        units = (read.company, read.location if employer or goes_on else "")
        forms = [
            (each, f"{read.position}{sign}{each}{end}") for each in units for sign, end in ((", ", ""), (" (", ")"))
        ]
        team = next((each for each, form in forms if words == form), "")
        is_team = bool(team) and (company_score(team) < 1 or is_department(team)) and not place_score(team)
        if made and made[-1][0].body and made[-1][0].body[-1].named:
            employer = ""  # perhaps another employer's line
        job = read
        if read.company and not read.position and not entry.body:
            employer = read.company  # with the dates of all positions there
        elif is_team and name and is_employer:
            employer = name
            job = replace(read, company=name, position=words, location=city)
        elif name and is_employer and read.company == name and goes_on:
            employer = name
        elif is_team and employer and len(lines) == 1:
            job = replace(read, company="", position=words, location="")
        elif len(lines) != 1 or read.company:
            employer = ""
        made.append((entry, job))
    return made


def _join_company_lines(pairs: Sequence[tuple[ResumeEntry, JobReading]]) -> list[tuple[ResumeEntry, JobReading]]:
    """The jobs, each line of a company and its dates alone joined to the position that follows it."""
    made: list[tuple[ResumeEntry, JobReading]] = []
    waiting: tuple[ResumeEntry, JobReading] | None = None
    for entry, job in pairs:
        pair = entry, job
        if waiting and job.position and not job.company:
            pair = _below_company_line(*waiting, entry, job)
        elif waiting:
            made.append(waiting)
        waiting = pair if job.company and not job.position and not entry.body else None
        if not waiting:
            made.append(pair)
    return [*made, waiting] if waiting else made


def _below_company_line(
    first: ResumeEntry, group: JobReading, entry: ResumeEntry, job: JobReading
) -> tuple[ResumeEntry, JobReading]:
    """The position with the lines above it that name its company."""
    head = (*first.head, *first.after, *entry.head)
    known = replace(job, company=group.company, location=job.location or group.location, industry=group.industry)
    return ResumeEntry(head, entry.after, entry.body, entry.dated), known


def _job_piece(text: str, entry: ResumeEntry, job: JobReading, lead: str, part: SectionPart) -> Piece:
    """The job's piece; the company of a further position is in its `lead`."""
    span = entry.start, entry.end
    facts = JobFacts(
        span=span,
        company=job.company,
        position=job.position,
        location=job.location,
        industry=job.industry,
        bullets=tuple(" ".join(text[slice(*span)].split()) for span in bullet_spans(text, entry)),
        **date_fields(entry.dated),
    )
    known = supported_by(facts, f"{text[slice(*span)]}\n{lead}")
    return Piece(*span, part.path, "job", known, end_year(entry.dated), lead)
