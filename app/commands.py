"""What the commands do: call pipelines, print, and choose the exit code."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import typer

from app import output
from app.cli import EXIT_FAILED_DOCUMENTS
from app.settings import SAMPLE
from config.settings import Settings
from pipelines.errors import RetrievalError
from pipelines.types import Answer, Filters, Footnote, IngestItem, IngestReport, Outcome, Token


def run_ingest(
    settings: Settings,
    sources: Sequence[str],
    *,
    plan_only: bool,
    collection: str,
    category: str,
    visibility: str,
    parser: str,
    verify: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Plan, run with a progress bar, print what became of each document; exit 4 when one failed."""
    from pipelines.ingestion.parsers import build_parser
    from pipelines.ingestion.run import Overrides, build_ingestion

    if parser:
        build_parser(parser)  # or say which there are, before anything is done
    overrides = Overrides(collection, category, visibility, parser)
    ingestion = build_ingestion(settings)
    plan = ingestion.plan(sources or _own_sources(settings), overrides=overrides, verify=verify, allow_removals=yes)
    if plan_only:
        from pipelines.ingestion.preview import header_cost

        _show_plan(plan, header_cost(ingestion, plan, overrides), as_json=as_json)
        return
    with IngestProgress(len(plan.steps), quiet=as_json) as advance:
        report = ingestion.run(plan, overrides=overrides, on_progress=advance)
    shown = ingest_json(report) | {
        "skipped": list(plan.skipped),
        "refused_removals": _refused(plan),
    }
    if as_json:
        output.print_json(shown)
    else:
        output.print_ingest(shown)
        _say_refused(plan)
    if report.count("failed"):
        raise typer.Exit(EXIT_FAILED_DOCUMENTS)


def _own_sources(settings: Settings) -> Sequence[str]:
    """The sources of the settings; the sample that they name by default is found from any folder."""
    default = type(settings.ingestion)().sources
    return [str(SAMPLE)] if settings.ingestion.sources == default else settings.ingestion.sources


def ingest_json(report: IngestReport) -> dict[str, Any]:
    """A run as DESIGN.md's JSON."""
    return {
        "run_id": report.run_id,
        **{outcome: report.count(outcome) for outcome in get_args(Outcome)},
        "nodes": report.nodes,
        "embedded": report.embedded,
        "seconds": report.seconds,
        "items": [
            {
                "document": item.document,
                "outcome": item.outcome,
                "stage": item.stage,
                "error": item.message,
                "error_class": item.error,
                "hint": item.hint,
                "nodes": item.nodes,
                "embedded": item.embedded,
            }
            for item in report.items
        ],
    }


def _show_plan(plan: Any, cost: Any, *, as_json: bool) -> None:
    wanted = [step for step in plan.steps if step.action != "unchanged"]
    counts = {action: plan.count(action) for action in ("add", "update", "remove", "unchanged", "fail")}
    if as_json:
        steps = [{"action": s.action, "document": s.item.name, "reason": s.reason} for s in wanted]
        output.print_json(
            {
                "counts": counts,
                "steps": steps,
                "skipped": list(plan.skipped),
                "refused_removals": _refused(plan),
                "header_calls": cost.calls,
                "header_tokens": cost.tokens,
            }
        )
        return
    for step in wanted:
        reason = step.error.message if step.error else step.reason
        output.say(f"{step.action:>9}  {step.item.name}  ({reason})")
    output.say(
        ", ".join(f"{count} to {action}" for action, count in counts.items() if count) or "nothing to do", "bold"
    )
    if cost.calls:
        output.say(f"a language model would be asked for {cost.calls} headers, reading {cost.tokens:,} tokens")
    _say_refused(plan)


def _refused(plan: Any) -> list[dict[str, Any]]:
    return [{"source": source, "documents": absent, "of": held} for source, absent, held in plan.refused]


def _say_refused(plan: Any) -> None:
    for source, absent, held in plan.refused:
        output.warn(
            f"{absent} of {held} documents are no longer in {source}; that is more than a fifth, so they stay. "
            "Run again with --yes to remove them."
        )


