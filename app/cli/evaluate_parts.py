"""`footnote eval parsing`, `grounding` and `answerability`: documents, verdicts and evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli import output
from app.cli.evaluate import Limit
from app.cli.options import Json, argument, option, settings_now
from app.cli.output import emit, render, say

if TYPE_CHECKING:
    from pipelines.evaluation.parsing import ParsedFile

verbs = typer.Typer()


@dataclass(frozen=True, slots=True)
class ParsingScores:
    """Parsed documents with what of their truth is found; `verbose` shows every value missed or wrong."""

    files: "Sequence[ParsedFile]"
    verbose: bool

    @property
    def report(self) -> dict[str, Any]:
        """The scores over all documents, by category and by layout, and each document with its missed values."""
        from pipelines.evaluation.parsing import parsing_json

        return parsing_json(self.files)


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
    from pipelines.evaluation.parsing import parse_folder

    with output.progress(quiet=as_json) as advance:
        emit(ParsingScores(parse_folder(folder, limit=limit, on_progress=advance), verbose), as_json)


@render.register(ParsingScores)
def _render_parsing(result: ParsingScores) -> None:
    from pipelines.evaluation.parsing import BESIDE, CORE, field_scores, group_files

    done = result.files
    judged = [each for each in done if each.truth]
    groups = {
        "all": judged,
        **group_files(done, lambda each: each.expected),
        **group_files(done, lambda each: each.theme),
    }
    for title, shown in ((f"F1 over {len(judged)} documents with truth", ("all", *CORE)), ("F1 beside that", BESIDE)):
        rows = [[name, str(len(files)), *(_share(field_scores(files)[column]) for column in shown)]
                for name, files in groups.items() if files]  # fmt: skip
        output.table(title, ["kind or layout", "files", *shown], rows)
    columns = ["document", "read as", "F1", "jobs found", "stated", "twice", "order", "s"]
    output.table("", columns, [_parsed_row(each) for each in done])
    for each in done:
        if each.error:
            say(f"{each.name}: {each.error}", "red")
        for what, values in (
            (("missed", each.comparison.missed), ("wrong", each.comparison.wrong)) if result.verbose else ()
        ):
            for name, value in values:
                say(f"{each.name}: {what} {name}: {value}", "dim")
    orders = [each.order for each in done if each.order is not None]
    if orders:
        say(f"reading order over {len(orders)} twins: mean {sum(orders) / len(orders):.4f}, worst {min(orders):.4f}")
    misread = sum(each.category != each.expected for each in judged)
    say(f"{sum(each.twice for each in done)} jobs found twice, {misread} documents taken for another kind", "bold")


def _parsed_row(each: "ParsedFile") -> list[str]:
    from pipelines.evaluation.parsing import field_scores

    stated = "" if each.stated_jobs is None else str(each.stated_jobs)
    f1 = _share(field_scores([each])["all"]) if each.truth else ""
    counts = [str(each.jobs), stated, str(each.twice or "")]
    return [each.name, each.category or "failed", f1, *counts, _share(each.order), f"{each.seconds:.1f}"]


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
