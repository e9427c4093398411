"""`footnote eval beir`, `baseline` and `answers`: rankings and answers on judged questions."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli import output
from app.cli.options import EXIT_FELL, Json, argument, option, settings_now
from app.cli.output import emit, render, say

if TYPE_CHECKING:
    from pipelines.evaluation.answers import AnswerReport
    from pipelines.evaluation.experiment import Experiment, PartEffect
    from pipelines.evaluation.gate import GateVerdict
    from pipelines.evaluation.measures import Comparison

group = typer.Typer(help="Measure retrieval and answers. Example: footnote eval answers", no_args_is_help=True)
Systems = Annotated[
    list[str] | None,
    option("Measure this system, such as dense, hybrid-rrf or default; may be repeated.", "--system"),
]
Set = Annotated[
    list[str] | None,
    option(
        "Change a setting, such as retrieval.dense_weight=0.5, in every --system; without --system, measure `default` "
        "and with the change `custom`. May be repeated.",
        "--set",
        metavar="NAME=VALUE",
    ),
]
Compare = Annotated[
    str,
    option("The baseline of the significance tests; --set applies to it only if it is a --system.", "--compare"),
]
Limit = Annotated[int | None, option("At most this many, from the first.", min=1)]
PerTopic = Annotated[Path | None, option("Write the measures of each topic to this JSON file.")]


def _choose(
    systems: Sequence[str] | None, overrides: Sequence[str] | None, baseline: str, *default: str
) -> dict[str, Mapping[str, Any]]:
    """The settings of each system, by its name; `default` where neither systems nor overrides are given."""
    from pipelines.evaluation.experiment import choose_systems, parse_overrides

    changes = parse_overrides(overrides or ())
    return choose_systems(systems or ([] if changes else default), changes, baseline)


def _write(path: Path, value: Any) -> None:
    from pipelines.errors import ConfigError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.", hint="Give --per-topic FILE.") from error


def print_difference(name: str, baseline: str, measure: str, found: "Comparison") -> None:
    """Print how a system differs from the baseline by a measure; dim when that may be chance."""
    say(f"{name} - {baseline}: {measure} {_described(found)}", "" if found.p < 0.05 else "dim")


def _described(found: "Comparison") -> str:
    return (
        f"{found.difference:+.4f} [{found.low:+.4f}, {found.high:+.4f}] "
        f"p={found.p:.4f}, {found.wins} better, {found.losses} worse"
    )


@dataclass(frozen=True, slots=True)
class Ranked:
    """An experiment on judged sets: DESIGN.md's four keys, the means on each of several sets, and the ablation."""

    done: "Experiment"
    path: Path
    measures: Sequence[str]
    baseline: str
    effects: "Sequence[PartEffect]"

    @property
    def sets(self) -> dict[str, Any]:
        """The means on each set, if there are several."""
        return {name: self.done.of(name) for name in self.done.per_topic} if len(self.done.per_topic) > 1 else {}

    @property
    def ablation(self) -> dict[str, Any]:
        """The gain of each part, if that was measured."""
        return {"measure": self.measures[0], "parts": self.effects} if self.effects else {}


@group.command("beir")
def eval_beir(
    folders: Annotated[
        list[Path], argument("corpus.jsonl, queries.jsonl and qrels/*.tsv in each.", metavar="FOLDER...")
    ],
    system: Systems = None,
    setting: Set = None,
    measure: Annotated[list[str] | None, option("nDCG@k, recall@k, success@k or RR@k.")] = None,
    compare: Compare = "",
    ablate: Annotated[
        bool, option("Measure the gain of each part of the first system, by the first measure.", "--ablate")
    ] = False,
    limit: Limit = None,
    per_topic: PerTopic = None,
    as_json: Json = False,
) -> None:
    """Rank judged sets in BEIR's form, each indexed in its own database; several are averaged.

    Without --system, every system is measured; without --per-topic, a file below FOOTNOTE_HOME has each topic.
    Example: footnote eval beir data/eval/small --system hybrid-convex --system hybrid-rrf --compare hybrid-convex
    """
    settings = settings_now()
    from pipelines.evaluation import experiment
    from pipelines.evaluation.datasets import load_beir
    from pipelines.evaluation.measures import DEFAULT

    names = system or (["default"] if ablate else [])
    wanted, measures = _choose(names, setting, compare), list(measure or DEFAULT)
    experiment.check_experiment(settings, wanted, measures)
    with output.progress(quiet=as_json) as advance:
        datasets = [load_beir(folder, limit=limit) for folder in folders]
        sets = experiment.index_judged_sets(settings, datasets, advance)
        done = experiment.measure_systems(sets, wanted, measures, compare, advance)
        effects = experiment.ablate(sets, wanted[names[0]], measures[0], advance) if ablate else []
    name = "".join(char if char.isalnum() or char in "_-" else "-" for char in done.dataset)[:80]
    path = per_topic or settings.home / "eval" / f"{name}-{done.fingerprint}.json"
    _write(path, done.per_topic if len(sets) > 1 else done.per_topic[done.dataset])
    emit(Ranked(done, path, measures, compare, effects), as_json)


