"""Health: the checks of `footnote doctor`, each with the command that repairs it; and unused files."""

import shlex
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, delete, exists, func, select, text

from config.settings import Settings
from pipelines.errors import FootnoteError, StoreError
from pipelines.store.audit import damaged_documents, forget_damaged, left_over, missing_originals, recover_originals
from pipelines.store.database import HEAD, Database, open_database, reading
from pipelines.store.documents import ADDED_SOURCE
from pipelines.store.embedding_models import count_missing
from pipelines.store.node_table import (
    HALFVEC_ABOVE,
    checked,
    hnsw_statement,
    node_rows,
    node_table,
    stored_dimension,
    window_rows,
)
from pipelines.store.originals import path_of
from pipelines.store.runs import list_runs
from pipelines.store.schema import document_versions, documents, embedding_models, lexical_segments
from pipelines.store.vector_store import FootnoteVectorStore, build_lexical_indexes
from pipelines.types import EmbeddingIdentity
from pipelines.wording import format_count

_SAMPLE, _FILTERED, _CATEGORIES = 20, 5, 4
_FIRST = 10
_LOOK = "200"  # vectors that the index examines, as for a search of ten
_SAME = 1e-6  # distances are computed twice
_SELF = 1e-3  # of a vector to itself


_A_DAY = 86_400.0  # seconds; a run keeps an original before it writes its document


@dataclass(frozen=True, slots=True)
class Unused:
    """Files that can go, and their size in bytes."""

    paths: tuple[Path, ...]
    size: int

    def __str__(self) -> str:
        return f"{len(self.paths):,} files, {self.size / 1e6:,.1f} MB"


def unused(connection: Connection, home: Path) -> Unused:
    """The originals that no document and no kept version names, and the files of interrupted writes, by path.

    Files of the last day are left out, because a run may be about to need them. Another database that shares the home
    is not considered.
    """
    version = document_versions.c.row["file_sha"].astext
    shas = select(documents.c.file_sha).union(select(version))
    needed = set(connection.execute(shas).scalars())
    before = time.time() - _A_DAY
    paths, size = [], 0
    for path in sorted([*(home / "originals").glob("*/*"), *(home / "fetched").glob("**/.new-*")]):
        try:
            info = path.stat()
        except OSError:
            continue  # another process finished with it
        if path.name not in needed and info.st_mtime < before:
            paths.append(path)
            size += info.st_size
    return Unused(tuple(paths), size)


def sweep(connection: Connection, home: Path, agreed: Unused) -> Unused:
    """Delete the agreed files that are still unused, and return them.

    Raises:
        StoreError: If a file cannot be deleted.
    """
    chosen = set(agreed.paths)
    gone = tuple(path for path in unused(connection, home).paths if path in chosen)
    size = 0
    for path in gone:
        try:
            size += path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            continue  # another process deleted it
        except OSError as error:
            hint = "Check the permissions of FOOTNOTE_HOME."
            raise StoreError(f"{path} cannot be deleted: {error.strerror}.", hint=hint) from error
    return Unused(gone, size)


_FREE_BYTES = 500_000_000
_RUNS = 50  # of the log that are examined
_SELF_SHARE, _FILTERED_SHARE = 0.9, 0.9  # an index may miss a little


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `mend` is the command that repairs it."""

    name: str
    ok: bool
    said: str
    mend: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON."""
        return asdict(self)


def examine(settings: Settings, identity: EmbeddingIdentity, *, fix: bool = False) -> list[Finding]:
    """Run every check of the database and of this model's node table, in order; with `fix`, safe repairs first."""
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
        has_nodes = stored_dimension(connection, node_table(identity.slug)) is not None
    if has_nodes:
        findings.append(_lexical_index(settings, database, identity, fix=fix))
    return [*findings, _last_run(database.engine)]


