"""Sections as parents: the relationships of retrieved nodes, and nodes widened to the section around them."""

from llama_index.core.schema import NodeRelationship, NodeWithScore, TextNode

from pipelines.query.engine import QueryEngine
from pipelines.query.postprocess.sections import SectionExpansion
from pipelines.types import Filters
from tests.conftest import ReadOnly

WORDS = {
    "hook": "It is forged of steel and lifts twelve tonnes. ",
    "rope": "Its strands of hemp wear off within a winter. ",
    "drum": "Nineteen turns of cable wind around cast iron. ",
}
PARTS = "".join(f"### {part.title()}\n\nThe {part} of the crane. {said * 20}\n\n" for part, said in WORDS.items())
FILES = {
    "crane.md": f"# Crane\n\nThe crane stands at the quay, and Marit built it.\n\n## Parts\n\n{PARTS}"
    "## Faults\n\nIt ran for six years without a fault, in storm and frost.\n",
    "plain.txt": "Tomatoes need sun. Water them every morning and never at noon.\n",
}
ASKED = "How many tonnes does the hook of the crane lift?"


def stored(engine: QueryEngine) -> dict[str, TextNode]:
    """The nodes of the files by their innermost heading."""
    hits = engine.as_retriever(similarity_top_k=20).retrieve(ASKED + " tomatoes")
    return {hit.node.metadata["section"]: hit.node for hit in hits if isinstance(hit.node, TextNode)}


def test_a_node_names_its_section_its_document_and_its_neighbours(read_only: ReadOnly) -> None:
    nodes = stored(read_only(FILES))
    hook, rope, drum = (nodes[part] for part in ("Hook", "Rope", "Drum"))
    document = hook.metadata["document_id"]
    assert hook.parent_node == rope.parent_node == drum.parent_node
    assert rope.parent_node is not None
    assert rope.parent_node.node_id == f"{document}:{hook.start_char_idx}-{drum.end_char_idx}"
    assert rope.parent_node.metadata["section_path"] == ["Crane", "Parts"]
    assert (rope.prev_node, rope.next_node) != (None, None)
    assert (rope.prev_node.node_id, rope.next_node.node_id) == (hook.node_id, drum.node_id)
    assert rope.ref_doc_id == document
    plain = nodes[""]
    assert plain.parent_node is not None
    assert plain.parent_node.node_id == plain.ref_doc_id
    assert not plain.relationships.keys() & {NodeRelationship.PREVIOUS, NodeRelationship.NEXT}


def test_a_node_is_widened_to_a_section_that_is_small_enough(read_only: ReadOnly) -> None:
    engine = read_only(FILES)
    hook, rope, drum = (stored(engine)[part] for part in ("Hook", "Rope", "Drum"))
    found = [NodeWithScore(node=rope, score=0.5), NodeWithScore(node=TextNode(text="Of another program."), score=0.1)]
    wide = SectionExpansion(store=engine.store, max_tokens=2_000).postprocess_nodes(found)
    assert [each.node.node_id for each in wide[:-1]] == [rope.node_id, hook.node_id, drum.node_id]
    assert {each.score for each in wide[:-1]} == {0.5}
    assert wide[-1] is found[-1]
    assert SectionExpansion(store=engine.store, max_tokens=200).postprocess_nodes(found) == found
    filters = Filters(phrase=("hemp",))
    own = SectionExpansion(store=engine.store, filters=filters, max_tokens=2_000).postprocess_nodes(found)
    assert [each.node.node_id for each in own[:-1]] == [rope.node_id], "nothing that a filter leaves out"


def test_a_widened_passage_is_one_source_of_an_answer(read_only: ReadOnly) -> None:
    engine = read_only(FILES).with_changes({"retrieval.top_n": 1, "answer.passages": 1})
    alone = engine.ask(ASKED, record=False)
    widened = engine.with_changes({"context.section_tokens": 2_000}).ask(ASKED, record=False)
    assert [len(source.node_ids) for source in alone.sources] == [1]
    assert [len(source.node_ids) for source in widened.sources] == [3]
