"""The jobs of a resume as pieces: one each, with its facts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipelines.facts import JobFacts
from pipelines.ingestion.parsers.career.job_words import is_break, is_own_work
from pipelines.ingestion.parsers.career.limits import job_line
from pipelines.ingestion.parsers.career.standing import standing
from pipelines.ingestion.parsers.cuts import Piece
from pipelines.ingestion.parsers.resume.entries import Entry
from pipelines.ingestion.parsers.resume.entry_pieces import Read, dates_of, leading, path_of, splits_of, year_of
from pipelines.ingestion.parsers.resume.job_readings import Job
from pipelines.ingestion.parsers.resume.jobs import read_jobs
from pipelines.ingestion.parsers.resume.parts import Part


def read_experience(text: str, parts: Sequence[Part]) -> Read:
    """A piece for each job, in order, over all parts of the experience sections."""
    splits = splits_of(text, parts, "experience")
    entries = [entry for split in splits.values() for entry in split.entries]
    jobs = iter(read_jobs(entries))
    found: Read = {}
    lead = ""
    for number, split in splits.items():
        pairs = _grouped([(entry, next(jobs)) for entry in split.entries])
        made = leading(split, parts[number], "" if parts[number].heading else lead, "job")
        group = Job()
        for entry, job in pairs:
            alone = bool(job.company or not group.company or is_break(job.position) or is_own_work(job.position))
            group = job if alone else group
            read = job if alone else _further(job, group)
            above = "" if alone else " | ".join(filter(None, (group.company, group.location)))
            made.append(_job_piece(text, entry, read, above, parts[number]))
            lead = job_line(made[-1].facts)
        found[number] = made
    return found


def _further(job: Job, first: Job) -> Job:
    """A further position at the company of an earlier one."""
    return replace(job, company=first.company, industry=first.industry, location=job.location or first.location)


def _grouped(pairs: Sequence[tuple[Entry, Job]]) -> list[tuple[Entry, Job]]:
    """The jobs, a line that only names a company and its dates put in front of the position that follows it."""
    made: list[tuple[Entry, Job]] = []
    waiting: tuple[Entry, Job] | None = None
    for entry, job in pairs:
        pair = entry, job
        if waiting and job.position and not job.company:
            pair = _under(*waiting, entry, job)
        elif waiting:
            made.append(waiting)
        waiting = pair if job.company and not job.position and not entry.body else None
        if not waiting:
            made.append(pair)
    return [*made, waiting] if waiting else made


def _under(first: Entry, group: Job, entry: Entry, job: Job) -> tuple[Entry, Job]:
    """A position with the line above it that names its company."""
    head = (*first.head, *first.after, *entry.head)
    known = replace(job, company=group.company, location=job.location or group.location, industry=group.industry)
    return Entry(head, entry.after, entry.body, entry.dated), known


def _job_piece(text: str, entry: Entry, job: Job, lead: str, part: Part) -> Piece:
    """The job's piece; the company of a further position is its `lead`, and may stand only there.

    A time without work ("Parental leave") states no job.
    """
    span = entry.start, entry.end
    if not job.company and is_break(job.position):
        return Piece(*span, path_of(part), "job", None, year_of(entry.dated))
    facts = JobFacts(
        span=span,
        company=job.company,
        position=job.position,
        location=job.location,
        industry=job.industry,
        bullets=tuple(_bullets(text, entry)),
        **dates_of(entry.dated),
    )
    known = standing(facts, f"{text[slice(*span)]}\n{lead}")
    return Piece(*span, path_of(part), "job", known, year_of(entry.dated), lead)


def _bullets(text: str, entry: Entry) -> Iterator[str]:
    """The list items of an entry, a wrapped one in one piece, without what stands beside it."""
    opened: tuple[int, int] | None = None
    for marked in (*entry.head, *entry.after, *entry.body):
        line = marked.line
        if line.kind == "more" and opened:
            opened = opened[0], line.end
            continue
        if opened:
            yield " ".join(text[slice(*opened)].split())
        end = text.rfind("\t", line.body, line.end) if marked.parts or marked.anchor else -1
        opened = (line.body, end if end > 0 else line.end) if line.kind == "bullet" else None
    if opened:
        yield " ".join(text[slice(*opened)].split())
