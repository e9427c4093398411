"""`footnote ingest`: show a plan, run it with a progress bar, or watch the sources."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import typer

from app.cli import output
from app.cli.options import EXIT_FAILED_DOCUMENTS
from app.cli.signals import ExitCode, stopping
from app.settings import SAMPLE
from config.settings import Settings
from pipelines.types import IngestItem, IngestReport, Outcome

if TYPE_CHECKING:
    from pipelines.ingestion.plan import Plan
    from pipelines.ingestion.run import Ingestion, Overrides
from collections.abc import Iterable

from app.cli.output import Entry, print_entries
from pipelines.store.originals import named_place
from pipelines.wording import format_count, with_hint, without_label

if TYPE_CHECKING:
    from pipelines.ingestion.plan import Plan, Step
    from pipelines.ingestion.preview import Preview
    from pipelines.ingestion.watch import Round
import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING

from pipelines.ingestion.sources import kind_of
from pipelines.wording import format_duration, labelled_message

if TYPE_CHECKING:
    from pipelines.ingestion.run import Overrides
    from pipelines.ingestion.watch import Round


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """The options of `footnote ingest` that are not about documents."""

    plan_only: bool = False
    verify: bool = False
    yes: bool = False
    retry_failed: bool = False
    as_json: bool = False


def run_ingest(settings: Settings, sources: Sequence[str], overrides: "Overrides", options: IngestOptions) -> None:
    """Plan, then show the plan, or run it with a progress bar; exit 4 when one failed, 130 or 143 when stopped."""
    from pipelines.ingestion.parsers import build_parser
    from pipelines.ingestion.run import build_ingestion
    from pipelines.ingestion.sources.base import Reporter

    if overrides.parser:
        build_parser(overrides.parser)  # an unknown parser is refused before anything is done
    ingestion = build_ingestion(settings)
    ingestion.assert_paths_known(sources)
    with output.under_way("looking at the sources", quiet=options.as_json) as (say, far):
        plan = ingestion.plan(
            sources if sources or options.retry_failed else own_sources(settings),
            overrides=overrides,
            verify=options.verify,
            allow_removals=options.yes,
            only_failed=options.retry_failed,
            reporter=Reporter(say, far),
        )
    if options.retry_failed and not (plan.steps or plan.settled or options.as_json):
        output.say(_nothing_to_retry(ingestion, overrides))
        return
    if options.plan_only:
        show_plan(ingestion, plan, overrides, as_json=options.as_json)
        return
    with stopping(ingestion.stop) as stopped, ingest_progress(len(plan.steps), quiet=options.as_json) as advance:
        report = ingestion.run(plan, overrides=overrides, on_progress=advance)
    show_report(report, plan, as_json=options.as_json)
    exit_with_report(report, stopped)


def _nothing_to_retry(ingestion: "Ingestion", overrides: "Overrides") -> str:
    from pipelines.store.database import reading
    from pipelines.store.runs import current_failures

    with reading(ingestion.database.engine, "reading what failed") as connection:
        left = current_failures(connection, ingestion.collection(overrides))
    if not left:
        return "Nothing failed the last time it was tried."
    return f"{len(left)} documents failed, such as {left[0].document}, but none is to be found here: `footnote status`."


def show_plan(ingestion: "Ingestion", plan: "Plan", overrides: "Overrides", *, as_json: bool) -> None:
    """Print the result and the cost of running a plan; exit 4 if something would fail.

    The documents are read and parsed, nothing is written.
    """
    from pipelines.ingestion.preview import preview

    with output.progress(quiet=as_json) as advance:
        seen = preview(ingestion, plan, overrides, lambda done, total: advance("reading", done, total))
    if as_json:
        output.print_json(plan_json(plan, seen))
    else:
        print_plan(plan, seen, ingestion.identity.model)
    if seen.count("failed"):
        raise typer.Exit(EXIT_FAILED_DOCUMENTS)


def own_sources(settings: Settings) -> Sequence[str]:
    """The sources of the settings; the default sample is found from any folder."""
    from pipelines.ingestion.sources.locations import configured_locations

    own = configured_locations(settings)
    return [str(SAMPLE)] if own == type(settings.ingestion)().sources else own


def ingest_json(report: IngestReport) -> dict[str, Any]:
    """The report of a run as JSON."""
    return {
        "run_id": report.run_id,
        **{outcome: report.count(outcome) for outcome in get_args(Outcome)},
        "nodes": report.nodes,
        "embedded": report.embedded,
        "seconds": report.seconds,
        "seconds_at_sources": report.looked,
        "stopped": report.stopped,
        "items": [item_json(item) for item in report.items],
    }


def item_json(item: IngestItem) -> dict[str, Any]:
    """The result of one document as JSON."""
    return {
        "document": item.document,
        "outcome": item.outcome,
        "stage": item.stage,
        "error": item.message,
        "error_class": item.error,
        "hint": item.hint,
        "nodes": item.nodes,
        "embedded": item.embedded,
    }


def exit_with_report(report: IngestReport, stopped: ExitCode) -> None:
    """Exit with the code of the signal that stopped the run, or with 4 if a document failed."""
    if report.stopped:
        raise typer.Exit(stopped())
    if report.count("failed"):
        raise typer.Exit(EXIT_FAILED_DOCUMENTS)


def show_report(report: IngestReport, plan: "Plan", *, as_json: bool) -> None:
    """Print the report of a run, and what was not ingested."""
    shown = ingest_json(report) | noted_json(plan) | {"refused_removals": refused_json(plan)}
    if as_json:
        output.print_json(shown)
        return
    output.print_ingest(shown)
    say_noted(plan)
    say_refused(plan)
    if report.stopped:
        output.warn(
            f"Stopped after {len(report.items):,} of {len(plan.steps):,} documents. What was finished stays; the same "
            "command goes on from there."
        )


@contextmanager
def ingest_progress(total: int, *, quiet: bool) -> Iterator[Callable[[int, int, IngestItem], None]]:
    """A progress bar with documents per second and the time left; its value is called for each document.

    Unchanged documents are not counted: they take no time, and would distort the rate.
    """
    with output.progress_bar(quiet=quiet) as bar:
        task, counts = bar.add_task("ingesting", total=total), Counter[bool]()

        def advance(_done: int, _total: int, item: IngestItem) -> None:
            counts[item.outcome == "unchanged"] += 1
            bar.update(task, completed=counts[False], total=total - counts[True], description=item.document[-40:])

        yield advance


def ensure_sample(settings: Settings) -> None:
    """Ingest data/sample when the database holds no document."""
    from pipelines.ingestion.run import build_ingestion

    ingestion = build_ingestion(settings)
    if ingestion.store.count():
        return
    output.say("Ingesting the sample portfolio ...")
    plan = ingestion.plan([str(SAMPLE)])
    with ingest_progress(len(plan.steps), quiet=False) as advance:
        output.print_ingest(ingest_json(ingestion.run(plan, on_progress=advance)))


_ROWS = 200  # of a table on a terminal
_MAX_REMARKS = 10
_MAX_PLACES = 3
_VERBS = {"added": "add", "updated": "update", "metadata": "metadata", "removed": "remove", "failed": "fail"}
_TOTALS = {
    "added": "to add", "updated": "to update", "metadata": "to update in metadata only", "removed": "to remove",
    "failed": "would fail", "unchanged": "unchanged",
}  # fmt: skip


def plan_json(plan: "Plan", seen: "Preview") -> dict[str, Any]:
    """A plan as JSON, with the expected result of each changed document and the cost of the run."""
    actions = ("add", "update", "remove", "unchanged", "fail")
    steps = [
        _step_json(step, item, estimated=place in seen.estimated)
        for place, (step, item) in enumerate(zip(plan.steps, seen.items, strict=True))
        if step.action != "unchanged"
    ]
    return {
        "counts": {action: plan.count(action) for action in actions},  # type: ignore[arg-type]
        "outcomes": {outcome: seen.count(outcome) for outcome in get_args(Outcome)},
        "steps": steps,
        **noted_json(plan),
        "refused_removals": refused_json(plan),
        "settled": [{"document": item.name, "reason": why} for item, why in plan.settled.items()],
        "embeddings": seen.embeddings,
        "sentence_groups": seen.sentence_groups,
        "tokens": seen.tokens,
        "header_calls": seen.headers.calls,
        "header_tokens": seen.headers.tokens,
        "estimated": is_estimated(seen),
        "cost": {
            "currency": "USD", "embeddings": seen.embedding_cost, "headers": seen.header_cost, "total": seen.cost,
        },
    }  # fmt: skip


def _step_json(step: "Step", item: IngestItem, *, estimated: bool) -> dict[str, Any]:
    return {
        "action": step.action,
        "document": item.document,
        "reason": step.reason,
        "outcome": item.outcome,
        "stage": item.stage,
        "error_class": item.error,
        "message": item.message,
        "hint": item.hint,
        "nodes": item.nodes,
        "embeddings": item.embedded,
        "estimated": estimated,
    }


def is_estimated(seen: "Preview") -> bool:
    """Whether the number of embeddings is an upper bound, because it depends on a model."""
    return bool(seen.estimated or seen.headers.calls)


def print_plan(plan: "Plan", seen: "Preview", model: str) -> None:
    """Print a table of changes and failures, then the totals."""
    pairs = [(step, item) for step, item in zip(plan.steps, seen.items, strict=True) if item.outcome != "unchanged"]
    rows = [_entry(step, item) for step, item in pairs]
    print_entries(["action", "nodes", "embeddings", "document"], rows, most=_ROWS)
    counts = ", ".join(f"{count:,} {label}" for name, label in _TOTALS.items() if (count := seen.count(name)))  # type: ignore[arg-type]
    output.say(counts or "nothing to do", "bold")
    for line in cost_lines(seen, model):
        output.say(line)
    for item, why in plan.settled.items():
        output.say(f"{item.name} failed before, and does no longer: {why}", "dim")
    say_noted(plan)
    say_refused(plan)


def _entry(step: "Step", item: IngestItem) -> Entry:
    numbers = [item.nodes or "", item.embedded or ""]
    if item.outcome != "failed":
        return Entry([_VERBS[item.outcome], *numbers, f"{item.document} ({step.reason})"])
    why = with_hint(without_label(item.document, item.message), item.hint)
    return Entry([_VERBS[item.outcome], *numbers, item.document], why, "red")


def cost_lines(seen: "Preview", model: str) -> list[str]:
    """Lines on what would be embedded and requested, and its cost; none if nothing would."""
    lines = []
    if seen.embeddings:
        most = "at most " if is_estimated(seen) else ""
        groups = f", {seen.sentence_groups:,} of them groups of sentences" if seen.sentence_groups else ""
        lines.append(
            f"{most}{format_count(seen.embeddings, 'text')} to embed{groups}: {format_count(seen.tokens, 'token')}, "
            f"{_money(seen.embedding_cost, 'FOOTNOTE_EMBEDDING__PRICE')} with {model}"
        )
    if seen.headers.calls:
        lines.append(
            f"a language model would be asked for {seen.headers.calls:,} headers, reading {seen.headers.tokens:,} "
            f"tokens, at most {_money(seen.header_cost, 'FOOTNOTE_LLM__PRICE')}"
        )
    return lines


def _money(dollars: float | None, setting: str) -> str:
    if dollars is None:
        return f"a price that is not known (set {setting})"
    return "free" if not dollars else f"${dollars:.4f}" if dollars < 1 else f"${dollars:,.2f}"


def refused_json(plan: "Plan | Round") -> list[dict[str, Any]]:
    """The removals that need `--yes`, by source, as JSON."""
    return [{"source": source, "documents": absent, "of": held} for source, absent, held in plan.refused]


def noted_json(plan: "Plan") -> dict[str, Any]:
    """What is skipped, what is stored in part, and which sources hold nothing to ingest, as JSON."""
    return {
        "skipped": [each.name for each in plan.skipped],
        "passed_over": [{"name": each.name, "reason": each.reason} for each in plan.skipped],
        "stored_in_part": [{"document": each.name, "reason": each.reason} for each in plan.partial],
        "empty": list(plan.empty),
    }


def say_noted(plan: "Plan") -> None:
    """Print what is skipped and what is stored in part, each with the reason."""
    for label, remarks in (("passed over", plan.skipped), ("stored in part", plan.partial)):
        if remarks:
            output.say(f"{len(remarks):,} {label}:", "dim")
        for each in remarks[:_MAX_REMARKS]:
            output.say(f"          {each.name}: {each.reason}", "dim")
        if len(remarks) > _MAX_REMARKS:
            output.say(f"          and {len(remarks) - _MAX_REMARKS:,} more: --json has all", "dim")
    for source in plan.empty:
        output.say(f"Nothing that is read is in {named_place(source)}.", "yellow")


def say_refused(plan: "Plan | Round") -> None:
    """Print on stderr the removals that were refused because they are too many."""
    for source, absent, held in plan.refused:
        output.warn(
            f"{absent} of {held} documents are no longer in {source}; that is more than a fifth, so they stay. "
            "Run again with --yes to remove them."
        )


def say_sources_stay(sources: Iterable[str]) -> None:
    """Print that a removal or a rollback does not change the sources."""
    places = list(dict.fromkeys(map(named_place, sources)))
    more = f" and {len(places) - _MAX_PLACES:,} more" if len(places) > _MAX_PLACES else ""
    if places:
        named = f"{', '.join(places[:_MAX_PLACES])}{more}"
        stay = "The sources stay as they are"
        output.say(f"{stay}: the next `footnote ingest` of {named} ingests again what is there.", "dim")


_CHANGES = ("added", "updated", "metadata", "removed", "failed")


def run_watch(settings: Settings, sources: Sequence[str], overrides: "Overrides", options: IngestOptions) -> None:
    """Keep the database in step with sources until a signal ends it; with `--json`, print one line of JSON per round.

    Raises:
        typer.BadParameter: With options that are for one run.
        typer.Exit: With 130 after Ctrl-C, 143 after SIGTERM.
    """
    from pipelines.ingestion.parsers import build_parser
    from pipelines.ingestion.watch import Watch

    if options.plan_only or options.retry_failed:
        raise typer.BadParameter("--watch goes with neither --plan nor --retry-failed.")
    if overrides.parser:
        build_parser(overrides.parser)
    locations, stop = list(dict.fromkeys(sources or own_sources(settings))), Event()
    watch = Watch(
        settings,
        locations,
        overrides,
        verify=options.verify,
        allow_removals=options.yes,
        stop=stop,
        say=output.note,
        running=lambda total: ingest_progress(total, quiet=options.as_json),
    )
    (print_watched if options.as_json else say_watched)(watch.every)
    with stopping(stop) as stopped:
        print_rounds(watch.rounds(), stop, as_json=options.as_json)
    if not options.as_json:
        output.warn("Not watching any more.", "dim")
    raise typer.Exit(stopped())


def print_rounds(rounds: Iterable["Round"], stop: Event, *, as_json: bool) -> None:
    """Print rounds with news; print that a round found nothing each time on a terminal, else once per source."""
    quiet, always = set[tuple[str, ...]](), output.stderr.is_terminal and not as_json
    for found in rounds:
        if found.is_news:
            (print_round if as_json else show_round)(found)
        elif not (found.again or stop.is_set()) and (always or found.locations not in quiet):
            quiet.add(found.locations)
            (print_round if as_json else note_quiet)(found)
        if found.again:  # so that its recovery is printed too
            quiet.discard(found.locations)


def say_watched(every: Mapping[str, float]) -> None:
    """Print on stderr what is watched, and how often."""
    output.warn("Watching until Ctrl-C or SIGTERM:", "dim")
    for location, seconds in every.items():
        on_change = "whenever it changes, and " if kind_of(location) == "file" else ""
        output.warn(f"          {location}  {on_change}every {format_duration(seconds)}", "dim")


def print_watched(every: Mapping[str, float]) -> None:
    """Print what is watched as one line of JSON, the first of a watch."""
    watched = [
        {"source": location, "every_seconds": seconds, "on_change": kind_of(location) == "file"}
        for location, seconds in every.items()
    ]
    _print_json_line({"at": datetime.now(UTC).isoformat(timespec="seconds"), "watching": watched})


def print_round(found: "Round") -> None:
    """Print a round as one line of JSON."""
    _print_json_line(round_json(found))


def _print_json_line(values: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(values, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def round_json(found: "Round") -> dict[str, Any]:
    """A round as JSON: its time, its report as in `ingest --json` without unchanged items, and the next try."""
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
    """Print on stderr that a round found nothing."""
    output.note(f"nothing new in {', '.join(found.locations)}")


def show_round(found: "Round") -> None:
    """Print the changes of a round on one line, and below it failures and refusals."""
    at, where = f"{found.at.astimezone():%H:%M:%S}", ", ".join(found.locations)
    if found.report:
        counts = ((name, found.report.count(name)) for name in _CHANGES)  # type: ignore[arg-type]
        changes = ", ".join(f"{count} {name}" for name, count in counts if count)
        embedded = f"{found.report.embedded:,} embedded, " if found.report.embedded else ""
        stopped = ", stopped" if found.report.stopped else ""
        output.say(f"{at}  {where}: {changes or 'nothing done'}{stopped} ({embedded}run {found.report.run_id})")
    for item in found.failed:
        output.say(f"          {labelled_message(item.document, item.message, item.hint)}", "red")
    say_refused(found)
    if found.error:
        output.warn(f"{at}  {with_hint(found.error.message, found.error.hint)}", "red")
    if found.again:
        output.warn(f"{at}  Trying {where} again in {format_duration(found.again)}.", "dim")
