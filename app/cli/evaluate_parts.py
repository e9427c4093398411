"""`footnote eval parsing`, `grounding` and `answerability`: documents, verdicts and evidence."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli import output
from app.cli.evaluate import Limit
from app.cli.options import Json, argument, option, settings_now
from app.cli.output import emit, render, say

verbs = typer.Typer()


@dataclass(frozen=True, slots=True)
class ParsingScores:
    """The report on parsed documents; `verbose` shows every value missed or wrong."""

    report: Mapping[str, Any]
    verbose: bool


@verbs.command("parsing")
def eval_parsing(
    folder: Annotated[
        Path, argument("PDF and DOCX files, each with its truth in a JSON or YAML file of the same name.")
    ],
    limit: Limit = None,
    verbose: Annotated[bool, option("Show every missed or wrong value.", "--verbose", "-v")] = False,
    as_json: Json = False,
) -> None:
    """Measure how completely facts of resumes and profiles are parsed: companies, positions, dates, schools, skills.

    A TXT or DOCX file beside a PDF is its reading order. Example: footnote eval parsing var/corpus/dev --verbose
    """
    from pipelines.evaluation.parsing import parse_folder, parsing_json

    with output.progress(quiet=as_json) as advance:
        files = parse_folder(folder, limit=limit, on_progress=advance)
    emit(ParsingScores(parsing_json(files), verbose), as_json)


@render.register(ParsingScores)
def _render_parsing(result: ParsingScores) -> None:
    from pipelines.evaluation.parsing import BESIDE, CORE

    report, files = result.report, result.report["files"]
    judged = [each for each in files if each.truth]
    groups = {f"all {len(judged)} with truth": report["f1"], **report["categories"], **report["themes"]}
    for shown in (("all", *CORE), BESIDE):
        rows = [[name, *(_share(f1[column]) for column in shown)] for name, f1 in groups.items()]
        output.table("F1", ["kind or layout", *shown], rows)
    rows = [
        [each.name, each.category or "failed", _share(each.f1["all"]) if each.f1 else "", each.jobs, each.stated_jobs,
         each.twice or "", _share(each.order), f"{each.seconds:.1f}"]
        for each in files
    ]  # fmt: skip
    output.table("", ["document", "read as", "F1", "jobs found", "stated", "twice", "order", "s"], rows)
    for each in files:
        if each.error:
            say(f"{each.name}: {each.error}", "red")
        values = [("missed", *pair) for pair in each.comparison.missed]
        values += [("wrong", *pair) for pair in each.comparison.wrong]
        for what, name, value in values if result.verbose else ():
            say(f"{each.name}: {what} {name}: {value}", "dim")
    if order := report["order"]:
        say(f"reading order over {order['twins']} twins: mean {order['mean']:.4f}, worst {order['worst']:.4f}")
    misread = sum(each.category != each.expected for each in judged)
    say(f"{report['twice']} jobs found twice, {misread} documents taken for another kind", "bold")


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


class GroundingScores(dict[str, Any]):
    """The scores of the verifier on labelled claims."""


@verbs.command("grounding")
def eval_grounding(
    claims: Annotated[Path, argument("A JSON Lines file: claim, label, evidence, supporting_sentences.")],
    limit: Limit = None,
    words: Annotated[bool, option("Use words only, without the embedding model.", "--words")] = False,
    as_json: Json = False,
) -> None:
    """Measure how well verification separates supported claims from others, and whether it shows the right place.

    Example: footnote eval grounding FILE
    """
    from pipelines.evaluation.datasets import load_claims
    from pipelines.evaluation.grounding import summary, verify_claims
    from pipelines.models.embedding import build_embed_model
    from pipelines.models.identity import identity
    from pipelines.query.verify import WORDS_ONLY, build_judge, cached_embedding

    settings, read = settings_now(), load_claims(claims)[:limit]
    model = identity(settings).model
    judge = WORDS_ONLY if words else build_judge(model, cached_embedding(build_embed_model(settings)))
    with output.progress(quiet=as_json) as advance:
        rows = verify_claims(read, judge, advance)
    dataset = f"{claims.resolve().parent.name} {claims.stem}"
    emit(GroundingScores(dataset=dataset, model=model if judge.embed else "", **summary(rows)), as_json)


@render.register(GroundingScores)
def _render_grounding(report: GroundingScores) -> None:
    verdicts = sorted({verdict for counts in report["verdicts"].values() for verdict in counts})
    counts = [
        [label, str(report["claims"][label]), *(str(given.get(verdict, 0)) for verdict in verdicts)]
        for label, given in report["verdicts"].items()
    ]
    output.table(f"{sum(report['claims'].values())} claims, and the verdicts on them", ["label", "", *verdicts], counts)
    say(f"AUROC ({report['model'] or 'by words alone'}): {_listed(report['auroc']['committed'])}")
    for verdict, found in report["bounds"].items():
        say(f"verdict {verdict if verdict == 'supported' else 'partial or better'}: {_listed(found)}", "bold")
    say(f"what is shown overlaps a gold sentence, by verdict: {_listed(report['overlap'])}")


class AnswerabilityScores(dict[str, Any]):
    """The scores of the evidence on labelled questions, by set."""


@verbs.command("answerability")
def eval_answerability(
    paths: Annotated[
        list[Path], argument("Files of labelled conversations, or folders in BEIR's form.", metavar="FOLDER_OR_FILE...")
    ],
    as_json: Json = False,
) -> None:
    """Measure how well the evidence separates answerable from unanswerable questions.

    Example: footnote eval answerability FILE
    """
    settings = settings_now()
    from pipelines.evaluation.answerability import judge_strengths, load_collection, measure_evidence
    from pipelines.models.identity import identity
    from pipelines.query.evidence import calibration

    model = identity(settings).model
    parameters = calibration(model, dense=settings.retrieval.mode != "sparse")
    with output.progress(quiet=as_json) as advance:
        measured = {
            collection.dataset.name: measure_evidence(settings, collection, advance)
            for collection in [load_collection(path) for path in paths]
        }
    sets = {name: judge_strengths(rows, parameters) for name, rows in measured.items()}
    emit(AnswerabilityScores(model=model, sets=sets), as_json)


@render.register(AnswerabilityScores)
def _render_answerability(report: AnswerabilityScores) -> None:
    for name, judged in report["sets"].items():
        rows = [
            [label, str(count), *(_share(judged[column].get(label)) for column in ("auroc", "answered", "high"))]
            for label, count in judged["questions"].items()
        ]
        output.table(name, ["label", "questions", "AUROC", "answered", "called high"], rows)
        abstained = judged["abstained"]["committed"]
        say(f"left unanswered where 90 % of the answerable are answered: {abstained:.3f}")
        for row in judged["reliability"]:
            say(
                f"strength {row['from']:.1f} to {row['to']:.1f}: {row['count']:>5} questions, predicted "
                f"{row['predicted']:.2f}, observed {row['observed']:.2f}",
                "dim",
            )


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())
