"""The signatures of `footnote eval` and `footnote bench`; what they do is imported when one is called."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import EXIT_FELL, CategoryName, Json, parser_names, settings_now

evaluate = typer.Typer(help="Measure retrieval and answers. Example: footnote eval answers", no_args_is_help=True)
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
    from app.cli.evaluate import SystemOptions, run_beir

    options = SystemOptions(system or (), setting or (), compare, limit, per_topic, as_json)
    run_beir(settings_now(), folders, options, measures=measure or (), ablate=ablate, fit=fit)


@evaluate.command("baseline")
def eval_baseline(
    write: Annotated[bool, typer.Option("--write", help="Make today's scores the baseline of the tests.")] = False,
    as_json: Json = False,
) -> None:
    """Measure the gate of the tests: the sample's topics and data/eval/small against data/eval/baseline.json.

    Exit code 1 when a set fell. Example: footnote eval baseline
    """
    from app.cli.evaluate import run_baseline

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


@evaluate.command("answers")
@evaluate.command("portfolio", hidden=True)  # its name before
def eval_answers(
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

    Example: footnote eval answers --system hybrid-convex --system default --compare hybrid-convex
    """
    from app.cli.evaluate import SystemOptions, run_answers

    options = SystemOptions(system or (), setting or (), compare, None, per_topic, as_json)
    run_answers(settings_now(), topics, options, documents=documents, ingested=ingested)


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
    from app.cli.evaluate import SystemOptions, run_chunking

    options = SystemOptions(system or (), setting or (), compare, limit, per_topic, as_json)
    run_chunking(settings_now(), folder, options, parsers=parser or (), n=n)


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
    from app.cli.evaluate import run_parsing

    run_parsing(folder, limit=limit, verbose=verbose, as_json=as_json)


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
    from app.cli.evaluate import run_articles

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
    from app.cli.evaluate import run_grounding

    run_grounding(settings_now(), claims, limit=limit, words=words, fit=fit, as_json=as_json)


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
    from app.cli.evaluate import run_answerability

    run_answerability(settings_now(), paths, fit=fit, as_json=as_json)


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
    from app.cli.bench import run_ingest

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
    from app.cli.bench import run_parsing

    run_parsing(settings_now(), folders, parser=parser, category=category or "", as_json=as_json)
