"""The verbs `footnote eval` and `footnote bench`."""

from pathlib import Path
from typing import Annotated

import typer

from app.options import EXIT_FELL, CategoryName, Json, parser_names, settings_now

evaluate = typer.Typer(help="Measure retrieval and answers. Example: footnote eval portfolio", no_args_is_help=True)
bench = typer.Typer(help="Measure speed and memory. Example: footnote bench parsing ~/portfolio", no_args_is_help=True)


@evaluate.command("beir")
def eval_beir(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="corpus.jsonl, queries.jsonl and qrels/*.tsv in each.")
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
    measure: Annotated[list[str] | None, typer.Option(help="nDCG@k, recall@k, success@k or RR@k.")] = None,
    compare: Annotated[
        str, typer.Option(help="The system that the others are tested against; --set changes it only as a --system.")
    ] = "",
    ablate: Annotated[
        bool, typer.Option("--ablate", help="What each part brings to the first system, by the first measure.")
    ] = False,
    fit: Annotated[
        bool, typer.Option("--fit", help="Fit the first system's weights, cross-validated; writes no setting.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many topics.")] = None,
    per_topic: Annotated[
        Path | None, typer.Option(help="Write each topic's measures to this JSON file; else below FOOTNOTE_HOME.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Rank judged sets in BEIR's form, each indexed in a database of its own; several are averaged.

    Example: footnote eval beir data/eval/small --system hybrid-convex --system hybrid-rrf --compare hybrid-convex
    """
    from app.experiments import run_beir

    run_beir(
        settings_now(), folders, systems=system or [], overrides=setting or [], measures=measure or [],
        baseline=compare, limit=limit, per_topic=per_topic, ablate=ablate, fit=fit, as_json=as_json,
    )  # fmt: skip


@evaluate.command("tune")
def eval_tune(
    topics: Annotated[list[Path] | None, typer.Argument(metavar="[TOPICS.jsonl]...", help="Labelled topics.")] = None,
    feedback: Annotated[
        Path | None, typer.Option(help='JSON lines: {"question": "...", "document": "id or name", "good": true}.')
    ] = None,
    as_json: Json = False,
) -> None:
    """Say which weights and factors labelled questions would change, cross-validated; nothing is written.

    Example: footnote eval tune my-topics.jsonl --feedback feedback.jsonl
    """
    from app.experiments import run_tune

    run_tune(settings_now(), topics or [], feedback, as_json=as_json)


@evaluate.command("baseline")
def eval_baseline(
    write: Annotated[bool, typer.Option("--write", help="Make today's scores the baseline of the tests.")] = False,
    as_json: Json = False,
) -> None:
    """Measure the gate of the tests: the sample's topics and data/eval/small against data/eval/baseline.json.

    Exit code 1 when a set fell. Example: footnote eval baseline
    """
    from app.experiments import run_baseline

    if not run_baseline(settings_now(), write=write, as_json=as_json):
        raise typer.Exit(EXIT_FELL)


Systems = Annotated[list[str] | None, typer.Option("--system", help="Measure this system; may be repeated.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a setting in every --system, else in `custom`."),
]
Compare = Annotated[str, typer.Option("--compare", help="The system that the others are tested against.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first so many.")]
PerTopic = Annotated[Path | None, typer.Option(help="Write each topic's measures to this JSON file.")]


@evaluate.command("portfolio")
def eval_portfolio(
    topics: Annotated[Path | None, typer.Argument(help="Topics with quoted answers; else those of the sample.")] = None,
    documents: Annotated[
        Path | None, typer.Option(help="The folder that the topics are about; else data/sample.")
    ] = None,
    ingested: Annotated[
        bool, typer.Option("--ingested", help="Ask what is ingested already instead; nothing is written there.")
    ] = False,
    system: Systems = None,
    setting: Set = None,
    compare: Compare = "",
    per_topic: PerTopic = None,
    as_json: Json = False,
) -> None:
    """Is the right place found, are the facts said, is silence kept: over documents in a database of their own.

    Example: footnote eval portfolio --system hybrid-convex --system default --compare hybrid-convex
    """
    from app.quality import run_portfolio

    run_portfolio(
        settings_now(), topics, documents=documents, ingested=ingested, systems=system or [], overrides=setting or [],
        baseline=compare, per_topic=per_topic, as_json=as_json,
    )  # fmt: skip


@evaluate.command("chunking")
def eval_chunking(
    folder: Annotated[Path, typer.Argument(help="corpora/*.md and questions_df.csv with gold character spans.")],
    parser: Annotated[
        list[str] | None, typer.Option(help="Cut with this parser beside the baselines; repeat for more. Default: all.")
    ] = None,
    n: Annotated[int, typer.Option("--top-n", "--n", "-n", min=1, max=100, help="How many nodes are found.")] = 5,
    system: Systems = None,
    setting: Set = None,
    compare: Compare = "",
    limit: Limit = None,
    per_topic: PerTopic = None,
    as_json: Json = False,
) -> None:
    """How much of what answers is in the nodes that are found: recall, precision and IoU of their characters.

    For every way to cut, ours and the baselines, with how long its nodes are and the precision that no ranking can
    exceed. Example: footnote eval chunking data/chunking --parser generic --parser sections
    """
    from app.quality import run_chunking

    run_chunking(
        settings_now(), folder, parsers=parser or [], n=n, systems=system or [], overrides=setting or [],
        baseline=compare, limit=limit, per_topic=per_topic, as_json=as_json,
    )  # fmt: skip


@evaluate.command("parsing")
def eval_parsing(
    folder: Annotated[Path, typer.Argument(help="PDF and DOCX files; truth as JSON or YAML of the same name.")],
    limit: Limit = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every value missed or wrong.")] = False,
    as_json: Json = False,
) -> None:
    """How much of what resumes and profiles state is found: companies, positions, dates, institutions, skills.

    A TXT or DOCX file beside a PDF is its reading order. Example: footnote eval parsing var/corpus/dev --verbose
    """
    from app.evaluations import run_parsing

    run_parsing(folder, limit=limit, verbose=verbose, as_json=as_json)


@evaluate.command("structure")
def eval_structure(
    folder: Annotated[Path, typer.Argument(help="DOCX, HTML, Markdown, PPTX, XLSX, CSV, ODT and ODS files.")],
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Whether every heading and table cell of a file stands in its nodes, under the right section path.

    Each that does not is listed with the reason. Example: footnote eval structure data/sample
    """
    from app.evaluations import run_structure

    run_structure(folder, limit=limit, as_json=as_json)


@evaluate.command("articles")
def eval_articles(
    folder: Annotated[Path, typer.Argument(help="ground-truth.json and html/*.html.gz: web pages and their articles.")],
    limit: Limit = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every page.")] = False,
    as_json: Json = False,
) -> None:
    """How much of an article's body is read out of its web page, and of nothing else; beside it plain trafilatura.

    The measure is that of the article extraction benchmark: shingles of four words in common.
    Example: footnote eval articles data/articles
    """
    from app.evaluations import run_articles

    run_articles(folder, limit=limit, verbose=verbose, as_json=as_json)


@evaluate.command("grounding")
def eval_grounding(
    claims: Annotated[Path, typer.Argument(help="JSON lines: claim, label, evidence, supporting_sentences.")],
    limit: Limit = None,
    words: Annotated[bool, typer.Option("--words", help="By words alone, without the embedding model.")] = False,
    fit: Annotated[bool, typer.Option("--fit", help="Fit the weights anew and print them.")] = False,
    as_json: Json = False,
) -> None:
    """How well the verifier tells claims that their source bears out from the others, and whether it shows the place.

    The AUROC is printed of the committed weights, cross-validated, and of plain baselines.
    Example: footnote eval grounding data/wice/dev.jsonl --fit
    """
    from app.quality import run_grounding

    run_grounding(settings_now(), claims, limit=limit, words=words, fit=fit, as_json=as_json)


@evaluate.command("escalation")
def eval_escalation(
    replies: Annotated[
        Path | None, typer.Argument(help="Replies of a language model; else those of the sample.")
    ] = None,
    topics: Annotated[
        Path | None, typer.Option(help="The topics that they are about; else those of the sample.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Replay good and bad replies of a language model, and show which Auto-RAG keeps and what it gains.

    Example: footnote eval escalation
    """
    from app.evaluations import run_escalation

    run_escalation(settings_now(), replies, topics, as_json=as_json)


@evaluate.command("answerability")
def eval_answerability(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FOLDER_OR_FILE...", help="Labelled conversations, or sets in BEIR's form.")
    ],
    fit: Annotated[bool, typer.Option("--fit", help="Fit the parameters anew and print them.")] = False,
    as_json: Json = False,
) -> None:
    """How well the evidence tells questions with an answer in the corpus from those without, cross-validated.

    Example: footnote eval answerability mtrag_un/dev.jsonl --fit
    """
    from app.evaluations import run_answerability

    run_answerability(settings_now(), paths, fit=fit, as_json=as_json)


@evaluate.command("followups")
def eval_followups(
    conversations: Annotated[Path, typer.Argument(help="JSON lines: task_id, answerability, turns, contexts.")],
    as_json: Json = False,
) -> None:
    """What a follow-up question finds when it is condensed with its conversation, against the last turn alone.

    Example: footnote eval followups mtrag_un/dev.jsonl
    """
    from app.followups import run_follow_ups

    run_follow_ups(settings_now(), conversations, as_json=as_json)


@evaluate.command("filters")
def eval_filters(
    nodes: Annotated[
        int, typer.Option(min=100, max=1_000_000, help="How many, made up, in a database of their own.")
    ] = 10_000,
    filters: Annotated[int, typer.Option(min=1, help="How many random filters.")] = 200,
    as_json: Json = False,
) -> None:
    """Compare filtered searches over the vector index with exact scans.

    Example: footnote eval filters --nodes 10000 --filters 200
    """
    from app.evaluations import run_filters

    run_filters(settings_now(), nodes=nodes, filters=filters, as_json=as_json)


@bench.command("ingest")
def bench_ingest(
    folders: Annotated[
        list[str] | None,
        typer.Argument(help="Files and folders whose text the documents are made of; else the sample."),
    ] = None,
    documents: Annotated[int, typer.Option(min=10, max=1_000_000, help="How many small documents.")] = 10_000,
    as_json: Json = False,
) -> None:
    """How near ingesting many small documents comes to embedding alone, and what a later run costs.

    Everything happens in a home and a database of its own. Example: footnote bench ingest ~/blog --documents 2000
    """
    from app.bench import run_ingest

    run_ingest(settings_now(), folders or [], documents=documents, as_json=as_json)


@bench.command("parsing")
def bench_parsing(
    folders: Annotated[list[str], typer.Argument(help="Files and folders.")],
    parser: Annotated[
        str, typer.Option(help="Parse all with this parser; else as ingestion would.", autocompletion=parser_names)
    ] = "",
    category: Annotated[CategoryName | None, typer.Option(help="Take all for documents of this category.")] = None,
    as_json: Json = False,
) -> None:
    """How fast documents are read, loaded and parsed, and whether their nodes are exact and cover them.

    Nothing is written and nothing embedded. Example: footnote bench parsing data/sample --json
    """
    from app.bench import run_parsing

    run_parsing(settings_now(), folders, parser=parser, category=category or "", as_json=as_json)
