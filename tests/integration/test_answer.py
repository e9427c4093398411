import asyncio
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.schema import QueryBundle
from pydantic import SecretStr
from sqlalchemy import select, update

from config.prompts import NO_ANSWER
from config.settings import EmbeddingSettings, LLMSettings, PersonaSettings, Settings
from pipelines.answers import Answer, Footnote, Token, Verdict
from pipelines.errors import ConfigError, RetrievalError, ServiceUnavailable
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import ingest
from pipelines.models.embedding import build_embed_model
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.audit import audit
from pipelines.store.documents import load_document
from pipelines.store.schema import documents, queries
from pipelines.types import Filters, Turn
from tests.conftest import Ingested, MakeSettings
from tests.fake_openai import FakeOpenAI, Fault

POSTS = {
    "harbour.md": "# Harbour crane\n\nMarit built the harbour crane controller in C++ in 2014. It moved 40 containers "
    "an hour.\n\nThe harbour crane ran for six years without a fault.\n",
    "search.md": "# Ship search\n\nIn 2023 Marit moved to Garboard Systems. She leads a team of five people there.\n\n"
    "The search engine runs on Kubernetes.\n",
    "garden.md": "# Garden\n\nTomatoes need sun. Water them every morning and never at noon.\n",
}
VOLCANOES = "Which submarine volcanoes erupted near Kamchatka?"
LOOKED_FOR = "I looked for “submarine volcanoes erupted near” together with “Kamchatka”."
CRANE = "How many containers did the harbour crane move?"


@pytest.fixture(scope="module")
def corpus(ingested: Ingested) -> Path:
    return ingested(POSTS)[0]


@pytest.fixture(scope="module")
def taken_in(ingested: Ingested) -> Settings:
    """What the tests have copies of."""
    return ingested(POSTS)[1]


@pytest.fixture
def engine(taken_in: Settings, make_settings: MakeSettings) -> QueryEngine:
    return build_query_engine(make_settings(taken_in))


@pytest.fixture
def talking(taken_in: Settings, make_settings: MakeSettings, openai: FakeOpenAI) -> QueryEngine:
    """An engine whose answers a fake model writes."""
    llm = LLMSettings(provider="openai", model="fake", api_base=openai.url, retries=0, timeout_seconds=5)
    return build_query_engine(make_settings(taken_in, llm=llm))


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


def stored(engine: QueryEngine, document_id: str) -> str:
    with engine.database.engine.connect() as connection:
        document = load_document(connection, document_id, "owner")
    assert document is not None
    return document.text


def assert_checked(engine: QueryEngine, answer: Answer) -> None:
    """Every citation points at a source, and every snippet and quote is the stored text at its offsets."""
    numbers = {source.n for source in answer.sources}
    for source in answer.sources:
        assert stored(engine, source.document_id)[source.start : source.end] == source.snippet
    for sentence in answer.sentences:
        assert set(sentence.citations) <= numbers
        for citation in sentence.evidence:
            assert stored(engine, citation.document_id)[citation.start : citation.end] == citation.quote


def test_an_extractive_answer_is_verbatim_cited_and_supported(engine: QueryEngine) -> None:
    answer = engine.ask("How many containers did the harbour crane move?")
    assert answer.answered
    assert answer.mode == "extractive"
    assert "40 containers an hour" in answer.answer
    assert {sentence.verdict for sentence in answer.sentences} == {"supported"}
    assert all(sentence.citations for sentence in answer.sentences)
    assert_checked(engine, answer)


def test_events_come_as_tokens_and_footnotes_then_verdicts_then_the_answer(engine: QueryEngine) -> None:
    events = list(engine.answer("How many containers did the harbour crane move?"))
    kinds = [type(event) for event in events]
    assert kinds[-1] is Answer
    assert kinds.index(Verdict) > max(index for index, kind in enumerate(kinds) if kind in (Token, Footnote))


@pytest.mark.parametrize(
    ("persona", "said"),
    [
        (PersonaSettings(voice="first", name="Marit"), "I have nothing in my documents that answers this question."),
        (
            PersonaSettings(name="Marit"),
            "I don't have enough information in the documents of Marit to answer this question.",
        ),
    ],
)
def test_an_abstention_is_in_the_voice_of_the_persona(engine: QueryEngine, persona: PersonaSettings, said: str) -> None:
    engine = replace(engine, settings=engine.settings.model_copy(update={"persona": persona}))
    assert engine.ask(VOLCANOES).answer == f"{said} {LOOKED_FOR}"


def test_without_evidence_it_abstains_says_what_was_looked_for_and_cites_nothing(engine: QueryEngine) -> None:
    answer = engine.ask(VOLCANOES)
    assert not answer.answered
    assert answer.answer == f"{NO_ANSWER} {LOOKED_FOR}"
    assert (answer.sentences, answer.sources) == ((), ())
    assert answer.searched


