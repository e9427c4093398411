"""Health: one finding a check of the store, each with the command that mends it; and files that nothing needs."""

import shlex
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, delete, exists, func, select, text

from config.settings import Settings
from pipelines.errors import FootnoteError, StoreError
from pipelines.store.audit import damaged_documents, forget_damaged, missing_originals, recover_originals
from pipelines.store.database import HEAD, Database, open_database, reading
from pipelines.store.documents import ADDED_SOURCE
from pipelines.store.node_table import HALFVEC_ABOVE, checked, hnsw_statement, node_rows, node_table, window_rows
from pipelines.store.originals import path_of
from pipelines.store.runs import list_runs
from pipelines.store.schema import document_indexes, document_versions, documents, embedding_models, lexical_segments
from pipelines.store.vector_store import FootnoteVectorStore, build_lexical_indexes
from pipelines.types import EmbeddingIdentity

_SAMPLE, _FILTERED, _CATEGORIES = 20, 5, 4
_FIRST = 10
_LOOK = "200"  # how many vectors the index looks at, as for a search of ten
_SAME = 1e-6  # distances are computed twice


def uses_index(connection: Connection, name: str, dimension: int) -> bool:
    """Whether the planner can use the vector index at all, small tables apart."""
    kind = "halfvec" if dimension > HALFVEC_ABOVE else "vector"
    with _scanning(connection, "enable_seqscan"):
        rows = connection.execute(
            text(
                f"EXPLAIN SELECT node_id FROM {checked(name)}_windows "  # noqa: S608 - both names are ours
                f"ORDER BY embedding <=> CAST(:v AS {kind}) LIMIT 5"
            ),
            {"v": "[" + ",".join(["0.1"] * dimension) + "]"},
        ).scalars()
        return any("hnsw" in row for row in rows)


def self_recall(connection: Connection, name: str, dimension: int) -> tuple[int, int]:
    """(how many of the sampled vectors find themselves through the index, of how many).

    Many equal vectors can tear an index apart.
    """
    found = 0
    sampled = _sampled(connection, name, dimension, _SAMPLE)
    for vector in sampled:
        near = _nearest(connection, name, dimension, vector, through_index=True)
        found += bool(near) and near[0] <= 1e-3
    return found, len(sampled)


def filtered_recall(connection: Connection, name: str, dimension: int) -> tuple[int, int]:
    """(how many of the first ten of an exact scan a filtered search through the index finds, of how many).

    The filter is each of the rarest categories in turn; what is searched for are vectors of the table.
    """
    found = total = 0
    category = node_rows(name).c.metadata_["category"].astext
    rarest = select(category).group_by(category).order_by(func.count(), category).limit(_CATEGORIES)
    sampled = _sampled(connection, name, dimension, _FILTERED)
    for wanted in connection.execute(rarest).scalars().all():
        for vector in sampled:
            exact = _nearest(connection, name, dimension, vector, wanted, through_index=False)
            near = _nearest(connection, name, dimension, vector, wanted, through_index=True)
            total += len(exact)
            found += sum(distance <= exact[-1] + _SAME for distance in near)
    return found, total


def _sampled(connection: Connection, name: str, dimension: int, count: int) -> Sequence[Any]:
    windows = window_rows(name, dimension).c
    return (
        connection.execute(select(windows.embedding).order_by(func.md5(windows.node_id)).limit(count)).scalars().all()
    )


def _nearest(
    connection: Connection, name: str, dimension: int, vector: Any, category: str = "", *, through_index: bool
) -> Sequence[float]:
    """The distances of the first ten, of one category where one is given, nearest first."""
    windows, rows = window_rows(name, dimension), node_rows(name)
    distance = windows.c.embedding.cosine_distance(vector)
    statement = select(distance).order_by(distance).limit(_FIRST)
    if category:
        statement = statement.join(rows, rows.c.node_id == windows.c.node_id).where(
            rows.c.metadata_["category"].astext == category
        )
    connection.execute(text("SELECT set_config('hnsw.ef_search', :look, true)"), {"look": _LOOK})
    with _scanning(connection, "enable_seqscan" if through_index else "enable_indexscan"):
        return [float(each) for each in connection.execute(statement).scalars()]


