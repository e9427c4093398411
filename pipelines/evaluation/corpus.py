"""Corpora of evaluations, each in its own database."""

import hashlib
import string
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from llama_index.core.storage.kvstore import SimpleKVStore
from pydantic import SecretStr
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from config.settings import Settings
from pipelines.errors import ConfigError, SourceError
from pipelines.evaluation.datasets import Dataset
from pipelines.ingestion.change_detection import content_sha, meta_sha
from pipelines.ingestion.context_header import HEADER_RULES_VERSION
from pipelines.ingestion.parsers.nodes import make_nodes
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.pipeline import CachedEmbedder, embedded_text
from pipelines.ingestion.run import build_ingestion
from pipelines.models.identity import identity, with_identity
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.database import database_url
from pipelines.store.node_table import Vectors
from pipelines.store.node_writer import Replacement, replace_documents
from pipelines.text import SEARCHABLE_VERSION, canonical
from pipelines.types import Document

RECIPE = f"whole@1 header@{HEADER_RULES_VERSION} searchable@{SEARCHABLE_VERSION}"
_BATCH = 64
_NAME = frozenset(string.ascii_lowercase + string.digits)
Progress = Callable[[str, int, int], None]
Embed = Callable[[list[str]], Sequence[Vectors]]  # the vectors of the windows of each text


def no_progress(label: str, done: int, total: int) -> None:
    """Ignore progress."""


def index_dataset(
    settings: Settings,
    dataset: Dataset,
    on_progress: Progress = no_progress,
    *,
    embedding: Callable[[Embed], Embed] = lambda embed: embed,
) -> QueryEngine:
    """An engine for evaluation over a dataset: one document an item, one node a document, named by the item's id.

    Items that an earlier call has indexed stay; a call that was interrupted is gone on with. `embedding` may put
    something else in the place of the model that embeds the nodes.
    """
    own = evaluation_database(settings, f"{dataset.name[:24]}_{dataset.sha}")
    ingestion = build_ingestion(own)
    embedder = CachedEmbedder(ingestion.embed_model, ingestion.database.engine, ingestion.identity)
    embed = embedding(lambda texts: embedder.embed(texts)[0])
    held = {document.id for document in ingestion.known() if document.recipe == RECIPE}
    items = {item.id: item for item in dataset.corpus}  # the last of each id
    missing = [item for item in items.values() if document_id(item.id) not in held]
    for start in range(0, len(missing), _BATCH):
        documents = []
        for item in missing[start : start + _BATCH]:
            text = canonical(item.text) or canonical(item.title)
            document = Document(
                id=document_id(item.id), text=text, source_uri=f"eval:{item.id}", source="eval", source_kind="eval",
                name=item.id, mime="text/plain", bytes=len(text), file_sha=hashlib.sha256(text.encode()).hexdigest(),
                title="" if text.startswith(item.title) else item.title,
            )  # fmt: skip
            documents.append(document.with_(content_sha=content_sha(document, "whole"), meta_sha=meta_sha(document)))
        nodes = []
        for document in documents:
            first, last = len(document.text) - len(document.text.lstrip()), len(document.text.rstrip())
            nodes += make_nodes(document, [Piece(first, last, lead=document.title)], "whole", 1)
        vectors = embed([embedded_text(node) for node in nodes])
        written = zip(documents, nodes, vectors, strict=True)
        replace_documents(
            ingestion.store, [Replacement(each, [node], [its], "whole", RECIPE) for each, node, its in written]
        )
        done = len(dataset.corpus) - len(missing) + start + len(documents)
        on_progress(f"indexing {dataset.name}", done, len(dataset.corpus))
    ingestion.indexes.refresh("owner")
    return with_cached_vectors(build_query_engine(own))


def document_id(item_id: str) -> str:
    """The id of an item's document."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"eval|{item_id}"))


def portfolio_engine(
    settings: Settings, folder: Path, *, name: str = "portfolio", on_progress: Progress = no_progress
) -> QueryEngine:
    """An engine for evaluation over a folder, ingested as a user would in the database `name` of its own.

    Unchanged documents are kept; what is no longer in the folder is removed. The user's database stays as it is. A
    SourceError if the folder or one of its documents cannot be ingested.
    """
    own = evaluation_database(settings, name)
    ingestion = build_ingestion(own)
    elsewhere = [held.id for held in ingestion.known() if held.source != folder.resolve().as_uri()]
    if elsewhere:  # the same folder was evaluated at another place: its documents would stand there twice
        ingestion.remove(elsewhere)
    plan = ingestion.plan([str(folder)], allow_removals=True)
    report = ingestion.run(plan, on_progress=lambda done, total, _: on_progress("ingesting", done, total))
    for item in report.items:
        if item.outcome == "failed":
            raise SourceError(f"{item.document} was not ingested: {item.message}", hint=item.hint)
    return with_cached_vectors(build_query_engine(own))


def evaluation_database(settings: Settings, name: str) -> Settings:
    """The settings with the database `footnote_eval_<name>` on the same server, made when it is missing.

    Another embedding model than the local one has its own database, so that several need not take turns. What is no
    letter or digit in the name becomes an underscore. A ConfigError if the server does not let a database be made.
    """
    model, url = identity(settings), database_url(settings)
    name = "footnote_eval_" + "".join(char if char in _NAME else "_" for char in name.lower())
    if model.provider != "local":
        name += f"_{hashlib.sha256(model.slug.encode()).hexdigest()[:8]}"
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with admin.connect() as connection:
            known = connection.execute(text("SELECT 1 FROM pg_database WHERE datname = :n"), {"n": name}).scalar()
            if not known:
                connection.execute(text(f'CREATE DATABASE "{name}"'))
    except DBAPIError as error:
        raise ConfigError(
            f"The server does not allow making the database {name}.",
            hint="Grant CREATEDB to this user, or unset DATABASE_URL to evaluate on the embedded server.",
        ) from error
    finally:
        admin.dispose()
    own = url.set(database=name).render_as_string(hide_password=False)
    return with_identity(settings, model).model_copy(update={"database_url": SecretStr(own)})


def with_cached_vectors(engine: QueryEngine) -> QueryEngine:
    """This engine on its present embedding model, with each text embedded once per process."""
    model = engine.embed_model.model_copy(update={"embeddings_cache": SimpleKVStore()})
    return engine.with_parts(embed_model=model)
