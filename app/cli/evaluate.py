"""`footnote eval`: rankings, answers, parsing, verdicts and evidence on judged data."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli import output
from app.cli.options import Json, argument, option, settings_now
from app.cli.output import Report, emit
from app.serialise import serialise

group = typer.Typer(help="Measure retrieval and answers. Example: footnote eval answers", no_args_is_help=True)
Systems = Annotated[
    list[str] | None, option("Measure this system, such as dense, hybrid-rrf or default; may be repeated.", "--system")
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
    str, option("The baseline of the significance tests; --set applies to it only if it is a --system.", "--compare")
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
        bool,
        option(
            "Measure the gain of each part of the first system, by the first measure, and its milliseconds.", "--ablate"
        ),
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
    from pipelines.evaluation.measures import DEFAULT, means

    names = system or (["default"] if ablate else [])
    wanted, measures = _choose(names, setting, compare), list(measure or DEFAULT)
    experiment.check_experiment(settings, wanted, measures)
    with output.progress(quiet=as_json) as advance:
        datasets = [load_beir(folder, limit=limit) for folder in folders]
        sets = experiment.index_judged_sets(settings, datasets, advance)
        done = experiment.measure_systems(sets, wanted, measures, compare)
        gains = experiment.ablate(sets, wanted[names[0]], measures[0]) if ablate else {}
        costs = experiment.part_costs(sets, wanted[names[0]]) if ablate else {}
    name = "".join(char if char.isalnum() or char in "_-" else "-" for char in done.dataset)[:80]
    path = per_topic or settings.home / "eval" / f"{name}-{done.fingerprint}.json"
    _write(path, done.per_topic if len(sets) > 1 else done.per_topic[done.dataset])
    figures = {**serialise(done), "comparisons": done.comparisons, "per_topic": str(path)}
    if len(sets) > 1:
        figures["sets"] = {
            name: {system: means(of) for system, of in by.items()} for name, by in done.per_topic.items()
        }
    if ablate:
        figures["ablation"] = {"measure": measures[0], "parts": gains, "milliseconds": costs}
    shown = {name: figures[name] for name in ("systems", "sets", "comparisons", "per_topic") if name in figures}
    shown |= {f"what each part brings by {measures[0]} (full - without)": gains}
    shown |= {"milliseconds that each part adds to a search": costs}
    mean = ", mean over the sets" if len(sets) > 1 else ""
    emit(Report(figures, shown, f"{done.dataset}, {done.topics} topics{mean}"), as_json)


@group.command("answers")
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
    outside lists and code, how often each confidence is right, and every measure by kind of question.
    Example: footnote eval answers --system hybrid-convex --system default --compare hybrid-convex
    """
    settings = settings_now()
    from app.settings import SAMPLE
    from pipelines.evaluation.answers import evaluate_answers
    from pipelines.evaluation.corpus import portfolio_engine, with_cached_vectors
    from pipelines.evaluation.datasets import load_topics
    from pipelines.evaluation.reports import keep_report
    from pipelines.query.engine import build_query_engine
    from pipelines.store.database import open_database

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
    keep_report(open_database(settings).engine, dataset, done)
    figures = {"dataset": dataset, **serialise(done), "per_topic": per_topic}
    shown = {"by kind of question": done.kinds, "comparisons": done.comparisons, "missed": done.misses}
    emit(Report(figures, {"systems": done.systems, **shown}, f"{dataset}, {done.topics} topics"), as_json)


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

    False jobs are those found beyond the stated ones. A TXT or DOCX file beside a PDF is its reading order.
    Example: footnote eval parsing var/corpus/dev --verbose
    """
    from pipelines.evaluation.parsing import parse_folder, parsing_report

    with output.progress(quiet=as_json) as advance:
        files = parse_folder(folder, limit=limit, on_progress=advance)
    figures = parsing_report(files)
    judged = [each for each in files if each.truth]
    documents = [
        {"document": each.name, "read as": each.category or "failed", "F1": each.f1 and each.f1["all"],
         "jobs found": each.jobs, "stated": each.stated_jobs, "twice": each.twice, "order": each.order,
         "error": each.error}
        for each in files
    ]  # fmt: skip
    kinds = {f"all {len(judged)} with truth": figures["f1"], **figures["categories"], **figures["themes"]}
    shown: dict[str, Any] = {"F1": kinds, "documents": documents, "reading order": figures["order"]}
    shown["jobs found twice"] = figures["twice"]
    shown["false jobs"] = figures["false_jobs"]
    shown["documents taken for another kind"] = sum(each.category != each.expected for each in judged)
    for each in files if verbose else ():
        for what in ("missed", "wrong"):
            shown[f"{each.name}: {what}"] = [": ".join(pair) for pair in getattr(each.comparison, what)]
    emit(Report(figures, shown), as_json)


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
    emit(Report(figures, title=f"{len(rows)} claims, and the verdicts on them"), as_json)


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
    emit(Report({"model": model, "sets": sets}), as_json)
