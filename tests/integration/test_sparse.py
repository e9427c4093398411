import pytest
from sqlalchemy import select, update

from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.schema import lexical_segments
from pipelines.store.tokens import TOKENISER_VERSION
from tests.conftest import Ingested, MakeSettings

DOCUMENTS = {
    "crane.md": "# Harbour crane\n\nA controller in C++.\n\n# Afterwards\n\nIt ran on Kubernetes for six years.\n",
    "notes.md": "# Notes\n\nA walk to the harbour, past a crane, and home.\n\n# Tea\n\nIt was hot.\n",
    "bread.md": "# Bread\n\nThe harbour bakery sells rye bread.\n\n# Rye\n\nRye keeps for a week.\n",
}


@pytest.fixture
def engine(ingested: Ingested, make_settings: MakeSettings) -> QueryEngine:
    return build_query_engine(make_settings(ingested(DOCUMENTS)[1]))


def test_a_segment_parts_the_terms_of_the_header_from_those_of_the_text(engine: QueryEngine) -> None:
    segments = [held.terms for held in engine.store.segments("owner")]
    assert any(segment.startswith("harbour crane") and "\t" in segment for segment in segments)
    assert all(segment.count("\t") == 1 for segment in segments)


def test_segments_of_an_older_tokeniser_are_made_again(engine: QueryEngine) -> None:
    fresh = [*engine.store.segments("owner")]
    with engine.database.engine.begin() as connection:
        connection.execute(update(lexical_segments).values(tokens="harbour", tokeniser=TOKENISER_VERSION - 1))
        assert connection.execute(select(lexical_segments.c.tokens)).scalars().all() == ["harbour"] * len(fresh)
    assert [*engine.store.segments("owner")] == fresh


def test_headers_and_pairs_count_as_the_settings_say(engine: QueryEngine) -> None:
    plain = engine.with_changes({"retrieval.header_weight": 1, "retrieval.pair_weight": 0.0})
    titled = engine.with_changes({"retrieval.header_weight": 5, "retrieval.pair_weight": 0.0})
    paired = engine.with_changes({"retrieval.header_weight": 1, "retrieval.pair_weight": 1.0})
    before, headed, near = (
        dict(each.indexes.refresh("owner").search(["harbour", "crane"], 20)) for each in (plain, titled, paired)
    )
    (node,) = (hit.node.node_id for hit in plain.rank("crane", k=20, mode="sparse") if "C++" in hit.node.text)
    assert headed[node] > before[node]
    assert near[node] > before[node]


def test_a_typo_is_found_and_the_reader_is_told(engine: QueryEngine) -> None:
    typing = engine.with_changes({"retrieval.typo_weight": 0.8})
    report = typing.search("Kuberntes", mode="sparse")
    assert [result.document_name for result in report.results] == ["crane.md"]
    assert any('"Kuberntes" was not found; searched for "kubernetes".' in note for note in report.trace.notes)
    assert typing.search("Kubernetes", mode="sparse").trace.notes == ()
