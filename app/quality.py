"""What `eval portfolio`, `eval chunking` and `eval grounding` do: measure, and print tables."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import output, reports
from app.settings import SAMPLE
from config.settings import Settings

if TYPE_CHECKING:
    from pipelines.evaluation.chunking import Cutting


def run_portfolio(
    settings: Settings,
    topics: Path | None,
    *,
    documents: Path | None,
    ingested: bool,
    systems: Sequence[str],
    overrides: Sequence[str],
    baseline: str,
    per_topic: Path | None,
    as_json: bool,
) -> None:
    """Ask the topics over their own ingested copy of the documents, and print the measures and the misses."""
    from pipelines.evaluation.datasets import load_topics
    from pipelines.evaluation.portfolio import COMPARED, evaluate, portfolio_engine
    from pipelines.evaluation.remember import remembering
    from pipelines.evaluation.systems import chosen, parse_overrides
    from pipelines.query.engine import build_query_engine

    read = load_topics(topics or SAMPLE.parent / "eval" / "topics.jsonl")
    given = parse_overrides(overrides)
    wanted = chosen(systems or ([] if given else ["default"]), given, baseline)
    with output.progress(quiet=as_json) as advance:
        if ingested:
            engine = remembering(build_query_engine(settings), keep=False)
        else:
            folder, name = documents or SAMPLE, "portfolio"
            if documents:
                name += "_" + hashlib.sha256(str(documents.resolve()).encode()).hexdigest()[:12]
            engine = portfolio_engine(settings, folder, name=name, on_progress=advance)
        done = evaluate(engine, read, wanted, baseline=baseline, on_progress=advance)
    if per_topic:
        per_topic.write_text(json.dumps(done.per_topic, indent=1, ensure_ascii=False))
    if as_json:
        shown = {"dataset": "portfolio", **asdict(done)}
        output.print_json(shown | {"per_topic": str(per_topic) if per_topic else None})
        return
    names = list(next(iter(done.systems.values())))
    rows = [[measure, *(f"{means[measure]:.3f}" for means in done.systems.values())] for measure in names]
    output.table(f"portfolio, {done.topics} topics", ["measure", *done.systems], rows)
    for name, found in done.comparisons.items():
        for measure in COMPARED:
            reports.print_difference(name, baseline, measure, found[measure])
    for name, missed in done.misses.items():
        for miss in missed:
            where = f"{name}: " if len(done.misses) > 1 else ""
            output.say(f"{where}missed {miss['id']} ({', '.join(miss['why'])}): {miss['question']}", "dim")


def run_chunking(
    settings: Settings,
    folder: Path,
    *,
    parsers: Sequence[str],
    n: int,
    systems: Sequence[str],
    overrides: Sequence[str],
    baseline: str,
    limit: int | None,
    per_topic: Path | None,
    as_json: bool,
) -> None:
    """Cut a chunk set in every way, find nodes for its questions, and print how their spans overlap the gold spans."""
    from pipelines.evaluation.chunking import MEASURES, measure_chunking
    from pipelines.evaluation.compare import compare
    from pipelines.evaluation.experiment import paired
    from pipelines.evaluation.measures import means
    from pipelines.evaluation.systems import chosen, parse_overrides

    given = parse_overrides(overrides)
    wanted = chosen(systems or ([] if given else ["dense", "default"]), given, baseline)
    with output.progress(quiet=as_json) as advance:
        done = measure_chunking(settings, folder, wanted, parsers=parsers, n=n, limit=limit, on_progress=advance)
    compared = {
        (cutting.name, name): {m: compare(*paired(cutting.scores[baseline], scores, m)) for m in MEASURES}
        for cutting in done
        for name, scores in cutting.scores.items()
        if baseline and name != baseline
    }
    if per_topic:
        per_topic.write_text(json.dumps({cutting.name: cutting.scores for cutting in done}, indent=1))
    topics = len(done[0].omega)
    if as_json:
        output.print_json(
            {
                "dataset": folder.resolve().name,
                "topics": topics,
                "n": n,
                "cut": {cutting.name: _shape(cutting) for cutting in done},
                "systems": {f"{c.name} {name}": means(scores) for c in done for name, scores in c.scores.items()},
                "comparisons": {
                    " ".join(names): {measure: asdict(found) for measure, found in by.items()}
                    for names, by in compared.items()
                },
                "per_topic": str(per_topic) if per_topic else None,
            }
        )
        return
    rows = [
        [name, f"{shape['nodes']:,}", f"{shape['mean_characters']:.0f}", f"{shape['mean_tokens']:.0f}",
         f"{100 * shape['precision_omega']:.1f}", *(_triple(means(scores)) for scores in cutting.scores.values())]
        for cutting in done for name, shape in [(cutting.name, _shape(cutting))]
    ]  # fmt: skip
    title = f"{folder.resolve().name}, {topics} questions, {n} nodes each: {'/'.join(MEASURES)}, in per cent"
    output.table(title, ["cut by", "nodes", "chars", "tokens", "omega", *wanted], rows)
    for (cut, name), found in compared.items():
        for measure in MEASURES:
            reports.print_difference(f"{cut}, {name}", baseline, measure, found[measure])


def _shape(cutting: "Cutting") -> dict[str, float]:
    return {
        "nodes": cutting.nodes,
        "mean_characters": round(cutting.characters, 1),
        "mean_tokens": round(cutting.tokens, 1),
        "precision_omega": sum(cutting.omega.values()) / len(cutting.omega),
    }


def _triple(scores: Mapping[str, float]) -> str:
    return "/".join(f"{100 * value:.1f}" for value in scores.values())


def run_grounding(settings: Settings, path: Path, *, limit: int | None, words: bool, fit: bool, as_json: bool) -> None:
    """Verify labelled claims against the pages that they cite, and print how well that tells them apart."""
    from pipelines.evaluation.datasets import load_claims
    from pipelines.evaluation.grounding import refit, summary, verified
    from pipelines.models.embed import build_embed_model
    from pipelines.models.identity import identity
    from pipelines.query.verification.judge import BY_WORDS, embedding, judge_with

    claims = load_claims(path)[:limit]
    model = identity(settings).model
    judge = BY_WORDS if words else judge_with(model, embedding(build_embed_model(settings)))
    with output.progress(quiet=as_json) as advance:
        rows = verified(claims, judge, advance)
    dataset = f"{path.resolve().parent.name} {path.stem}"
    report = {"dataset": dataset, "model": model if judge.embed else "", **summary(rows)}
    if fit:
        report["fit"] = refit(rows)
    if as_json:
        output.print_json(report)
    else:
        _print_grounding(report)


def _print_grounding(report: Mapping[str, Any]) -> None:
    verdicts = sorted({verdict for counts in report["verdicts"].values() for verdict in counts})
    counts = [
        [label, str(report["claims"][label]), *(str(given.get(verdict, 0)) for verdict in verdicts)]
        for label, given in report["verdicts"].items()
    ]
    output.table(f"{sum(report['claims'].values())} claims, and the verdicts on them", ["label", "", *verdicts], counts)
    scores = [[name, *(f"{value:.3f}" for value in told.values())] for name, told in report["auroc"].items()]
    columns = ["", "supported against the rest", "against not supported", "any support against none"]
    output.table(f"AUROC ({report['model'] or 'by words alone'})", columns, scores)
    for verdict, found in report["bounds"].items():
        what = "supported" if verdict == "supported" else "partial or better"
        output.say(f"verdict {what}: precision {found['precision']:.3f}, recall {found['recall']:.3f}", "bold")
    overlap = ", ".join(f"{verdict} {share:.3f}" for verdict, share in report["overlap"].items())
    output.say(f"what is shown overlaps a gold sentence, by verdict: {overlap}")
    if "fit" in report:
        output.say(f"fitted: {report['fit']}", "bold")
