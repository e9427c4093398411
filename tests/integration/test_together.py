"""Documents that are embedded and written together end as if each had come alone."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.embeddings import BaseEmbedding
from pydantic import Field
from sqlalchemy import text

from config.settings import EmbeddingSettings, Settings
from pipelines.errors import ModelError, ServiceUnavailable
from pipelines.ingestion.run import Ingestion, build_ingestion, ingest
from pipelines.models.embedding import hashed_vector
from pipelines.types import Filters, IngestItem, IngestReport
from tests.fake_openai import FakeOpenAI, Fault

COUNT = 30


class Fragile(BaseEmbedding):
    """Hashed vectors, but some texts it refuses, and with them the whole request."""

    dimension: int = 256
    asked: list[int] = Field(default_factory=list)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self.asked.append(len(texts))
        if any("poison" in one for one in texts):
            raise ModelError("The model refuses this text.", hint="Take it out.")
        return [self._get_query_embedding(one) for one in texts]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        vector = hashed_vector(query, self.dimension)
        return [float("nan") if "venom" in query else float(value) for value in vector]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(COUNT):
        body = f"Passage {number} tells of kiln number {number}, and of what was fired in it that year. " * 6
        (tmp_path / f"{number:02}.md").write_text(f"# Kiln {number}\n\n{body}\n\n## After\n\nThe end of {number}.\n")
    (tmp_path / "resume.md").write_text(
        "# Ann Lee\n\n## Experience\n\nPotter at Acme\nMay 2019 - Jul 2022\n\nFired kilns.\n\n"
        "## Education\n\nMIT\n\n## Skills\n\nClay\n"
    )
    return tmp_path


@pytest.fixture
def fragile(settings: Settings) -> Ingestion:
    ingestion = build_ingestion(settings)
    ingestion.embed_model = Fragile(model_name="fragile", embed_batch_size=50)
    return ingestion


def rows(ingestion: Ingestion) -> dict[str, list[Any]]:
    """What every table holds, but for moments and numbers that no two runs share."""
    store = ingestion.store
    statements = {
        "nodes": "SELECT node_id, text, metadata_ - 'ingested_at' - '_node_content', embedding::text "
        f"FROM data_{store.table}",
        "windows": f"SELECT node_id, place, embedding::text FROM {store.table}_windows",
        "segments": "SELECT node_table, node_id, document_id, tokeniser, tokens FROM lexical_segments",
        "families": "SELECT member, kind, document_id, family, encode(signature, 'hex'), bands FROM families",
        "facts": "SELECT document_id, ordinal, kind, organisation, title, record FROM facts",
        "documents": "SELECT to_jsonb(documents) - 'ingested_at' FROM documents",
        "indexes": "SELECT * FROM document_indexes",
        "cache": "SELECT model, text_sha, encode(vector, 'hex') FROM embedding_cache",
        "items": "SELECT document, outcome, nodes, embedded, document_id, version_id IS NULL FROM ingest_items",
        "changes": "SELECT 1 + version - (SELECT min(version) FROM corpus_changes) FROM corpus_changes",
        "version": "SELECT version FROM corpus_version",
    }
    with store.engine.connect() as connection:
        held = {name: connection.execute(text(statement)).all() for name, statement in statements.items()}
    return {name: sorted(map(str, found)) for name, found in held.items()}


def outcomes(report: IngestReport) -> dict[str, str]:
    return {item.document: item.outcome for item in report.items}


def flow_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("flow-")]


def test_documents_that_come_together_leave_the_rows_of_documents_that_come_alone(
    folder: Path, make_settings: Callable[..., Settings]
) -> None:
    alone, together = (
        build_ingestion(make_settings(embedding=EmbeddingSettings(provider="hashed", batch_size=size)))
        for size in (1, 50)
    )
    for ingestion in (alone, together):
        ingestion.run(ingestion.plan([str(folder)]))
        for number in range(0, COUNT, 2):
            path = folder / f"{number:02}.md"
            path.write_text(path.read_text().replace("## After", "## Later"))
        (folder / "01.md").unlink()
        ingestion.run(ingestion.plan([str(folder)], allow_removals=True))
        for number in range(0, COUNT, 2):
            path = folder / f"{number:02}.md"
            path.write_text(path.read_text().replace("## Later", "## After"))
        (folder / "01.md").write_text((folder / "03.md").read_text().replace("3", "1"))
    one, other = rows(alone), rows(together)
    assert {name: len(held) for name, held in one.items()} == {name: len(held) for name, held in other.items()}
    assert one == other
    assert one["facts"]


def test_a_text_that_two_documents_of_a_group_share_is_embedded_and_counted_once(
    fragile: Ingestion, tmp_path: Path
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.md").write_text("# The same\n\nThe very same words in each of them.")
    (tmp_path / "d.md").write_text("# Another\n\nOther words.")
    report = fragile.run(fragile.plan([str(tmp_path)]))
    assert report.count("added") == 4
    assert report.embedded == sum(item.embedded for item in report.items) == 2
    assert sum(fragile.embed_model.asked) == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("word", "stage", "error"), [("poison", "embed", "ModelError"), ("venom", "store", "StoreError")]
)
def test_one_bad_document_of_a_group_fails_alone(
    folder: Path, fragile: Ingestion, word: str, stage: str, error: str
) -> None:
    (folder / "07.md").write_text(f"A {word} that spoils whatever it comes together with.")
    report = fragile.run(fragile.plan([str(folder)]))
    (failed,) = [item for item in report.items if item.outcome == "failed"]
    assert (failed.document, failed.stage, failed.error) == ("07.md", stage, error)
    assert report.count("added") == COUNT
    assert not flow_threads()
    (folder / "07.md").write_text("Harmless words.")
    assert outcomes(fragile.run(fragile.plan([str(folder)])))["07.md"] == "added"


def test_items_come_as_they_are_committed_and_in_the_thread_that_asked(folder: Path, settings: Settings) -> None:
    ingestion = build_ingestion(settings)
    here, seen = threading.get_ident(), list[str]()

    def progress(done: int, total: int, item: IngestItem) -> None:
        assert threading.get_ident() == here
        assert total == COUNT + 1
        seen.append(item.document)
        assert done == len(seen)
        with ingestion.database.engine.connect() as other:
            stored = other.execute(text("SELECT count(*) FROM documents WHERE name = :name"), {"name": item.document})
            assert stored.scalar() == 1

    ingestion.run(ingestion.plan([str(folder)]), on_progress=progress)
    assert len(seen) == COUNT + 1


def test_a_stop_ends_after_what_is_under_way_is_written(folder: Path, make_settings: Callable[..., Settings]) -> None:
    ingestion = build_ingestion(make_settings(embedding=EmbeddingSettings(provider="hashed", batch_size=1)))
    report = ingestion.run(ingestion.plan([str(folder)]), on_progress=lambda *_: ingestion.stop.set())
    assert report.stopped
    assert 1 <= len(report.items) < COUNT
    assert {item.outcome for item in report.items} == {"added"}
    with ingestion.database.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM documents")).scalar() == len(report.items)
        assert connection.execute(text("SELECT state FROM ingest_runs")).scalar() == "stopped"
    assert not flow_threads()
    ingestion.stop.clear()
    rest = ingestion.run(ingestion.plan([str(folder)]))
    assert (rest.count("added"), rest.count("unchanged")) == (COUNT + 1 - len(report.items), len(report.items))


def remote(make_settings: Callable[..., Settings], server: FakeOpenAI) -> Settings:
    asked = EmbeddingSettings(
        provider="openai", model="fake", dimension=8, batch_size=10, pause_ms=0, retries=0, timeout_seconds=0.5
    )
    return make_settings(embedding=asked, openai_api_key="k", openai_api_base=server.url)


def test_a_request_that_is_refused_is_asked_again_for_each_document_of_its_group(
    folder: Path, make_settings: Callable[..., Settings]
) -> None:
    with FakeOpenAI(dimension=8) as server:
        settings = remote(make_settings, server)
        server.fail(Fault("status", status=429, texts=5))  # of several documents: each of them has two
        report = ingest(settings, [str(folder)])
        met = next(at for at, request in enumerate(server.requests) if len(request.body["input"]) >= 5)
        refused, plain, *singly = server.requests[met:]
        assert report.count("added") == COUNT + 1
        assert len(plain.body["input"]) == 1  # which is answered, so that the texts may be at fault
        assert [text for request in singly for text in request.body["input"]][: len(refused.body["input"])] == (
            refused.body["input"]
        )
        assert report.embedded == total(settings)


def test_a_model_that_is_gone_ends_the_run_and_the_next_one_pays_only_for_the_rest(
    folder: Path, make_settings: Callable[..., Settings]
) -> None:
    with FakeOpenAI(dimension=8) as server:
        settings = remote(make_settings, server)
        server.fail(*[Fault("shuffled")] * 3, Fault("slow", seconds=1.5))
        ingestion = build_ingestion(settings)
        with pytest.raises(ServiceUnavailable):
            ingestion.run(ingestion.plan([str(folder)]))
        assert not flow_threads()
        with ingestion.database.engine.connect() as connection:
            finished = connection.execute(text("SELECT count(*) FROM documents")).scalar_one()
        paid, asked = total(settings), len(server.requests)
        report = ingest(settings, [str(folder)])
        assert asked == 4  # and nothing more once one was not answered
        assert 1 <= finished < COUNT
        assert (report.count("unchanged"), report.count("added")) == (finished, COUNT + 1 - finished)
        assert report.embedded == total(settings) - paid


def total(settings: Settings) -> int:
    with build_ingestion(settings).database.engine.connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM embedding_cache")).scalar_one())


def index_of(ingestion: Ingestion) -> str | None:
    with ingestion.database.engine.connect() as connection:
        name = connection.execute(text("SELECT to_regclass(:name)::text"), {"name": f"{ingestion.store.table}_hnsw"})
        return name.scalar()


def many(folder: Path, numbers: Sequence[int]) -> None:
    for number in numbers:
        (folder / f"many-{number:03}.txt").write_text(f"Short text about subject number {number}.")


def test_the_vector_index_is_made_of_the_whole_after_many_documents(settings: Settings, tmp_path: Path) -> None:
    many(tmp_path, range(260))
    ingestion = build_ingestion(settings)
    during: list[str | None] = []
    ingestion.run(ingestion.plan([str(tmp_path)]), on_progress=lambda *_: during.append(index_of(ingestion)))
    assert set(during) == {None}
    assert index_of(ingestion) == f"{ingestion.store.table}_hnsw"
    many(tmp_path, [300])
    ingestion.run(ingestion.plan([str(tmp_path)]), on_progress=lambda *_: during.append(index_of(ingestion)))
    assert during[-1] == f"{ingestion.store.table}_hnsw"


def test_a_run_that_breaks_off_leaves_the_documents_to_be_found_and_the_next_run_makes_the_index(
    settings: Settings, tmp_path: Path
) -> None:
    many(tmp_path, range(260))
    ingestion = build_ingestion(settings)

    def break_off(done: int, _total: int, _item: IngestItem) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingestion.run(ingestion.plan([str(tmp_path)]), on_progress=break_off)
    assert not flow_threads()
    assert index_of(ingestion) is None
    ids = ingestion.store.matching_ids(Filters(), "owner")
    assert ids
    vector = ingestion.embed_model.get_query_embedding("Short text about subject")
    assert len(ingestion.store.nearest(vector, 5, look=50, filters=Filters(), audience="owner")) == min(5, len(ids))
    ingestion.run(ingestion.plan([str(tmp_path / "many-000.txt")]))
    assert index_of(ingestion) == f"{ingestion.store.table}_hnsw"


def test_many_documents_are_removed_together_and_each_keeps_its_version(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    ingestion = build_ingestion(settings)
    ids = [known.id for known in ingestion.known()]
    report = ingestion.remove(ids)
    assert report.count("removed") == len(ids)
    assert sum(item.nodes for item in report.items) > len(ids)
    held = rows(ingestion)
    assert not any(held[name] for name in ("nodes", "windows", "segments", "families", "facts", "documents", "indexes"))
    with ingestion.database.engine.connect() as connection:
        kept = connection.execute(text("SELECT count(*), count(run_id) FROM document_versions")).one()
        logged = connection.execute(
            text("SELECT count(version_id) FROM ingest_items WHERE outcome = 'removed'")
        ).scalar()
    assert tuple(kept) == (len(ids), len(ids))
    assert logged == len(ids)
