"""What each cut takes out."""

from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.schema import NodeWithScore

from pipelines.query.postprocess.cut import DocumentQuota, MinScore, TopN
from pipelines.query.postprocess.duplicates import DuplicateFilter, jaccard, near_duplicates
from pipelines.query.trace import Ledger
from tests.unit.query.builders import hit

LONG = "Marit moved thirty eight thousand sensors to the new gateway in fourteen months without losing a single reading"


def ledger_of(nodes: list[NodeWithScore]) -> Ledger:
    ledger = Ledger()
    ledger.fused(nodes)
    return ledger


def ids(nodes: list[NodeWithScore]) -> list[str]:
    return [one.node.node_id for one in nodes]


def test_a_text_that_repeats_an_earlier_one_is_found() -> None:
    assert near_duplicates([LONG, "something else", LONG.upper()]) == {2: 0}


def test_two_jobs_that_differ_in_their_dates_stay_two() -> None:
    assert near_duplicates(["Engineer at Acme 2019 2020", "Engineer at Acme 2021 2022"]) == {}


@given(st.lists(st.lists(st.sampled_from("abcdefghijklmnop"), min_size=1, max_size=14), max_size=8))
def test_the_short_cut_to_duplicates_finds_what_comparing_all_pairs_finds(texts: list[list[str]]) -> None:
    expected: dict[int, int] = {}
    for place, text in enumerate(texts):
        for earlier in range(place):
            if earlier not in expected and jaccard(frozenset(text), frozenset(texts[earlier])) >= 0.8:
                expected.setdefault(place, earlier)
    assert near_duplicates([" ".join(text) for text in texts], threshold=0.8) == expected


def test_duplicates_keeps_the_best_ranked_and_tells_the_ledger() -> None:
    nodes = [hit("a", LONG), hit("b", LONG), hit("c", "other words")]
    ledger = ledger_of(nodes)
    assert ids(DuplicateFilter(observer=ledger).postprocess_nodes(nodes)) == ["a", "c"]
    assert ledger.candidate("b").fate == "cut: duplicate"


OTHER = (
    "She then wrote the search engine that shows the page on which each of its answers stands in the manual of a ship"
)


def copies_of(nodes: list[NodeWithScore], **families: str) -> tuple[list[str], Ledger]:
    ledger = ledger_of(nodes)
    return ids(DuplicateFilter(observer=ledger, families=lambda _: families).postprocess_nodes(nodes)), ledger


def test_of_near_copies_the_best_ranked_is_shown_and_stands_for_the_others() -> None:
    nodes = [
        hit("a", f"{LONG} {OTHER}", document_id="pdf"),
        hit("b", OTHER, document_id="docx"),
        hit("c", f"{OTHER} at sea with all her crew", document_id="blog"),
    ]
    shown, ledger = copies_of(nodes, pdf="resume", docx="resume")
    assert shown == ["a", "c"]
    assert (ledger.candidate("a").also_in, ledger.candidate("b").fate) == (("docx",), "cut: duplicate")
    assert copies_of(nodes)[0] == ["a", "b", "c"]


def test_a_near_copy_may_be_said_by_several_nodes_of_the_other_version() -> None:
    nodes = [hit("a", LONG, document_id="pdf"), hit("b", OTHER, document_id="pdf"),
             hit("c", f"{LONG} {OTHER}", document_id="docx")]  # fmt: skip
    assert copies_of(nodes, pdf="resume", docx="resume")[0] == ["a", "b"]


def test_what_only_the_other_version_says_is_never_lost() -> None:
    nodes = [hit("a", LONG, document_id="new"), hit("b", OTHER, document_id="old")]
    assert copies_of(nodes, new="resume", old="resume")[0] == ["a", "b"]


def test_nodes_of_one_document_are_no_versions_of_each_other() -> None:
    nodes = [hit("a", f"{LONG} {OTHER}", document_id="pdf"), hit("b", OTHER, document_id="pdf")]
    assert copies_of(nodes, pdf="resume")[0] == ["a", "b"]


