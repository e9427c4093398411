"""`footnote ingest`: show a plan, run it with a progress bar, or watch the sources."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from app.cli import output
from app.cli.options import (
    EXIT_FAILED_DOCUMENTS,
    CategoryName,
    Json,
    PlanOnly,
    argument,
    option,
    parser_names,
    settings_now,
)
from app.cli.output import ListEntry, emit, note, print_entries, print_json, render, say, warn
from app.cli.signals import stopping
from app.serialise import serialise
from pipelines.errors import FootnoteError
from pipelines.loading import loading
from pipelines.observe import log_failure
from pipelines.store.originals import named_place
from pipelines.wording import format_count, format_duration, labelled_message, with_hint, without_label

if TYPE_CHECKING:
    from config.settings import Settings
    from pipelines.ingestion.plan import Overrides, Plan, Step
    from pipelines.ingestion.preview import DocumentPreview
    from pipelines.ingestion.run import Ingestion, Progress
    from pipelines.ingestion.watch import Round
    from pipelines.types import IngestItem, IngestReport, Outcome

verbs = typer.Typer()
_ROWS = 200  # of a table on a terminal
_MAX_REMARKS = 10
_MAX_PLACES = 3
_VERBS = {"added": "add", "updated": "update", "metadata": "metadata", "removed": "remove", "failed": "fail"}
_TOTALS = {
    "added": "to add", "updated": "to update", "metadata": "to update in metadata only", "removed": "to remove",
    "failed": "would fail", "unchanged": "unchanged",
}  # fmt: skip
_STYLES = {"added": "green", "updated": "cyan", "metadata": "cyan", "removed": "yellow"}
_CHANGES = ("added", "updated", "metadata", "removed", "failed")


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """The options of `footnote ingest` that are not about documents."""

    plan_only: bool = False
    verify: bool = False
    yes: bool = False
    retry_failed: bool = False
    as_json: bool = False


@verbs.command()
def ingest(
    sources: Annotated[
        list[str] | None,
        argument(
            "Files, folders, github:OWNER, github:OWNER/REPO, notion:ID, https://...; default: those of the "
            "settings and every known one."
        ),
    ] = None,
    plan: PlanOnly = False,
    collection: Annotated[str, option("Store the documents in this collection; default: where they are.")] = "",
    category: Annotated[CategoryName | None, option("Category of the documents; it is remembered.")] = None,
    visibility: Annotated[Literal["public", "private"] | None, option("Who may see them; it is remembered.")] = None,
    parser: Annotated[
        str,
        typer.Option(
            help="Parse with this parser, e.g. markdown, window; it is remembered.", autocompletion=parser_names
        ),
    ] = "",
    verify: Annotated[
        bool,
        option(
            "Read every file and page again, even if its size, date or ETag has not changed; with --plan, parse every "
            "document, where a sample of more than 1,000 is parsed otherwise.",
            "--verify",
        ),
    ] = False,
    yes: Annotated[bool, option("Allow removing more than a fifth of a source.", "--yes")] = False,
    retry_failed: Annotated[
        bool, option("Try again only what failed last time; without sources, every failure.", "--retry-failed")
    ] = False,
    watch: Annotated[
        bool,
        option("Keep running: ingest when a file changes, and check remote sources at an interval.", "--watch"),
    ] = False,
    executor: Annotated[
        Literal["local", "here", "ray"] | None,
        option("Read files in worker processes, in this process, or on a Ray cluster; default: the setting."),
    ] = None,
    workers: Annotated[int | None, option("Number of processes; 0 = one per core, at most 8.", min=0)] = None,
    as_json: Json = False,
) -> None:
    """Ingest documents; unchanged ones are skipped. Ctrl-C or SIGTERM stops after the documents in progress.

    Example: footnote ingest ~/portfolio --plan

    Example: footnote ingest github:ann notion:0123456789abcdef https://example.com/feed.xml

    Example: footnote ingest ~/portfolio github:ann --watch --json (JSON lines: the watched sources, then each change)
    """
    settings = _with_executor(settings_now(), executor, workers)  # reported before the slow imports
    from pipelines.ingestion.parsers import build_parser
    from pipelines.ingestion.plan import Overrides
    from pipelines.ingestion.sources.locations import unique_locations

    overrides = Overrides(collection, category or "", visibility or "", parser)
    locations = unique_locations(sources or (), settings.web.private_hosts)
    if watch and (plan or retry_failed):
        raise typer.BadParameter("--watch goes with neither --plan nor --retry-failed.")
    if parser:
        build_parser(parser)  # an unknown parser is refused before anything is done
    options = IngestOptions(plan, verify, yes, retry_failed, as_json)
    (_watch if watch else _run)(settings, locations, overrides, options)


def _with_executor(settings: "Settings", executor: str | None, workers: int | None) -> "Settings":
    """The settings with another executor or number of workers, where one is given."""
    given = {"executor": executor, "workers": workers}
    update = {name: value for name, value in given.items() if value is not None}
    return settings.model_copy(update={"ingestion": settings.ingestion.model_copy(update=update)})


def _run(settings: "Settings", sources: Sequence[str], overrides: "Overrides", options: IngestOptions) -> None:
    with loading():
        from pipelines.ingestion.run import build_ingestion
        from pipelines.ingestion.sources.base import Reporter

        ingestion = build_ingestion(settings)
    ingestion.assert_paths_known(sources)
    with output.under_way("looking at the sources", quiet=options.as_json) as (tell, far):
        plan = ingestion.plan(
            sources,
            overrides=overrides,
            verify=options.verify,
            allow_removals=options.yes,
            only_failed=options.retry_failed,
            reporter=Reporter(tell, far),
        )
    if options.retry_failed and not (plan.steps or plan.settled or options.as_json):
        say(_nothing_to_retry(ingestion, overrides))
    elif options.plan_only:
        emit_plan(ingestion, plan, options.as_json, whole=options.verify)
    else:
        emit_run(ingestion, plan, options.as_json, lambda advance: ingestion.run(plan, on_progress=advance))


def _nothing_to_retry(ingestion: "Ingestion", overrides: "Overrides") -> str:
    from pipelines.store.database import reading
    from pipelines.store.runs import current_failures

    with reading(ingestion.database.engine, "reading what failed") as connection:
        left = current_failures(connection, ingestion.stated_collection(overrides) or None)
    if not left:
        return "Nothing failed in the last run."
    first = left[0].document
    return f"{len(left)} documents failed, such as {first}, but none of these sources holds them: `footnote status`."


# A plan


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A plan with the expected result of each step, and the cost of running it with an embedding model."""

    plan: "Plan"
    seen: "DocumentPreview"
    model: str

    @property
    def counts(self) -> dict[str, int]:
        """The number of steps of each action."""
        actions = ("add", "update", "remove", "unchanged", "fail")
        return {action: self.plan.count(action) for action in actions}  # type: ignore[arg-type]

    @property
    def outcomes(self) -> "dict[Outcome, int]":
        """The number of documents with each outcome."""
        from pipelines.types import Outcome

        return {outcome: self.seen.count(outcome) for outcome in get_args(Outcome)}

    @property
    def steps(self) -> "list[tuple[Step, IngestItem, bool]]":
        """The steps that do something with their expected results, and whether their embeddings are an upper bound."""
        pairs = enumerate(zip(self.plan.steps, self.seen.items, strict=True))
        planned = ((step, item, place in self.seen.estimated) for place, (step, item) in pairs)
        return [each for each in planned if each[0].action != "unchanged"]

    @property
    def settled(self) -> list[tuple[Any, str]]:
        """The documents that failed before and do no longer, each with the reason."""
        return list(self.plan.settled.items())

    @property
    def estimated(self) -> bool:
        """True if the number of embeddings depends on a model, or was estimated from a sample."""
        return bool(self.seen.estimated or self.seen.headers.calls or self.seen.sampled)

    @property
    def sampled(self) -> int:
        """The number of documents that the sums are estimated from; 0 if all were read."""
        return self.seen.sampled

    @property
    def cost(self) -> dict[str, Any]:
        """The cost in US dollars; None where a price is not known."""
        seen = self.seen
        return {
            "currency": "USD", "embeddings": seen.embedding_cost, "headers": seen.header_cost, "total": seen.cost,
        }  # fmt: skip


