"""Ways to cut a corpus, ours and the baselines, and an engine over what each of them makes of it."""

import hashlib
import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import sqlalchemy
from llama_index.core.schema import TextNode

from config.settings import Settings
from pipelines.errors import ConfigError, SourceError
from pipelines.evaluation.baselines import BASELINES, Span
from pipelines.evaluation.corpus import own_database
from pipelines.ingestion.classify import classify
from pipelines.ingestion.embed import Embedder, TextEmbedder
from pipelines.ingestion.fingerprint import content_sha, meta_sha
from pipelines.ingestion.loaders import SUFFIXES, load
from pipelines.ingestion.parsers import PARSERS, parse
from pipelines.ingestion.parsers.cuts import Piece
from pipelines.ingestion.parsers.nodes import EmbedTexts, make_nodes
from pipelines.ingestion.run import build_ingestion
from pipelines.query.engine import Engine, build_query_engine
from pipelines.store.database import open_database
from pipelines.store.nodes import Made
from pipelines.text import SEARCHABLE_VERSION
from pipelines.types import Document, SourceItem


@dataclass(frozen=True, slots=True)
class Cutter:
    """A way to cut a document into nodes."""

    name: str
    cut: Callable[[Document, EmbedTexts], list[TextNode]]


def cutters(settings: Settings, parsers: Sequence[str] = ()) -> Iterator[Cutter]:
    """The parsers of these names (none = all) as the settings size them, with their headers, then the baselines.

    A baseline's nodes have no header: its figures are published so.

    Raises:
        ConfigError: If there is no such parser.
    """
    for name in parsers or sorted(PARSERS):
        if name not in PARSERS:
            raise ConfigError(f"There is no parser called {name!r}.", hint=f"Parsers: {', '.join(sorted(PARSERS))}.")
        yield Cutter(name, partial(_parsed, name=name, sizes=settings.parsing))
    for name, spans in BASELINES.items():
        yield Cutter(name, partial(_baseline, name=name, spans=spans))


def _parsed(document: Document, embed: EmbedTexts, *, name: str, sizes: object) -> list[TextNode]:
    return parse(document, name, sizes, embed)


def _baseline(document: Document, _: EmbedTexts, *, name: str, spans: Callable[[str], list[Span]]) -> list[TextNode]:
    return make_nodes(document, [Piece(*span) for span in spans(document.text)], name, 1)


def load_corpora(folder: Path) -> dict[str, Document]:
    """The documents of a folder by the stem of their file, classified, as ingestion would store them.

    Raises:
        SourceError: If the folder holds none, or two that share a stem.
        LoadError: If one cannot be read.
    """
    found: dict[str, Document] = {}
    for path in sorted(path for path in folder.glob("*") if path.suffix in SUFFIXES):
        if path.stem in found:
            raise SourceError(f"{folder} holds two corpora called {path.stem}.", hint="Remove one.")
        item = SourceItem(path.resolve().as_uri(), path.name, folder.resolve().as_uri(), "file")
        document = classify(load(path.read_bytes(), item))
        found[path.stem] = document.with_(id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"eval|{path.stem}")))
    if not found:
        raise SourceError(f"{folder} holds no document.", hint="Name a folder with corpora/ and questions_df.csv.")
    return found


def vector_cache(settings: Settings, name: str) -> sqlalchemy.Engine:
    """A database that keeps vectors of texts and questions for every way to cut; see `own_database`."""
    return open_database(own_database(settings, name)).engine


def index_cut(
    settings: Settings, name: str, documents: Sequence[Document], cutter: Cutter, cache: sqlalchemy.Engine
) -> tuple[Engine, list[TextNode]]:
    """An engine over these documents as the cutter cuts them, and the nodes.

    They are in a database of their own, where what is unchanged stays.
    """
    own = own_database(settings, name)
    ingestion = build_ingestion(own)
    embedder = Embedder(ingestion.embed_model, cache, ingestion.identity)
    known = {held.id: (held.indexed_sha, held.recipe) for held in ingestion.known()}
    made: list[TextNode] = []
    for loaded in documents:
        document = loaded.with_(content_sha=content_sha(loaded, cutter.name), meta_sha=meta_sha(loaded))
        nodes = cutter.cut(document, TextEmbedder(embedder))
        made.extend(nodes)
        made_by = _recipe(nodes)
        if known.get(document.id) != (document.content_sha, made_by):
            vectors, _ = embedder(nodes)
            ingestion.store.replace(document, nodes, vectors, Made(cutter.name, made_by))
    ingestion.indexes.refresh("owner")
    return build_query_engine(own), made


def _recipe(nodes: Sequence[TextNode]) -> str:
    """What the nodes are, so that any change of the code that cuts makes them again."""
    facts = [(node.metadata["start"], node.metadata["end"], node.metadata["header"]) for node in nodes]
    return f"{hashlib.sha256(json.dumps(facts).encode()).hexdigest()} searchable@{SEARCHABLE_VERSION}"
