"""CONVERSATION: the documents that the last answer is from."""

from collections.abc import Mapping, Sequence

from pipelines.query.citation_markers import split_markers
from pipelines.store.lexical_index import LexicalIndex
from pipelines.store.node_reader import NodeReader
from pipelines.store.tokens import tokenise
from pipelines.types import Audience, Filters, Turn

_LEAST, _MOST = 4, 60  # index terms of a line by which its passage is found
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
    answer = split_markers(history[-1].answer)[0] if history else ""
    lines = [tokenise(line)[:_MOST] for line in answer.splitlines()]
    said = [dict.fromkeys(terms, 1.0) for terms in lines if len(terms) >= _LEAST][:_LINES]
    best = [(node_id, terms) for terms in said for node_id, _ in lexical.search(terms, 1)]
    nodes = store.fetch({node_id for node_id, _ in best}, filters=Filters(), audience=audience)
    told = [(nodes[node_id], terms) for node_id, terms in best if node_id in nodes]
    held = (node.metadata["document_id"] for node, terms in told if _holds(node.get_content(), terms, lexical))
    return tuple(dict.fromkeys(held))


def _holds(text: str, terms: Mapping[str, float], lexical: LexicalIndex) -> bool:
    own = {*tokenise(text)}
    total = sum(map(lexical.idf, terms))
    return sum(lexical.idf(term) for term in terms if term in own) >= _SAME * total > 0
