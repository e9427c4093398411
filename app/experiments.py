"""What `eval beir`, `eval tune` and `eval baseline` do: measure, compare, learn, and print tables."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import output, reports
from app.settings import SAMPLE
from config.settings import Settings

if TYPE_CHECKING:
    from pipelines.evaluation.fit import Fit
    from pipelines.evaluation.judged import Progress

_DATA = SAMPLE.parent


def run_beir(
    settings: Settings,
    folders: Sequence[Path],
    *,
    systems: Sequence[str],
    overrides: Sequence[str],
    measures: Sequence[str],
    baseline: str,
    limit: int | None,
    per_topic: Path | None,
    ablate: bool,
    fit: bool,
    as_json: bool,
) -> None:
    """Index each corpus when it is new, rank every topic with every system, and print the means.

    With `ablate` or `fit` the first system (else `default`) is also taken apart, or its fitted numbers are.
    """
    from pipelines.evaluation.ablate import ablate as take_apart
    from pipelines.evaluation.datasets import load_beir
    from pipelines.evaluation.experiment import check, measured
    from pipelines.evaluation.judged import judged_sets
    from pipelines.evaluation.measures import DEFAULT
    from pipelines.evaluation.systems import chosen, parse_overrides

    names = systems or (["default"] if ablate or fit else [])
    wanted, asked = chosen(names, parse_overrides(overrides), baseline), list(measures or DEFAULT)
    check(settings, wanted, asked)
    full = wanted[names[0]] if names else {}
    with output.progress(quiet=as_json) as advance:
        sets = judged_sets(settings, [load_beir(folder, limit=limit) for folder in folders], advance)
        done = measured(sets, wanted, asked, baseline, advance)
        effects = take_apart(sets, full, asked[0], advance) if ablate else []
        fitted = _fit_judged(sets, full, asked[0], advance) if fit else None
    path = per_topic or settings.home / "eval" / f"{_file_name(done.dataset)}-{done.fingerprint}.json"
    _write(path, done.per_topic if len(sets) > 1 else done.per_topic[done.dataset])
    if as_json:
        output.print_json(reports.experiment_json(done, path, effects, fitted, asked[0]))
        return
    reports.print_experiment(done, baseline, asked)
    if effects:
        reports.print_effects(effects, asked[0])
    if fitted is not None:
        reports.print_fit(fitted, asked[0])
    output.say(f"each topic: {path}", "dim")


def run_tune(settings: Settings, topics: Sequence[Path], feedback: Path | None, *, as_json: bool) -> None:
    """Print the settings that labelled questions and feedback would change, and what that would gain."""
    from pipelines.errors import SourceError
    from pipelines.evaluation.datasets import load_topics
    from pipelines.evaluation.tune import labelled, load_feedback, tune
    from pipelines.query.engine import build_query_engine

    if not topics and feedback is None:
        raise SourceError("There is nothing to learn from.", hint="Name a topics file, or give --feedback FILE.")
    read = [topic for path in topics for topic in load_topics(path)]
    questions = labelled(read, load_feedback(feedback) if feedback else [])
    with output.progress_bar(quiet=as_json) as bar:
        task = bar.add_task("settings tried", total=None)
        found = tune(build_query_engine(settings), questions, on_score=lambda done: bar.update(task, completed=done))
    if as_json:
        output.print_json({"questions": len(questions), **reports.fit_json(found)})
        return
    reports.print_fit(found, "RR@10")


def run_baseline(settings: Settings, *, write: bool, as_json: bool) -> bool:
    """Measure the gate's sets and print how they stand; with `write`, make that the baseline. Whether none fell."""
    from pipelines.evaluation.gate import compare_gate, measure_gate, read_baseline, write_baseline

    path = _DATA / "eval" / "baseline.json"
    with output.progress(quiet=as_json) as advance:
        now = measure_gate(settings, _DATA, advance)
    verdicts = [] if write else compare_gate(read_baseline(path), now)
    if write:
        write_baseline(path, now)
    means = {name: sum(scores.values()) / len(scores) for name, scores in now.items()}
    if as_json:
        output.print_json({"means": means, "written": write, "verdicts": [asdict(verdict) for verdict in verdicts]})
    elif write:
        output.say(f"{path} now holds {', '.join(f'{name} {mean:.4f}' for name, mean in means.items())}.")
    for verdict in [] if as_json else verdicts:
        output.say(
            f"{verdict.name}: {verdict.measure} {verdict.now:.4f}, baseline {verdict.baseline:.4f}; "
            f"{reports.said(verdict.change)}",
            "red" if verdict.change.fell else "",
        )
    return not any(verdict.change.fell for verdict in verdicts)


def _fit_judged(sets: Sequence[Any], full: Mapping[str, Any], measure: str, advance: "Progress") -> "Fit":
    from pipelines.evaluation.fit import FITTED, fit
    from pipelines.query.parts import changed

    def scorer(one: Any) -> Any:
        return lambda changes: {
            topic: row[measure]
            for topic, row in one.scores({**full, **changes}, [measure], label="fitting", on_progress=advance).items()
        }

    standing = changed(sets[0].engine.settings, full)
    return fit({one.dataset.name: scorer(one) for one in sets}, FITTED, standing)


def _write(path: Path, value: Any) -> None:
    from pipelines.errors import ConfigError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=1))
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.", hint="Give --per-topic FILE.") from error


def _file_name(dataset: str) -> str:
    return "".join(char if char.isalnum() or char in "_-" else "-" for char in dataset)[:80]