@render.register(Ranked)
def _render_ranked(ranked: Ranked) -> None:
    done, measures, baseline = ranked.done, ranked.measures, ranked.baseline
    for dataset, systems in ranked.sets.items():
        _print_means(dataset, systems, measures)
        for name, found in done.differences(dataset, baseline, measures[0]).items():
            print_difference(name, baseline, measures[0], found)
    _print_means(f"{done.dataset}, {done.topics} topics{', mean over the sets' * bool(ranked.sets)}", done.systems,
                 measures)  # fmt: skip
    for name, by_measure in done.comparisons.items():
        print_difference(name, baseline, measures[0], by_measure[measures[0]])
    if ranked.effects:
        rows = [
            [effect.part, f"{effect.gain.difference:+.4f}", f"{effect.gain.low:+.3f}..{effect.gain.high:+.3f}",
             f"{effect.gain.p:.3f}", *(f"{effect.by_set[name]:+.4f}" for name in ranked.sets)]
            if effect.status == "measured"
            else [effect.part, effect.status, *[""] * (2 + len(ranked.sets))]
            for effect in ranked.effects
        ]  # fmt: skip
        columns = ["part", measures[0], "95 %", "p", *ranked.sets]
        output.table("what each part brings (full - without)", columns, rows)
    say(f"each topic: {ranked.path}", "dim")


def _print_means(title: str, systems: Mapping[str, Mapping[str, float]], measures: Sequence[str]) -> None:
    rows = [[name, *(f"{means[measure]:.4f}" for measure in measures)] for name, means in systems.items()]
    output.table(title, ["system", *measures], rows)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The means of the gate's sets, and how they stand against the baseline; `path` if they became the baseline."""

    means: Mapping[str, float]
    verdicts: "Sequence[GateVerdict]"
    path: Path | None = None

    @property
    def written(self) -> bool:
        """True if the means are the baseline now."""
        return self.path is not None


@group.command("baseline")
def eval_baseline(
    write: Annotated[bool, option("Write these scores as the baseline of the tests.", "--write")] = False,
    as_json: Json = False,
) -> None:
    """Measure the judged sets of the tests against data/eval/baseline.json.

    Exit code 1 when a set fell. Example: footnote eval baseline
    """
    from app.settings import SAMPLE
    from pipelines.evaluation.gate import compare_gate, measure_gate, read_baseline, write_baseline

    settings, data = settings_now(), SAMPLE.parent
    path = data / "eval" / "baseline.json"
    with output.progress(quiet=as_json) as advance:
        now = measure_gate(settings, data, advance)
    if write:
        write_baseline(path, now)
    means = {name: sum(scores.values()) / len(scores) for name, scores in now.items()}
    verdicts = [] if write else compare_gate(read_baseline(path), now)
    code = EXIT_FELL if any(verdict.change.fell for verdict in verdicts) else 0
    emit(Baseline(means, verdicts, path if write else None), as_json, code)


@render.register(Baseline)
def _render_baseline(result: Baseline) -> None:
    if result.path:
        say(f"{result.path} now holds {', '.join(f'{name} {mean:.4f}' for name, mean in result.means.items())}.")
    for verdict in result.verdicts:
        say(
            f"{verdict.name}: {verdict.measure} {verdict.now:.4f}, baseline {verdict.baseline:.4f}; "
            f"{_described(verdict.change)}",
            "red" if verdict.change.fell else "",
        )


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """The measures of answers by system, tested against a baseline, with what each system missed."""

    done: "AnswerReport"
    baseline: str
    per_topic: Path | None
    dataset: str


