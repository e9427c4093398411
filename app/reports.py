"""What an experiment, an ablation and a fit look like: tables for people, one JSON document for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import output

if TYPE_CHECKING:
    from pipelines.evaluation.ablate import Effect
    from pipelines.evaluation.compare import Comparison
    from pipelines.evaluation.experiment import Experiment
    from pipelines.evaluation.fit import Fit


def experiment_json(
    done: "Experiment", path: Path, effects: Sequence["Effect"], fitted: "Fit | None", measure: str
) -> dict[str, Any]:
    """One JSON document: DESIGN.md's four keys, and what was asked for besides."""
    report: dict[str, Any] = {
        "dataset": done.dataset,
        "topics": done.topics,
        "systems": done.systems,
        "comparisons": {
            name: {measure: asdict(found) for measure, found in by.items()} for name, by in done.comparisons.items()
        },
        "per_topic": str(path),
        "fingerprint": done.fingerprint,
    }
    if len(done.per_topic) > 1:
        report["sets"] = {name: done.of(name) for name in done.per_topic}
    if effects:
        report["ablation"] = {"measure": measure, "parts": [asdict(effect) for effect in effects]}
    if fitted is not None:
        report["fit"] = {"measure": measure, **fit_json(fitted)}
    return report


def fit_json(found: "Fit") -> dict[str, Any]:
    """The fit, and under `change` what it would change: nothing when its gain may be chance."""
    return {**asdict(found), "change": found.chosen if found.helps else {}}


def print_experiment(done: "Experiment", baseline: str, measures: Sequence[str]) -> None:
    """The means of each system on each set and over all, and how far the first measure differs from the baseline's."""
    several = len(done.per_topic) > 1
    first = measures[0]
    for dataset in done.per_topic if several else ():
        output.table(dataset, ["system", *measures], _rows(done.of(dataset), measures))
        for name in done.comparisons:
            print_difference(name, baseline, first, done.difference(dataset, baseline, name, first))
    title = f"{done.dataset}, {done.topics} topics" + (", mean over the sets" if several else "")
    output.table(title, ["system", *measures], _rows(done.systems, measures))
    for name, by_measure in done.comparisons.items():
        print_difference(name, baseline, first, by_measure[first])


def print_difference(name: str, baseline: str, measure: str, found: "Comparison") -> None:
    """How a system differs from the baseline by a measure; dim when that may be chance."""
    output.say(f"{name} - {baseline}: {measure} {said(found)}", "" if found.p < 0.05 else "dim")


def _rows(systems: Mapping[str, Mapping[str, float]], measures: Sequence[str]) -> list[list[str]]:
    return [[name, *(f"{means[measure]:.4f}" for measure in measures)] for name, means in systems.items()]


def print_effects(effects: Sequence["Effect"], measure: str) -> None:
    """What each part brings, or why there is nothing to say."""
    sets = list(effects[0].by_set)
    rows = [
        [
            effect.part, f"{effect.gain.difference:+.4f}", f"{effect.gain.low:+.3f}..{effect.gain.high:+.3f}",
            f"{effect.gain.p:.3f}", *(f"{effect.by_set[name]:+.4f}" for name in sets if len(sets) > 1),
        ]
        if effect.status == "measured"
        else [effect.part, {"off": "off already", "no effect": "no effect"}[effect.status]]
        for effect in effects
    ]  # fmt: skip
    columns = ["part", measure, "95 %", "p", *(sets if len(sets) > 1 else [])]
    output.table(
        "what each part brings (full - without)", columns, [row + [""] * (len(columns) - len(row)) for row in rows]
    )


def print_fit(found: "Fit", measure: str) -> None:
    """What would change, and what that gains on topics that were held out."""
    if not found.helps:
        output.say("change nothing", "bold")
    for name, value in found.chosen.items():
        output.say(f"{name}: {found.current[name]} -> {value}", "bold" if found.helps else "dim")
    output.say(f"{measure} {found.now:.4f}; {found.seen:.4f} on the topics that these were chosen on", "dim")
    output.say(f"on topics that were held out: {said(found.held_out)}")
    for name, gain in found.by_set.items():
        output.say(f"on {name}, chosen on the other sets: {said(gain)}")
    if found.helps:
        output.say("Nothing was written: set what you want in .env.", "dim")


def said(found: "Comparison") -> str:
    """A difference with its interval, its p, and on how many topics it won and lost."""
    return (
        f"{found.difference:+.4f} [{found.low:+.4f}, {found.high:+.4f}] "
        f"p={found.p:.4f}, {found.wins} better, {found.losses} worse"
    )
