"""What the `eval` commands do: measure, and print tables."""

import json
from collections.abc import Sequence
from pathlib import Path

from app import output
from app.commands import ensure_sample
from app.settings import SAMPLE
from config.settings import Settings


def run_beir(
    settings: Settings,
    folder: Path,
    *,
    systems: Sequence[str],
    measures: Sequence[str],
    baseline: str,
    limit: int | None,
    per_topic: Path | None,
    as_json: bool,
) -> None:
    """Index the corpus when it is new, rank every topic with every system, and print the means."""
    from pipelines.evaluation.corpus import index_dataset
    from pipelines.evaluation.datasets import load_beir
    from pipelines.evaluation.experiment import SYSTEMS, run_experiment
    from pipelines.evaluation.measures import DEFAULT

    dataset = load_beir(folder, limit=limit)
    with output.progress_bar(quiet=as_json) as bar:
        task = bar.add_task("indexing", total=len(dataset.corpus))
        engine = index_dataset(settings, dataset, lambda done, _: bar.update(task, completed=done))
        bar.remove_task(task)
        tasks = {}

        def advance(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)

        done = run_experiment(
            engine, dataset, systems or list(SYSTEMS), measures=measures or DEFAULT, baseline=baseline,
            on_progress=advance,
        )  # fmt: skip
    if per_topic:
        per_topic.write_text(json.dumps(done.per_topic, indent=1))
    if as_json:
        output.print_json(
            {
                "dataset": done.dataset,
                "topics": len(dataset.topics),
                "systems": done.systems,
                "comparisons": done.comparisons,
                "per_topic": str(per_topic) if per_topic else None,
                "fingerprint": done.fingerprint,
            }
        )
        return
    names = list(next(iter(done.systems.values())))
    rows = [[name, *(f"{means[measure]:.4f}" for measure in names)] for name, means in done.systems.items()]
    output.table(f"{done.dataset}, {len(dataset.topics)} topics", ["system", *names], rows)
    for name, found in done.comparisons.items():
        for measure, row in found.items():
            output.say(
                f"{name} - {baseline}: {measure} {row['difference']:+.4f} [{row['low']:+.4f}, {row['high']:+.4f}] "
                f"p={row['p']:.4f}, {row['wins']} better, {row['losses']} worse",
                "" if row["p"] < 0.05 else "dim",
            )


def run_portfolio(settings: Settings, topics: Path | None, *, as_json: bool) -> None:
    """Evaluate over the portfolio topics and print the measures."""
    from pipelines.evaluation.portfolio import evaluate
    from pipelines.query.engine import build_query_engine

    ensure_sample(settings)
    report = evaluate(build_query_engine(settings), topics or SAMPLE.parent / "eval" / "topics.jsonl")
    if as_json:
        output.print_json(report)
        return
    for name, value in report["measures"].items():
        output.say(f"{name:<28} {value:.3f}")
    for miss in report["misses"]:
        output.say(f"missed {miss['id']} ({miss['why']}): {miss['question']}", "dim")
