"""What `ingest --watch` prints: a line for each round that did something, until Ctrl-C or SIGTERM."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, Any

import typer

from app import output
from app.ingesting import Asked, ingest_json, ingest_progress, own_sources
from app.planning import refused_json, say_refused
from app.stopping import stopping
from config.settings import Settings
from pipelines.ingestion.sources import kind_of
from pipelines.wording import lasting, told_of

if TYPE_CHECKING:
    from pipelines.ingestion.run import Overrides
    from pipelines.ingestion.watch import Round

_DONE = ("added", "updated", "metadata", "removed", "failed")


def run_watch(settings: Settings, sources: Sequence[str], overrides: "Overrides", asked: Asked) -> None:
    """Keep the database in step with sources until a signal ends it; with `--json`, a document on each line.

    Raises:
        typer.BadParameter: With options that are for one run.
        typer.Exit: With 130 after Ctrl-C, 143 after SIGTERM.
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
    (print_watched if asked.as_json else say_watched)(watch.every)
    with stopping(stop) as stopped:
        print_rounds(watch.rounds(), stop, as_json=asked.as_json)
    if not asked.as_json:
        output.warn("Not watching any more.", "dim")
    raise typer.Exit(stopped())


def print_rounds(rounds: Iterable["Round"], stop: Event, *, as_json: bool) -> None:
    """Print the rounds that are news, and that others found nothing: on a terminal each time, else once a source."""
    quiet, always = set[tuple[str, ...]](), output.stderr.is_terminal and not as_json
    for found in rounds:
        if found.is_news:
            (print_round if as_json else show_round)(found)
        elif not (found.again or stop.is_set()) and (always or found.locations not in quiet):
            quiet.add(found.locations)
            (print_round if as_json else note_quiet)(found)
        if found.again:  # that it is well again is said, too
            quiet.discard(found.locations)


def say_watched(every: Mapping[str, float]) -> None:
    """Say on stderr what is watched, and when each is looked at."""
    output.warn("Watching until Ctrl-C or SIGTERM:", "dim")
    for location, seconds in every.items():
        told = "whenever it changes, and " if kind_of(location) == "file" else ""
        output.warn(f"          {location}  {told}every {lasting(seconds)}", "dim")


def print_watched(every: Mapping[str, float]) -> None:
    """Print what is watched as a JSON document on a line, the first of a watch."""
    watched = [
        {"source": location, "every_seconds": seconds, "on_change": kind_of(location) == "file"}
        for location, seconds in every.items()
    ]
    _print_line({"at": datetime.now(UTC).isoformat(timespec="seconds"), "watching": watched})


def print_round(found: "Round") -> None:
    """Print a round as a JSON document on a line."""
    _print_line(round_json(found))


def _print_line(told: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(told, ensure_ascii=False, default=str) + "\n")
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


def note_quiet(found: "Round") -> None:
    """Say on stderr that a round found nothing."""
    output.note(f"nothing new in {', '.join(found.locations)}")


def show_round(found: "Round") -> None:
    """Print what a round did on a line, and below it what it has to say."""
    at, where = f"{found.at.astimezone():%H:%M:%S}", ", ".join(found.locations)
    if found.report:
        counts = ((name, found.report.count(name)) for name in _DONE)  # type: ignore[arg-type]
        said = ", ".join(f"{count} {name}" for name, count in counts if count)
        embedded = f"{found.report.embedded:,} embedded, " if found.report.embedded else ""
        stopped = ", stopped" if found.report.stopped else ""
        output.say(f"{at}  {where}: {said or 'nothing done'}{stopped} ({embedded}run {found.report.run_id})")
    for item in found.failed:
        output.say(f"          {told_of(item.document, item.message, item.hint)}", "red")
    say_refused(found)
    if found.error:
        output.warn(f"{at}  {found.error.message} {found.error.hint}".rstrip(), "red")
    if found.again:
        output.warn(f"{at}  Trying {where} again in {lasting(found.again)}.", "dim")