def _checks(connection: Connection, settings: Settings, identity: EmbeddingIdentity) -> Iterator[Finding]:
    version = connection.execute(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")).scalar()
    yield Finding("pgvector", True, f"version {version}")
    table = node_table(identity.slug)
    if stored_dimension(connection, table) is None:
        yield Finding("nodes", False, f"no document is embedded with {identity.model}", "footnote ingest FOLDER")
        return
    yield _dimension(connection, table, identity)
    yield _vector_index(connection, table)
    yield _vector_search(connection, table, identity.dimension)
    yield _recall(connection, table, identity.dimension)
    yield _filtered(connection, table, identity.dimension)
    left = Counter(each.kind for each in left_over(connection, table))
    said = f"{format_count(left['orphan'], 'node')} without a document"
    yield Finding("orphans", not left["orphan"], said, "footnote doctor --fix")
    said = f"{format_count(left['duplicate'], 'node')} stored twice"
    yield Finding("duplicates", not left["duplicate"], said, "footnote reindex")
    yield _agreement(connection)
    yield _stale(connection, table)
    yield _originals(connection, settings)
    yield _unused(connection, settings)


def _lexical_index(settings: Settings, database: Database, identity: EmbeddingIdentity, *, fix: bool) -> Finding:
    store = FootnoteVectorStore(database.engine, node_table(identity.slug), identity.dimension)
    indexes = build_lexical_indexes(settings, database, store)
    if fix:
        indexes.repair()
    saved, wrong = indexes.examine()
    count = format_count(len(saved), "BM25 snapshot")
    said = f"{count} checked against the database" if saved else "the next search builds it"
    if wrong:
        said = f"{len(wrong)} of {count} damaged or different from the database"
    return Finding("lexical index", not wrong, said, "footnote doctor --fix")


def _dimension(connection: Connection, table: str, identity: EmbeddingIdentity) -> Finding:
    stored = stored_dimension(connection, table)
    said = f"table {stored}, model {identity.dimension}"
    return Finding("dimension", stored == identity.dimension, said, f"FOOTNOTE_EMBEDDING__DIMENSION={stored}")


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
    """The planner can use the vector index, whatever the size of the table."""
    kind = "halfvec" if dimension > HALFVEC_ABOVE else "vector"
    with _scanning(connection, "enable_seqscan"):
        rows = connection.execute(
            text(
                f"EXPLAIN SELECT node_id FROM {checked(table)}_windows "  # noqa: S608 - both names are ours
                f"ORDER BY embedding <=> CAST(:v AS {kind}) LIMIT 5"
            ),
            {"v": "[" + ",".join(["0.1"] * dimension) + "]"},
        ).scalars()
        used = any("hnsw" in row for row in rows)
    return Finding("vector search", used, "uses the index" if used else "scans every row", "footnote doctor --fix")


def _recall(connection: Connection, table: str, dimension: int) -> Finding:
    """Sampled vectors find themselves through the index; many equal vectors can prevent that."""
    sampled = _sampled(connection, table, dimension, _SAMPLE)
    nearest = [_nearest(connection, table, dimension, vector, through_index=True) for vector in sampled]
    found, of = sum(bool(near) and near[0] <= _SELF for near in nearest), len(sampled)
    said = f"{found} of {of} sampled vectors find themselves"
    return Finding("vector recall", found >= _SELF_SHARE * of, said, "footnote doctor --fix")


def _filtered(connection: Connection, table: str, dimension: int) -> Finding:
    """A search through the index, filtered by each of the rarest categories, finds what an exact scan finds."""
    found = of = 0
    category = node_rows(table).c.metadata_["category"].astext
    rarest = select(category).group_by(category).order_by(func.count(), category).limit(_CATEGORIES)
    sampled = _sampled(connection, table, dimension, _FILTERED)
    for wanted in connection.execute(rarest).scalars().all():
        for vector in sampled:
            exact = _nearest(connection, table, dimension, vector, wanted, through_index=False)
            near = _nearest(connection, table, dimension, vector, wanted, through_index=True)
            of += len(exact)
            found += sum(distance <= exact[-1] + _SAME for distance in near)
    said = f"{found} of the {of} that an exact scan finds"
    return Finding("filtered search", found >= _FILTERED_SHARE * of, said, "footnote doctor --fix")


def _sampled(connection: Connection, name: str, dimension: int, count: int) -> Sequence[Any]:
    windows = window_rows(name, dimension).c
    return (
        connection.execute(select(windows.embedding).order_by(func.md5(windows.node_id)).limit(count)).scalars().all()
    )


def _nearest(
    connection: Connection, name: str, dimension: int, vector: Any, category: str = "", *, through_index: bool
) -> Sequence[float]:
    """The distances of the first ten, nearest first; of one category if it is given."""
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
    """Disable one kind of scan for the statements inside, in this transaction."""
    switch = "SELECT set_config(:name, :value, true)"
    connection.execute(text(switch), {"name": without, "value": "off"})
    yield
    connection.execute(text(switch), {"name": without, "value": "on"})


def _agreement(connection: Connection) -> Finding:
    """The tables of all models agree with the texts."""
    tables = connection.execute(select(embedding_models.c.node_table).order_by(embedding_models.c.node_table))
    ids = {each for table in tables.scalars().all() for each in damaged_documents(connection, table)}
    names = connection.execute(select(documents.c.name).where(documents.c.id.in_(ids)).order_by(documents.c.name))
    some = ", ".join(names.scalars().all()[:3])
    said = (
        f"{format_count(len(ids), 'document')} stored incompletely, such as {some}"
        if ids
        else "nodes, vectors, terms and texts agree"
    )
    return Finding("agreement", not ids, said, "footnote doctor --fix, then footnote reindex")


def _originals(connection: Connection, settings: Settings) -> Finding:
    missing = missing_originals(connection, settings.home.resolve())
    said = (
        f"{format_count(len(missing), 'document')} without the original, such as {missing[0][0]}"
        if missing
        else "all stored"
    )
    return Finding("originals", not missing, said, "footnote doctor --fix, then footnote ingest --verify")


def _unused(connection: Connection, settings: Settings) -> Finding:
    found = unused(connection, settings.home.resolve())
    said = f"{found}: footnote doctor --sweep" if found.paths else "none"
    return Finding("unused files", True, said)


def _last_run(engine: Engine) -> Finding:
    """No run was interrupted, unless a later one of all its sources came to its end."""
    seen: set[str] = set()
    runs = list_runs(engine, limit=_RUNS)
    for run in runs:
        if run["state"] == "interrupted" and not seen.issuperset(run["sources"]):
            return Finding("last run", False, f"run {run['id']} was interrupted", _again(run["kind"], run["sources"]))
        if run["state"] in ("done", "failed"):
            seen.update(run["sources"])
    return Finding("last run", True, _result(runs[0]) if runs else "there was none", "")


def _result(run: Mapping[str, Any]) -> str:
    """How a run ended, with the number of failures."""
    state = "done" if run["state"] == "failed" else run["state"]
    failed = run["counts"].get("failed", 0)
    return f"run {run['id']} was {state}" + (f", {failed:,} failed (footnote runs {run['id']})" if failed else "")


def _again(kind: str, sources: Sequence[str]) -> str:
    """The command that continues a run."""
    if kind != "ingest" or ADDED_SOURCE in sources:
        return "footnote reindex" if kind == "reindex" else "footnote runs"
    places = (str(path_of(source)) if source.startswith("file://") else source for source in sources)
    return shlex.join(["footnote", "ingest", *places])


def _stale(connection: Connection, table: str) -> Finding:
    count = count_missing(connection, table)
    return Finding(
        "embeddings", count == 0, f"{format_count(count, 'document')} without vectors of this model", "footnote reindex"
    )


def _disk(settings: Settings) -> Finding:
    home = settings.home.resolve()
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    return Finding(
        "disk", free > _FREE_BYTES, f"{free / 1e9:.1f} GB free for {home}", "free some space, or move FOOTNOTE_HOME"
    )


def _repair(engine: Engine, home: Path) -> None:
    """Rebuild what is derived, and delete what is left of deleted documents; no document's text is changed."""
    with engine.begin() as connection:
        recover_originals(connection, home)
        for row in connection.execute(select(embedding_models)).all():
            rows = node_rows(row.node_table)
            owner = rows.c.metadata_["document_id"].astext
            connection.execute(delete(rows).where(~exists().where(documents.c.id == owner)))
            forget_damaged(connection, row.node_table)
            terms = lexical_segments.c
            of_no_node = (terms.node_table == row.node_table) & ~exists().where(rows.c.node_id == terms.node_id)
            connection.execute(delete(lexical_segments).where(of_no_node))
            if not _is_sound(connection, row.node_table, row.dimension):
                connection.execute(text(f"DROP INDEX IF EXISTS {checked(row.node_table)}_hnsw"))
                connection.execute(text(hnsw_statement(row.node_table, row.dimension)))


def _is_sound(connection: Connection, table: str, dimension: int) -> bool:
    """True if the vector index of a table exists, is of the right kind, and finds what it should."""
    checks = (_vector_search, _recall, _filtered)
    return _vector_index(connection, table).ok and all(check(connection, table, dimension).ok for check in checks)
