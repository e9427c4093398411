import json
from collections.abc import Callable
from pathlib import Path

import pytest

from config.settings import IngestionSettings, LLMSettings, Settings
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.query.pack import Pack, pack_answer, pack_json, read_pack
from pipelines.query.replay import Replay, replay_pack
from pipelines.query.search import Request
from pipelines.store.query_log import latest_queries
from pipelines.types import Audience, Filters, Turn
from tests.fake_openai import FakeOpenAI

CRANE = (
    "# Harbour crane\n\nMarit built the harbour crane controller in C++ in 2014. It moved 40 containers an hour.\n\n"
    "## Service\n\nThe harbour crane ran for six years without a fault.\n"
)
GARDEN = "# Garden\n\nTomatoes need sun. Water them every morning and never at noon.\n"
QUESTION = "How many containers did the harbour crane move?"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "crane.md").write_text(CRANE)
    (tmp_path / "garden.md").write_text(GARDEN)
    return tmp_path


@pytest.fixture
def engine(corpus: Path, settings: Settings) -> QueryEngine:
    ingest(settings, [str(corpus)])
    return build_query_engine(settings)


def kept(
    engine: QueryEngine,
    question: str = QUESTION,
    *,
    history: tuple[Turn, ...] = (),
    filters: Filters = Filters(),  # noqa: B008 - frozen
    audience: Audience = "owner",
) -> Pack:
    """The pack of an answer, written and read again."""
    options = engine.settings.retrieval
    request = Request(question, filters, audience, options.mode, options.top_n, history)
    answer = engine.ask(question, history=history, filters=filters, audience=audience)
    return read_pack(pack_json(pack_answer(engine, request, answer)).encode(), "x.json")


def edit(corpus: Path, settings: Settings, name: str, text: str) -> None:
    (corpus / name).write_text(text)
    ingest(settings, [str(corpus)])


def stands(again: Replay) -> set[str]:
    return {one.stands for one in again.quotations}


def changed(again: Replay, of: str) -> list[tuple[str, bool, bool]]:
    """(what, was it there before, is it there now) of each change of this kind."""
    return [(one.what, one.before is not None, one.after is not None) for one in again.changes if one.of == of]


def test_a_pack_asked_again_at_once_is_the_same_and_the_log_does_not_learn_of_it(engine: QueryEngine) -> None:
    pack = kept(engine)
    before = len(latest_queries(engine.database.engine, 100))
    again = replay_pack(engine, pack)
    assert again.same
    assert (again.changes, again.causes) == ((), ())
    assert stands(again) == {"now"}
    assert len(latest_queries(engine.database.engine, 100)) == before


def test_a_pack_of_many_passages_is_asked_again_of_as_many(corpus: Path, engine: QueryEngine) -> None:
    for number in range(12):
        note = f"# Day {number}\n\nThe harbour crane moved container number {number} on day {number}.\n"
        (corpus / f"day{number}.md").write_text(note)
    ingest(engine.settings, [str(corpus)])
    again = replay_pack(engine, kept(engine))
    assert len(again.before.answer.sources) > engine.settings.retrieval.top_n
    assert (again.same, changed(again, "source")) == (True, [])


def test_a_pack_holds_ranks_hashes_and_versions_and_neither_paths_nor_keys(
    corpus: Path, make_settings: Callable[..., Settings]
) -> None:
    llm = LLMSettings(provider="none", api_base="http://ann:hunter2@10.0.0.7/v1")
    settings = make_settings(llm=llm, openrouter_api_key="sk-secret", github_token="ghp-secret")
    ingest(settings, [str(corpus)])
    engine = build_query_engine(settings)
    pack = kept(engine)
    said = pack_json(pack)
    for private in (str(corpus), str(settings.home), "file:", "secret", "hunter2", "10.0.0.7", str(Path.cwd())):
        assert private not in said, private
    crane = next(source for source in pack.documents.values() if source.documentName == "crane.md")
    assert (len(crane.content_sha), len(pack.file_hashes[crane.document_id])) == (64, 64)
    assert pack.trace
    assert pack.trace.candidates[0].node_id in {node for source in pack.answer.sources for node in source.node_ids}
    assert pack.corpus_version == engine.store.version()
    assert pack.fingerprint == engine.fingerprint


def test_an_edit_of_the_cited_document_is_named_and_its_quotation_stands_in_the_older_version(
    engine: QueryEngine, corpus: Path
) -> None:
    pack = kept(engine)
    edit(corpus, engine.settings, "crane.md", CRANE.replace("40 containers", "55 containers"))
    again = replay_pack(engine, pack)
    assert not again.same
    assert again.causes[0] == "crane.md has another text now."
    assert "older" in stands(again)
    gone, new = ("It moved 40 containers an hour.", True, False), ("It moved 55 containers an hour.", False, True)
    assert {gone, new} <= {*changed(again, "sentence")}


def test_an_edit_beside_the_quotation_leaves_it_standing(engine: QueryEngine, corpus: Path) -> None:
    pack = kept(engine)
    edit(corpus, engine.settings, "crane.md", "A new first line.\n\n" + CRANE)
    assert stands(replay_pack(engine, pack)) == {"now"}


def test_a_quotation_of_a_version_that_is_no_longer_kept_cannot_be_checked(
    corpus: Path, make_settings: Callable[..., Settings]
) -> None:
    settings = make_settings(ingestion=IngestionSettings(executor="here", versions_kept=0))
    ingest(settings, [str(corpus)])
    engine = build_query_engine(settings)
    pack = kept(engine)
    edit(corpus, settings, "crane.md", CRANE.replace("40 containers", "55 containers"))
    assert "unknown" in stands(replay_pack(engine, pack))


