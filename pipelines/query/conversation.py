"""CONVERSATION: the documents that the last answer is from."""

from collections.abc import Mapping, Sequence

from pipelines.query.citation_markers import split_markers
from pipelines.store.lexical_index import LexicalIndex
from pipelines.store.node_reader import NodeReader
from pipelines.store.tokens import tokenise
from pipelines.types import Audience, Filters, Turn

_LEAST, _MOST = 5, 60  # words of a line by which its passage is found
_LINES = 2  # of an answer, whose documents count
_SAME = 0.6  # share of a line's terms, by idf, that its passage holds


def documents_told(
    history: Sequence[Turn], lexical: LexicalIndex, store: NodeReader, audience: Audience
) -> tuple[str, ...]:
    """The ids of the documents of the last answer's passages, at most two; empty where no stored passage has its words.

    Args:
        history: The turns, oldest first.
        lexical: Where its words are looked up.
        store: The nodes.
        audience: Who asks.
    """
    for turn in reversed(history):
        lines = [line.split()[:_MOST] for line in split_markers(turn.answer)[0].splitlines()]
        said = [dict.fromkeys(tokenise(" ".join(line)), 1.0) for line in lines if len(line) >= _LEAST][:_LINES]
        best = [(node_id, terms) for terms in said for node_id, _ in lexical.search(terms, 1)]
        nodes = store.fetch({node_id for node_id, _ in best}, filters=Filters(), audience=audience)
        told = [(nodes[node_id], terms) for node_id, terms in best if node_id in nodes]
        held = (node.metadata["document_id"] for node, terms in told if _holds(node.get_content(), terms, lexical))
        if documents := tuple(dict.fromkeys(held)):
            return documents
    return ()


def _holds(text: str, terms: Mapping[str, float], lexical: LexicalIndex) -> bool:
    own = {*tokenise(text)}
    total = sum(map(lexical.idf, terms))
    return sum(lexical.idf(term) for term in terms if term in own) >= _SAME * total > 0