def emit_plan(ingestion: "Ingestion", plan: "Plan", as_json: bool, *, whole: bool = True) -> None:
    """Print the result and the cost of running a plan; exit 4 if something would fail.

    The documents are read and parsed, nothing is written. Unless `whole`, only a sample of very many is.
    """
    from pipelines.ingestion.preview import preview

    with output.progress(quiet=as_json) as advance:
        seen = preview(ingestion, plan, lambda done, total: advance("reading", done, total), whole=whole)
    code = EXIT_FAILED_DOCUMENTS if seen.count("failed") else 0
    emit(PlanResult(plan, seen, ingestion.identity.model), as_json, code)


@render.register(PlanResult)
def _render_plan(result: PlanResult) -> None:
    plan, seen = result.plan, result.seen
    pairs = [(step, item) for step, item in zip(plan.steps, seen.items, strict=True) if item.outcome != "unchanged"]
    rows = [_plan_entry(step, item) for step, item in pairs]
    print_entries(["action", "nodes", "embeddings", "document"], rows, most=_ROWS)
    counts = ", ".join(f"{count:,} {label}" for name, label in _TOTALS.items() if (count := seen.count(name)))  # type: ignore[arg-type]
    say(counts or "nothing to do", "bold")
    if seen.embeddings:
        most = "about " if seen.sampled else "at most " if result.estimated else ""
        groups = f", {seen.sentence_groups:,} of them groups of sentences" if seen.sentence_groups else ""
        say(
            f"{most}{format_count(seen.embeddings, 'text')} to embed{groups}: {format_count(seen.tokens, 'token')}, "
            f"{_money(seen.embedding_cost, 'FOOTNOTE_EMBEDDING__PRICE')} with {result.model}"
        )
    if seen.headers.calls:
        say(
            f"a language model would be asked for {seen.headers.calls:,} headers, reading {seen.headers.tokens:,} "
            f"tokens, at most {_money(seen.header_cost, 'FOOTNOTE_LLM__PRICE')}"
        )
    if seen.sampled:
        say(
            f"This is estimated from {seen.sampled:,} of the {seen.due:,} documents to read. --verify reads all.", "dim"
        )
    for failed, why in plan.settled.items():
        say(f"{failed.document} failed before and no longer does: {why}", "dim")
    say_noted(plan)
    _warn_refused(plan)


