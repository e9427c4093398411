from contextlib import nullcontext
from pathlib import Path

import pytest
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.schema import QueryBundle, TextNode
from llama_index.retrievers.bm25 import BM25Retriever

from pipelines.errors import ModelError
from pipelines.query.retrieve import QueryEmbedder, SearchScope, SparseRetriever, WeightedQuery
from pipelines.query.spelling import corrected
from pipelines.query.trace import Observer
from pipelines.store.index_snapshots import LexicalIndexes
from pipelines.store.lexical_index import BM25Parameters, Segment
from pipelines.store.tokens import tokenise
from pipelines.types import Filters
from tests.fake_corpus import FakeCorpus

TEXTS = {
    "a": "Kubernetes operators in production",
    "b": "production of bread",
    "c": "the bread that operators bake",
}


class ListStore:
    """A store whose nodes are the texts above."""

    def read_snapshot(self):
        return nullcontext()

    def nodes(self, node_ids, *, filters: Filters, audience: str) -> dict[str, TextNode]:
        return {node_id: TextNode(id_=node_id, text=TEXTS[node_id]) for node_id in node_ids}


@pytest.fixture
def indexes(tmp_path: Path) -> LexicalIndexes:
    corpus = FakeCorpus()
    corpus.segments = lambda audience, documents=None: [
        Segment(node_id, node_id, " ".join(tokenise(text))) for node_id, text in TEXTS.items()
    ]
    return LexicalIndexes(tmp_path, corpus, BM25Parameters(pair_weight=0.1))


class Notes(Observer):
    def __init__(self, notes: list[str]) -> None:
        self.note = notes.append


def sparse(indexes: LexicalIndexes, query: QueryBundle, *, typo_weight: float = 0.8):
    notes: list[str] = []
    leg = SparseRetriever(ListStore(), indexes, SearchScope(observer=Notes(notes)), typo_weight=typo_weight)
    return [(found.node.node_id, found.score) for found in leg.retrieve(query)], notes


def test_a_typo_finds_what_the_right_word_finds_for_less_and_is_noted(indexes: LexicalIndexes) -> None:
    right, _ = sparse(indexes, QueryBundle("kubernetes"))
    wrong, notes = sparse(indexes, QueryBundle("Kuberntes"))
    assert [node_id for node_id, _ in wrong] == [node_id for node_id, _ in right] == ["a"]
    assert wrong[0][1] == pytest.approx(0.8 * (1 - 1 / len("kubernetes")) * right[0][1])
    assert notes == ['"Kuberntes" was not found; searched for "kubernetes".']


def test_a_typo_keeps_its_place_among_its_neighbours(indexes: LexicalIndexes) -> None:
    apart, _ = sparse(indexes, QueryBundle("operators. Kuberntes"))
    together, _ = sparse(indexes, QueryBundle("Kuberntes operators"))
    assert together[0][1] > apart[0][1]


def test_without_typo_weight_an_unknown_word_finds_nothing(indexes: LexicalIndexes) -> None:
    assert sparse(indexes, QueryBundle("Kuberntes"), typo_weight=0.0) == ([], [])


@pytest.mark.parametrize("question", ["production operators", "bread", "GPT-4 of bread", "unknowable words"])
def test_a_question_without_typos_is_untouched(indexes: LexicalIndexes, question: str) -> None:
    assert sparse(indexes, QueryBundle(question)) == sparse(indexes, QueryBundle(question), typo_weight=0.0)


def test_term_weights_replace_the_terms_of_the_question(indexes: LexicalIndexes) -> None:
    own, _ = sparse(indexes, QueryBundle("bread"))
    halved, _ = sparse(indexes, WeightedQuery("bread", term_weights={"bread": 0.5}))
    assert halved == [(node_id, pytest.approx(score / 2)) for node_id, score in own]
    other, _ = sparse(indexes, WeightedQuery("bread", term_weights={"kubernet": 1.0}))
    assert [node_id for node_id, _ in other] == ["a"]


def test_a_weighted_query_without_weights_is_the_question(indexes: LexicalIndexes) -> None:
    assert sparse(indexes, WeightedQuery("bread")) == sparse(indexes, QueryBundle("bread"))


def test_the_score_of_a_node_that_was_not_found_is_what_it_would_have_been(indexes: LexicalIndexes) -> None:
    leg, query = SparseRetriever(ListStore(), indexes, similarity_top_k=1), QueryBundle("bread operatrs")
    first = leg.retrieve(query)
    assert len(first) == 1
    assert leg.score(query, [first[0].node.node_id]) == {first[0].node.node_id: first[0].score}
    assert leg.score(QueryBundle("kubernetes"), "ab") == {"a": leg.retrieve("kubernetes")[0].score, "b": 0}


def test_the_sparse_retriever_is_llamaindexs_and_its_number_of_nodes_can_be_changed(indexes: LexicalIndexes) -> None:
    leg = SparseRetriever(ListStore(), indexes)
    assert isinstance(leg, BM25Retriever)
    assert {hit.node.node_id for hit in leg.retrieve("bread")} == {"b", "c"}
    leg.similarity_top_k = 1
    assert len(leg.retrieve("bread")) == 1
    with pytest.raises(NotImplementedError, match="FOOTNOTE_HOME"):
        leg.persist("index")


class Broken(MockEmbedding):
    """A model of another house that fails in its own way."""

    def _get_query_embedding(self, query: str) -> list[float]:
        raise ZeroDivisionError("no light")


def test_whatever_an_embedding_model_raises_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="ZeroDivisionError: no light"):
        QueryEmbedder(Broken(embed_dim=2)).vector(QueryBundle("bread"))


def test_a_text_is_embedded_once_a_request() -> None:
    model = MockEmbedding(embed_dim=2)
    asked = QueryEmbedder(model)
    assert asked.vector(QueryBundle("bread")) is asked.vector(QueryBundle("bread"))
    assert asked.vector(QueryBundle("bread", embedding=[1.0, 0.0])) == [1.0, 0.0]


def test_a_certain_typo_is_corrected_for_all_that_reads_the_question_and_noted(indexes: LexicalIndexes) -> None:
    notes: list[str] = []
    read = corrected("Kuberntes: which operators bake braed?", indexes.current("owner"), notes.append)
    assert read == "Kubernetes: which operators bake bread?"
    assert notes == [
        '"Kuberntes" was not found; searched for "kubernetes".',
        '"braed" was not found; searched for "bread".',
    ]


@pytest.mark.parametrize("question", ["Which operators bake bread?", "What is a krbe of operators?", "A KUBERNTES"])
def test_a_word_that_no_single_edit_explains_stays_as_it_was_typed(indexes: LexicalIndexes, question: str) -> None:
    notes: list[str] = []
    assert corrected(question, indexes.current("owner"), notes.append) == question
    assert notes == []