@contextmanager
def _scanning(connection: Connection, without: str) -> Iterator[None]:
    """Statements inside do without one way to scan, in this transaction."""
    switch = "SELECT set_config(:name, :value, true)"
    connection.execute(text(switch), {"name": without, "value": "off"})
    yield
    connection.execute(text(switch), {"name": without, "value": "on"})


_A_DAY = 86_400.0  # seconds; a run keeps an original before it writes its document


@dataclass(frozen=True, slots=True)
class Unused:
    """Files that can go, and their size in bytes."""

    paths: tuple[Path, ...]
    size: int

    def __str__(self) -> str:
        return f"{len(self.paths):,} files, {self.size / 1e6:,.1f} MB"


def unused(connection: Connection, home: Path) -> Unused:
    """The originals that no document and no kept version names, by path, and whatever was never written to its end.

    Nothing that was touched in the last day, because a run may be about to need it. What a remote source was fetched
    for and never became a document is fetched again. Another database that shares the home is not asked.
    """
    needed = _needed(connection)
    before = time.time() - _A_DAY
    paths, size = [], 0
    for path in sorted([*(home / "originals").glob("*/*"), *(home / "fetched").glob("**/.new-*")]):
        try:
            held = path.stat()
        except OSError:
            continue  # another process finished with it
        if path.name not in needed and held.st_mtime < before:
            paths.append(path)
            size += held.st_size
    return Unused(tuple(paths), size)


def sweep(connection: Connection, home: Path, agreed: Unused) -> Unused:
    """Delete what was agreed to and is still unused, as a run may have needed it meanwhile; what was deleted.

    Raises:
        StoreError: If a file cannot be deleted.
    """
    still, meant = unused(connection, home), set(agreed.paths)
    gone = tuple(path for path in still.paths if path in meant)
    size = 0
    for path in gone:
        try:
            size += path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            continue  # somebody else swept, too
        except OSError as error:
            hint = "Check the permissions of FOOTNOTE_HOME."
            raise StoreError(f"{path} cannot be deleted: {error.strerror}.", hint=hint) from error
    return Unused(gone, size)


def _needed(connection: Connection) -> set[str]:
    """The SHA-256 of every original that a document or a kept version names."""
    version = document_versions.c.row["file_sha"].astext
    return {
        *connection.execute(select(documents.c.file_sha).distinct()).scalars(),
        *connection.execute(select(version).distinct()).scalars(),
    }


_FREE_BYTES = 500_000_000
_RUNS = 50  # of the log that are looked at
_SELF_SHARE, _FILTERED_SHARE = 0.9, 0.9  # an index may miss a little


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; `mend` is a command when it is not ok."""

    name: str
    ok: bool
    said: str
    mend: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON."""
        return asdict(self)


def examine(settings: Settings, identity: EmbeddingIdentity, *, fix: bool = False) -> list[Finding]:
    """Every check of the database and of the node table of this model, in order; with `fix`, safe repairs first."""
    findings = [_disk(settings)]
    try:
        database = open_database(settings)
    except FootnoteError as error:
        return [*findings, Finding("database", False, error.message, error.hint or "footnote db start")]
    findings.append(Finding("database", True, f"{database.url}, migration {HEAD}"))
    if fix:
        _repair(database.engine, settings.home.resolve())
    with reading(database.engine, "examining the database") as connection:
        findings += _checks(connection, settings, identity)
        has_nodes = _has_nodes(connection, identity)
    if has_nodes:
        findings.append(_lexical_index(settings, database, identity, fix=fix))
    return [*findings, _last_run(database.engine)]


