"""`footnote models compare`: search the same questions with two models and print what differs."""

from collections.abc import Sequence
from pathlib import Path

from app.cli import output
from app.cli.evaluate import print_difference
from app.cli.models import held_json
from app.settings import SAMPLE
from config.settings import Settings
from pipelines.errors import RetrievalError
from pipelines.evaluation import model_compare
from pipelines.evaluation.datasets import load_topics
from pipelines.query.engine import build_engine_aside
from pipelines.store.database import open_database
from pipelines.store.embedding_models import StoredModel, find_model, stored_models

_QUESTIONS = 200  # that are asked unless said otherwise


def compare_models(
    settings: Settings, a: str, b: str, topics: Path | None, *, limit: int | None, as_json: bool
) -> None:
    """Print what two models find for the same questions, and where they differ most; nothing is changed."""
    database = open_database(settings)
    held = stored_models(database.engine)
    first = find_model(held, a) if b else _serving(held)
    second = find_model(held, b or a)
    if first == second:
        raise RetrievalError(f"{first.identity.label} cannot be compared with itself.", hint="Name another model.")
    first_engine, second_engine = (build_engine_aside(settings, database, one.identity) for one in (first, second))
    if topics:
        asked = load_topics(topics)[:limit]
    else:
        sample = load_topics(SAMPLE.parent / "eval" / "topics.jsonl")
        asked = model_compare.default_topics(first_engine, sample, limit or _QUESTIONS)
    with output.progress(quiet=as_json) as advance:
        done = model_compare.compare_models(first_engine, second_engine, asked, on_progress=advance)
    if as_json:
        output.print_json({"a": held_json(first), "b": held_json(second), **model_compare.comparison_json(done)})
        return
    _print_comparison(first, second, done)


def _serving(held: Sequence[StoredModel]) -> StoredModel:
    for one in held:
        if one.active:
            return one
    raise RetrievalError("No embedding model serves yet.", hint="Run `footnote ingest`, or name two models.")


def _print_comparison(first: StoredModel, second: StoredModel, done: model_compare.ModelComparison) -> None:
    for one in (first, second):
        if not one.complete:
            output.warn(
                f"{one.identity.label} holds {one.documents} of {one.stored} documents; the rest cannot be found."
            )
    a, b = first.identity.label, second.identity.label
    if done.judged:
        names = list(next(iter(done.measures.values())))
        rows = [[name, *(f"{means[name]:.3f}" for means in done.measures.values())] for name in names]
        output.table(f"{done.judged} questions with known answers", ["measure", *done.measures], rows)
        for name, found in done.comparisons.items():
            print_difference(b, a, name, found)
    output.say(f"{done.questions} questions: {done.overlap:.0%} of the first ten passages are the same", "bold")
    if done.skipped:
        output.warn(f"{done.skipped} questions could not be searched.")
    shown = "" if done.judged else ", judged by nobody"
    output.table(
        f"what moves most, from {a} to {b}{shown}",
        ["document", "rank", "right", "question"],
        [_row(m) for m in done.movers],
    )


def _row(mover: model_compare.Mover) -> list[str]:
    ranks = (str(rank) if rank else "-" for rank in (mover.before, mover.after))
    right = {True: "yes", False: "no", None: ""}[mover.right]
    return [mover.document, " -> ".join(ranks), right, output.clip(mover.question, 80)]
