"""`footnote models`: list, add, compare, promote and drop embedding models."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import output
from app.cli.options import EXIT_FAILED_DOCUMENTS, Json, argument, option, settings_now
from app.cli.output import Done, clip, emit, render, say, warn
from app.serialise import serialise
from pipelines.errors import ConfigError, RetrievalError
from pipelines.wording import with_hint

if TYPE_CHECKING:
    from pipelines.evaluation.model_compare import ModelComparison
    from pipelines.ingestion.prepare import PreparationFailure
    from pipelines.ingestion.reindex import ReembeddingCost, ReembeddingReport
    from pipelines.store.embedding_models import StoredModel
    from pipelines.types import EmbeddingIdentity

group = typer.Typer(
    help="The embedding models: list, add, compare, promote, drop. Example: footnote models list",
    no_args_is_help=True,
)
Model = Annotated[
    str, argument("A model of `models list`: [PROVIDER/]NAME[@DIMENSION], or its table.", metavar="MODEL")
]
_QUESTIONS = 200  # that are asked unless said otherwise


@dataclass(frozen=True, slots=True)
class ModelList:
    """The models whose nodes are stored; `note` and `advice` concern settings that name another model."""

    stored: "Sequence[StoredModel]"
    note: str = ""
    advice: str = ""


@group.command("list")
def models_list(as_json: Json = False) -> None:
    """List the embedding models whose nodes are stored, and which one is active.

    Example: footnote models list
    """
    settings = settings_now()
    from pipelines.query.doctor import model_disagreement
    from pipelines.store.database import open_database
    from pipelines.store.embedding_models import stored_models

    stored = stored_models(open_database(settings).engine)
    differs = model_disagreement(settings, next((each.identity for each in stored if each.active), None))
    emit(ModelList(stored, *(differs[:2] if differs else ())), as_json)


@render.register(ModelList)
def _render_models(result: ModelList) -> None:
    rows = [
        [each.identity.label, "serves" if each.active else "", f"{each.documents} of {each.stored}", each.nodes,
         f"{each.bytes / 1e6:.1f} MB", f"{each.added_at:%Y-%m-%d}"]
        for each in result.stored
    ]  # fmt: skip
    columns = ["model", "", "documents", "nodes", "size", "added"]
    output.table("", columns, rows) if rows else say("No model yet: `footnote ingest` creates the first.")
    if result.note:
        warn(f"{result.note} {result.advice}")


@dataclass(frozen=True, slots=True)
class ModelAdded:
    """A model whose table was filled, its expected cost, and the result."""

    model: "StoredModel"
    price: "ReembeddingCost | None"
    done: "ReembeddingReport"

    @property
    def failed(self) -> "list[tuple[str, PreparationFailure]]":
        """The documents that failed, by name."""
        return list(self.done.failed.items())


@group.command("add")
def models_add(
    model: Annotated[str, argument("[PROVIDER/]NAME[@DIMENSION].", metavar="MODEL")],
    yes: Annotated[bool, option("Accept the cost.", "--yes")] = False,
    as_json: Json = False,
) -> None:
    """Embed the stored documents with another model; the active model stays in use.

    A stopped run continues where it ended. The cost of a paid model is shown first.
    Example: footnote models add text-embedding-3-small@512
    """
    settings = settings_now()
    from pipelines.ingestion.reindex import build_reembedding
    from pipelines.models.identity import parse_model_name
    from pipelines.store.database import open_database
    from pipelines.store.embedding_models import find_model, stored_models

    stored = stored_models(open_database(settings).engine)
    wanted = next((each.identity for each in stored if model in (each.table, f"data_{each.table}")), None)
    wanted = wanted or parse_model_name(settings, model)
    if any(each.active and each.identity == wanted for each in stored):
        raise RetrievalError(
            f"{wanted.label} is the active model already.", hint="`footnote ingest` adds documents to it."
        )
    filling = build_reembedding(settings, wanted)
    price: ReembeddingCost | None = None
    if wanted.provider == "openai":
        with output.progress(quiet=as_json) as advance:
            price = filling.price(filling.due(), lambda done, total, _: advance("reading", done, total))
        _agree(wanted, price, yes=yes, as_json=as_json)
    with output.progress_bar(quiet=as_json) as bar:
        task = bar.add_task("embedding", total=None)
        done = filling.run(
            lambda count, total, document: bar.update(task, completed=count, total=total, description=document[-40:])
        )
    filled = find_model(stored_models(filling.ingestion.database.engine), wanted.label)
    emit(ModelAdded(filled, price, done), as_json, EXIT_FAILED_DOCUMENTS if done.failed else 0)


def _agree(model: "EmbeddingIdentity", price: "ReembeddingCost", *, yes: bool, as_json: bool) -> None:
    """Let a person agree to what is paid for; where nobody can be asked, only --yes does."""
    cost = "an unknown amount" if price.dollars is None else f"about ${price.dollars:.4f}"
    what = f"{price.texts:,} texts of {price.documents:,} documents, {price.tokens:,} tokens"
    would = f"{model.label} would embed {what}, for {cost}."
    if price.texts and not yes and price.dollars != 0:
        output.agree("Embed them?", would, as_json=as_json)
    elif not as_json:
        say(would)


@render.register(ModelAdded)
def _render_added(added: ModelAdded) -> None:
    model, done = added.model, added.done
    for name, failure in done.failed.items():
        say(f"   failed  {name}: {with_hint(failure.message, failure.hint)}", "red")
    say(
        f"{done.documents} documents, {done.nodes} nodes, {done.embedded} embedded in {done.seconds:.1f} s; "
        f"{model.identity.label} holds {model.documents} of {model.stored}",
        "bold",
    )
    if model.complete:
        say(f"`footnote models compare {model.identity.label}`, then `footnote models promote {model.identity.label}`")


@dataclass(frozen=True, slots=True)
class ModelsCompared:
    """Two models and their results for the same questions."""

    a: "StoredModel"
    b: "StoredModel"
    done: "ModelComparison"


@group.command("compare")
def models_compare(
    a: Model,
    b: Annotated[str, argument("A second model; default: the active one.", metavar="[MODEL]")] = "",
    topics: Annotated[
        Path | None,
        option("Topics with quoted answers; default: those of the sample if it is stored, else logged questions."),
    ] = None,
    limit: Annotated[int | None, option("At most this many questions.", min=1)] = None,
    as_json: Json = False,
) -> None:
    """Search the same questions with two models and show measures, overlap and the questions that differ most.

    Example: footnote models compare all-MiniLM-L6-v2 text-embedding-3-small
    """
    settings = settings_now()
    from app.settings import SAMPLE
    from pipelines.evaluation import model_compare
    from pipelines.evaluation.datasets import load_topics
    from pipelines.query.engine import build_engine_aside
    from pipelines.store.database import open_database
    from pipelines.store.embedding_models import find_model, stored_models

    database = open_database(settings)
    stored = stored_models(database.engine)
    first = find_model(stored, a) if b else next((each for each in stored if each.active), None)
    if first is None:
        raise RetrievalError(
            "There is no active embedding model yet.", hint="Run `footnote ingest`, or name two models."
        )
    second = find_model(stored, b or a)
    if first == second:
        raise RetrievalError(f"{first.identity.label} cannot be compared with itself.", hint="Name another model.")
    engine, other = (build_engine_aside(settings, database, each.identity) for each in (first, second))
    if topics:
        asked = load_topics(topics)[:limit]
    else:
        sample = load_topics(SAMPLE.parent / "eval" / "topics.jsonl")
        asked = model_compare.default_topics(engine, sample, limit or _QUESTIONS)
    with output.progress(quiet=as_json) as advance:
        done = model_compare.compare_models(engine, other, asked, on_progress=advance)
    emit(ModelsCompared(first, second, done), as_json)


@render.register(ModelsCompared)
def _render_comparison(result: ModelsCompared) -> None:
    done, a, b = result.done, result.a.identity.label, result.b.identity.label
    for each in (result.a, result.b):
        if not each.complete:
            label = each.identity.label
            warn(f"{label} holds {each.documents} of {each.stored} documents; the rest cannot be found.")
    if done.judged:
        names = list(next(iter(done.measures.values())))
        rows = [[name, *(f"{means[name]:.3f}" for means in done.measures.values())] for name in names]
        output.table(f"{done.judged} questions with known answers", ["measure", *done.measures], rows)
        for name, found in done.comparisons.items():
            say(f"{b} - {a}: {name} {found}", "" if found.p < 0.05 else "dim")
    say(f"{done.questions} questions: {done.overlap:.0%} of the first ten passages are the same", "bold")
    if done.skipped:
        warn(f"{done.skipped} questions could not be searched.")
    rows = [[f"{share:.0%}", clip(question, 100)] for question, share in done.different.items()]
    output.table(f"where {b} finds other passages than {a}", ["the same", "question"], rows)


@dataclass(frozen=True, slots=True)
class ModelServing:
    """The model that serves now, the one before, and the corpus version of the change; None where nothing changed."""

    model: "StoredModel"
    before: "EmbeddingIdentity | None"
    version: int | None
    differs: tuple[str, str, bool] | None

    @property
    def changed(self) -> bool:
        """True if the model did not serve before."""
        return self.version is not None

    @property
    def note(self) -> str:
        """The message if the settings would choose another model."""
        return self.differs[0] if self.differs else ""


@group.command("promote")
def models_promote(model: Model, as_json: Json = False) -> None:
    """Make a model the active one, once it holds every stored document; running searches are not interrupted.

    Example: footnote models promote text-embedding-3-small@512
    """
    settings = settings_now()
    from pipelines.query.doctor import model_disagreement
    from pipelines.store.database import open_database
    from pipelines.store.embedding_models import active_model, find_model, stored_models
    from pipelines.store.promotion import promote

    database = open_database(settings)
    chosen = find_model(stored_models(database.engine), model)
    before = active_model(database.engine)
    version = promote(settings, database, chosen.identity)
    emit(ModelServing(chosen, before, version, model_disagreement(settings, chosen.identity)), as_json)


@render.register(ModelServing)
def _render_serving(serving: ModelServing) -> None:
    from pipelines.store.embedding_models import settings_of

    before, identity = serving.before, serving.model.identity
    say(f"{identity.label} is the active model" + ("" if serving.changed else " already"), "bold")
    if serving.changed and before:
        say(
            f"`footnote models promote {before.label}` undoes this; "
            f"`footnote models drop {before.label}` deletes the old nodes"
        )
    if serving.differs and serving.differs[2]:
        warn(f"The settings still name another model: {settings_of(identity)}.")


@group.command("drop")
def models_drop(
    model: Model,
    cache: Annotated[
        bool, option("Also delete its cached vectors; adding it again embeds everything.", "--cache")
    ] = False,
    yes: Annotated[bool, option("Do not ask.", "--yes")] = False,
    as_json: Json = False,
) -> None:
    """Delete the nodes of a model that is not active.

    Example: footnote models drop all-MiniLM-L6-v2 --yes
    """
    settings = settings_now()
    from pipelines.store.database import open_database
    from pipelines.store.embedding_models import find_model, stored_models
    from pipelines.store.promotion import drop
    from pipelines.store.vector_store import snapshot_folder_of

    database = open_database(settings)
    chosen = find_model(stored_models(database.engine), model)
    label = chosen.identity.label
    if chosen.active:
        raise ConfigError(
            f"{label} is the active model and cannot be dropped.", hint="`footnote models promote` another one first."
        )
    would = f"{label} with {chosen.nodes:,} nodes of {chosen.documents:,} documents would be dropped."
    if not yes:
        output.agree("Drop it?", would, as_json=as_json)
    drop(database.engine, chosen, cached=cache)
    kept = snapshot_folder_of(settings, database, chosen.table)
    for folder in (kept, *kept.parent.glob(f"{chosen.table}-*")):
        shutil.rmtree(folder, ignore_errors=True)
    emit(Done(f"{label} is dropped", {"dropped": serialise(chosen), "cache": cache}, "bold"), as_json)