class IngestProgress:
    """A progress bar on a terminal, nothing elsewhere; entering gives the callback."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        self._bar = output.progress_bar(quiet=quiet)
        self._task = self._bar.add_task("ingesting", total=total)

    def __enter__(self) -> Any:
        self._bar.start()
        return self._advance

    def _advance(self, done: int, total: int, item: IngestItem) -> None:
        self._bar.update(self._task, completed=done, description=item.document[-40:])

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def show_status(settings: Settings, *, as_json: bool) -> None:
    """Every document with its coverage, and every standing failure; exit 4 when there is one."""
    from pipelines.store.database import open_database
    from pipelines.store.status import coverage

    report = coverage(open_database(settings), settings)
    if as_json:
        output.print_json(report)
    else:
        rows = [
            [d["document"], d["category"], d["state"], d["nodes"], f"{d['coverage']:.1%}", d["reason"]]
            for d in report["documents"]
        ]
        output.table("", ["document", "category", "state", "nodes", "coverage", "reason"], rows)
        totals = report["totals"]
        output.say(
            f"{totals['indexed']} of {totals['documents']} documents indexed, {totals['nodes']} nodes, "
            f"{totals['failed']} failed",
            "bold",
        )
    if report["totals"]["failed"]:
        raise typer.Exit(EXIT_FAILED_DOCUMENTS)


def run_ask(settings: Settings, question: str, filters: Filters, *, stream: bool, as_json: bool) -> None:
    """Answer and print; on a terminal the words appear as they are written."""
    from pipelines.query.engine import build_query_engine
    from pipelines.store.runs import jsonable

    answer: Answer | None = None
    for event in build_query_engine(settings).answer(question, filters=filters):
        if isinstance(event, Answer):
            answer = event
        elif stream and not as_json and isinstance(event, Token):
            output.console.out(event.text, end="", highlight=False)
        elif stream and not as_json and isinstance(event, Footnote):
            output.console.out(f" [{event.n}]", end="", highlight=False)
    shown = jsonable(answer)
    if as_json:
        output.print_json(shown)
        return
    output.say("" if stream else shown["answer"])
    output.print_sources(shown)


def run_chat(settings: Settings, *, port: int | None, sample: bool, headless: bool) -> None:
    """Serve the chat until Ctrl-C; first the sample goes in when it was asked for and nothing is there."""
    from app.launch import launch

    if sample:
        ensure_sample(settings)
    code = launch(settings.chat.host, settings.chat.port if port is None else port, headless=headless,
                  max_upload_mb=settings.chat.max_upload_mb)  # fmt: skip
    raise typer.Exit(code)


def ensure_sample(settings: Settings) -> None:
    """Ingest data/sample when the database holds no document."""
    from pipelines.ingestion.run import build_ingestion

    ingestion = build_ingestion(settings)
    if ingestion.store.count():
        return
    output.say("Ingesting the sample portfolio ...")
    plan = ingestion.plan([str(SAMPLE)])
    with IngestProgress(len(plan.steps), quiet=False) as advance:
        output.print_ingest(ingest_json(ingestion.run(plan, on_progress=advance)))


def run_remove(settings: Settings, named: Sequence[str], source: str, *, yes: bool, as_json: bool) -> None:
    """Remove documents by name or by source, after asking; where nobody can be asked, only with --yes."""
    from pipelines.ingestion.run import build_ingestion
    from pipelines.store.database import reading
    from pipelines.store.documents import find
    from pipelines.store.status import from_source

    ingestion = build_ingestion(settings)
    everything = {document.id: document.name for document in ingestion.known()}
    with reading(ingestion.database.engine, "looking documents up") as connection:
        chosen = [_one(find(connection, name), name, everything) for name in named]
        if source:
            chosen += _some(from_source(connection, source), source)
    chosen = list(dict.fromkeys(chosen))
    if not chosen:
        raise RetrievalError("No document was named.", hint="Name one, or use --source; `footnote status` lists them.")
    if not yes:
        for document_id in chosen:
            output.warn(f"   remove  {everything[document_id]}")
        if as_json or not sys.stdin.isatty():
            raise RetrievalError(f"{len(chosen)} documents would be removed.", hint="Say --yes to do it.")
        typer.confirm("Remove these?", abort=True)
    ingestion.remove(chosen)
    if as_json:
        output.print_json({"removed": [{"id": i, "document": everything[i]} for i in chosen]})
    else:
        output.say(f"{len(chosen)} removed", "bold")


def _one(found: list[str], name: str, everything: Mapping[str, str]) -> str:
    if len(_some(found, name)) > 1:
        names = ", ".join(everything.get(document_id, document_id) for document_id in found[:5])
        raise RetrievalError(f"{name!r} could be {len(found)} documents: {names}.", hint="Give the whole name.")
    return found[0]


def _some(found: list[str], name: str) -> list[str]:
    if not found:
        raise RetrievalError(f"No document is called {name!r}.", hint="`footnote status` lists them.")
    return found


def run_doctor(settings: Settings, *, fix: bool, as_json: bool) -> None:
    """Print each check; exit 3 when one found a problem."""
    from pipelines.models.identity import identity
    from pipelines.models.weights import examine_weights
    from pipelines.store.doctor import Finding, examine

    model = identity(settings)
    findings = examine(settings, model, fix=fix)
    if model.provider == "local":
        found, said = examine_weights(settings.embedding.model_path)
        findings.append(Finding("local model", found, said, "footnote models fetch"))
    if as_json:
        output.print_json({"healthy": all(f.ok for f in findings), "checks": [f.as_dict() for f in findings]})
    else:
        for finding in findings:
            output.say(f"{'ok' if finding.ok else 'PROBLEM':>8}  {finding.name}: {finding.said}",
                       "" if finding.ok else "red")  # fmt: skip
            if not finding.ok:
                output.say(f"          mend: {finding.mend}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(3)


def run_audit(settings: Settings, *, as_json: bool) -> None:
    """Check every span and citation; exit 1 when one does not hold."""
    from pipelines.store.audit import audit
    from pipelines.store.database import open_database

    report = audit(open_database(settings).engine)
    if as_json:
        output.print_json(report)
    else:
        for violation in report["violations"]:
            output.say(f"{violation['kind']}: {violation['document']}: {violation['said']}", "red")
        output.say(
            f"{report['nodes']} nodes of {report['documents']} documents and {report['citations']} citations checked, "
            f"{len(report['violations'])} wrong, {report['unverifiable']} of a version that is no longer kept",
            "bold",
        )
    if report["violations"]:
        raise typer.Exit(1)
