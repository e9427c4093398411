"""`footnote eval`: measure retrieval, answers and documents, and print the figures."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli import output
from app.settings import SAMPLE
from config.settings import Settings

if TYPE_CHECKING:
    from pipelines.evaluation.chunking import ChunkingResult
    from pipelines.evaluation.experiment import Experiment, PartEffect, Progress
    from pipelines.evaluation.fit import Fit
    from pipelines.evaluation.measures import Comparison
    from pipelines.evaluation.parsing import ParsedFile


_DATA = SAMPLE.parent
_WORST = 10  # pages that are listed unless all are asked for


@dataclass(frozen=True, slots=True)
class SystemOptions:
    """Which systems are compared on how many topics, and how that is reported.

    Attributes:
        overrides: NAME=VALUE each.
        baseline: The system that the others are tested against; empty = none.
        per_topic: The JSON file for each topic's measures.
    """

    systems: Sequence[str] = ()
    overrides: Sequence[str] = ()
    baseline: str = ""
    limit: int | None = None
    per_topic: Path | None = None
    as_json: bool = False

    def choose(self, *default: str) -> dict[str, Mapping[str, Any]]:
        """The settings of each system, by its name; `default` where neither systems nor overrides are given."""
        from pipelines.evaluation.experiment import choose_systems, parse_overrides

        changes = parse_overrides(self.overrides)
        return choose_systems(self.systems or ([] if changes else default), changes, self.baseline)


def experiment_json(
    done: "Experiment", path: Path, effects: Sequence["PartEffect"], fitted: "Fit | None", measure: str
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


def print_effects(effects: Sequence["PartEffect"], measure: str) -> None:
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


def run_beir(
    settings: Settings,
    folders: Sequence[Path],
    options: SystemOptions,
    *,
    measures: Sequence[str] = (),
    ablate: bool = False,
    fit: bool = False,
) -> None:
    """Index each corpus when it is new, rank every topic with every system, and print the means.

    `ablate` measures the parts of the first system (else `default`) one by one; `fit` fits its weights.
    """
    from pipelines.evaluation import experiment
    from pipelines.evaluation.datasets import load_beir
    from pipelines.evaluation.measures import DEFAULT

    names = options.systems or (["default"] if ablate or fit else [])
    wanted, asked = replace(options, systems=names).choose(), list(measures or DEFAULT)
    experiment.check_experiment(settings, wanted, asked)
    full = wanted[names[0]] if names else {}
    with output.progress(quiet=options.as_json) as advance:
        datasets = [load_beir(folder, limit=options.limit) for folder in folders]
        sets = experiment.index_judged_sets(settings, datasets, advance)
        done = experiment.measure_systems(sets, wanted, asked, options.baseline, advance)
        effects = experiment.ablate(sets, full, asked[0], advance) if ablate else []
        fitted = _fit_judged(sets, full, asked[0], advance) if fit else None
    path = options.per_topic or settings.home / "eval" / f"{_file_name(done.dataset)}-{done.fingerprint}.json"
    _write(path, done.per_topic if len(sets) > 1 else done.per_topic[done.dataset])
    if options.as_json:
        output.print_json(experiment_json(done, path, effects, fitted, asked[0]))
        return
    print_experiment(done, options.baseline, asked)
    if effects:
        print_effects(effects, asked[0])
    if fitted is not None:
        print_fit(fitted, asked[0])
    output.say(f"each topic: {path}", "dim")


def run_baseline(settings: Settings, *, write: bool, as_json: bool) -> bool:
    """Measure the gate's sets and print how they stand; with `write`, make that the baseline. Whether none fell."""
    from pipelines.evaluation.answers import compare_gate, measure_gate, read_baseline, write_baseline

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
            f"{said(verdict.change)}",
            "red" if verdict.change.fell else "",
        )
    return not any(verdict.change.fell for verdict in verdicts)


def _fit_judged(sets: Sequence[Any], full: Mapping[str, Any], measure: str, advance: "Progress") -> "Fit":
    from pipelines.evaluation.fit import FITTED, fit
    from pipelines.query.ablation import change_settings

    def scorer(one: Any) -> Any:
        return lambda changes: {
            topic: row[measure]
            for topic, row in one.scores({**full, **changes}, [measure], label="fitting", on_progress=advance).items()
        }

    standing = change_settings(sets[0].engine.settings, full)
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