def _checks(connection: Connection, settings: Settings, identity: EmbeddingIdentity) -> Iterator[Finding]:
    version = connection.execute(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")).scalar()
    yield Finding("pgvector", True, f"version {version}")
    table = node_table(identity.slug)
    if not _has_nodes(connection, identity):
        yield Finding("nodes", False, f"nothing is ingested with {identity.model}", "footnote ingest FOLDER")
        return
    yield _dimension(connection, table, identity)
    yield _vector_index(connection, table)
    yield _vector_search(connection, table, identity.dimension)
    yield _recall(connection, table, identity.dimension)
    yield _filtered(connection, table, identity.dimension)
    yield _orphans(connection, table)
    yield _duplicates(connection, table)
    yield _agreement(connection)
    yield _stale(connection, table)
    yield _originals(connection, settings)
    yield _unused(connection, settings)


def _has_nodes(connection: Connection, identity: EmbeddingIdentity) -> bool:
    table = f"data_{node_table(identity.slug)}"
    return connection.execute(text("SELECT to_regclass(:t)"), {"t": table}).scalar() is not None


def _lexical_index(settings: Settings, database: Database, identity: EmbeddingIdentity, *, fix: bool) -> Finding:
    store = FootnoteVectorStore(database.engine, node_table(identity.slug), identity.dimension)
    indexes = build_lexical_indexes(settings, database, store)
    if fix:
        indexes.repair()
    saved, wrong = indexes.examine()
    said = f"{len(saved)} BM25 snapshots hold what the database holds" if saved else "the next search makes it"
    if wrong:
        said = f"{len(wrong)} of {len(saved)} BM25 snapshots are damaged or do not hold what the database holds"
    return Finding("lexical index", not wrong, said, "footnote doctor --fix")


def _dimension(connection: Connection, table: str, identity: EmbeddingIdentity) -> Finding:
    held = connection.execute(
        text("SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(:t) AND attname = 'embedding'"),
        {"t": f"data_{table}"},
    ).scalar()
    said = f"table {held}, model {identity.dimension}"
    return Finding("dimension", held == identity.dimension, said, f"FOOTNOTE_EMBEDDING__DIMENSION={held}")


def _vector_index(connection: Connection, table: str) -> Finding:
    operators = connection.execute(
        text(
            "SELECT o.opcname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "JOIN pg_am a ON a.oid = c.relam JOIN pg_opclass o ON o.oid = i.indclass[0] "
            "WHERE i.indrelid = to_regclass(:t) AND a.amname = 'hnsw' AND i.indisvalid"
        ),
        {"t": f"{table}_windows"},
    ).scalar()
    ok = operators in ("vector_cosine_ops", "halfvec_cosine_ops")
    return Finding("vector index", ok, f"hnsw, {operators}" if operators else "missing", "footnote doctor --fix")


def _vector_search(connection: Connection, table: str, dimension: int) -> Finding:
    used = uses_index(connection, table, dimension)
    return Finding("vector search", used, "uses the index" if used else "scans every row", "footnote doctor --fix")


def _recall(connection: Connection, table: str, dimension: int) -> Finding:
    found, of = self_recall(connection, table, dimension)
    said = f"{found} of {of} sampled vectors find themselves"
    return Finding("vector recall", found >= _SELF_SHARE * of, said, "footnote doctor --fix")


def _filtered(connection: Connection, table: str, dimension: int) -> Finding:
    found, of = filtered_recall(connection, table, dimension)
    said = f"{found} of the {of} that an exact scan finds"
    return Finding("filtered search", found >= _FILTERED_SHARE * of, said, "footnote doctor --fix")


def _orphans(connection: Connection, table: str) -> Finding:
    rows = node_rows(table)
    key = rows.c.metadata_["document_id"].astext
    count = connection.execute(
        select(func.count()).select_from(rows).where(~exists().where(documents.c.id == key))
    ).scalar_one()
    return Finding("orphans", count == 0, f"{count} nodes without a document", "footnote doctor --fix")


def _duplicates(connection: Connection, table: str) -> Finding:
    rows = node_rows(table)
    total, distinct = connection.execute(select(func.count(), func.count(rows.c.node_id.distinct()))).one()
    return Finding(
        "duplicates", total == distinct, f"{total} nodes, {total - distinct} of them twice", "footnote reindex"
    )


def _agreement(connection: Connection) -> Finding:
    """Of every model's table, those beside the one that serves too."""
    tables = connection.execute(select(embedding_models.c.node_table).order_by(embedding_models.c.node_table))
    ids = {each for table in tables.scalars().all() for each in damaged_documents(connection, table)}
    names = connection.execute(select(documents.c.name).where(documents.c.id.in_(ids)).order_by(documents.c.name))
    some = ", ".join(names.scalars().all()[:3])
    said = (
        f"{len(ids)} documents are not held whole, such as {some}" if ids else "nodes, vectors, terms and texts agree"
    )
    return Finding("agreement", not ids, said, "footnote doctor --fix, then footnote reindex")


def _originals(connection: Connection, settings: Settings) -> Finding:
    missing = missing_originals(connection, settings.home.resolve())
    said = f"{len(missing)} documents without their original, such as {missing[0][0]}" if missing else "all are kept"
    return Finding("originals", not missing, said, "footnote doctor --fix, then footnote ingest --verify")


def _unused(connection: Connection, settings: Settings) -> Finding:
    found = unused(connection, settings.home.resolve())
    said = f"{found}: footnote doctor --sweep" if found.paths else "none"
    return Finding("unused files", True, said)


def _last_run(engine: Engine) -> Finding:
    """Whether a run whose process died was gone on with: a later one of all its sources came to its end."""
    seen: set[str] = set()
    runs = list_runs(engine, limit=_RUNS)
    for run in runs:
        if run["state"] == "interrupted" and not seen.issuperset(run["sources"]):
            return Finding("last run", False, f"run {run['id']} was interrupted", _again(run["kind"], run["sources"]))
        if run["state"] in ("done", "failed"):
            seen.update(run["sources"])
    return Finding("last run", True, _told(runs[0]) if runs else "there was none", "")


def _told(run: Mapping[str, Any]) -> str:
    """How a run ended, with how many failed."""
    state = "done" if run["state"] == "failed" else run["state"]
    failed = run["counts"].get("failed", 0)
    return f"run {run['id']} was {state}" + (f", {failed:,} failed (footnote runs {run['id']})" if failed else "")


def _again(kind: str, sources: Sequence[str]) -> str:
    """The command that goes on with a run."""
    if kind != "ingest" or ADDED_SOURCE in sources:
        return "footnote reindex" if kind == "reindex" else "footnote runs"
    places = (str(path_of(source)) if source.startswith("file://") else source for source in sources)
    return shlex.join(["footnote", "ingest", *places])


def _stale(connection: Connection, table: str) -> Finding:
    fresh = select(document_indexes.c.document_id).join(
        documents,
        (documents.c.id == document_indexes.c.document_id)
        & (documents.c.content_sha == document_indexes.c.content_sha),
    )
    count = connection.execute(
        select(func.count())
        .select_from(documents)
        .where(documents.c.id.not_in(fresh.where(document_indexes.c.node_table == table)))
    ).scalar_one()
    return Finding("embeddings", count == 0, f"{count} documents lack this model's vectors", "footnote reindex")


def _disk(settings: Settings) -> Finding:
    home = settings.home.resolve()
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    return Finding(
        "disk", free > _FREE_BYTES, f"{free / 1e9:.1f} GB free for {home}", "free some space, or move FOOTNOTE_HOME"
    )


def _repair(engine: Engine, home: Path) -> None:
    """Make again what is derived, and what is left of documents that are gone; no document's words are touched."""
    with engine.begin() as connection:
        recover_originals(connection, home)
        for row in connection.execute(select(embedding_models)).all():
            rows = node_rows(row.node_table)
            owner = rows.c.metadata_["document_id"].astext
            connection.execute(delete(rows).where(~exists().where(documents.c.id == owner)))
            forget_damaged(connection, row.node_table)
            left = lexical_segments.c
            connection.execute(
                delete(lexical_segments).where(
                    left.node_table == row.node_table, ~exists().where(rows.c.node_id == left.node_id)
                )
            )
            if not _is_sound(connection, row.node_table, row.dimension):
                connection.execute(text(f"DROP INDEX IF EXISTS {checked(row.node_table)}_hnsw"))
                connection.execute(text(hnsw_statement(row.node_table, row.dimension)))


def _is_sound(connection: Connection, table: str, dimension: int) -> bool:
    """Whether the vector index of a table is there, of the right kind, and finds what it should."""
    checks = (_vector_index(connection, table), _vector_search(connection, table, dimension))
    return all(each.ok for each in checks) and all(
        check(connection, table, dimension).ok for check in (_recall, _filtered)
    )
