"""What the `eval` commands do: measure, and print tables."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import output
from app.settings import SAMPLE
from config.settings import Settings

if TYPE_CHECKING:
    from pipelines.evaluation.parsing import Parsed

_WORST = 10


def run_escalation(settings: Settings, replies: Path | None, topics: Path | None, *, as_json: bool) -> None:
    """Replay a language model's replies over the sample, in a database of its own; print what was kept and gained."""
    from pipelines.evaluation.portfolio import portfolio_engine
    from pipelines.evaluation.replay import evaluate_replies

    folder = SAMPLE.parent / "eval"
    with output.progress(quiet=as_json) as advance:
        engine = portfolio_engine(settings, SAMPLE, on_progress=advance)
        report = evaluate_replies(
            engine, topics or folder / "topics.jsonl", replies or folder / "rewrites.jsonl", on_progress=advance
        )
    if as_json:
        output.print_json(report)
        return
    moved = ["success@5", "RR@5", "strength", "sufficient"]
    columns = ["kind", "kept", "if weak", "rejected", *moved[:3], "enough", "ms"]
    rows = [
        [
            kind,
            f"{row['good_kept']}/{row['good']}",
            f"{row['needed_kept']}/{row['needed']}",
            f"{row['bad_rejected']}/{row['bad']}",
            *(f"{_short(row[f'{name}_before'])}→{_short(row[f'{name}_after'])}" for name in moved),
            f"{row['added_ms']:.0f}",
        ]
        for kind, row in report["kinds"].items()
    ]
    title = (
        f"{report['replies']} replies: the good kept, those to weak evidence, the bad rejected, before→after, added ms"
    )
    output.table(title, columns, rows)
    for row in report["wrong"]:
        what = "good, not kept" if row["good"] else "bad, kept"
        output.say(f"{row['topic']} {row['kind']} ({what}): {row['why']}", "dim")


def _short(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")


def run_filters(settings: Settings, *, nodes: int, filters: int, as_json: bool) -> None:
    """Compare filtered searches with exact scans, and print how far they agree."""
    from pipelines.evaluation.filtered import measure_filters

    with output.progress(quiet=as_json) as advance:
        report = measure_filters(settings, nodes, filters, on_progress=partial(advance, "writing nodes"))
    if as_json:
        output.print_json(report)
        return
    output.say(
        f"{report['filters']} filters over {report['nodes']:,} nodes: the first ten agree with an exact scan at "
        f"{report['agreement']:.4f} (least {report['least']:.2f}, all ten alike {report['exact']:.1%})",
        "bold",
    )
    output.say(
        f"{report['through_index']} went through the index, the others were compared one by one; "
        f"median {report['median_ms']:.1f} ms ({report['median_passing']:,} nodes passing)"
    )


def run_answerability(settings: Settings, paths: Sequence[Path], *, fit: bool, as_json: bool) -> None:
    """Ask labelled questions, and print how well the evidence tells those with an answer from the others."""
    from pipelines.evaluation.answerability import load_collection, measure
    from pipelines.evaluation.calibrate import judge, refit
    from pipelines.models.identity import identity
    from pipelines.query.searching.calibration import calibration

    model = identity(settings).model
    parameters = calibration(model, dense=settings.retrieval.mode != "sparse")
    measured = {}
    with output.progress(quiet=as_json) as advance:
        for collection in [load_collection(path) for path in paths]:
            measured[collection.dataset.name] = measure(settings, collection, advance)
    report: dict[str, Any] = {
        "model": model,
        "sets": {name: judge(rows, parameters) for name, rows in measured.items()},
    }
    if fit:
        report["fit"] = refit(measured, parameters)
    if as_json:
        output.print_json(report)
        return
    for name, judged in report["sets"].items():
        _print_answerability(name, judged)
    if fit:
        output.say(f"fitted: {report['fit']['parameters']}", "bold")
        for name, by_label in report["fit"]["by_the_other_sets"].items():
            output.say(f"fitted on the others, {name}: " + _listed(by_label))


def _print_answerability(name: str, judged: Mapping[str, Any]) -> None:
    rows = [
        [label, str(count), *(_number(judged[column], label) for column in ("auroc", "held_out", "answered", "high"))]
        for label, count in judged["questions"].items()
    ]
    output.table(name, ["label", "questions", "AUROC", "AUROC cross-validated", "answered", "called high"], rows)
    output.say("left unanswered where 90 % of the answerable are answered: " + _listed(judged["abstained"]))
    for row in judged["reliability"]:
        output.say(
            f"strength {row['from']:.1f} to {row['to']:.1f}: {row['count']:>5} questions, predicted "
            f"{row['predicted']:.2f}, observed {row['observed']:.2f}",
            "dim",
        )


def _number(values: Mapping[str, float], label: str) -> str:
    return f"{values[label]:.3f}" if label in values else ""


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())


