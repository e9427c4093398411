from pipelines.query.postprocess.duplicates import Duplicates, near_duplicates
from pipelines.query.postprocess.quota import Quota
from pipelines.query.trace import Ledger
from tests.unit.query.builders import hit

LONG = "Marit moved thirty eight thousand sensors to the new gateway in fourteen months without losing a single reading"


def test_a_text_that_repeats_an_earlier_one_is_found() -> None:
    assert near_duplicates([LONG, "something else", LONG.upper()]) == {2: 0}


def test_two_jobs_that_differ_in_their_dates_stay_two() -> None:
    assert near_duplicates(["Engineer at Acme 2019 2020", "Engineer at Acme 2021 2022"]) == {}


def test_duplicates_keeps_the_best_ranked_and_tells_the_ledger() -> None:
    ledger, nodes = Ledger(), [hit("a", LONG), hit("b", LONG), hit("c", "other words")]
    ledger.fused(nodes)
    kept = Duplicates(ledger).postprocess_nodes(nodes)
    assert [node.node.node_id for node in kept] == ["a", "c"]
    assert ledger.candidate("b").fate == "cut: duplicate"
    assert len(nodes) == 3


def test_quota_leaves_room_for_other_documents() -> None:
    ledger = Ledger()
    nodes = [hit("a"), hit("b"), hit("c"), hit("x", document_id="e"), hit("y", document_id="e")]
    ledger.fused(nodes)
    kept = Quota(ledger, per_document=2, top_n=3).postprocess_nodes(nodes)
    assert [node.node.node_id for node in kept] == ["a", "b", "x"]
    assert ledger.candidate("c").fate == "cut: quota"
