"""SERVE: which embedding model's nodes, indexes and vectors a question is answered from."""

import shutil
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM

from config.settings import Settings
from pipelines.errors import FootnoteError
from pipelines.models.embed import build_embed_model
from pipelines.models.identity import identity, is_stated, with_identity
from pipelines.observe import log, log_failure
from pipelines.query.searching.find import Finder
from pipelines.store.database import Database, reading
from pipelines.store.lexical_snapshots import LexicalIndexes
from pipelines.store.models import Reign, active, active_model, hold, serves_since, serving, state_of
from pipelines.store.moment import Moment
from pipelines.store.names import KnownNames
from pipelines.store.node_table import node_table
from pipelines.store.nodes import (
    NodeStore,
    build_lexical_indexes,
    build_node_store,
    build_spaces,
    snapshots,
    snapshots_of,
)
from pipelines.store.space import Spaces, carry_over
from pipelines.types import EmbeddingIdentity

_STATE = "state"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Served:
    """All that hangs on one embedding model, in one piece, so that nothing of two models meets in a question."""

    identity: EmbeddingIdentity
    store: NodeStore
    indexes: LexicalIndexes
    spaces: Spaces
    names: KnownNames
    embed_model: BaseEmbedding

    def finder(self, settings: Settings, llm: LLM | None) -> Finder:
        """What searches them under these settings."""
        return Finder(
            settings,
            self.store,
            self.indexes,
            self.embed_model,
            self.spaces,
            self.names,
            self.identity.model,
            llm,
        )


def served_by(settings: Settings, database: Database, model: EmbeddingIdentity) -> Served:
    """What serves with this embedding model, whether or not it is the one that serves now.

    Raises:
        ConfigError: If the model cannot be used with these settings: its key is missing.
    """
    embed_model = build_embed_model(with_identity(settings, model))
    store = build_node_store(settings, database, model)
    return Served(
        identity=model,
        store=store,
        indexes=build_lexical_indexes(settings, database, store),
        spaces=build_spaces(settings, database, store),
        names=KnownNames(store),
        embed_model=embed_model,
    )


class Serving:
    """What serves now: the same for good, or whichever embedding model is the active one."""

    def __init__(self, settings: Settings, database: Database, served: Served, since: Reign | None) -> None:
        """`since` is the reign of `served`; None = it serves for good."""
        self._settings = settings
        self._database = database
        self._latest = since
        self._held = {since: served}
        self._lock = threading.Lock()

    def moment(self) -> AbstractContextManager[Moment]:
        """One state of the corpus and of what serves, until it ends."""
        return self._held[self._latest].store.moment()

    def now(self) -> Served:
        """What serves; where it follows, its table is not dropped while the moment lasts in which this is called.

        Raises:
            ConfigError: If the model that serves cannot be used with these settings.
        """
        if self._latest is None:
            return self._held[None]
        with reading(self._database.engine, "reading which embedding model serves") as connection:
            reign = active(connection) or self._latest
        served = self._held.get(reign) or self._take_up(reign)
        hold(self._database.engine, served.store.table)
        return served

    def once(self, do: Callable[[Served], T]) -> tuple[Served, T]:
        """(what serves at one moment, what `do` makes of it at that moment).

        It is done anew where another embedding model was promoted and the table of the one before dropped, before
        anything was read of it.
        """
        served: Served | None = None
        try:
            with self.moment():
                served = self.now()
                return served, do(served)
        except FootnoteError:
            if served is not None and served.identity == self.now().identity:
                raise
        with self.moment():
            served = self.now()
            return served, do(served)

    def _take_up(self, reign: Reign) -> Served:
        """Build the new model's parts, and only then let go of those before the last."""
        with self._lock:
            if reign not in self._held:
                served = served_by(self._settings, self._database, reign.model)
                self._held = {self._latest: self._held[self._latest], reign: served}
                self._latest = reign
                log("info", "another embedding model serves", model=reign.model.label)
            return self._held[reign]

    def under(self, settings: Settings) -> "Serving":
        """The same under other settings of a query."""
        served = self._held[self._latest]
        indexes = build_lexical_indexes(settings, self._database, served.store)
        if indexes.parameters != served.indexes.parameters:
            served = replace(served, indexes=indexes)
        return Serving(settings, self._database, served, self._latest)

    def bound(self, served: Served) -> "Serving":
        """What serves for good, whatever is promoted."""
        return Serving(self._settings, self._database, served, None)


def build_serving(settings: Settings, database: Database) -> Serving:
    """What serves in this database, to be followed from question to question.

    Raises:
        ConfigError: If the settings name another model than the one that serves, or it cannot be used with them.
    """
    model = serving(database.engine, identity(settings), stated=is_stated(settings))
    since = serves_since(database.engine, node_table(model.slug))
    return Serving(settings, database, served_by(settings, database, model), Reign(model, since))


# Beside what serves


def served_aside(settings: Settings, database: Database, model: EmbeddingIdentity) -> Served:
    """What would serve with this model, with indexes that are in step with what its table holds now."""
    if model != active_model(database.engine):
        renew(settings, database, build_node_store(settings, database, model))
    return served_by(settings, database, model)


@dataclass(frozen=True, slots=True)
class Readiness:
    """What the first search needs of a model that is to serve."""

    settings: Settings
    database: Database
    store: NodeStore

    def prepare(self) -> None:
        """Build it, from what the table holds now."""
        renew(self.settings, self.database, self.store)
        build_lexical_indexes(self.settings, self.database, self.store).refresh("owner")
        build_spaces(self.settings, self.database, self.store).current("owner")

    def adopt(self, version: int) -> None:
        """Make it what serves from this corpus version on."""
        built = snapshots_of(self.settings, self.database, self.store.table)
        adopted = snapshots_of(self.settings, self.database, f"{self.store.table}-{version}")
        try:
            shutil.rmtree(adopted, ignore_errors=True)
            built.rename(adopted)
            carry_over(adopted, "owner", version)
        except OSError as error:
            log_failure("the lexical index is built again by the first search", error, path=str(built))


def renew(settings: Settings, database: Database, store: NodeStore) -> None:
    """Forget what was derived of a table that does not serve, unless it holds just what it held then.

    The corpus version tells nothing of such a table: filling it changes nothing for those who search.
    """
    folder = snapshots(settings, database, store)
    with reading(database.engine, "reading the embedding models") as connection:
        state = state_of(connection, store.table)
    if _noted(folder) != state:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _STATE).write_text(state)


def _noted(folder: Path) -> str:
    path = folder / _STATE
    return path.read_text() if path.exists() else ""
