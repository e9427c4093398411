"""Jobs that a page about its author states in list items: "Lecturer, Leith College, since 2018"."""

from collections.abc import Iterator, Sequence

from pipelines.blocks import title_of
from pipelines.facts import JobFacts
from pipelines.ingestion.parsers.careers.dates import DateRange, date_ranges
from pipelines.ingestion.parsers.careers.places import place_score
from pipelines.ingestion.parsers.careers.records import date_fields
from pipelines.ingestion.parsers.careers.section_names import section_of
from pipelines.ingestion.parsers.careers.separators import cuts
from pipelines.ingestion.parsers.careers.vocabulary import looks_named, title_score
from pipelines.text import fold, plain
from pipelines.types import Block

_OF_WORK = frozenset({"", "experience", "summary"})  # sections that may list jobs; "" = of an unknown title
_MAX_CLAUSES, _MAX_ROLE_WORDS, _MAX_NAME_WORDS = 6, 10, 7
_MAX_BETWEEN = 2  # clauses from the position to the organisation
_MIN_UNDATED = 2  # jobs without dates that a list states at least, for them to count
_BOSS = frozenset({"under", "with", "for"})  # between a position and somebody's name
_AT = frozenset({"at", "@", "bei", "chez", "presso"})
_EDGES = " \t\n.,;:–—-()*_•"


def listed_jobs(text: str, blocks: Sequence[Block]) -> list[JobFacts]:
    """The jobs of the list items and table rows below headings that name nothing else, in order.

    An item states a job if it has a position, a name beside it, and a range of dates; an item of dates alone dates
    those after it, and their spans begin there. Without dates several items of one list must state jobs.
    """
    found: list[JobFacts] = []
    undated: list[JobFacts] = []
    above: tuple[int, DateRange] | None = None
    is_open = True
    for block in [*blocks, Block(len(text), len(text), "heading")]:
        if block.kind != "list":
            found += undated if len(undated) >= _MIN_UNDATED else []
            undated, above = [], None
            if block.kind == "table" and is_open:
                found += _jobs_of_rows(text, block)
            if block.kind == "heading":
                is_open = section_of(title_of(text, block.start, block.end)) in _OF_WORK
        elif is_open:
            item = " ".join(plain(text[block.start : block.end]).split())
            own = next((one for one in date_ranges(item) if one.is_range), None)
            words = item if own is None else f"{item[: own.start]}, {item[own.end :]}"
            if own and not words.strip(_EDGES):
                above = block.start, own
                continue
            start, dated = (block.start, own) if own or above is None else above
            if job := stated_job(words, (start, block.end), dated):
                (found if dated else undated).append(job)
    return sorted(found, key=lambda job: job.span)


def _jobs_of_rows(text: str, table: Block) -> Iterator[JobFacts]:
    start = table.start
    for line in text[table.start : table.end].splitlines(keepends=True):
        row = ", ".join(plain(cell).strip() for cell in line.split("|") if cell.strip())
        dated = next((one for one in date_ranges(row) if one.is_range), None)
        if dated and (
            job := stated_job(f"{row[: dated.start]}, {row[dated.end :]}", (start, start + len(line)), dated)
        ):
            yield job.model_copy(update={"span": (start, start + len(line.rstrip()))})
        start += len(line)


def stated_job(words: str, span: tuple[int, int], dated: DateRange | None) -> JobFacts | None:
    """The job that a line without its dates states: a position with an organisation before or after it; else None."""
    clauses = [clause for part in words.split(". ") for clause in _clauses(part)][:_MAX_CLAUSES]
    role = next((at for at, clause in enumerate(clauses) if _is_role(clause)), None)
    company = next((at for at, clause in enumerate(clauses) if _is_organisation(clause)), None)
    if role is None or company is None or abs(company - role) > _MAX_BETWEEN:
        return None
    place = clauses[company + 1] if company + 1 < len(clauses) and company + 1 != role else ""
    return JobFacts(
        span=span,
        company=clauses[company],
        position=_without_boss(clauses[role]),
        location=place if place_score(place) >= 2 else "",
        **date_fields(dated),
    )


def _clauses(sentence: str) -> list[str]:
    """The parts of a sentence between commas, colons, dashes and "at", outside brackets."""
    parts, start = [], 0
    for cut in cuts(sentence, ",;:-@", _AT):
        if sentence.count("(", 0, cut.start) <= sentence.count(")", 0, cut.start):
            parts.append(sentence[start : cut.start])
            start = cut.end
    return [bare for part in [*parts, sentence[start:]] if (bare := part.strip(_EDGES))]


def _is_role(words: str) -> bool:
    parts = words.split()
    return len(parts) <= _MAX_ROLE_WORDS and words[0].isalpha() and title_score(_without_boss(words)) >= 1


def _without_boss(words: str) -> str:
    """The words before "under Ann Lee"."""
    parts = words.split()
    end = next((at for at, word in enumerate(parts[:-1]) if fold(word) in _BOSS and parts[at + 1][:1].isupper()), None)
    return " ".join(parts[:end])


def _is_organisation(words: str) -> bool:
    """True for a name that is no position and no place."""
    is_short = len(words.split()) <= _MAX_NAME_WORDS
    is_name = words[0].isupper() and looks_named(words)
    return is_short and is_name and title_score(words) < 1 and place_score(words) < 2 and not date_ranges(words)