def run_answers(
    settings: Settings, topics: Path | None, options: SystemOptions, *, documents: Path | None, ingested: bool
) -> None:
    """Ask the topics over their own ingested copy of the documents, and print the measures and the misses."""
    from pipelines.evaluation.answers import COMPARED, evaluate_answers, portfolio_engine
    from pipelines.evaluation.corpus import with_caches
    from pipelines.evaluation.datasets import load_topics
    from pipelines.query.engine import build_query_engine

    read = load_topics(topics or _DATA / "eval" / "topics.jsonl")
    wanted = options.choose("default")
    with output.progress(quiet=options.as_json) as advance:
        if ingested:
            engine = with_caches(build_query_engine(settings), keep=False)
        else:
            folder, name = documents or SAMPLE, "portfolio"
            if documents:
                name += "_" + hashlib.sha256(str(documents.resolve()).encode()).hexdigest()[:12]
            engine = portfolio_engine(settings, folder, name=name, on_progress=advance)
        done = evaluate_answers(engine, read, wanted, baseline=options.baseline, on_progress=advance)
    if options.per_topic:
        options.per_topic.write_text(json.dumps(done.per_topic, indent=1, ensure_ascii=False))
    if options.as_json:
        shown = {"dataset": "portfolio", **asdict(done)}
        output.print_json(shown | {"per_topic": options.per_topic and str(options.per_topic)})
        return
    names = list(next(iter(done.systems.values())))
    rows = [[measure, *(f"{means[measure]:.3f}" for means in done.systems.values())] for measure in names]
    output.table(f"portfolio, {done.topics} topics", ["measure", *done.systems], rows)
    for name, found in done.comparisons.items():
        for measure in COMPARED:
            print_difference(name, options.baseline, measure, found[measure])
    for name, missed in done.misses.items():
        for miss in missed:
            where = f"{name}: " if len(done.misses) > 1 else ""
            output.say(f"{where}missed {miss['id']} ({', '.join(miss['why'])}): {miss['question']}", "dim")


def run_chunking(settings: Settings, folder: Path, options: SystemOptions, *, parsers: Sequence[str], n: int) -> None:
    """Cut a chunk set in every way, find nodes for its questions, and print how their spans overlap the gold spans."""
    from pipelines.evaluation.chunking import MEASURES, measure_chunking
    from pipelines.evaluation.experiment import paired_scores
    from pipelines.evaluation.measures import compare, means

    baseline, wanted = options.baseline, options.choose("dense", "default")
    with output.progress(quiet=options.as_json) as advance:
        done = measure_chunking(
            settings, folder, wanted, parsers=parsers, n=n, limit=options.limit, on_progress=advance
        )
    compared = {
        (cutting.name, name): {m: compare(*paired_scores(cutting.scores[baseline], scores, m)) for m in MEASURES}
        for cutting in done
        for name, scores in cutting.scores.items()
        if baseline and name != baseline
    }
    if options.per_topic:
        options.per_topic.write_text(json.dumps({cutting.name: cutting.scores for cutting in done}, indent=1))
    topics = len(done[0].omega)
    if options.as_json:
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
                "per_topic": options.per_topic and str(options.per_topic),
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
            print_difference(f"{cut}, {name}", baseline, measure, found[measure])


def _shape(cutting: "ChunkingResult") -> dict[str, float]:
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
    from pipelines.evaluation.grounding import refit, summary, verify_claims
    from pipelines.models.embedding import build_embed_model
    from pipelines.models.identity import identity
    from pipelines.query.verify import WORDS_ONLY, build_judge, cached_embedding

    claims = load_claims(path)[:limit]
    model = identity(settings).model
    judge = WORDS_ONLY if words else build_judge(model, cached_embedding(build_embed_model(settings)))
    with output.progress(quiet=as_json) as advance:
        rows = verify_claims(claims, judge, advance)
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


def run_answerability(settings: Settings, paths: Sequence[Path], *, fit: bool, as_json: bool) -> None:
    """Ask labelled questions, and print how well the evidence tells those with an answer from the others."""
    from pipelines.evaluation.answerability import judge_strengths, load_collection, measure_evidence, refit
    from pipelines.models.identity import identity
    from pipelines.query.evidence import calibration

    model = identity(settings).model
    parameters = calibration(model, dense=settings.retrieval.mode != "sparse")
    measured = {}
    with output.progress(quiet=as_json) as advance:
        for collection in [load_collection(path) for path in paths]:
            measured[collection.dataset.name] = measure_evidence(settings, collection, advance)
    report: dict[str, Any] = {
        "model": model,
        "sets": {name: judge_strengths(rows, parameters) for name, rows in measured.items()},
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
    from pipelines.evaluation.parsing import BESIDE, CORE, field_scores, group_files, parse_folder, parsing_json

    with output.progress(quiet=as_json) as advance:
        done = parse_folder(folder, limit=limit, on_progress=advance)
    if as_json:
        output.print_json(parsing_json(done))
        return
    judged = [each for each in done if each.truth]
    groups = {
        "all": judged,
        **group_files(done, lambda each: each.expected),
        **group_files(done, lambda each: each.theme),
    }
    for title, shown in ((f"F1 over {len(judged)} documents with truth", ("all", *CORE)), ("F1 beside that", BESIDE)):
        rows = [[name, str(len(held)), *(_share(field_scores(held)[column]) for column in shown)]
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


def _parsed_row(each: "ParsedFile") -> list[str]:
    from pipelines.evaluation.parsing import field_scores

    stated = "" if each.stated_jobs is None else str(each.stated_jobs)
    f1 = _share(field_scores([each])["all"]) if each.truth else ""
    counts = [str(each.jobs), stated, str(each.twice or "")]
    return [each.name, each.category or "failed", f1, *counts, _share(each.order), f"{each.seconds:.1f}"]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


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
