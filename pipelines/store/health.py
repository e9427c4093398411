"""Health: the checks of `footnote doctor`, each with the command that repairs it; and unused files."""

import shlex
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, delete, exists, func, select, text

from config.settings import Settings
from pipelines.errors import FootnoteError, StoreError
from pipelines.store.audit import damaged_documents, left_over, missing_originals, recover_originals
from pipelines.store.database import HEAD, Database, open_database, reading
from pipelines.store.documents import ADDED_SOURCE
from pipelines.store.embedding_models import count_missing
from pipelines.store.node_table import (
    checked,
    hnsw_statement,
    node_rows,
    node_table,
    stored_dimension,
    window_rows,
)
from pipelines.store.originals import path_of
from pipelines.store.replica import database_to_read, lag
from pipelines.store.runs import list_runs
from pipelines.store.schema import document_indexes, document_versions, documents, embedding_models, lexical_segments
from pipelines.store.vector_store import FootnoteVectorStore, build_lexical_indexes, build_vector_indexes
from pipelines.types import EmbeddingIdentity
from pipelines.wording import format_count

_SAMPLE = 20  # vectors that are searched for
_SELF = 1e-3  # distance of a vector to itself
_SELF_SHARE = 0.9  # an index may miss a little
_FREE_BYTES = 500_000_000
_LAG = 60.0  # seconds that a replica may be behind
_RUNS = 50  # of the log that are examined
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


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `mend` is the command that repairs it."""

    name: str
    ok: bool
    said: str
    mend: str = ""


def examine(settings: Settings, identity: EmbeddingIdentity, *, fix: bool = False) -> list[Finding]:
    """Run every check of the database and of this model's node table, in order; with `fix`, safe repairs first."""
    home = settings.home.resolve()
    free = shutil.disk_usage(next(folder for folder in (home, *home.parents) if folder.exists())).free
    said = f"{free / 1e9:.1f} GB free for {home}"
    findings = [Finding("disk", free > _FREE_BYTES, said, "free some space, or move FOOTNOTE_HOME")]
    try:
        database = open_database(settings)
    except FootnoteError as error:
        return [*findings, Finding("database", False, error.message, error.hint or "footnote db start")]
    findings.append(Finding("database", True, f"{database.url}, migration {HEAD}"))
    if settings.read_url:
        findings.append(_replica(settings, database))
    if fix:
        _repair(database.engine, home)
    table = node_table(identity.slug)
    with reading(database.engine, "examining the database") as connection:
        version = connection.execute(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")).scalar()
        findings.append(Finding("pgvector", True, f"version {version}"))
        dimension = stored_dimension(connection, table)
        if dimension is None:
            said = f"no document is embedded with {identity.model}"
            findings.append(Finding("nodes", False, said, "footnote ingest FOLDER"))
        else:
            said, mend = f"table {dimension}, model {identity.dimension}", f"FOOTNOTE_EMBEDDING__DIMENSION={dimension}"
            findings.append(Finding("dimension", dimension == identity.dimension, said, mend))
            findings += _checks(connection, home, table, dimension)
    if dimension is not None:
        store = FootnoteVectorStore(database.engine, table, identity.dimension)
        saved, wrong = 0, 0
        for build in (build_lexical_indexes, build_vector_indexes):
            indexes = build(settings, database, store)
            if fix:
                indexes.repair()
            found, damaged = indexes.examine()
            saved, wrong = saved + len(found), wrong + len(damaged)
        count = format_count(saved, "saved index snapshot")
        said = f"{count} checked against the database" if saved else "the next search builds them"
        if wrong:
            said = f"{wrong} of {count} damaged or different from the database"
        findings.append(Finding("saved indexes", not wrong, said, "footnote doctor --fix"))
    return [*findings, _last_run(database.engine)]


def _replica(settings: Settings, database: Database) -> Finding:
    try:
        replica = database_to_read(settings, database).engine
        behind = lag(database.engine, replica)
        replica.dispose()
    except FootnoteError as error:
        return Finding("replica", False, error.message, error.hint or "start that server, or unset FOOTNOTE_READ_URL")
    return Finding("replica", behind.seconds < _LAG, str(behind), "look at the replication of that server")


def _checks(connection: Connection, home: Path, table: str, dimension: int) -> Iterator[Finding]:
    """The checks of a node table, of what all tables hold of the documents, and of the kept files."""
    yield _vector_index(connection, table)
    yield _recall(connection, table, dimension)
    left = Counter(each.kind for each in left_over(connection, table))
    said = f"{format_count(left['orphan'], 'node')} without a document"
    yield Finding("orphans", not left["orphan"], said, "footnote doctor --fix")
    said = f"{format_count(left['duplicate'], 'node')} stored twice"
    yield Finding("duplicates", not left["duplicate"], said, "footnote reindex")
    tables = connection.execute(select(embedding_models.c.node_table)).scalars().all()
    ids = {each for one in tables for each in damaged_documents(connection, one)}
    names = connection.execute(select(documents.c.name).where(documents.c.id.in_(ids)).order_by(documents.c.name))
    some = ", ".join(names.scalars().all()[:3])
    said = f"{format_count(len(ids), 'document')} stored incompletely, such as {some}"
    said = said if ids else "nodes, vectors, terms and texts agree"
    yield Finding("agreement", not ids, said, "footnote doctor --fix, then footnote reindex")
    count = count_missing(connection, table)
    said = f"{format_count(count, 'document')} without vectors of this model"
    yield Finding("embeddings", count == 0, said, "footnote reindex")
    lost = missing_originals(connection, home)
    said = f"{format_count(len(lost), 'document')} without the original, such as {lost[0][0]}" if lost else "all stored"
    yield Finding("originals", not lost, said, "footnote doctor --fix, then footnote ingest --verify")
    found = unused(connection, home)
    yield Finding("unused files", True, f"{found}: footnote doctor --sweep" if found.paths else "none")


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


def _recall(connection: Connection, table: str, dimension: int) -> Finding:
    """Sampled vectors find themselves through the index; many equal vectors can prevent that."""
    windows, found = window_rows(table, dimension).c, 0
    some = select(windows.embedding).order_by(func.md5(windows.node_id)).limit(_SAMPLE)
    sampled = connection.execute(some).scalars().all()
    connection.execute(text("SET LOCAL enable_seqscan = off"))
    for vector in sampled:
        distance = windows.embedding.cosine_distance(vector)
        nearest = connection.execute(select(distance).order_by(distance).limit(1)).scalar()
        found += nearest is not None and float(nearest) <= _SELF
    connection.execute(text("SET LOCAL enable_seqscan = on"))
    said = f"{found} of {len(sampled)} sampled vectors find themselves"
    return Finding("vector recall", found >= _SELF_SHARE * len(sampled), said, "footnote doctor --fix")


def _last_run(engine: Engine) -> Finding:
    """No run was interrupted, unless a later one of all its sources came to its end."""
    seen: set[str] = set()
    runs = list_runs(engine, limit=_RUNS)
    for run in runs:
        if run["state"] == "interrupted" and not seen.issuperset(run["sources"]):
            return Finding("last run", False, f"run {run['id']} was interrupted", _again(run["kind"], run["sources"]))
        if run["state"] in ("done", "failed"):
            seen.update(run["sources"])
    if not runs:
        return Finding("last run", True, "there was none")
    last, failed = runs[0], runs[0]["counts"].get("failed", 0)
    said = f"run {last['id']} was {'done' if last['state'] == 'failed' else last['state']}"
    return Finding("last run", True, f"{said}, {failed:,} failed (footnote runs {last['id']})" if failed else said)


def _again(kind: str, sources: Sequence[str]) -> str:
    """The command that continues a run."""
    if kind != "ingest" or ADDED_SOURCE in sources:
        return "footnote reindex" if kind == "reindex" else "footnote runs"
    places = (str(path_of(source)) if source.startswith("file://") else source for source in sources)
    return shlex.join(["footnote", "ingest", *places])


def _repair(engine: Engine, home: Path) -> None:
    """Rebuild what is derived, and delete what is left of deleted documents; no document's text is changed."""
    with engine.begin() as connection:
        recover_originals(connection, home)
        for row in connection.execute(select(embedding_models)).all():
            rows = node_rows(row.node_table)
            owner = rows.c.metadata_["document_id"].astext
            connection.execute(delete(rows).where(~exists().where(documents.c.id == owner)))
            # without an index row the next run makes a document again; what is left of it is searched until then
            index, damaged = document_indexes.c, damaged_documents(connection, row.node_table)
            of_them = index.document_id.in_(damaged), index.node_table == row.node_table
            connection.execute(delete(document_indexes).where(*of_them))
            terms = lexical_segments.c
            of_no_node = (terms.node_table == row.node_table) & ~exists().where(rows.c.node_id == terms.node_id)
            connection.execute(delete(lexical_segments).where(of_no_node))
            has_index = _vector_index(connection, row.node_table).ok
            if not (has_index and _recall(connection, row.node_table, row.dimension).ok):
                connection.execute(text(f"DROP INDEX IF EXISTS {checked(row.node_table)}_hnsw"))
                connection.execute(text(hnsw_statement(row.node_table, row.dimension)))
