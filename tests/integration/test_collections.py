"""Collections: kept by a refresh, set by rules and by the file of sources, and what the verbs do with them."""

import json
from pathlib import Path

import pytest

from config.settings import Settings
from pipelines.errors import RetrievalError
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.query.engine import build_query_engine
from pipelines.store.database import reading
from pipelines.store.runs import current_failures, read_run
from pipelines.types import Filters
from tests.shell import Shell


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "docs"
    (place / "cv").mkdir(parents=True)
    (place / "crane.md").write_text("# Crane\n\nThe harbour crane moved 40 containers an hour.\n")
    (place / "cv" / "notes.md").write_text("# Notes\n\nWritten by hand in the winter.\n")
    return place


def collections(settings: Settings) -> dict[str, str]:
    return {each.name: each.collection for each in build_ingestion(settings).known()}


def with_rules(settings: Settings, *rules: dict[str, str]) -> Settings:
    stated = settings.ingestion.model_validate({**settings.ingestion.model_dump(), "rules": rules})
    return settings.model_copy(update={"ingestion": stated})


def test_a_run_that_names_no_collection_keeps_each_where_it_is(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)], overrides=Overrides(collection="work"))
    (folder / "new.md").write_text("# New\n\nA third one.\n")
    (folder / "crane.md").write_text("# Crane\n\nIt moved 50 containers an hour.\n")
    report = ingest(settings)  # no source is named: every known one
    assert (report.count("added"), report.count("updated")) == (1, 1)
    assert collections(settings) == {"crane.md": "work", "cv/notes.md": "work", "new.md": "work"}


def test_a_removal_ends_a_failure_in_the_documents_own_collection(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)], overrides=Overrides(collection="work"))
    (folder / "crane.md").write_text("")
    assert ingest(settings, [str(folder)]).count("failed") == 1
    (folder / "crane.md").unlink()
    report = ingest(settings, [str(folder)], allow_removals=True)
    assert report.count("removed") == 1
    logged = read_run(build_ingestion(settings).database.engine, report.run_id)["items"]
    assert [(item["document"], item["collection"]) for item in logged] == [("crane.md", "work")]
    with reading(build_ingestion(settings).database.engine, "reading what failed") as connection:
        assert current_failures(connection) == []


def test_a_rule_moves_a_document_to_its_collection_under_the_same_id(folder: Path, settings: Settings) -> None:
    ingest(settings, [str(folder)])
    ids = {each.name: each.id for each in build_ingestion(settings).known()}
    ruled = with_rules(settings, {"match": "cv/*", "collection": "career"})
    report = ingest(ruled, [str(folder)])
    assert (report.count("unchanged"), report.count("removed"), report.count("added")) == (1, 0, 0)
    assert collections(ruled) == {"crane.md": "default", "cv/notes.md": "career"}
    assert {each.name: each.id for each in build_ingestion(ruled).known()} == ids
    found = build_query_engine(ruled).search("winter", filters=Filters(collection=("career",))).results
    assert [each.document_name for each in found] == ["cv/notes.md"]
    assert ingest(ruled, [str(folder)]).count("unchanged") == 2


def test_a_declared_source_states_the_collection_of_its_documents(folder: Path, settings: Settings) -> None:
    file = folder.parent / "sources.toml"
    file.write_text(f"[[source]]\nlocation = {json.dumps(str(folder))}\ncollection = 'declared'\n")
    stated = settings.ingestion.model_copy(update={"sources_file": str(file)})
    settings = settings.model_copy(update={"ingestion": stated})
    ingest(settings)
    assert set(collections(settings).values()) == {"declared"}
    assert ingest(settings).count("unchanged") == 2


def test_the_verbs_narrow_by_collection_and_tell_equal_names_apart(
    folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        ingest(settings, [str(folder)], overrides=Overrides(collection=name))
    shell = Shell(settings, monkeypatch, tmp_path)
    assert len(shell.json("status")["documents"]) == 4
    rows = shell.json("status", "--collection", "one")["documents"]
    assert [(row["document"], row["collection"]) for row in rows] == [("crane.md", "one"), ("cv/notes.md", "one")]
    assert "one         crane.md" in shell("status")[1]
    code, said = shell("remove", "crane.md", "--yes")
    assert (code, "is in 2 collections: one, two. Add --collection." in said) == (2, True)
    assert len(shell.json("reindex", "--collection", "two", "--plan")["steps"]) == 2
    assert shell("remove", "crane.md", "--collection", "two", "--yes")[0] == 0
    assert shell("remove", "--collection", "one", "--yes")[0] == 0
    assert collections(settings) == {"cv/notes.md": "two"}
    assert "Did you mean 'two'?" in shell("status", "--collection", "twoo")[1]
    assert "Did you mean 'cv/notes.md'?" in shell("remove", "cv/note.md")[1]


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        (Filters(collection=("defualt",)), "There is no collection 'defualt'. Did you mean 'default'?"),
        (Filters(kind=("tabel",)), "There is no kind 'tabel'. There are: text."),
        (Filters(author=("Ann Bel",)), "There is no author 'Ann Bel'. Did you mean 'Ann Bell'?"),
        (Filters(document=("crane",)), "There is no document 'crane'. Did you mean 'Crane'?"),
    ],
)
def test_what_nothing_has_is_refused_with_the_nearest(
    folder: Path, settings: Settings, filters: Filters, said: str
) -> None:
    engine = build_query_engine(settings)
    assert not engine.ask("How fast?", filters=filters).answered  # of nothing at all
    (folder / "post.md").write_text("---\nauthor: Ann Bell\n---\n\n# Post\n\nA post.\n")
    ingest(settings, [str(folder)])
    for ask in (engine.ask, engine.search):
        with pytest.raises(RetrievalError) as caught:
            ask("How fast?", filters=filters)
        assert str(caught.value) == said
    assert engine.search("hand", filters=Filters(document=("notes.md",), author=())).results