def run_parsing(folder: Path, *, limit: int | None, verbose: bool, as_json: bool) -> None:
    """Parse documents and print how much of their truth is found, each job once, and in which order they are read."""
    from pipelines.evaluation.fields import BESIDE, CORE
    from pipelines.evaluation.parsing import grouped, parse_folder, parsing_json, scores

    with output.progress(quiet=as_json) as advance:
        done = parse_folder(folder, limit=limit, on_progress=advance)
    if as_json:
        output.print_json(parsing_json(done))
        return
    judged = [each for each in done if each.truth]
    groups = {"all": judged, **grouped(done, lambda each: each.expected), **grouped(done, lambda each: each.theme)}
    for title, shown in ((f"F1 over {len(judged)} documents with truth", ("all", *CORE)), ("F1 beside that", BESIDE)):
        rows = [[name, str(len(held)), *(_share(scores(held)[column]) for column in shown)]
                for name, held in groups.items() if held]  # fmt: skip
        output.table(title, ["kind or layout", "files", *shown], rows)
    columns = ["document", "read as", "F1", "jobs found", "stated", "twice", "order", "s"]
    output.table("", columns, [_parsed_row(each) for each in done])
    for each in done:
        if each.error:
            output.say(f"{each.name}: {each.error}", "red")
        for what, values in (("missed", each.comparison.missed), ("wrong", each.comparison.wrong)) if verbose else ():
            for name, value in values:
                output.say(f"{each.name}: {what} {name}: {value}", "dim")
    orders = [each.order for each in done if each.order is not None]
    if orders:
        output.say(
            f"reading order over {len(orders)} twins: mean {sum(orders) / len(orders):.4f}, worst {min(orders):.4f}"
        )
    misread = sum(each.category != each.expected for each in judged)
    output.say(
        f"{sum(each.twice for each in done)} jobs found twice, {misread} documents taken for another kind", "bold"
    )


def _parsed_row(each: "Parsed") -> list[str]:
    from pipelines.evaluation.parsing import scores

    stated = "" if each.stated_jobs is None else str(each.stated_jobs)
    f1 = _share(scores([each])["all"]) if each.truth else ""
    counts = [str(each.jobs), stated, str(each.twice or "")]
    return [each.name, each.category or "failed", f1, *counts, _share(each.order), f"{each.seconds:.1f}"]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def run_structure(folder: Path, *, limit: int | None, as_json: bool) -> None:
    """Parse documents and print how many headings and table cells are in their nodes and sections, and the others."""
    from pipelines.evaluation.structure import by_format, structure_json, structure_of, totals

    with output.progress(quiet=as_json) as advance:
        done = structure_of(folder, limit=limit, on_progress=advance)
    if as_json:
        output.print_json(structure_json(done))
        return
    names = list(totals([]))
    rows = [[name, str(len(held)), *map(str, totals(held).values())]
            for name, held in {**by_format(done), "all": done}.items()]  # fmt: skip
    columns = ["format", "files", *(name.replace("_", " ") for name in names)]
    output.table("headings and table cells in the nodes, and under the right section path", columns, rows)
    for each in done:
        if each.error:
            output.say(f"{each.name}: {each.error}", "red")
        for found in each.exceptions:
            what = "heading" if found.stated.level else "cell"
            output.say(f"{each.name}: {what} {output.clip(found.stated.text, 60)!r} {found.reason}", "dim")


def run_articles(folder: Path, *, limit: int | None, verbose: bool, as_json: bool) -> None:
    """Read web pages, and print how like what is read is to their articles, and the pages where it is least so."""
    from pipelines.evaluation.articles import articles_json, measure_articles

    with output.progress(quiet=as_json) as advance:
        report = articles_json(measure_articles(folder, limit=limit, on_progress=advance))
    if as_json:
        output.print_json(report)
        return
    names = ["f1", "mean_f1", "precision", "recall", "accuracy"]
    rows = [[system, *(_share(means[name]) for name in names)] for system, means in report["systems"].items()]
    output.table(f"{report['pages']} pages", ["system", "F1", "mean F1", *names[2:]], rows)
    shown = report["worst"] if verbose else report["worst"][:_WORST]
    columns = ["page", "F1", "precision", "recall", "why"]
    rows = [[each["page"][:12], *(_share(each[name]) for name in ("f1", *names[2:4])), each["error"]] for each in shown]
    output.table("the worst first", columns, rows)
