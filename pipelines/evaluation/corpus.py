"""A dataset's corpus, indexed once in a database of its own, never beside the user's documents."""

import hashlib
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pydantic import SecretStr
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from config.settings import Settings
from pipelines.errors import ConfigError, SourceError
from pipelines.evaluation.datasets import Dataset, Item
from pipelines.ingestion.contextualise import HEADER_VERSION
from pipelines.ingestion.embed import Embedder
from pipelines.ingestion.fingerprint import content_sha, meta_sha
from pipelines.ingestion.parsers import make_node
from pipelines.ingestion.run import Overrides, build_ingestion
from pipelines.models.identity import identity, with_identity
from pipelines.query.engine import Engine, build_query_engine
from pipelines.store.database import database_url
from pipelines.store.nodes import Made
from pipelines.text import SEARCHABLE_VERSION, canonical
from pipelines.types import Document

RECIPE = f"whole@1 header@{HEADER_VERSION} searchable@{SEARCHABLE_VERSION}"
_BATCH = 64
Progress = Callable[[int, int], None]


def index_dataset(settings: Settings, dataset: Dataset, on_progress: Progress | None = None) -> Engine:
    """An engine over the dataset's corpus: one document an item, one node a document, named by the item's id.

    Items that an earlier call has indexed stay; a call that was interrupted is gone on with.

    Raises:
        ConfigError: If the server does not let a database be made.
    """
    own = own_database(settings, f"{_slug(dataset.name)}_{dataset.sha}")
    ingestion = build_ingestion(own)
    embedder = Embedder(ingestion.embed_model, ingestion.database.engine, ingestion.identity)
    held = {document.id for document in ingestion.known() if document.recipe == RECIPE}
    missing = [item for item in dataset.corpus if document_id(item) not in held]
    done = len(dataset.corpus) - len(missing)
    for batch in _batches(missing):
        documents = [_document(item) for item in batch]
        nodes = [make_node(d, _trimmed(d.text), ordinal=0, total=1, parser="whole", parser_version=1, header=d.title)
                 for d in documents]  # fmt: skip
        vectors, _ = embedder(nodes)
        for document, node, windows in zip(documents, nodes, vectors, strict=True):
            ingestion.store.replace(document, [node], [windows], Made("whole", RECIPE))
        done += len(batch)
        if on_progress:
            on_progress(done, len(dataset.corpus))
    ingestion.indexes.refresh("owner")
    return build_query_engine(own)


def ingest_folder(
    settings: Settings, name: str, folder: Path, *, parser: str = "", on_progress: Callable[[str, int, int], None]
) -> Engine:
    """An engine over a folder, ingested as a user would in a database of its own; what is unchanged there stays.

    Args:
        settings: Of the user's database, which stays as it is.
        name: Of the database, see `own_database`.
        folder: What is ingested; what is no longer in it is removed.
        parser: How every document is cut; empty = as ingestion chooses.
        on_progress: Told (what, how much is done, of how much).

    Raises:
        SourceError: If the folder cannot be read, or one of its documents cannot be ingested.
        ConfigError: If the parser does not exist, or the server does not let a database be made.
    """
    own = own_database(settings, name)
    ingestion, overrides = build_ingestion(own), Overrides(parser=parser)
    elsewhere = [held.id for held in ingestion.known() if held.source != folder.resolve().as_uri()]
    if elsewhere:  # the same folder was evaluated at another place: its documents would stand there twice
        ingestion.remove(elsewhere)
    plan = ingestion.plan([str(folder)], overrides=overrides, allow_removals=True)
    report = ingestion.run(
        plan, overrides=overrides, on_progress=lambda done, total, _: on_progress("ingesting", done, total)
    )
    for item in report.items:
        if item.outcome == "failed":
            raise SourceError(f"{item.document} was not ingested: {item.message}", hint=item.hint)
    return build_query_engine(own)


def document_id(item: Item) -> str:
    """The id of the item's document."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"eval|{item.id}"))


def _document(item: Item) -> Document:
    body = canonical(item.text) or canonical(item.title)
    title = "" if body.startswith(item.title) else item.title
    document = Document(
        id=document_id(item),
        text=body,
        source_uri=f"eval:{item.id}",
        source="eval",
        source_kind="eval",
        name=item.id,
        mime="text/plain",
        bytes=len(body),
        file_sha=hashlib.sha256(body.encode()).hexdigest(),
        title=title,
    )
    return document.with_(content_sha=content_sha(document, "whole"), meta_sha=meta_sha(document))


def _trimmed(body: str) -> tuple[int, int]:
    return len(body) - len(body.lstrip()), len(body.rstrip())


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]


def own_database(settings: Settings, name: str) -> Settings:
    """The settings with the database `footnote_eval_<name>` on the same server, made when it is missing.

    Another embedding model than the local one has a database of its own, so that several need not take turns.

    Args:
        settings: Of the user's database, which stays as it is.
        name: Of letters, digits and underscores.

    Raises:
        ConfigError: If the server does not let a database be made.
    """
    model = identity(settings)
    named = name if model.provider == "local" else f"{name}_{hashlib.sha256(model.slug.encode()).hexdigest()[:8]}"
    name, url = f"footnote_eval_{named}", database_url(settings)
    assert re.fullmatch(r"[a-z0-9_]+", name)
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with admin.connect() as connection:
            known = connection.execute(text("SELECT 1 FROM pg_database WHERE datname = :n"), {"n": name}).scalar()
            if not known:
                connection.execute(text(f'CREATE DATABASE "{name}"'))
    except DBAPIError as error:
        raise ConfigError(
            f"The server does not let the database {name} be made.",
            hint="Grant CREATEDB to this user, or unset DATABASE_URL to evaluate on the embedded server.",
        ) from error
    finally:
        admin.dispose()
    own = url.set(database=name).render_as_string(hide_password=False)
    return with_identity(settings, model).model_copy(update={"database_url": SecretStr(own)})


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:24]
