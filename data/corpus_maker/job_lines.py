"""The ways in which a job's company, position, place and dates are written."""

from corpus_maker.page import Block, line, paragraph
from corpus_maker.people import Job


def pipe(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.company} | {job.position} | {job.location} | {dated}", bold=True)]


def pipe_position(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.position} | {job.company} | {job.location}", dated, bold=True)]


def company_first(job: Job, dated: str) -> list[Block]:
    return [line(job.company, job.location, bold=True), line(job.position, dated, italic=True)]


def position_first(job: Job, dated: str) -> list[Block]:
    return [line(job.position, dated, bold=True), line(f"{job.company}, {job.location}", italic=True)]


def comma(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.company}, {job.position}", dated, bold=True)]


def hint(job: Job, dated: str) -> list[Block]:
    return [line(job.position, hint=dated, bold=True), line(f"{job.company}, {job.location}", hint=" ", italic=True)]


def hint_one(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.company} – {job.position}", hint=dated, bold=True)]


def dated_above(job: Job, dated: str) -> list[Block]:
    return [line(dated), line(f"{job.position}, {job.company}", bold=True)]


def stacked(job: Job, dated: str) -> list[Block]:
    return [line(job.position, bold=True), line(job.company), line(dated)]


def stacked_company(job: Job, dated: str) -> list[Block]:
    return [line(job.company, bold=True), line(job.position, italic=True), line(f"{dated} | {job.location}")]


def at(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.position} at {job.company} ({dated})", bold=True)]


def place_first(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.company}, {job.location}", dated, bold=True), line(job.position, italic=True)]


def note_line(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.position} – {job.company}", bold=True), line(f"{job.location} · {dated}")]


def bulleted(job: Job, dated: str) -> list[Block]:
    return [Block("bullet", job.company, job.location), line(job.position, dated, italic=True)]


def bulleted_dated(job: Job, dated: str) -> list[Block]:
    return [Block("bullet", job.company, dated), line(job.position, italic=True)]


def leader(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.company} {'.' * 40} {dated}"), line(f"{job.position}, {job.location}", italic=True)]


def run_in(job: Job, dated: str) -> list[Block]:
    return [
        line(job.company, bold=True),
        paragraph(
            f"{job.position} {dated} {job.note or 'Did all that there was to do there, day by day and year by year.'}"
        ),
    ]


def hint_right(job: Job, dated: str) -> list[Block]:
    return [line(job.position, job.company, hint=dated, bold=True), line(job.location, hint=" ", italic=True)]


def capitals_pipe(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.company.upper()} | {job.position}", bold=True), line(f"{dated} | {job.location}")]


def company_dated(job: Job, dated: str) -> list[Block]:
    return [line(job.company, dated, bold=True), line(job.position, job.location, italic=True)]


def one_row(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.position}, {job.company} – {job.location}", dated)]


# Of the held-out half only.


def at_sign(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.position} @ {job.company}", dated, bold=True)]


def bracketed(job: Job, dated: str) -> list[Block]:
    return [line(f"[{dated}] {job.position}, {job.company}", bold=True)]


def slashes(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.company} / {job.position} / {job.location}", bold=True), line(dated, italic=True)]


def labelled(job: Job, dated: str) -> list[Block]:
    return [
        line(dated, hint="Dates"),
        line(job.position, hint="Occupation or position held"),
        line(job.company, hint="Name of employer"),
    ]


def capitals(job: Job, dated: str) -> list[Block]:
    return [line(job.company.upper(), dated, bold=True), line(f"{job.position}, {job.location}", italic=True)]


def dashes(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.position} — {job.company}, {job.location} ({dated})", bold=True)]


def colon(job: Job, dated: str) -> list[Block]:
    return [line(f"{dated}: {job.position}, {job.company}", bold=True)]


def marks(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.company} • {job.location}", bold=True), line(f"{job.position} • {dated}")]


def hint_company(job: Job, dated: str) -> list[Block]:
    return [line(job.company, hint=dated, bold=True), line(job.position, hint=job.location, italic=True)]


def dated_last(job: Job, dated: str) -> list[Block]:
    return [line(f"{job.company} ({job.location})", bold=True), line(job.position, italic=True), line(dated)]


def right_both(job: Job, dated: str) -> list[Block]:
    return [line(job.position, job.location, bold=True), line(job.company, dated)]
