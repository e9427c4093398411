"""What the commands do: call pipelines, print, and choose the exit code."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from app import output
from config.settings import Settings
from pipelines.errors import RetrievalError, ServiceUnavailable
from pipelines.store.originals import named_place
from pipelines.types import Answer, Filters, Footnote, Token
from pipelines.wording import counted

if TYPE_CHECKING:
    from pipelines.ingestion.run import Ingestion
    from pipelines.store.documents import Known
    from pipelines.store.failures import Standing


def run_ask(settings: Settings, question: str, filters: Filters, *, stream: bool, pack: str, as_json: bool) -> None:
    """Answer and print; on a terminal the words appear as they are written. A pack of it is kept where one is named."""
    from app.pack import files_of
    from app.replay import keep_answer
    from pipelines.query.engine import build_query_engine
    from pipelines.query.writing.answer_json import answer_json

    paths = files_of(pack) if pack else ()
    engine = build_query_engine(settings)
    if as_json and engine.llm is not None and settings.answer.output == "auto":
        engine = engine.with_changes({"answer.output": "json"})
    # What is kept in a file or handed to a program is checked first, and what may be changed is not printed before.
    stream = stream and output.console.is_terminal and settings.answer.unsupported == "mark"
    answer: Answer | None = None
    for event in engine.answer(question, filters=filters):
        if isinstance(event, Answer):
            answer = event
        elif stream and not as_json and isinstance(event, Token):
            output.console.out(event.text, end="", highlight=False)
        elif stream and not as_json and isinstance(event, Footnote):
            output.console.out(f" [{event.n}]", end="", highlight=False)
    assert answer is not None
    shown = answer_json(answer)
    if as_json:
        output.print_json(shown)
    else:
        output.say("" if stream else output.marked(shown))
        if stream:
            output.print_verdicts(shown)
        output.print_sources(shown)
        output.print_follow_ups(shown)
    if paths:
        keep_answer(engine, question, filters, answer, paths)


def run_chat(settings: Settings, *, port: int | None, sample: bool, headless: bool) -> None:
    """Serve the chat until Ctrl-C; first the sample goes in when it was asked for and nothing is there."""
    from app.ingesting import ensure_sample
    from app.launch import launch
    from pipelines.store.database import open_database

    with suppress(ServiceUnavailable):  # which the pages say, and go on once it is there
        open_database(settings).engine.dispose()
    if sample:
        ensure_sample(settings)
    code = launch(settings.chat.host, settings.chat.port if port is None else port, headless=headless,
                  max_upload_mb=settings.chat.max_upload_mb)  # fmt: skip
    raise typer.Exit(code)


def run_remove(settings: Settings, named: Sequence[str], source: str, *, yes: bool, as_json: bool) -> None:
    """Remove documents by name or by source, after asking; where nobody can be asked, only with --yes.

    What failed, and of which nothing is stored, is forgotten.
    """
    from app.planning import say_sources_stay
    from pipelines.ingestion.run import build_ingestion
    from pipelines.ingestion.sources import spelled
    from pipelines.store.fetched import forget_listing
    from pipelines.store.status import nothing_from

    ingestion = build_ingestion(settings)
    everything = {document.id: document for document in ingestion.known()}
    place = spelled(source, settings.web.private_hosts) if source else ""
    chosen, failed = _unwanted(ingestion, named, place, everything)
    if not (chosen or failed):
        if source:
            raise nothing_from(source, [document.source for document in everything.values()])
        raise RetrievalError("No document was named.", hint="Name one, or use --source; `footnote status` lists them.")
    if not yes:
        for document_id in chosen:
            output.warn(f"   remove  {everything[document_id].name}")
        for failure in failed:
            output.warn(f"   forget  {failure.document} ({named_place(failure.source)})")
        output.agree("Remove these?", _said(len(chosen), len(failed)), as_json=as_json)
    report = ingestion.remove(chosen, failed)
    if source:
        forget_listing(settings.home, place)
    gone = [item for item in report.items if item.outcome == "removed"]
    forgotten = [failure.document for failure in failed]
    if as_json:
        removed = [{"id": item.document_id, "document": item.document} for item in gone]
        output.print_json({"run_id": report.run_id, "removed": removed, "forgotten": forgotten})
        return
    for name in forgotten:
        output.say(f"{name}, which failed, is forgotten")
    if gone:
        output.say(f"{len(gone):,} removed; `footnote rollback {report.run_id}` brings them back", "bold")
        say_sources_stay(everything[item.document_id].source for item in gone)


def _said(stored: int, failed: int) -> str:
    if not stored:
        return f"{counted(failed, 'failure')} would be forgotten."
    also = f" and {counted(failed, 'failure')} forgotten" if failed else ""
    return f"{counted(stored, 'document')} would be removed{also}."


def _unwanted(
    ingestion: "Ingestion", named: Sequence[str], source: str, everything: "Mapping[str, Known]"
) -> tuple[list[str], list["Standing"]]:
    """(the ids of the documents of these names and of that source, what failed of it and is not stored).

    A whole name is that of a stored document before it is that of a failure, and a failure's before it is a guess.
    """
    from pipelines.store.database import reading
    from pipelines.store.documents import find
    from pipelines.store.failures import failures_from, failures_named, unstored_failures
    from pipelines.store.status import from_source

    whole = {name for known in everything.values() for name in (known.id, known.source_uri, known.name)}
    chosen, failed = list[str](), list["Standing"]()
    with reading(ingestion.database.engine, "looking documents up") as connection:
        failures = unstored_failures(connection)
        for name in named:
            missed = [] if name in whole else failures_named(failures, name)
            failed += missed
            chosen += [] if missed else [_one(find(connection, name), name, everything)]
        if source:
            chosen += from_source(connection, source)
            failed += failures_from(failures, source)
    return list(dict.fromkeys(chosen)), list(dict.fromkeys(failed))


def _one(found: list[str], name: str, everything: "Mapping[str, Known]") -> str:
    if not found:
        raise RetrievalError(f"No document is called {name!r}.", hint="`footnote status` lists them.")
    if len(found) > 1:
        names = ", ".join(everything[document_id].name for document_id in found[:5] if document_id in everything)
        raise RetrievalError(f"{name!r} could be {len(found)} documents: {names}.", hint="Give the whole name.")
    return found[0]


def run_doctor(settings: Settings, *, fix: bool, as_json: bool) -> None:
    """Print each check; exit 3 when one found a problem."""
    from app.models import model_finding
    from pipelines.models.weights import examine_weights
    from pipelines.store.doctor import Finding, examine

    model, agrees = model_finding(settings)
    findings = [agrees, *(examine(settings, model, fix=fix) if model else ())]
    if model and model.provider == "local":
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

    with output.progress(quiet=as_json) as advance:
        report = audit(open_database(settings).engine, advance)
    if as_json:
        output.print_json(report)
    else:
        for violation in report["violations"]:
            output.say(f"{violation['kind']}: {violation['document']}: {violation['said']}", "red")
        if {violation["kind"] for violation in report["violations"]} - {"citation", "snippet"}:
            output.say("mend: footnote doctor --fix; if a document is wrong still, remove it and ingest it again")
        output.say(
            f"{report['nodes']} nodes and {report['facts']} facts of {report['documents']} documents, "
            f"{report['citations']} citations and {report['snippets']} snippets of answers checked, "
            f"{len(report['violations'])} wrong, {report['unverifiable']} of a version that is no longer kept",
            "bold",
        )
    if report["violations"]:
        raise typer.Exit(1)
