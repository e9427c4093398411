from datetime import UTC, datetime

import pytest

from pipelines.query.pack import Pack, PackedCandidate
from pipelines.query.replay import compare_packs, sentence_changes
from pipelines.store.versions import Hashes
from tests.unit.query.packs import document, pack, sentence, source

FORTY = sentence("The crane moved forty containers an hour.")
STORED = {"crane": Hashes("crane.md", "crane-1", "crane-file-1", None)}


def told(before: Pack, after: Pack, now: dict[str, Hashes] | None = None) -> list[str]:
    return list(compare_packs(before, after, STORED if now is None else now).causes)


def test_the_same_answer_from_the_same_versions_is_the_same_and_needs_no_cause() -> None:
    found = compare_packs(pack(FORTY), pack(FORTY), STORED)
    assert found.same
    assert found.causes == ()
    assert [one.change for one in found.sentences] == ["same"]
    assert [one.change for one in found.sources] == ["same"]


@pytest.mark.parametrize(
    "after",
    [
        pack(sentence("The crane moved forty containers an hour.", verdict="partial")),
        pack(sentence("The crane moved forty containers an hour.", quote="forty containers")),
        pack(FORTY, sentence("It never stopped.")),
        pack(),
        pack(FORTY, said={"confidence": "low"}),
        pack(FORTY, said={"mode": "llm", "model": "m"}),
        pack(FORTY, sources=(source(1, snippet="Fifty."),)),
        pack(FORTY, sources=()),
        pack(FORTY, sources=(source(1), source(2))),
        pack(FORTY, documents=(document(version=2),)),
    ],
)
def test_another_sentence_verdict_quotation_confidence_writer_source_or_version_is_not_the_same(after: Pack) -> None:
    assert not compare_packs(pack(FORTY), after, STORED).same


def test_an_answer_whose_sources_only_have_other_ranks_is_the_same() -> None:
    found = compare_packs(pack(FORTY, sources=(source(1, rank=1),)), pack(FORTY, sources=(source(1, rank=3),)), STORED)
    assert found.same
    assert [(one.change, one.rank_before, one.rank_after) for one in found.sources] == [("moved", 1, 3)]


def test_sentences_are_paired_by_their_words_whatever_their_order() -> None:
    before = [FORTY, sentence("It stood in Leith."), sentence("Nobody knows why.")]
    after = [
        sentence("It stood in Leith"),
        sentence("THE CRANE MOVED FORTY  CONTAINERS AN HOUR."),
        sentence("It is red."),
    ]
    assert [(one.change, one.before, one.after) for one in sentence_changes(before, after)] == [
        ("same", FORTY.text, "THE CRANE MOVED FORTY  CONTAINERS AN HOUR."),
        ("changed", "It stood in Leith.", "It stood in Leith"),
        ("gone", "Nobody knows why.", ""),
        ("new", "", "It is red."),
    ]


def test_sentences_that_share_less_than_half_of_their_terms_are_gone_and_new() -> None:
    found = sentence_changes([sentence("The red crane moved sand")], [sentence("A crane lifted seven heavy barges")])
    assert [one.change for one in found] == ["gone", "new"]


def test_a_source_that_went_says_what_cut_it_and_one_that_came_what_had_cut_it() -> None:
    kept, cut = PackedCandidate(node_id="crane/1", document_id="crane", rank=1, score=1, fate="kept"), "cut: top_n"
    before = pack(FORTY, sources=(source(1, rank=1),), ranking=(
        kept, PackedCandidate(node_id="crane/2", document_id="crane", rank=6, score=0.5, fate=cut)))  # fmt: skip
    after = pack(FORTY, sources=(source(2, rank=1, snippet="Speed."),), ranking=(
        PackedCandidate(node_id="crane/2", document_id="crane", rank=1, score=1, fate="kept"),
        PackedCandidate(node_id="crane/1", document_id="crane", rank=4, score=0.5, fate="cut: quota")))  # fmt: skip
    went, came = compare_packs(before, after, STORED).sources
    assert (went.change, went.rank_before, went.rank_after, went.why) == ("went", 1, 4, "cut: quota")
    assert (came.change, came.rank_before, came.rank_after, came.why) == ("came", 6, 1, f"before: {cut}")


def test_documents_are_compared_by_their_hashes() -> None:
    before = pack(FORTY, documents=tuple(map(document, ("crane", "edited", "saved", "gone"))))
    after = pack(FORTY, documents=(document(), document("late"), document("old")))
    now = STORED | {
        "edited": Hashes("edited.md", "edited-2", "edited-file-2", None),
        "saved": Hashes("saved.md", "saved-1", "saved-file-2", None),
        "late": Hashes("late.md", "late-1", "late-file-1", datetime(2026, 3, 2, tzinfo=UTC)),
        "old": Hashes("old.md", "old-1", "old-file-1", datetime(2026, 2, 1, tzinfo=UTC)),
    }
    assert [(one.document, one.change) for one in compare_packs(before, after, now).documents] == [
        ("edited.md", "changed"), ("saved.md", "touched"), ("gone.md", "removed"), ("late.md", "added"),
    ]  # fmt: skip


def test_a_file_whose_hash_is_not_known_was_not_touched() -> None:
    unknown = document().model_copy(update={"file_sha": ""})
    assert compare_packs(pack(FORTY, documents=(unknown,)), pack(FORTY), STORED).documents == ()


def test_causes_name_the_document_the_setting_the_models_and_the_version() -> None:
    after = pack(settings={"retrieval.top_n": 3}, embedding_model="local/m@384", language_model="gpt", footnote="1.1")
    assert told(pack(FORTY), after, {}) == [
        "crane.md is gone, or hidden from this audience.",
        "The setting retrieval.top_n was 5 and is 3.",
        "The embedding model was hashed/hashed@256 and is local/m@384.",
        "The language model was none and is gpt.",
        "Footnote was 1.0 and is 1.1.",
    ]


def test_a_corpus_that_changed_elsewhere_is_a_cause() -> None:
    assert told(pack(FORTY), pack(corpus_version=9)) == [
        "Other documents changed: the corpus was at version 7 and is at 9."
    ]


def test_an_answer_that_changed_without_a_known_cause_says_so() -> None:
    assert told(pack(FORTY), pack()) == ["Nothing that the pack tells of is another than before."]
    another_day = pack(made_at="2026-04-01T10:00:00+00:00", said={"mode": "llm", "model": "m"})
    assert [cause.split(":")[0] for cause in told(pack(FORTY), another_day)] == [
        "It is another day", "A language model does not word every answer alike."
    ]  # fmt: skip
