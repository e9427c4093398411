"""`footnote models`: list, add, promote and drop embedding models."""

import shutil
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from app.cli import output
from app.cli.options import EXIT_FAILED_DOCUMENTS
from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError, RetrievalError
from pipelines.models.identity import identity, is_model_configured, parse_model_name
from pipelines.store.database import open_database
from pipelines.store.embedding_models import (
    StoredModel,
    active_model,
    change_over,
    find_model,
    mismatch,
    settings_of,
    stored_models,
)
from pipelines.types import EmbeddingIdentity
from pipelines.wording import with_hint

if TYPE_CHECKING:
    from pipelines.ingestion.reindex import ReembeddingCost, ReembeddingReport
    from pipelines.store.health import Finding


def list_models(settings: Settings, *, as_json: bool) -> None:
    """Print every node table, and whether the settings agree with the one that serves."""
    held = stored_models(open_database(settings).engine)
    note = disagreement(settings, next((one.identity for one in held if one.active), None))
    if as_json:
        output.print_json({"models": [held_json(one) for one in held], "note": note[0] if note else ""})
        return
    rows = [
        [one.identity.label, "serves" if one.active else "", f"{one.documents} of {one.stored}", one.nodes,
         f"{one.bytes / 1e6:.1f} MB", f"{one.added_at:%Y-%m-%d}"]
        for one in held
    ]  # fmt: skip
    columns = ["model", "", "documents", "nodes", "size", "added"]
    output.table("", columns, rows) if rows else output.say("No model yet: `footnote ingest` makes the first.")
    if note:
        output.warn(f"{note[0]} {note[1]}")


def held_json(one: StoredModel) -> dict[str, Any]:
    """A model and its table as plain data."""
    return {
        "table": one.table,
        "label": one.identity.label,
        **asdict(one.identity),
        "active": one.active,
        "documents": one.documents,
        "of": one.stored,
        "complete": one.complete,
        "nodes": one.nodes,
        "bytes": one.bytes,
        "added": one.added_at.isoformat(),
    }


def disagreement(settings: Settings, serves: EmbeddingIdentity | None) -> tuple[str, str, bool] | None:
    """(what is to be known, what to do, whether it is an error) where the settings would choose another model."""
    wanted = identity(settings)
    if serves is None or wanted == serves:
        return None
    if is_model_configured(settings):
        return mismatch(wanted, serves), f"Run {change_over(wanted)}, or {settings_of(serves)}.", True
    said = f"With these settings a new corpus would be embedded with {wanted.label}; {serves.label} serves on."
    return said, f"Run {change_over(wanted)} to change over.", False


def model_finding(settings: Settings) -> "tuple[EmbeddingIdentity | None, Finding]":
    """(the model to examine, what `doctor` says of the settings and the model that serves)."""
    from pipelines.store.health import Finding

    serves = None
    with suppress(FootnoteError):  # the database's own finding says so
        serves = active_model(open_database(settings).engine)
    try:
        wanted = identity(settings)
        found = disagreement(settings, serves)
    except ConfigError as error:
        return serves, Finding("embedding model", False, error.message, error.hint)
    if found is None:
        return wanted, Finding("embedding model", True, f"{wanted.label}")
    return serves, Finding("embedding model", not found[2], found[0], found[1])


def add_model(settings: Settings, name: str, *, yes: bool, as_json: bool) -> None:
    """Fill a model's table from the stored documents; of a paid model, say first what it costs."""
    from pipelines.ingestion.reindex import build_reembedding

    held = stored_models(open_database(settings).engine)
    model = next((one.identity for one in held if name in (one.table, f"data_{one.table}")), None)
    model = model or parse_model_name(settings, name)
    if any(one.active and one.identity == model for one in held):
        raise RetrievalError(f"{model.label} serves already.", hint="`footnote ingest` brings documents in.")
    filling = build_reembedding(settings, model)
    price: ReembeddingCost | None = None
    if model.provider == "openai":
        with output.progress(quiet=as_json) as advance:
            price = filling.price(filling.due(), lambda done, total, _: advance("reading", done, total))
        _agree(model, price, yes=yes, as_json=as_json)
    with output.progress_bar(quiet=as_json) as bar:
        task = bar.add_task("embedding", total=None)
        done = filling.run(
            lambda count, total, document: bar.update(task, completed=count, total=total, description=document[-40:])
        )
    one = find_model(stored_models(filling.ingestion.database.engine), model.label)
    if as_json:
        output.print_json({"model": held_json(one), "price": asdict(price) if price else None, **_filled_json(done)})
    else:
        _print_filled(one, done)
    if done.failed:
        raise typer.Exit(EXIT_FAILED_DOCUMENTS)