def test_a_quotation_that_was_forged_does_not_stand(engine: QueryEngine) -> None:
    forged = pack_json(kept(engine)).replace("It moved 40 containers an hour.", "It moved 99 containers an hour.")
    assert "no" in stands(replay_pack(engine, read_pack(forged.encode(), "x.json")))


def test_a_removed_document_is_named_and_its_quotation_stands_in_the_version_that_is_kept(engine: QueryEngine) -> None:
    pack = kept(engine)
    crane = next(key for key, source in pack.documents.items() if source.documentName == "crane.md")
    build_ingestion(engine.settings).remove([crane])
    again = replay_pack(engine, pack)
    assert not again.same
    assert again.causes[0] == "crane.md is gone, or hidden from this audience."
    assert all(before and not now for what, before, now in changed(again, "source") if what.startswith("crane.md"))
    assert changed(again, "sentence")
    assert stands(again) == {"older"}


def test_a_document_that_was_added_since_and_is_drawn_on_is_named(engine: QueryEngine, corpus: Path) -> None:
    pack = kept(engine)
    edit(corpus, engine.settings, "crane2.md", "# Other crane\n\nThe other harbour crane moved 70 containers a day.\n")
    again = replay_pack(engine, pack)
    assert "crane2.md was added since." in again.causes
    assert any(now and not before for what, before, now in changed(again, "source") if what.startswith("crane2.md"))


def test_a_setting_that_changed_is_named_with_both_values_and_what_went_says_what_cut_it(engine: QueryEngine) -> None:
    pack = kept(engine)
    again = replay_pack(engine.with_changes({"retrieval.top_n": 1}), pack)
    settings = [(one.what, one.before, one.after) for one in again.changes if one.of == "setting"]
    assert settings == [("retrieval.top_n", 5, 1)]
    assert "The setting retrieval.top_n was 5 and is 1." in again.causes
    assert again.after.fingerprint != pack.fingerprint


def test_the_number_of_suggestions_is_no_setting_that_an_answer_hangs_on(engine: QueryEngine) -> None:
    again = replay_pack(engine.with_changes({"answer.follow_ups": 0}), kept(engine))
    assert (again.same, again.changes) == (True, ())


def test_a_follow_up_is_asked_again_with_its_history_filters_and_legs(engine: QueryEngine) -> None:
    turns = (Turn("What is the harbour crane?", "A crane that Marit built.", ("Harbour crane",)),)
    pack = kept(engine.with_changes({"retrieval.mode": "sparse"}), "How long did it run?", history=turns,
                filters=Filters(document=("crane.md",)))  # fmt: skip
    again = replay_pack(engine, pack)
    assert again.after.asked == pack.asked
    assert (again.after.asked.mode, again.after.asked.filters.document) == ("sparse", ("crane.md",))
    assert again.after.trace is not None
    assert "crane" in again.after.trace.intent.search_text
    assert again.same


def test_a_visitors_pack_is_asked_again_as_a_visitor(engine: QueryEngine, corpus: Path, settings: Settings) -> None:
    from pipelines.ingestion.plan import Overrides

    pack = kept(engine, audience="visitor")
    ingest(settings, [str(corpus)], overrides=Overrides(visibility="private"))
    again = replay_pack(build_query_engine(settings), pack)
    assert again.after.asked.audience == "visitor"
    assert not again.after.answer.answered
    assert again.after.documents == {}
    assert again.causes[0] == "crane.md is gone, or hidden from this audience."
    assert replay_pack(build_query_engine(settings), kept(engine)).same


def test_an_abstention_is_kept_and_asked_again_with_what_came_nearest(engine: QueryEngine) -> None:
    pack = kept(engine, "Which submarine volcanoes erupted near Kamchatka?")
    assert not pack.answer.answered
    again = replay_pack(engine, pack)
    assert (again.same, again.quotations) == (True, ())


def test_an_answer_of_another_writer_is_told(corpus: Path, make_settings: Callable[..., Settings]) -> None:
    with FakeOpenAI() as fake:
        llm = LLMSettings(provider="openai", model="/models/fake.gguf", api_base=fake.url, retries=0, keep_prompts=True)
        settings = make_settings(llm=llm)
        ingest(settings, [str(corpus)])
        engine = build_query_engine(settings)
        fake.reply = "It moved 40 containers an hour [1]."
        pack = kept(engine)
        assert (pack.answer.mode, pack.language_model) == ("llm", "fake.gguf")
        assert pack.trace is not None
        assert pack.trace.readings == ()  # the prompts hold passages that the answer does not show
        fake.reply = "The crane moved 40 containers every hour [1]."
        again = replay_pack(engine, pack)
    assert not again.same
    assert "A language model does not word every answer alike." in again.causes
    assert [(before, now) for _, before, now in changed(again, "sentence")] == [(True, False), (False, True)]


def test_a_pack_of_an_answer_that_was_not_logged_has_no_ranking_and_is_still_asked_again(engine: QueryEngine) -> None:
    options = engine.settings.retrieval
    answer = engine.ask(QUESTION, record=False)
    pack = pack_answer(engine, Request(QUESTION, Filters(), "owner", options.mode, options.top_n), answer)
    assert pack.trace is None
    assert json.loads(pack_json(pack))["answer"]["sentences"]
    assert {one.stands for one in replay_pack(engine, pack).quotations} == {"now"}