def test_an_abstention_shows_the_nearest_words_themselves_and_the_filters(engine: QueryEngine) -> None:
    asked = "What did the harbour crane cost?"
    everywhere, narrowed = (engine.ask(asked, filters=each) for each in (Filters(), Filters(category=("blog",))))
    assert (everywhere.answered, everywhere.filters.narrowing) == (False, ())
    assert (narrowed.answered, narrowed.filters.narrowing) == (False, ("category",))
    with engine.database.engine.connect() as connection:
        for near in everywhere.nearest:
            row = select(documents.c.text).where(documents.c.id == near.document_id)
            assert connection.execute(row).scalar_one()[near.start : near.end] == near.snippet
    assert "crane" in everywhere.nearest[0].words
    assert [near.n for near in everywhere.nearest] == list(range(1, len(everywhere.nearest) + 1))


def test_an_empty_database_abstains(settings: Settings) -> None:
    answer = build_query_engine(settings).ask("Anything at all?")
    assert not answer.answered
    assert answer.nearest == ()


@pytest.mark.parametrize(("question", "said"), [("", "empty"), (" \n\x00", "empty"), ("x" * 1_000_000, "2,000")])
def test_a_question_that_cannot_be_asked_is_a_typed_error(engine: QueryEngine, question: str, said: str) -> None:
    with pytest.raises(RetrievalError, match=said):
        engine.ask(question)


@pytest.mark.parametrize(
    "question",
    ["What's O'Neil's? :foo %s %(x)s", "'; DROP TABLE documents; --", "a & b | !c <-> d", "\ud800?", "🜁" * 300],
)
def test_a_hostile_question_is_only_a_question(engine: QueryEngine, question: str) -> None:
    before = engine.store.count()
    engine.ask(question)
    assert engine.store.count() == before


def test_a_corrected_typo_makes_no_question_too_long(engine: QueryEngine) -> None:
    answer = engine.ask(("How many contaners did the crane move? " + "crane " * 400)[:1_999] + "e")
    assert [note for note in answer.notes if "contaners" in note]


def test_a_question_with_a_nul_is_asked_without_it(engine: QueryEngine) -> None:
    assert engine.ask("How many containers did the har\x00bour crane move?").answered


def test_filters_reach_both_legs(engine: QueryEngine) -> None:
    report = engine.search("harbour crane Marit", filters=Filters(document=("search.md",)))
    assert {result.document_name for result in report.results} == {"search.md"}


def test_private_documents_answer_the_owner_only(corpus: Path, settings: Settings) -> None:
    ingest(settings, [str(corpus / "search.md")], overrides=Overrides(visibility="private"))
    engine = build_query_engine(settings)
    question = "Where did Marit move in 2023?"
    assert engine.ask(question).answered
    assert not engine.ask(question, audience="visitor").answered
    assert engine.search(question, audience="visitor").results == ()
    engine.audience = "visitor"  # after questions that another audience asked
    assert not engine.ask(question).answered
    assert not [event for event in engine.answer(question) if isinstance(event, Answer) and event.answered]


@pytest.mark.parametrize("mode", ["dense", "sparse", "hybrid"])
def test_each_mode_finds_the_passage_with_the_scores_of_its_legs(engine: QueryEngine, mode: Any) -> None:
    best = engine.search("harbour crane controller", mode=mode).results[0]
    assert best.document_name == "harbour.md"
    assert (best.dense is not None, best.sparse is not None) == (mode != "sparse", mode != "dense")


def test_a_short_follow_up_is_searched_with_the_question_before_it(engine: QueryEngine) -> None:
    turn = Turn("Where did Marit move in 2023?", "To Garboard Systems.")
    found = engine.ask("And how many people does she lead?", history=[turn])
    assert "five people" in found.answer


def test_search_reports_every_candidate_with_its_fate(engine: QueryEngine) -> None:
    report = engine.search("harbour crane", top_n=1)
    fates = {candidate.fate for candidate in report.trace.candidates}
    assert "kept" in fates
    assert all(fates)


def test_queries_are_logged_with_their_ledger_and_answer(engine: QueryEngine) -> None:
    answer = engine.ask("How many containers did the harbour crane move?")
    with engine.database.engine.connect() as connection:
        row = connection.execute(select(queries).where(queries.c.id == answer.trace_id)).one()
    assert row.kind == "ask"
    assert row.trace["candidates"]
    assert row.answer["answer"] == answer.answer


def test_the_audit_checks_the_citations_of_past_answers(engine: QueryEngine) -> None:
    engine.ask("How many containers did the harbour crane move?")
    report = audit(engine.database.engine)
    assert report["citations"] > 0
    assert report["violations"] == []


