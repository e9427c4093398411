"""LlamaIndex's seams: agents, streaming, prompts, scores, and what is refused rather than ignored."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core import Document, PromptTemplate, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.schema import MetadataMode, QueryBundle, TextNode

from config.settings import Settings
from pipelines.errors import ConfigError
from pipelines.ingestion.parsers import PARSERS
from pipelines.models.embedding import build_embed_model
from pipelines.models.identity import identity
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.query.fuse import HybridRetriever
from pipelines.query.postprocess.cut import MinScore
from pipelines.query.retrieve import SparseRetriever
from pipelines.store.database import open_database
from pipelines.store.vector_store import build_vector_store
from pipelines.types import Filters

CRANE = "Marit built the harbour crane controller in 2014. It moved 40 containers an hour."
GARDEN = "Tomatoes need sun. Water them every morning and never at noon."
OF_CRANE = {"category": "blog", "year": 2014, "title": "Harbour crane"}
QUESTION = "How many containers did the harbour crane move?"


@pytest.fixture
def index(settings: Settings) -> VectorStoreIndex:
    store = build_vector_store(settings, open_database(settings), identity(settings))
    made = VectorStoreIndex.from_vector_store(store, embed_model=build_embed_model(settings))
    made.insert(
        Document(id_="crane", text=CRANE, metadata={"category": "blog", "year": 2014, "title": "Harbour crane"})
    )
    made.insert(Document(id_="garden", text=GARDEN, metadata={"author": "Ann Bell", "collection": "notes"}))
    return made


@pytest.fixture
def engine(settings: Settings, index: VectorStoreIndex) -> QueryEngine:
    return build_query_engine(settings)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (Filters(category=("blog",)), {"crane"}), (Filters(year=(2014,)), {"crane"}),
        (Filters(author=("ann bell",)), {"garden"}), (Filters(collection=("notes",)), {"garden"}),
        (Filters(document=("Harbour crane",)), {"crane"}), (Filters(category=("resume",)), set()),
    ],
)  # fmt: skip
def test_metadata_of_a_program_are_what_filters_go_by(engine: QueryEngine, filters: Filters, found: set[str]) -> None:
    results = engine.search("crane tomatoes", filters=filters, record=False).results
    assert {each.document_id for each in results} == found


def test_a_document_that_is_inserted_again_replaces_itself(engine: QueryEngine, index: VectorStoreIndex) -> None:
    index.insert(Document(id_="garden", text=GARDEN, metadata={"author": "Ann Bell", "collection": "notes"}))
    assert engine.store.count() == 2
    index.insert(Document(id_="garden", text="Beans need a pole."))
    found = engine.search("tomatoes beans", record=False).results
    assert [each.text for each in found if each.document_id == "garden"] == ["Beans need a pole."]


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")  # of LlamaIndex's own mock
def test_an_agent_calls_two_tools_of_one_engine_and_reads_their_sources(engine: QueryEngine) -> None:
    tools = [engine.as_tool(filters=Filters(document=(name,))) for name in ("Harbour crane", "garden")]
    heard: list[str] = []

    def replies(messages: Sequence[ChatMessage], **given: Any) -> ChatMessage:
        heard.extend(str(each.content) for each in messages if each.role == "tool")
        if heard:
            return ChatMessage(role="assistant", content="It moved 40.")
        call = ToolSelection(tool_id="1", tool_name="footnote_Harbour_crane", tool_kwargs={"input": QUESTION})
        return ChatMessage(role="assistant", blocks=[_block(call)])

    agent = FunctionAgent(tools=tools, llm=MockFunctionCallingLLM(response_generator=replies), streaming=False)
    result = asyncio.run(_run(agent))
    assert str(result) == "It moved 40."
    assert "40 containers" in heard[0]
    assert "Sources:\n[1] Harbour crane" in heard[0]


async def _run(agent: FunctionAgent) -> Any:
    return await agent.run(QUESTION)


def _block(call: ToolSelection) -> Any:
    from llama_index.core.base.llms.types import ToolCallBlock

    return ToolCallBlock(tool_call_id=call.tool_id, tool_name=call.tool_name, tool_kwargs=call.tool_kwargs)


@pytest.mark.parametrize("given", [{"question": QUESTION}, {"input": QUESTION, "top_n": 3}, {}])
def test_a_tool_refuses_arguments_that_it_does_not_take(engine: QueryEngine, given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="takes one question"):
        engine.as_tool().call(**given)


def test_tools_of_other_filters_and_audiences_have_other_names(engine: QueryEngine) -> None:
    chosen = [
        Filters(),
        Filters(year=(2014,)),
        Filters(document=("x" * 90 + "a",)),
        Filters(document=("x" * 90 + "b",)),
    ]
    names = {engine.as_tool(filters=filters, audience=who).metadata.name for filters in chosen for who in _AUDIENCES}
    assert len(names) == len(chosen) * len(_AUDIENCES)
    assert all(len(name) <= 64 for name in names)
    named = engine.as_tool(name="portfolio", description="About Marit.")
    assert (named.metadata.name, named.metadata.description) == ("portfolio", "About Marit.")


_AUDIENCES = ("owner", "visitor")


def test_a_streamed_answer_ends_with_its_sources(settings: Settings, engine: QueryEngine) -> None:
    whole = engine.query(QUESTION)
    response = build_query_engine(settings, streaming=True).query(QUESTION)
    assert response.metadata is None
    words = [word for word in str(whole).split() if not word.startswith("[")]
    assert [word for word in "".join(response.response_gen).split() if not word.startswith("[")] == words
    assert [hit.node_id for hit in response.source_nodes] == [hit.node_id for hit in whole.source_nodes]
    assert {"confidence", "conflicts", "notes", "follow_ups"} <= response.metadata.keys()


def test_nothing_asynchronous_blocks_the_loop(settings: Settings, engine: QueryEngine) -> None:
    streaming = build_query_engine(settings, streaming=True)

    async def use() -> tuple[str, float]:
        longest, last, done = 0.0, time.perf_counter(), False

        async def tick() -> None:
            nonlocal longest, last
            while not done:
                await asyncio.sleep(0.001)
                longest, last = max(longest, time.perf_counter() - last), time.perf_counter()

        ticking = asyncio.create_task(tick())
        await engine.aquery(QUESTION)
        await engine.as_retriever().aretrieve(QUESTION)
        await SparseRetriever(engine.store, engine.indexes).aretrieve(QUESTION)
        response = await streaming.aquery(QUESTION)
        text = "".join([piece async for piece in response.response_gen])
        done = True
        await ticking
        return text, longest

    text, longest = asyncio.run(use())
    assert "40 containers" in text
    assert longest < 0.5


def test_the_prompt_that_is_set_is_the_one_that_is_sent(settings: Settings, index: VectorStoreIndex) -> None:
    limits = settings.llm.model_copy(update={"keep_prompts": True})
    engine = build_query_engine(settings.model_copy(update={"llm": limits}), llm=MockLLM())
    assert engine.get_prompts().keys() == {"answer", "condense", "rewrite", "hypothetical"}
    before = engine.fingerprint
    engine.update_prompts({"answer": PromptTemplate("Answer in {one} word.")})
    _, trace = engine.finished(engine._request(QUESTION, top_n=3))
    assert trace.readings[0].prompt[0] == ("system", "Answer in {one} word.")
    assert engine.fingerprint != before
    with pytest.raises(ConfigError, match="no prompt 'refine'"):
        engine.update_prompts({"refine": PromptTemplate("x")})


def test_scores_of_the_search_are_likenesses_and_nodes_show_their_names(engine: QueryEngine) -> None:
    found = engine.as_retriever().retrieve("harbour crane containers")
    assert all(0 <= hit.score <= 1 for hit in found)
    nothing = engine.as_retriever().retrieve("zzyzx quorble")
    assert max((hit.score for hit in nothing), default=0) < max(hit.score for hit in found)
    kept = SimilarityPostprocessor(similarity_cutoff=found[0].score - 1e-6).postprocess_nodes(found)
    assert [hit.node_id for hit in kept] == [found[0].node_id]
    shown = found[0].node.get_content(MetadataMode.LLM)
    assert "title: Harbour crane" in shown
    assert "document_name: crane" in shown


def test_the_embedding_of_a_query_takes_the_place_of_the_questions_own(settings: Settings, engine: QueryEngine) -> None:
    dense = engine.with_changes({"retrieval.mode": "dense", "retrieval.whitening": 0.0})
    vector = build_embed_model(settings).get_text_embedding(GARDEN)
    found = dense.as_retriever().retrieve(QueryBundle(QUESTION, embedding=vector))
    assert found[0].node.ref_doc_id == "garden"
    with pytest.raises(Exception, match="256 dimensions"):
        dense.query(QueryBundle(QUESTION, embedding=[1.0]))


def test_what_a_part_cannot_do_is_an_error() -> None:
    nodes = [TextNode(text="one"), TextNode(text="two")]
    retriever = SparseRetriever.from_defaults(nodes=nodes)
    for wrong in (
        lambda: HybridRetriever([retriever], num_queries=4),
        lambda: SparseRetriever.from_defaults(nodes=nodes, language="de"),
        SparseRetriever.from_defaults,
        lambda: MinScore(least=0.5),
        *(lambda parser=parser: parser(chunk_size=100) for parser in PARSERS.values()),
        *(lambda parser=parser: parser(embed_model=MockLLM()) for parser in PARSERS.values()),
    ):
        with pytest.raises((TypeError, ValueError)):
            wrong()
    assert HybridRetriever([retriever]).get_prompts() == {}


@pytest.mark.parametrize("name", PARSERS)
def test_a_comment_in_a_code_fence_is_no_heading_in_any_parser(name: str) -> None:
    words = " ".join(f"word{number}" for number in range(60))
    text = f"# Title\n\n{words}\n\n```sh\n# no heading\nmake all\n```\n\n## Real\n\n{words}\n"
    parser = PARSERS[name](embed=_same) if PARSERS[name].embeds else PARSERS[name]()
    nodes = parser.get_nodes_from_documents([Document(text=text)])
    assert nodes
    assert not any("no heading" in heading for node in nodes for heading in node.metadata["section_path"])


def _same(texts: Sequence[str]) -> Any:
    import numpy as np

    return np.ones((len(texts), 4)) / 2


@pytest.mark.parametrize(("name", "category"), [("resume", "resume"), ("journey", "journey"), ("linkedin", "linkedin")])
def test_a_parser_sets_its_category_unless_the_document_states_one(name: str, category: str) -> None:
    text = "# Ann Bell\n\n## Experience\n\nEngineer, Contoso\n2019 - 2022\n\n- Built a crane.\n"
    parser = PARSERS[name]()
    (first, *_) = parser.get_nodes_from_documents([Document(text=text)])
    assert first.metadata["category"] == category
    (first, *_) = parser.get_nodes_from_documents([Document(text=text, metadata={"category": "blog", "year": 2001})])
    assert (first.metadata["category"], first.metadata["year"]) == ("blog", 2001)


def test_a_node_that_a_program_edits_changes_no_later_search(engine: QueryEngine) -> None:
    before = engine.search(QUESTION)
    for hit in SparseRetriever(engine.store, engine.indexes).retrieve(QUESTION):
        hit.node.metadata["title"] = "edited"
        hit.node.set_content("edited")
    assert engine.search(QUESTION).results == before.results