def _plan_entry(step: "Step", item: "IngestItem") -> ListEntry:
    cells = [_VERBS[item.outcome], item.nodes or "", item.embedded or ""]
    if item.outcome != "failed":
        return ListEntry([*cells, f"{item.document} ({step.reason})"])
    return ListEntry([*cells, item.document], with_hint(without_label(item.document, item.message), item.hint), "red")


def _money(dollars: float | None, setting: str) -> str:
    if dollars is None:
        return f"a price that is not known (set {setting})"
    return "free" if not dollars else f"${dollars:.4f}" if dollars < 1 else f"${dollars:,.2f}"


def say_noted(plan: "Plan") -> None:
    """Print what is skipped and what is stored in part, each with the reason."""
    for label, remarks in (("skipped", plan.skipped), ("stored in part", plan.partial)):
        if remarks:
            say(f"{len(remarks):,} {label}:", "dim")
        for each in remarks[:_MAX_REMARKS]:
            say(f"          {each.name}: {each.reason}", "dim")
        if len(remarks) > _MAX_REMARKS:
            say(f"          and {len(remarks) - _MAX_REMARKS:,} more; --json lists all", "dim")
    for source in plan.empty:
        say(f"{named_place(source)} holds no file of a supported type.", "yellow")


def _warn_refused(plan: "Plan | Round") -> None:
    """Print on stderr the removals that were refused because they are too many."""
    for source, absent, stored in plan.refused:
        warn(
            f"{absent} of {stored} documents are no longer in {source}; that is more than a fifth, so they were kept. "
            "Run again with --yes to remove them."
        )


# A run


@dataclass(frozen=True, slots=True)
class RunResult:
    """The report of a run with its plan; `undone` are the steps of a rollback."""

    report: "IngestReport"
    plan: "Plan"
    undone: "Sequence[Step]" = ()


