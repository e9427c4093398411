"""What `ingest --watch` prints: a line for each round that did something, until Ctrl-C."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from threading import Event
from typing import TYPE_CHECKING, Any

import typer

from app import output
from app.ingesting import Asked, ingest_json, ingest_progress, own_sources, stopping
from app.planning import refused_json, say_refused
from config.settings import Settings
from pipelines.ingestion.sources import kind_of

if TYPE_CHECKING:
    from pipelines.ingestion.run import Overrides
    from pipelines.ingestion.watch import Round

_DONE = ("added", "updated", "metadata", "removed", "failed")


def run_watch(settings: Settings, sources: Sequence[str], overrides: "Overrides", asked: Asked) -> None:
    """Keep the database in step with sources until Ctrl-C; with `--json`, a document on a line for each round.

    Raises:
        typer.BadParameter: With options that are for one run.
    """
    from pipelines.ingestion.parsers import build_parser
    from pipelines.ingestion.watch import Watch

    if asked.plan_only or asked.retry_failed:
        raise typer.BadParameter("--watch goes with neither --plan nor --retry-failed.")
    if overrides.parser:
        build_parser(overrides.parser)
    locations, stop = list(dict.fromkeys(sources or own_sources(settings))), Event()
    watch = Watch(
        settings,
        locations,
        overrides,
        verify=asked.verify,
        allow_removals=asked.yes,
        stop=stop,
        say=output.note,
        running=lambda total: ingest_progress(total, quiet=asked.as_json),
    )
    if not asked.as_json:
        say_watched(watch.every)
    with stopping(stop):
        print_rounds(watch.rounds(), stop, as_json=asked.as_json)
    if not asked.as_json:
        output.warn("Not watching any more.", "dim")


def print_rounds(rounds: Iterable["Round"], stop: Event, *, as_json: bool) -> None:
    """Print the rounds that are news, and for people that others found nothing: off a terminal once a source."""
    quiet = set[tuple[str, ...]]()
    for found in rounds:
        if as_json:
            print_round(found)
        elif found.is_news:
            show_round(found)
        elif not (found.again or stop.is_set()) and (output.stderr.is_terminal or found.locations not in quiet):
            quiet.add(found.locations)
            output.note(f"nothing new in {', '.join(found.locations)}")
        if found.again:  # that it is well again is said, too
            quiet.discard(found.locations)


def say_watched(every: Mapping[str, float]) -> None:
    """Say on stderr what is watched, and when each is looked at."""
    output.warn("Watching until Ctrl-C:", "dim")
    for location, seconds in every.items():
        told = "whenever it changes, and " if kind_of(location) == "file" else ""
        output.warn(f"          {location}  {told}every {lasting(seconds)}", "dim")


def lasting(seconds: float) -> str:
    """So many seconds in words: 40 s, 6 min, 1.5 h."""
    size, unit = (3600, "h") if seconds >= 3600 else (60, "min") if seconds >= 60 else (1, "s")
    return f"{round(seconds / size, 1):g} {unit}"


def print_round(found: "Round") -> None:
    """Print a round that is news as a JSON document on a line."""
    if found.is_news:
        sys.stdout.write(json.dumps(round_json(found), ensure_ascii=False, default=str) + "\n")
        sys.stdout.flush()


def round_json(found: "Round") -> dict[str, Any]:
    """A round as JSON: when, its run as in `ingest --json` but without what is unchanged, and what is tried again."""
    report = ingest_json(found.report) if found.report else {}
    if report:
        report["items"] = [item for item in report["items"] if item["outcome"] != "unchanged"]
    error = found.error
    return {
        "at": found.at.isoformat(timespec="seconds"),
        "sources": list(found.locations),
        **report,
        "refused_removals": refused_json(found),
        "error": {"type": type(error).__name__, "message": error.message, "hint": error.hint} if error else None,
        "again_seconds": found.again,
    }


def show_round(found: "Round") -> None:
    """Print what a round did on a line, and below it what it has to say."""
    at = f"{found.at.astimezone():%H:%M:%S}"
    if found.report:
        counts = ((name, found.report.count(name)) for name in _DONE)  # type: ignore[arg-type]
        said = ", ".join(f"{count} {name}" for name, count in counts if count)
        where = ", ".join(found.locations)
        cost = f"({found.report.embedded} embedded, run {found.report.run_id})"
        output.say(f"{at}  {where}: {said or 'nothing to do'} {cost}")
    for item in found.failed:
        output.say(f"          {item.document}: {item.message} {item.hint}".rstrip(), "red")
    say_refused(found)
    if found.error:
        output.warn(f"{at}  {found.error.message} {found.error.hint}".rstrip(), "red")
    if found.again:
        output.warn(f"{at}  Trying again in {found.again:.0f} s.", "dim")