@group.command("answers")
@group.command("portfolio", hidden=True)  # its name before
def eval_answers(
    topics: Annotated[Path | None, argument("Topics with quoted answers; default: those of the sample.")] = None,
    documents: Annotated[
        Path | None, option("The folder of documents that the topics are about; default: data/sample.")
    ] = None,
    ingested: Annotated[
        bool, option("Use the documents that are ingested already; nothing is written.", "--ingested")
    ] = False,
    system: Systems = None,
    setting: Set = None,
    compare: Compare = "",
    per_topic: PerTopic = None,
    as_json: Json = False,
) -> None:
    """Measure answers on judged topics: quoted place cited, facts stated, abstention where there is no answer.

    Also: precision (share of an answer's sentences that cite a quoted place or its neighbour), words per answer
    (outside lists and code; all), how often each confidence is right, and every measure by kind of question.
    Example: footnote eval answers --system hybrid-convex --system default --compare hybrid-convex
    """
    settings = settings_now()
    from app.settings import SAMPLE
    from pipelines.evaluation.answers import evaluate_answers, portfolio_engine
    from pipelines.evaluation.corpus import with_caches
    from pipelines.evaluation.datasets import load_topics
    from pipelines.query.engine import build_query_engine

    read = load_topics(topics or SAMPLE.parent / "eval" / "topics.jsonl")
    wanted = _choose(system, setting, compare, "default")
    with output.progress(quiet=as_json) as advance:
        if ingested:
            engine = with_caches(build_query_engine(settings), keep=False)
        else:
            folder, name = documents or SAMPLE, "portfolio"
            if documents:
                name += "_" + hashlib.sha256(str(documents.resolve()).encode()).hexdigest()[:12]
            engine = portfolio_engine(settings, folder, name=name, on_progress=advance)
        done = evaluate_answers(engine, read, wanted, baseline=compare, on_progress=advance)
    if per_topic:
        _write(per_topic, done.per_topic)
    dataset = "ingested documents" if ingested else documents.resolve().name if documents else "portfolio"
    emit(AnswerScores(done, compare, per_topic, dataset), as_json)


@render.register(AnswerScores)
def _render_answers(scores: AnswerScores) -> None:
    from pipelines.evaluation.answers import COMPARED

    done = scores.done
    names = [name for name in next(iter(done.systems.values())) if not name.startswith("n_")]
    rows = [[measure, *(_measured(means, measure) for means in done.systems.values())] for measure in names]
    output.table(f"{scores.dataset}, {done.topics} topics", ["measure", *done.systems], rows)
    for name, kinds in done.kinds.items():
        output.table(f"{name}, by kind of question", KIND_COLUMNS, [_kind_row(*item) for item in kinds.items()])
    for name, found in done.comparisons.items():
        for measure in COMPARED:
            print_difference(name, scores.baseline, measure, found[measure])
    for name, missed in done.misses.items():
        for miss in missed:
            where = f"{name}: " if len(done.misses) > 1 else ""
            say(f"{where}missed {miss['id']} ({', '.join(miss['why'])}): {miss['question']}", "dim")


KIND_COLUMNS = ["kind", "answerable", "answered", "facts", "precision", "words", "unanswerable", "left alone"]


def _measured(means: Mapping[str, float], measure: str) -> str:
    if "words" in measure:
        return f"{means[measure]:.0f}"
    of = f" of {means[measure.replace('right_', 'n_')]:.0f}" if measure.startswith("right_") else ""
    return f"{means[measure]:.3f}{of}"


def _kind_row(kind: str, means: Mapping[str, float]) -> list[str]:
    """The cells of KIND_COLUMNS; empty where there is no topic to measure."""
    asked, silent = means["answerable"], means["unanswerable"]
    shares = [f"{means[name]:.2f}" if asked else "" for name in ("answered", "facts", "precision")]
    left_alone = f"{means['abstention_recall']:.2f}" if silent else ""
    return [kind, f"{asked:.0f}", *shares, f"{means['words']:.0f}", f"{silent:.0f}", left_alone]