def emit_run(
    ingestion: "Ingestion",
    plan: "Plan",
    as_json: bool,
    run: "Callable[[Progress], IngestReport]",
    undone: "Sequence[Step]" = (),
) -> None:
    """Run a plan under a progress bar until it ends or a signal stops it, and print what it did.

    Raises:
        typer.Exit: With the code of the signal that stopped it, or with 4 if a document failed.
    """
    with stopping(ingestion.stop) as stopped, ingest_progress(len(plan.steps), quiet=as_json) as advance:
        report = run(advance)
    if not report.stopped and report.count("added") + report.count("updated"):
        _try_questions(ingestion, quiet=as_json)
    failed = EXIT_FAILED_DOCUMENTS if report.count("failed") else 0
    emit(RunResult(report, plan, undone), as_json, stopped() if report.stopped else failed)


def _try_questions(ingestion: "Ingestion", *, quiet: bool) -> None:
    """Try questions about the new documents, of which an abstention offers those that have an answer."""
    from pipelines.query.engine import build_engine_aside
    from pipelines.query.suggest import try_questions

    engine = cache(partial(build_engine_aside, ingestion.settings, ingestion.database, ingestion.identity))
    with output.waiting("trying questions", quiet=quiet):
        try:
            try_questions(ingestion.store, lambda asked: engine().ask(asked, record=False), ingestion.database.engine)
        except FootnoteError as error:
            log_failure("no questions are tried", error)


@contextmanager
def ingest_progress(total: int, *, quiet: bool) -> "Iterator[Progress]":
    """A progress bar with documents per second and the time left; its value is called for each document.

    Unchanged documents are not counted: they take no time, and would distort the rate.
    """
    with output.progress_bar(quiet=quiet) as bar:
        task, counts = bar.add_task("ingesting", total=total), Counter[bool]()

        def advance(_done: int, _total: int, item: "IngestItem") -> None:
            counts[item.outcome == "unchanged"] += 1
            bar.update(task, completed=counts[False], total=total - counts[True], description=item.document[-40:])

        yield advance


@render.register(RunResult)
def _render_run(result: RunResult) -> None:
    report, plan = result.report, result.plan
    for item in report.items:
        if item.outcome in _STYLES:
            made = f"  ({format_count(item.nodes, 'node')})" if item.nodes else ""
            say(f"{item.outcome:>9}  {item.document}{made}", _STYLES[item.outcome])
    for item in report.items:
        if item.outcome == "failed":
            say(f"   failed  {labelled_message(item.document, item.message, item.hint)}", "red")
    names = ("added", "updated", "metadata", "unchanged", "removed", "failed")
    counts = ", ".join(f"{report.counts[name]} {name}" for name in names if report.counts[name])  # type: ignore[index]
    kept = sum(absent for _, absent, _ in plan.refused)
    looked = f", {report.looked:.1f} s of them at the sources" if report.looked >= 1 else ""
    idle = f"{kept} that are gone were kept" if kept else "nothing done" if report.stopped else "nothing to do"
    say(
        f"{counts or idle}; {format_count(report.nodes, 'node')}, {report.embedded:,} embedded "
        f"in {report.seconds:.1f} s{looked} (run {report.run_id})",
        "bold",
    )
    say_noted(plan)
    _warn_refused(plan)
    if report.stopped:
        warn(
            f"Stopped after {len(report.items):,} of {len(plan.steps):,} documents. What was finished stays; the same "
            "command goes on from there."
        )
    say_sources_stay(step.item.source for step in result.undone)


def say_sources_stay(sources: Iterable[str]) -> None:
    """Print that a removal or a rollback does not change the sources."""
    places = list(dict.fromkeys(map(named_place, sources)))
    more = f" and {len(places) - _MAX_PLACES:,} more" if len(places) > _MAX_PLACES else ""
    if places:
        named = f"{', '.join(places[:_MAX_PLACES])}{more}"
        stay = "The sources stay as they are"
        say(f"{stay}: the next `footnote ingest` of {named} ingests again what is there.", "dim")


def ensure_sample(settings: "Settings") -> None:
    """Ingest data/sample when the database holds no document, and try the first questions of the chat."""
    from app.settings import SAMPLE
    from pipelines.ingestion.run import build_ingestion

    ingestion = build_ingestion(settings)
    if ingestion.store.count():
        return
    say("Ingesting the sample portfolio ...")
    plan = ingestion.plan([str(SAMPLE)])
    emit_run(ingestion, plan, False, lambda advance: ingestion.run(plan, on_progress=advance))


