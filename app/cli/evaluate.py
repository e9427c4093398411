"""`footnote eval beir`, `baseline`, `answers` and `chunking`: rankings and answers on judged questions."""

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
from app.cli.serialise import serialise

if TYPE_CHECKING:
    from pipelines.evaluation.answers import AnswerReport
    from pipelines.evaluation.experiment import Experiment, PartEffect, Progress
    from pipelines.evaluation.fit import Fit
    from pipelines.evaluation.gate import GateVerdict
    from pipelines.evaluation.measures import Comparison

group = typer.Typer(help="Measure retrieval and answers. Example: footnote eval answers", no_args_is_help=True)
Systems = Annotated[list[str] | None, option("Measure this system; may be repeated.", "--system")]
Set = Annotated[
    list[str] | None,
    option("Change a setting in every --system, else in `custom`.", "--set", metavar="NAME=VALUE"),
]
Compare = Annotated[str, option("The baseline of the significance tests.", "--compare")]
Limit = Annotated[int | None, option("At most this many, from the first.", min=1)]
PerTopic = Annotated[Path | None, option("Write the measures of each topic to this JSON file.")]


def _choose(
    systems: Sequence[str] | None, overrides: Sequence[str] | None, baseline: str, *default: str
) -> dict[str, Mapping[str, Any]]:
    """The settings of each system, by its name; `default` where neither systems nor overrides are given."""
    from pipelines.evaluation.experiment import choose_systems, parse_overrides

    changes = parse_overrides(overrides or ())
    return choose_systems(systems or ([] if changes else default), changes, baseline)


@dataclass(frozen=True, slots=True)
class Ranked:
    """An experiment on judged sets: DESIGN.md's four keys, and what was asked for besides."""

    done: "Experiment"
    path: Path
    measures: Sequence[str]
    baseline: str
    effects: "Sequence[PartEffect]"
    fitted: "Fit | None"

    @property
    def sets(self) -> dict[str, Any]:
        """The means on each set, if there are several."""
        return {name: self.done.of(name) for name in self.done.per_topic} if len(self.done.per_topic) > 1 else {}

    @property
    def ablation(self) -> dict[str, Any]:
        """The gain of each part, if that was measured."""
        return {"measure": self.measures[0], "parts": self.effects} if self.effects else {}

    @property
    def fit(self) -> dict[str, Any]:
        """The fit, if there was one; under `change` only what helps."""
        if self.fitted is None:
            return {}
        change = self.fitted.chosen if self.fitted.helps else {}
        return {"measure": self.measures[0], **serialise(self.fitted), "change": change}


