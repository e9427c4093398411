"""What `ingest` does: plan, show or run the plan, print what became of each document."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import typer

from app import output
from app.options import EXIT_FAILED_DOCUMENTS
from app.planning import noted_json, plan_json, print_plan, refused_json, say_noted, say_refused
from app.settings import SAMPLE
from app.stopping import ExitCode, stopping
from config.settings import Settings
from pipelines.types import IngestItem, IngestReport, Outcome

if TYPE_CHECKING:
    from pipelines.ingestion.plan import Plan
    from pipelines.ingestion.run import Ingestion, Overrides


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says of how to go about it."""

    plan_only: bool = False
    verify: bool = False
    yes: bool = False
    retry_failed: bool = False
    as_json: bool = False


def run_ingest(settings: Settings, sources: Sequence[str], overrides: "Overrides", asked: Asked) -> None:
    """Plan, then show the plan, or run it with a progress bar; exit 4 when one failed, 130 or 143 when stopped."""
    from pipelines.ingestion.parsers import build_parser
    from pipelines.ingestion.run import build_ingestion

    if overrides.parser:
        build_parser(overrides.parser)  # or say which there are, before anything is done
    ingestion = build_ingestion(settings)
    with output.under_way("looking at the sources", quiet=asked.as_json) as (say, far):
        plan = ingestion.plan(
            sources if sources or asked.retry_failed else own_sources(settings),
            overrides=overrides,
            verify=asked.verify,
            allow_removals=asked.yes,
            only_failed=asked.retry_failed,
            say=say,
            far=far,
        )
    if asked.retry_failed and not (plan.steps or plan.settled or asked.as_json):
        output.say(_nothing_to_retry(ingestion, overrides))
        return
    if asked.plan_only:
        show_plan(ingestion, plan, overrides, as_json=asked.as_json)
        return
    with stopping(ingestion.stop) as stopped, ingest_progress(len(plan.steps), quiet=asked.as_json) as advance:
        report = ingestion.run(plan, overrides=overrides, on_progress=advance)
    show_report(report, plan, as_json=asked.as_json)
    leave(report, stopped)


def _nothing_to_retry(ingestion: "Ingestion", overrides: "Overrides") -> str:
    from pipelines.store.database import reading
    from pipelines.store.failures import standing_failures

    with reading(ingestion.database.engine, "reading what failed") as connection:
        left = standing_failures(connection, ingestion.collection(overrides))
    if not left:
        return "Nothing failed the last time it was tried."
    return f"{len(left)} documents failed, such as {left[0].document}, but none is to be found here: `footnote status`."


def show_plan(ingestion: "Ingestion", plan: "Plan", overrides: "Overrides", *, as_json: bool) -> None:
    """Print what a run of the plan would do and cost; exit 4 when something would fail.

    The documents are read and parsed for it, nothing is written.
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
    """The sources of the settings; the sample that they name by default is found from any folder."""
    from pipelines.ingestion.sources.declared import own_locations

    own = own_locations(settings)
    return [str(SAMPLE)] if own == type(settings.ingestion)().sources else own


def ingest_json(report: IngestReport) -> dict[str, Any]:
    """A run as DESIGN.md's JSON."""
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
    """What became of one document."""
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


def leave(report: IngestReport, stopped: ExitCode) -> None:
    """Exit with the code of what stopped the run where it was stopped, with 4 where a document failed."""
    if report.stopped:
        raise typer.Exit(stopped())
    if report.count("failed"):
        raise typer.Exit(EXIT_FAILED_DOCUMENTS)


def show_report(report: IngestReport, plan: "Plan", *, as_json: bool) -> None:
    """Print what became of each document of a run, and what to do about the rest."""
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
    """A progress bar on a terminal, with documents a second and the time left; gives what is told of each document.

    What is unchanged is not counted: it takes no time, and would spoil the rate.
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