# A watch


@dataclass(frozen=True, slots=True)
class RoundResult:
    """One round of a watch."""

    found: "Round"

    @property
    def at(self) -> str:
        """When the round ended, to the second."""
        return self.found.at.isoformat(timespec="seconds")

    @property
    def report(self) -> dict[str, Any]:
        """The report of its run without the unchanged items; empty if there was none."""
        report = self.found.report
        items = [item for item in report.items if item.outcome != "unchanged"] if report else []
        return {**serialise(report), "items": items} if report else {}


def _watch(settings: "Settings", sources: Sequence[str], overrides: "Overrides", options: IngestOptions) -> None:
    """Keep the database in step with sources until a signal ends it; with `--json`, print one line of JSON per round.

    Raises:
        typer.Exit: With 130 after Ctrl-C, 143 after SIGTERM.
    """
    from pipelines.ingestion.watch import Watch

    locations, stop = list(dict.fromkeys(sources or _every_source(settings))), Event()
    watch = Watch(
        settings,
        locations,
        overrides,
        verify=options.verify,
        allow_removals=options.yes,
        stop=stop,
        say=note,
        running=lambda total: ingest_progress(total, quiet=options.as_json),
    )
    print_watched(watch.every, as_json=options.as_json)
    with stopping(stop) as stopped:
        print_rounds(watch.rounds(), stop, as_json=options.as_json)
    if not options.as_json:
        warn("Stopped watching.", "dim")
    raise typer.Exit(stopped())


def _every_source(settings: "Settings") -> Sequence[str]:
    from pipelines.ingestion.run import build_ingestion

    ingestion = build_ingestion(settings)
    return ingestion.every_source(ingestion.known())


def print_watched(every: Mapping[str, float], *, as_json: bool) -> None:
    """Print the watched sources with their intervals: on stderr, or as the first line of JSON."""
    from pipelines.ingestion.sources import kind_of

    watched = [
        {"source": location, "every_seconds": seconds, "on_change": kind_of(location) == "file"}
        for location, seconds in every.items()
    ]
    if as_json:
        print_json({"at": datetime.now(UTC).isoformat(timespec="seconds"), "watching": watched}, indent=None)
        return
    warn("Watching until Ctrl-C or SIGTERM:", "dim")
    for each in watched:
        on_change = "whenever it changes, and " if each["on_change"] else ""
        warn(f"          {each['source']}  {on_change}every {format_duration(every[str(each['source'])])}", "dim")


def print_rounds(rounds: "Iterable[Round]", stop: Event, *, as_json: bool) -> None:
    """Print rounds with news; print that a round found nothing each time on a terminal, else once per source."""
    quiet, always = set[tuple[str, ...]](), output.stderr.is_terminal and not as_json
    for found in rounds:
        is_first = always or found.locations not in quiet
        if found.is_news or (is_first and not (found.again or stop.is_set())):
            if not found.is_news:
                quiet.add(found.locations)
            print_json(RoundResult(found), indent=None) if as_json else render(RoundResult(found))
        if found.again:  # so that its recovery is printed too
            quiet.discard(found.locations)


@render.register(RoundResult)
def _render_round(result: RoundResult) -> None:
    """Print the changes of a round on one line, with failures and refusals below."""
    found = result.found
    if not found.is_news:
        note(f"no change in {', '.join(found.locations)}")
        return
    at, where = f"{found.at.astimezone():%H:%M:%S}", ", ".join(found.locations)
    if found.report:
        counts = ((name, found.report.count(name)) for name in _CHANGES)  # type: ignore[arg-type]
        changes = ", ".join(f"{count} {name}" for name, count in counts if count)
        embedded = f"{found.report.embedded:,} embedded, " if found.report.embedded else ""
        stopped = ", stopped" if found.report.stopped else ""
        say(f"{at}  {where}: {changes or 'nothing done'}{stopped} ({embedded}run {found.report.run_id})")
    for item in found.failed:
        say(f"          {labelled_message(item.document, item.message, item.hint)}", "red")
    _warn_refused(found)
    if found.error:
        warn(f"{at}  {with_hint(found.error.message, found.error.hint)}", "red")
    if found.again:
        warn(f"{at}  Trying {where} again in {format_duration(found.again)}.", "dim")