def test_near_copies_of_nodes_in_different_documents_are_shown_once() -> None:
    nodes = [hit("a", f"{LONG} {OTHER}", document_id="readme"), hit("b", OTHER, document_id="post")]
    shown, ledger = copies_of(nodes, a="note", b="note")
    assert (shown, ledger.also_in(["a"], "readme")) == (["a"], ("post",))


def test_a_kept_node_stands_for_all_documents_of_its_copies() -> None:
    nodes = [hit("a", LONG, document_id="d1"), hit("b", LONG, document_id="d2"), hit("c", LONG, document_id="d1"),
             hit("d", LONG, document_id="d3")]  # fmt: skip
    shown, ledger = copies_of(nodes)
    assert (shown, ledger.candidate("a").also_in) == (["a"], ("d2", "d3"))


def test_the_ledger_keeps_where_the_copies_stand_that_a_node_stands_for() -> None:
    nodes = [
        hit("a", LONG, document_id="d1"),
        hit("b", LONG, document_id="d2", start=40),
        hit("c", LONG, document_id="d2"),
    ]
    _, ledger = copies_of(nodes)
    assert ledger.copies(["a"], "d1") == (("d2", 40, 40 + len(LONG)), ("d2", 0, len(LONG)))
    assert ledger.also_in(["a"], "d1") == ("d2",)


def test_results_less_similar_than_the_least_are_cut_and_those_without_a_similarity_stay() -> None:
    nodes = [hit(name, f"text {name}", score) for name, score in (("a", 0.9), ("b", 0.8), ("c", 0.7))]
    ledger = ledger_of(nodes)
    ledger.similar({"a": 0.3, "b": 0.29})
    step = MinScore(observer=ledger, least=0.3, similarity=ledger.similarity)
    assert ids(step.postprocess_nodes(nodes)) == ["a", "c"]
    assert ledger.candidate("b").fate == "cut: min_score"


def test_quota_leaves_room_for_other_documents() -> None:
    nodes = [hit("a"), hit("b"), hit("c"), hit("x", document_id="e"), hit("y", document_id="e")]
    ledger = ledger_of(nodes)
    assert ids(DocumentQuota(observer=ledger, per_document=2).postprocess_nodes(nodes)) == ["a", "b", "x", "y"]
    assert ledger.candidate("c").fate == "cut: quota"


def test_there_is_no_quota_where_too_few_documents_share_the_places() -> None:
    nodes = [hit("a"), hit("b"), hit("c"), hit("x", document_id="e")]
    for among, kept in ((3, ["a", "b", "c", "x"]), (2, ["a", "b", "x"])):
        assert ids(DocumentQuota(per_document=2, among=among).postprocess_nodes(nodes)) == kept


def test_a_document_that_the_question_names_has_no_quota() -> None:
    nodes = [hit("a"), hit("b"), hit("x", document_id="e"), hit("y", document_id="e")]
    assert ids(DocumentQuota(observer=Ledger(), per_document=1, named=("d",)).postprocess_nodes(nodes)) == [
        "a",
        "b",
        "x",
    ]


def test_what_is_past_the_number_asked_for_says_so() -> None:
    nodes = [hit("a"), hit("b"), hit("c")]
    ledger = ledger_of(nodes)
    assert ids(TopN(observer=ledger, top_n=2).postprocess_nodes(nodes)) == ["a", "b"]
    assert ledger.candidate("c").fate == "cut: top_n"


def test_of_several_named_documents_the_best_of_each_is_among_the_top() -> None:
    documents = ["x", "x", "y", "x", "z", "z"]
    nodes = [hit(str(place), document_id=document) for place, document in enumerate(documents)]
    for named, kept in [(("x", "z"), ["0", "1", "4"]), (("z",), ["0", "1", "2"]), (("x", "gone"), ["0", "1", "2"])]:
        top = TopN(observer=ledger_of(nodes), top_n=3, named=named)
        assert ids(top.postprocess_nodes(nodes)) == kept
    assert ids(TopN(top_n=2, named=("x", "y", "z")).postprocess_nodes(nodes)) == ["0", "2"]


def test_texts_without_words_repeat_nothing() -> None:
    assert near_duplicates(["", "", "one word", "one word"]) == {3: 2}