def test_the_audit_finds_a_span_that_was_tampered_with(engine: QueryEngine) -> None:
    engine.ask("How many containers did the harbour crane move?")
    with engine.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE documents SET text = replace(text, '40 containers', '41 containers')")
    kinds = {violation["kind"] for violation in audit(engine.database.engine)["violations"]}
    assert kinds == {"span", "citation", "snippet"}


def test_the_engine_is_a_tool_for_llamaindex_agents(engine: QueryEngine) -> None:
    output = engine.as_tool()(input=CRANE)
    assert "40 containers" in str(output)
    assert output.raw_output.source_nodes
    apart = engine.as_tool(filters=Filters(document=("garden.md",)))(input=CRANE)
    assert not apart.raw_output.metadata["answered"]


def test_a_response_cites_the_stored_spans_with_their_scores_and_verdicts(engine: QueryEngine) -> None:
    answer, response = engine.ask(CRANE), engine.query(QueryBundle(CRANE))
    assert response.response == answer.answer
    assert asyncio.run(engine.aquery(CRANE)).response == answer.answer
    cited = {n for sentence in answer.sentences for n in sentence.citations}
    assert [hit.metadata["n"] for hit in response.source_nodes] == sorted(cited)
    for hit in response.source_nodes:
        source, meta = answer.sources[hit.metadata["n"] - 1], hit.metadata
        assert stored(engine, meta["document_id"])[meta["start"] : meta["end"]] == hit.text == source.snippet
        assert (meta["page"], meta["title"], hit.node.ref_doc_id) == (source.page, source.title, source.document_id)
        assert meta["verdicts"] == [s.verdict for s in answer.sentences if source.n in s.citations]
        assert hit.score > 0


def test_an_abstention_has_no_source_nodes(engine: QueryEngine) -> None:
    engine.try_questions()
    response = engine.query(VOLCANOES)
    assert response.metadata is not None
    assert len(response.metadata["nearest"]) <= 2
    assert tuple(response.metadata["follow_ups"]) == engine.ask(VOLCANOES).follow_ups
    assert (response.response, response.source_nodes) == (f"{NO_ANSWER} {LOOKED_FOR}", [])


def test_the_whole_search_is_a_retriever_of_copies(engine: QueryEngine) -> None:
    report, retriever = engine.search(CRANE, top_n=2), engine.as_retriever(similarity_top_k=2)
    found = retriever.retrieve(CRANE)
    assert [hit.node.node_id for hit in found] == [one.node_id for one in report.results]
    assert all(0 < (hit.score or 0) <= 1 for hit in found), "the likeness to the question, not the score of a fusion"
    for hit in found:
        hit.node.metadata.clear()
    assert all(hit.metadata for hit in asyncio.run(retriever.aretrieve(CRANE)))


def test_a_bound_engine_reads_for_its_audience_wherever_a_call_names_none(engine: QueryEngine) -> None:
    bound = engine.as_tool(filters=Filters(document=("garden.md",)), audience="visitor").query_engine
    assert not bound.ask(CRANE).answered
    assert {hit.metadata["title"] for hit in bound.as_retriever().retrieve(CRANE)} <= {"Garden"}
    assert {one.title for one in bound.search(CRANE).results} <= {"Garden"}
    assert bound.ask(CRANE, filters=Filters()).answered
    with engine.database.engine.begin() as connection:
        connection.execute(update(documents).values(visibility="private"))
    assert not bound.ask(CRANE, filters=Filters()).answered


class Broken(MockLLM):
    """A model of another package that fails in its own way."""

    def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
        raise RuntimeError("no light")


def test_the_caller_s_models_replace_those_of_the_settings(taken_in: Settings, make_settings: MakeSettings) -> None:
    settings = make_settings(taken_in)
    engine = build_query_engine(settings, llm=MockLLM())
    answer = engine.ask(CRANE)
    assert (answer.mode, answer.model, answer.cost) == ("llm", "unknown", None)
    broken = build_query_engine(settings, llm=Broken()).ask(CRANE)
    assert (broken.mode, broken.fallback_reason) == ("extractive", "unknown failed: RuntimeError: no light.")
    embed_model = build_embed_model(settings)
    assert build_query_engine(settings, embed_model=embed_model).embed_model is embed_model
    assert build_query_engine(settings, embed_model=embed_model).search(CRANE).results
    with pytest.raises(ConfigError, match=r"has 8 dimensions; the stored nodes, of hashed.*, have 256"):
        build_query_engine(settings, embed_model=MockEmbedding(8))


# With a language model


