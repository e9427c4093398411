from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pipelines.query.pack import Pack
from pipelines.query.replay import compare_packs
from pipelines.store.versions import Hashes
from tests.unit.query.packs import pack, sentence, source, trace

FORTY = sentence("The crane moved forty containers an hour.")
STORED = {"crane": Hashes("crane.md", "crane-1", "crane-file-1", None)}


def causes(before: Pack, after: Pack, now: dict[str, Hashes] | None = None) -> list[str]:
    return list(compare_packs(before, after, STORED if now is None else now).causes)


def test_the_same_answer_from_the_same_versions_is_the_same_and_needs_no_cause() -> None:
    found = compare_packs(pack(FORTY), pack(FORTY), STORED)
    assert found.same
    assert (found.changes, found.causes) == ((), ())


@pytest.mark.parametrize(
    "after",
    [
        pack(sentence("The crane moved forty containers an hour.", verdict="partial")),
        pack(sentence("The crane moved forty containers an hour.", quote="forty containers")),
        pack(FORTY, sentence("It never stopped.")),
        pack(),
        pack(FORTY, told={"confidence": "low"}),
        pack(FORTY, told={"mode": "llm", "model": "m"}),
        pack(FORTY, sources=(source(1, snippet="Fifty."),)),
        pack(sources=()),
        pack(FORTY, sources=(source(1), source(2))),
        pack(FORTY, sources=(source(1, version=2),)),
    ],
)
def test_another_sentence_verdict_quotation_confidence_writer_source_or_version_is_not_the_same(after: Pack) -> None:
    assert not compare_packs(pack(FORTY), after, STORED).same


def test_an_answer_whose_sources_only_have_other_ranks_is_the_same() -> None:
    later = pack(FORTY, trace=trace(("a", "cut: top_n"), ("b", "cut: quota"), ("crane/1", "kept")))
    assert compare_packs(pack(FORTY), later, STORED).same


def test_sentences_are_paired_by_their_words_whatever_their_order_and_case() -> None:
    red, caps = sentence("It is red.", verdict="partial"), "THE CRANE MOVED FORTY  CONTAINERS AN HOUR."
    before = pack(FORTY, sentence("It stood in Leith."), red)
    after = pack(sentence("It is red."), sentence(caps, quote=FORTY.text), sentence("It stood in Oslo."))
    assert [(one.of, one.what, one.before, one.after) for one in compare_packs(before, after, STORED).changes] == [
        ("sentence", "It stood in Leith.", "supported: “It stood in Leith.” (crane)", None),
        ("sentence", "It is red.", "partial: “It is red.” (crane)", "supported: “It is red.” (crane)"),
        ("sentence", "It stood in Oslo.", None, "supported: “It stood in Oslo.” (crane)"),
    ]


def test_a_source_that_went_says_what_cut_it_and_one_that_came_what_had_cut_it() -> None:
    before = pack(FORTY, trace=trace(("crane/1", "kept"), ("crane/2", "cut: top_n")))
    after = pack(FORTY, sources=(replace(source(2, snippet="Speed."), n=1),),
                 trace=trace(("crane/2", "kept"), ("crane/1", "cut: quota")))  # fmt: skip
    went, came = compare_packs(before, after, STORED).changes
    assert (went.of, went.what, went.after, went.why) == ("source", "crane.md, lines 3-4", None, "cut: quota")
    assert (came.of, came.before, came.why) == ("source", None, "cut: top_n")


def test_documents_are_compared_by_their_hashes() -> None:
    before = pack(FORTY, sources=tuple(source(n, name) for n, name in enumerate(("crane", "edited", "gone"), 1)))
    after = pack(FORTY, sources=tuple(source(n, name) for n, name in enumerate(("crane", "late", "old"), 1)))
    now = STORED | {
        "edited": Hashes("edited.md", "edited-2", "edited-file-2", None),
        "late": Hashes("late.md", "late-1", "late-file-1", datetime(2026, 3, 2, tzinfo=UTC)),
        "old": Hashes("old.md", "old-1", "old-file-1", datetime(2026, 2, 1, tzinfo=UTC)),
    }
    assert causes(before, after, now) == [
        "edited.md has another text now.", "gone.md is gone, or hidden from this audience.", "late.md was added since.",
    ]  # fmt: skip


def test_causes_name_the_document_the_setting_the_models_and_the_version() -> None:
    after = pack(settings={"retrieval.top_n": 3}, embedding_model="local/m@384", language_model="gpt", footnote="1.1")
    assert causes(pack(FORTY), after, {}) == [
        "crane.md is gone, or hidden from this audience.",
        "The setting retrieval.top_n was 5 and is 3.",
        "The embedding model was hashed/hashed@256 and is local/m@384.",
        "The language model was none and is gpt.",
        "Footnote was 1.0 and is 1.1.",
    ]


def test_a_corpus_that_changed_elsewhere_is_a_cause() -> None:
    assert causes(pack(FORTY), pack(corpus_version=9)) == [
        "Other documents changed: the corpus was at version 7 and is at 9."
    ]


def test_an_answer_that_changed_without_a_known_cause_says_so() -> None:
    assert causes(pack(FORTY), pack()) == ["Nothing that the pack tells of is another than before."]
    another_day = pack(made_at="2026-04-01T10:00:00+00:00", told={"mode": "llm", "model": "m"})
    assert [cause.split(":")[0] for cause in causes(pack(FORTY), another_day)] == [
        "It is another day", "A language model does not word every answer alike."
    ]  # fmt: skip