@group.command("beir")
def eval_beir(
    folders: Annotated[
        list[Path], argument("corpus.jsonl, queries.jsonl and qrels/*.tsv in each.", metavar="FOLDER...")
    ],
    system: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure this system: dense, sparse, hybrid-rrf, hybrid-convex, classic, default, ...; "
            "none = all. May be repeated."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Change a setting, such as retrieval.dense_weight=0.5, in every --system; "
            "without --system, measure `default` and with the change `custom`. May be repeated.",
        ),
    ] = None,
    measure: Annotated[list[str] | None, option("nDCG@k, recall@k, success@k or RR@k.")] = None,
    compare: Annotated[
        str, option("The baseline of the significance tests; --set applies to it only if it is a --system.")
    ] = "",
    ablate: Annotated[
        bool, option("Measure the gain of each part of the first system, by the first measure.", "--ablate")
    ] = False,
    fit: Annotated[
        bool, option("Fit the weights of the first system, cross-validated; no setting is written.", "--fit")
    ] = False,
    limit: Annotated[int | None, option("At most this many topics, from the first.", min=1)] = None,
    per_topic: Annotated[
        Path | None, option("Write the measures of each topic to this JSON file; default: a file below FOOTNOTE_HOME.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Rank judged sets in BEIR's form, each indexed in its own database; several are averaged.

    Example: footnote eval beir data/eval/small --system hybrid-convex --system hybrid-rrf --compare hybrid-convex
    """
    settings = settings_now()
    from pipelines.evaluation import experiment
    from pipelines.evaluation.datasets import load_beir
    from pipelines.evaluation.measures import DEFAULT

    names = system or (["default"] if ablate or fit else [])
    wanted, measures = _choose(names, setting, compare), list(measure or DEFAULT)
    experiment.check_experiment(settings, wanted, measures)
    full = wanted[names[0]] if names else {}
    with output.progress(quiet=as_json) as advance:
        datasets = [load_beir(folder, limit=limit) for folder in folders]
        sets = experiment.index_judged_sets(settings, datasets, advance)
        done = experiment.measure_systems(sets, wanted, measures, compare, advance)
        effects = experiment.ablate(sets, full, measures[0], advance) if ablate else []
        fitted = _fit_judged(sets, full, measures[0], advance) if fit else None
    name = "".join(char if char.isalnum() or char in "_-" else "-" for char in done.dataset)[:80]
    path = per_topic or settings.home / "eval" / f"{name}-{done.fingerprint}.json"
    _write(path, done.per_topic if len(sets) > 1 else done.per_topic[done.dataset])
    emit(Ranked(done, path, measures, compare, effects, fitted), as_json)


def _fit_judged(sets: Sequence[Any], full: Mapping[str, Any], measure: str, advance: "Progress") -> "Fit":
    from pipelines.evaluation.fit import FITTED, fit
    from pipelines.query.ablation import change_settings

    def scorer(judged: Any) -> Any:
        return lambda changes: {
            topic: row[measure]
            for topic, row in judged.scores(
                {**full, **changes}, [measure], label="fitting", on_progress=advance
            ).items()
        }

    standing = change_settings(sets[0].engine.settings, full)
    return fit({judged.dataset.name: scorer(judged) for judged in sets}, FITTED, standing)


def _write(path: Path, value: Any) -> None:
    from pipelines.errors import ConfigError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=1))
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.", hint="Give --per-topic FILE.") from error


@render.register(Ranked)
def _render_ranked(ranked: Ranked) -> None:
    done, measures, baseline = ranked.done, ranked.measures, ranked.baseline
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
    if ranked.effects:
        _print_effects(ranked.effects, first)
    if ranked.fitted is not None:
        _print_fit(ranked.fitted, first)
    say(f"each topic: {ranked.path}", "dim")


def print_difference(name: str, baseline: str, measure: str, found: "Comparison") -> None:
    """Print how a system differs from the baseline by a measure; dim when that may be chance."""
    say(f"{name} - {baseline}: {measure} {describe(found)}", "" if found.p < 0.05 else "dim")


def describe(found: "Comparison") -> str:
    """A difference with its interval, its p, and on how many topics it won and lost."""
    return (
        f"{found.difference:+.4f} [{found.low:+.4f}, {found.high:+.4f}] "
        f"p={found.p:.4f}, {found.wins} better, {found.losses} worse"
    )


def _rows(systems: Mapping[str, Mapping[str, float]], measures: Sequence[str]) -> list[list[str]]:
    return [[name, *(f"{means[measure]:.4f}" for measure in measures)] for name, means in systems.items()]


def _print_effects(effects: Sequence["PartEffect"], measure: str) -> None:
    """Print what each part brings, or why that was not measured."""
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


def _print_fit(found: "Fit", measure: str) -> None:
    """Print what would change, and the gain of that on topics that were held out."""
    if not found.helps:
        say("change nothing", "bold")
    for name, value in found.chosen.items():
        say(f"{name}: {found.current[name]} -> {value}", "bold" if found.helps else "dim")
    say(f"{measure} {found.now:.4f}; {found.seen:.4f} on the topics that these were chosen on", "dim")
    say(f"on topics that were held out: {describe(found.held_out)}")
    for name, gain in found.by_set.items():
        say(f"on {name}, chosen on the other sets: {describe(gain)}")
    if found.helps:
        say("Nothing was written: set what you want in .env.", "dim")


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
            f"{describe(verdict.change)}",
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
        per_topic.write_text(json.dumps(done.per_topic, indent=1, ensure_ascii=False))
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


@dataclass(frozen=True, slots=True)
class ChunkingScores:
    """By parser the shape of its nodes; by parser and system the overlap of the retrieved nodes with the gold spans."""

    dataset: str
    topics: int
    n: int
    cut: Mapping[str, Mapping[str, float]]
    systems: Mapping[tuple[str, str], Mapping[str, float]]
    comparisons: "Mapping[tuple[str, str], Mapping[str, Comparison]]"
    per_topic: Path | None
    baseline: str


@group.command("chunking")
def eval_chunking(
    folder: Annotated[
        Path, argument("A folder with corpora/*.md and questions_df.csv, which holds gold character spans.")
    ],
    parser: Annotated[
        list[str] | None, option("Measure this parser beside the baselines; may be repeated; default: all.")
    ] = None,
    n: Annotated[int, option("Number of retrieved nodes.", "--top-n", "--n", "-n", min=1, max=100)] = 5,
    system: Systems = None,
    setting: Set = None,
    compare: Compare = "",
    limit: Limit = None,
    per_topic: PerTopic = None,
    as_json: Json = False,
) -> None:
    """Measure recall, precision and IoU of retrieved characters against gold spans, for each parser and the baselines.

    Also prints the lengths of the nodes and the best precision that any ranking of them could reach.
    Example: footnote eval chunking FOLDER --parser generic --parser sections
    """
    settings = settings_now()
    from pipelines.evaluation.chunking import MEASURES, load_chunk_set, measure_chunking
    from pipelines.evaluation.experiment import paired_scores
    from pipelines.evaluation.measures import compare as compare_scores
    from pipelines.evaluation.measures import means

    wanted = _choose(system, setting, compare, "dense", "default")
    with output.progress(quiet=as_json) as advance:
        done = measure_chunking(
            settings, load_chunk_set(folder, limit), wanted, parsers=parser or (), n=n, on_progress=advance
        )
    comparisons = {
        (cutting.name, name): {m: compare_scores(*paired_scores(cutting.scores[compare], scores, m)) for m in MEASURES}
        for cutting in done
        for name, scores in cutting.scores.items()
        if compare and name != compare
    }
    if per_topic:
        per_topic.write_text(json.dumps({cutting.name: cutting.scores for cutting in done}, indent=1))
    cut = {
        each.name: {
            "nodes": each.nodes,
            "mean_characters": round(each.characters, 1),
            "mean_tokens": round(each.tokens, 1),
            "precision_omega": sum(each.omega.values()) / len(each.omega),
        }
        for each in done
    }
    systems = {(each.name, name): means(scores) for each in done for name, scores in each.scores.items()}
    dataset, topics = folder.resolve().name, len(done[0].omega)
    emit(ChunkingScores(dataset, topics, n, cut, systems, comparisons, per_topic, compare), as_json)


@render.register(ChunkingScores)
def _render_chunking(result: ChunkingScores) -> None:
    from pipelines.evaluation.chunking import MEASURES

    names = list(dict.fromkeys(name for _, name in result.systems))
    rows = [
        [cut, f"{shape['nodes']:,}", f"{shape['mean_characters']:.0f}", f"{shape['mean_tokens']:.0f}",
         f"{100 * shape['precision_omega']:.1f}",
         *("/".join(f"{100 * value:.1f}" for value in result.systems[cut, name].values()) for name in names)]
        for cut, shape in result.cut.items()
    ]  # fmt: skip
    title = f"{result.dataset}, {result.topics} questions, {result.n} nodes each: {'/'.join(MEASURES)}, in per cent"
    output.table(title, ["cut by", "nodes", "chars", "tokens", "omega", *names], rows)
    for (cut, name), found in result.comparisons.items():
        for measure in MEASURES:
            print_difference(f"{cut}, {name}", result.baseline, measure, found[measure])