def cite_first(body: Any) -> str:
    """A model that quotes the source which speaks of the crane, cites it, and adds a hostile marker."""
    prompt = body["messages"][-1]["content"]
    n = next(n for n, text in re.findall(r"<<source (\d+) \w+>>(.*?)<</source", prompt, re.DOTALL) if "crane" in text)
    return f"It moved 40 containers an hour [{n}][99]. The crane was painted pink [{n}]."


def test_a_model_s_answer_is_streamed_cited_and_verified(talking: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply = cite_first
    talking = talking.with_changes({"answer.unsupported": "mark"})
    events = list(talking.answer("How many containers did the harbour crane move?"))
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert (answer.mode, answer.model) == ("llm", "fake")
    assert [sentence.verdict for sentence in answer.sentences] == ["supported", "unsupported"]
    streamed = "".join(event.text for event in events if isinstance(event, Token))
    assert "[" not in streamed
    texts = [event.text for event in events if isinstance(event, Token)]
    assert texts == ["It moved 40 containers an hour.", " The crane was painted pink."]  # each once it is verified
    assert answer.usage["total_tokens"] > 0
    assert_checked(talking, answer)


def test_a_model_that_says_no_answer_abstains(talking: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply = NO_ANSWER
    answer = talking.ask("How many containers did the harbour crane move?")
    assert (answer.answered, answer.sources, answer.mode) == (False, (), "llm")


@pytest.mark.parametrize("fault", [Fault("status", 429), Fault("status", 500), Fault("status", 401), Fault("garbage")])
def test_a_failing_model_is_replaced_by_extraction_and_the_answer_says_so(
    talking: QueryEngine, openai: FakeOpenAI, fault: Fault
) -> None:
    openai.fail(fault)
    answer = talking.ask("How many containers did the harbour crane move?")
    assert answer.mode == "extractive"
    assert openai.url in answer.fallback_reason
    assert answer.fallback_reason not in answer.notes
    assert "40 containers" in answer.answer


def test_a_cut_stream_keeps_what_came_and_says_that_it_was_cut(talking: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply = cite_first
    openai.fail(Fault("cut", after=5))
    answer = talking.ask("How many containers did the harbour crane move?")
    assert answer.truncated
    assert answer.answer.startswith("It moved 40 containers")


def test_sources_are_shown_between_delimiters_that_no_document_can_guess(
    talking: QueryEngine, openai: FakeOpenAI
) -> None:
    openai.reply = cite_first
    for _ in range(2):
        talking.ask("How many containers did the harbour crane move?")
    prompts = [json.dumps(request.body) for request in openai.requests if "chat" in request.path]
    keys = [set(re.findall(r"<<source \d+ (\w+)>>", prompt)) for prompt in prompts]
    assert all(len(key) == 1 for key in keys)
    assert keys[0] != keys[1]


def test_remote_embeddings_of_768_dimensions_live_in_their_own_table(
    corpus: Path, make_settings: Callable[..., Settings]
) -> None:
    with FakeOpenAI(dimension=768) as fake:
        embedding = EmbeddingSettings(provider="openai", model="gemini-embedding-001", dimension=768, pause_ms=0)
        settings = make_settings(embedding=embedding, openai_api_key=SecretStr("k"), openai_api_base=fake.url)
        report = ingest(settings, [str(corpus)])
        engine = build_query_engine(settings)
        assert report.embedded == engine.store.count() > 0
        assert engine.store.table == "nodes_openai_gemini_embedding_001_768_v1"
        assert engine.search("harbour crane").results


def test_when_the_embedding_server_is_down_the_sparse_leg_answers_and_says_so(
    corpus: Path, make_settings: Callable[..., Settings]
) -> None:
    with FakeOpenAI(dimension=768) as fake:
        embedding = EmbeddingSettings(provider="openai", model="m", dimension=768, pause_ms=0, retries=0)
        settings = make_settings(embedding=embedding, openai_api_key=SecretStr("k"), openai_api_base=fake.url)
        ingest(settings, [str(corpus)])
    engine = build_query_engine(settings)
    report = engine.search("harbour crane")
    assert report.results[0].document_name == "harbour.md"
    assert report.trace.notes[0].startswith("The dense search failed")
    assert "40 containers" in engine.ask("How many containers did the harbour crane move?").answer


def test_an_embedding_server_that_is_down_ends_an_ingest_with_nothing_half_written(
    corpus: Path, make_settings: Callable[..., Settings]
) -> None:
    embedding = EmbeddingSettings(provider="openai", model="m", dimension=768, retries=0, timeout_seconds=1)
    settings = make_settings(
        embedding=embedding, openai_api_key=SecretStr("k"), openai_api_base="http://127.0.0.1:9/v1"
    )
    with pytest.raises(ServiceUnavailable):
        ingest(settings, [str(corpus)])
    assert build_query_engine(settings).store.count() == 0
