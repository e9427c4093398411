"""`footnote eval`: rankings, answers, parsing, verdicts and evidence on judged data."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
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
    from pipelines.evaluation.measures import Comparison
    from pipelines.evaluation.parsing import ParsedFile

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


@dataclass(frozen=True, slots=True)
class Report:
    """Figures for programs, and what prints them for people."""

    figures: Mapping[str, Any]
    show: Callable[[], None]


@render.register(Report)
def _render_report(report: Report) -> None:
    report.show()


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


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())


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
        done = experiment.measure_systems(sets, wanted, measures, compare)
        effects = experiment.ablate(sets, wanted[names[0]], measures[0]) if ablate else []
    name = "".join(char if char.isalnum() or char in "_-" else "-" for char in done.dataset)[:80]
    path = per_topic or settings.home / "eval" / f"{name}-{done.fingerprint}.json"
    several = {name: done.of(name) for name in done.per_topic} if len(sets) > 1 else {}
    _write(path, done.per_topic if several else done.per_topic[done.dataset])
    figures = {**serialise(done), "per_topic": str(path)}
    figures |= {"sets": several} if several else {}
    figures |= {"ablation": {"measure": measures[0], "parts": effects}} if effects else {}

    def show() -> None:
        whole = f"{done.dataset}, {done.topics} topics{', mean over the sets' * bool(several)}"
        for title, systems in {**several, whole: done.systems}.items():
            rows = [[name, *(f"{means[measure]:.4f}" for measure in measures)] for name, means in systems.items()]
            output.table(title, ["system", *measures], rows)
            of_set = [done.per_topic[title]] if title in several else list(done.per_topic.values())
            for name, found in experiment.compare_systems(of_set, compare, measures[:1]).items():
                print_difference(name, compare, measures[0], found[measures[0]])
        rows = [
            [effect.part, f"{effect.gain.difference:+.4f}", f"{effect.gain.low:+.3f}..{effect.gain.high:+.3f}",
             f"{effect.gain.p:.3f}", *(f"{effect.by_set[name]:+.4f}" for name in several)]
            if effect.status == "measured"
            else [effect.part, effect.status, *[""] * (2 + len(several))]
            for effect in effects
        ]  # fmt: skip
        if rows:
            columns = ["part", measures[0], "95 %", "p", *several]
            output.table("what each part brings (full - without)", columns, rows)
        say(f"each topic: {path}", "dim")

    emit(Report(figures, show), as_json)


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

    def show() -> None:
        if write:
            say(f"{path} now holds {', '.join(f'{name} {mean:.4f}' for name, mean in means.items())}.")
        for verdict in verdicts:
            say(
                f"{verdict.name}: {verdict.measure} {verdict.now:.4f}, baseline {verdict.baseline:.4f}; "
                f"{_described(verdict.change)}",
                "red" if verdict.change.fell else "",
            )

    emit(Report({"means": means, "written": write, "verdicts": verdicts}, show), as_json, code)


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
    from pipelines.evaluation.answers import evaluate_answers
    from pipelines.evaluation.corpus import portfolio_engine, with_cached_vectors
    from pipelines.evaluation.datasets import load_topics
    from pipelines.query.engine import build_query_engine

    read = load_topics(topics or SAMPLE.parent / "eval" / "topics.jsonl")
    wanted = _choose(system, setting, compare, "default")
    with output.progress(quiet=as_json) as advance:
        if ingested:
            engine = with_cached_vectors(build_query_engine(settings))
        else:
            folder, name = documents or SAMPLE, "portfolio"
            if documents:
                name += "_" + hashlib.sha256(str(documents.resolve()).encode()).hexdigest()[:12]
            engine = portfolio_engine(settings, folder, name=name, on_progress=advance)
        done = evaluate_answers(engine, read, wanted, baseline=compare, on_progress=advance)
    if per_topic:
        _write(per_topic, done.per_topic)
    dataset = "ingested documents" if ingested else documents.resolve().name if documents else "portfolio"
    figures = {"dataset": dataset, **serialise(done), "per_topic": per_topic}
    emit(Report(figures, lambda: _print_answers(dataset, done, compare)), as_json)


def _print_answers(dataset: str, done: "AnswerReport", baseline: str) -> None:
    names = [name for name in next(iter(done.systems.values())) if not name.startswith("n_")]
    rows = [[measure, *(_measured(means, measure) for means in done.systems.values())] for measure in names]
    output.table(f"{dataset}, {done.topics} topics", ["measure", *done.systems], rows)
    for name, kinds in done.kinds.items():
        output.table(f"{name}, by kind of question", KIND_COLUMNS, [_kind_row(*item) for item in kinds.items()])
    for name, by_measure in done.comparisons.items():
        for measure, found in by_measure.items():
            print_difference(name, baseline, measure, found)
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


@group.command("parsing")
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
    from pipelines.evaluation.parsing import parse_folder, parsing_report

    with output.progress(quiet=as_json) as advance:
        files = parse_folder(folder, limit=limit, on_progress=advance)
    figures = parsing_report(files)
    emit(Report(figures, lambda: _print_parsing(figures, files, verbose)), as_json)


def _print_parsing(figures: Mapping[str, Any], files: "Sequence[ParsedFile]", verbose: bool) -> None:
    from pipelines.evaluation.parsing import BESIDE, CORE

    judged = [each for each in files if each.truth]
    groups = {f"all {len(judged)} with truth": figures["f1"], **figures["categories"], **figures["themes"]}
    for shown in (("all", *CORE), BESIDE):
        rows = [[name, *(_number(f1[column]) for column in shown)] for name, f1 in groups.items()]
        output.table("F1", ["kind or layout", *shown], rows)
    rows = [
        [each.name, each.category or "failed", _number(each.f1["all"]) if each.f1 else "", each.jobs, each.stated_jobs,
         each.twice or "", _number(each.order), f"{each.seconds:.1f}"]
        for each in files
    ]  # fmt: skip
    output.table("", ["document", "read as", "F1", "jobs found", "stated", "twice", "order", "s"], rows)
    for each in files:
        if each.error:
            say(f"{each.name}: {each.error}", "red")
        for what in ("missed", "wrong") if verbose else ():
            for name, value in getattr(each.comparison, what):
                say(f"{each.name}: {what} {name}: {value}", "dim")
    if order := figures["order"]:
        say(f"reading order over {order['twins']} twins: mean {order['mean']:.4f}, worst {order['worst']:.4f}")
    misread = sum(each.category != each.expected for each in judged)
    say(f"{figures['twice']} jobs found twice, {misread} documents taken for another kind", "bold")


@group.command("grounding")
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
    from pipelines.evaluation.grounding import summary, verify_claim
    from pipelines.models.embedding import build_embed_model
    from pipelines.models.identity import identity
    from pipelines.query.verify import WORDS_ONLY, build_judge, cached_embedding

    settings, read = settings_now(), load_claims(claims)[:limit]
    model = identity(settings).model
    judge = WORDS_ONLY if words else build_judge(model, cached_embedding(build_embed_model(settings)))
    rows = []
    with output.progress(quiet=as_json) as advance:
        for claim in read:
            rows.append(verify_claim(claim, judge))
            advance("verifying", len(rows), len(read))
    dataset = f"{claims.resolve().parent.name} {claims.stem}"
    figures = {"dataset": dataset, "model": model if judge.embed else "", **summary(rows)}

    def show() -> None:
        verdicts = sorted({verdict for counts in figures["verdicts"].values() for verdict in counts})
        table = [
            [label, figures["claims"][label], *(given.get(verdict, 0) for verdict in verdicts)]
            for label, given in figures["verdicts"].items()
        ]
        output.table(f"{len(rows)} claims, and the verdicts on them", ["label", "", *verdicts], table)
        say(f"AUROC ({figures['model'] or 'by words alone'}): {_listed(figures['auroc']['committed'])}")
        for verdict, found in figures["bounds"].items():
            say(f"verdict {verdict if verdict == 'supported' else 'partial or better'}: {_listed(found)}", "bold")
        say(f"what is shown overlaps a gold sentence, by verdict: {_listed(figures['overlap'])}")

    emit(Report(figures, show), as_json)


@group.command("answerability")
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

    def show() -> None:
        for name, judged in sets.items():
            rows = [
                [label, count, *(_number(judged[column].get(label)) for column in ("auroc", "answered", "high"))]
                for label, count in judged["questions"].items()
            ]
            output.table(name, ["label", "questions", "AUROC", "answered", "called high"], rows)
            say(f"left unanswered where 90 % of the answerable are answered: {judged['abstained']['committed']:.3f}")

    emit(Report({"model": model, "sets": sets}, show), as_json)