def _agree(model: EmbeddingIdentity, price: "ReembeddingCost", *, yes: bool, as_json: bool) -> None:
    """Let a person agree to what is paid for; where nobody can be asked, only --yes does."""
    cost = "an unknown amount" if price.dollars is None else f"about ${price.dollars:.4f}"
    what = f"{price.texts:,} texts of {price.documents:,} documents, {price.tokens:,} tokens"
    said = f"{model.label} would embed {what}, for {cost}."
    if not price.texts or yes or price.dollars == 0:
        if not as_json:
            output.say(said)
        return
    output.agree("Embed them?", said, as_json=as_json)


def _filled_json(done: "ReembeddingReport") -> dict[str, Any]:
    failed = [
        {"document": name, "stage": each.stage, "error": each.message, "error_class": each.error, "hint": each.hint}
        for name, each in done.failed.items()
    ]
    return {
        "added": done.documents, "nodes": done.nodes, "embedded": done.embedded, "failed": failed,
        "seconds": done.seconds,
    }  # fmt: skip


def _print_filled(one: StoredModel, done: "ReembeddingReport") -> None:
    for name, failure in done.failed.items():
        output.say(f"   failed  {name}: {with_hint(failure.message, failure.hint)}", "red")
    output.say(
        f"{done.documents} documents, {done.nodes} nodes, {done.embedded} embedded in {done.seconds:.1f} s; "
        f"{one.identity.label} holds {one.documents} of {one.stored}",
        "bold",
    )
    if one.complete:
        output.say(
            f"`footnote models compare {one.identity.label}`, then `footnote models promote {one.identity.label}`"
        )


def promote_model(settings: Settings, name: str, *, as_json: bool) -> None:
    """Make a model the one that serves, for everybody who searches this database."""
    from pipelines.query.active_index import IndexPreparation
    from pipelines.store.promotion import promote
    from pipelines.store.vector_store import build_vector_store

    database = open_database(settings)
    one = find_model(stored_models(database.engine), name)
    before = active_model(database.engine)
    version = None
    if not one.active:
        store = build_vector_store(settings, database, one.identity)
        ready = IndexPreparation(settings, database, store)
        version = promote(store, one.identity, ready.prepare, ready.adopt)
    note = disagreement(settings, one.identity)
    if as_json:
        output.print_json(
            {"active": one.identity.label, "before": before.label if before else None, "changed": version is not None,
             "corpus_version": version, "note": note[0] if note else ""}
        )  # fmt: skip
        return
    output.say(f"{one.identity.label} serves" + (" already" if version is None else ""), "bold")
    if version is not None and before:
        output.say(
            f"`footnote models promote {before.label}` goes back, `footnote models drop {before.label}` tidies up"
        )
    if note and note[2]:
        output.warn(f"The settings still name another model: {settings_of(one.identity)}.")


def drop_model(settings: Settings, name: str, *, cached: bool, yes: bool, as_json: bool) -> None:
    """Drop a model's table after asking; never the one that serves."""
    from pipelines.store.promotion import drop
    from pipelines.store.vector_store import snapshot_folder_of

    database = open_database(settings)
    one = find_model(stored_models(database.engine), name)
    if one.active:
        raise ConfigError(
            f"{one.identity.label} serves, so it stays.", hint="`footnote models promote` another one first."
        )
    said = f"{one.identity.label} with {one.nodes:,} nodes of {one.documents:,} documents would be dropped."
    if not yes:
        output.agree("Drop it?", said, as_json=as_json)
    drop(database.engine, one, cached=cached)
    kept = snapshot_folder_of(settings, database, one.table)
    for folder in (kept, *kept.parent.glob(f"{one.table}-*")):
        shutil.rmtree(folder, ignore_errors=True)
    if as_json:
        output.print_json({"dropped": held_json(one), "cache": cached})
    else:
        output.say(f"{one.identity.label} is dropped", "bold")
