"""Keep only the best ranked of near-duplicate nodes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain

import numpy as np
from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.query.postprocess.cut import document_of
from pipelines.query.postprocess.postprocessor import Postprocessor
from pipelines.store.near_duplicates import shingles

Families = Callable[[Collection[str]], Mapping[str, str]]

THRESHOLD = 0.9
CONTAINED = 0.8  # share of a near-copy's three-word shingles that must be said already for it to go
_NONE = np.empty(0, dtype=np.uint32)


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """The share (0..1) of words that two sets have in common; 1 for two empty sets."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if left or right else 1.0


def near_duplicates(texts: Sequence[str], *, threshold: float = THRESHOLD) -> dict[int, int]:
    """For each text that repeats an earlier one word for word, the index of the earlier one; empty texts never do."""
    by_size: dict[int, list[tuple[int, frozenset[str]]]] = {}  # texts so alike have about as many words
    repeats: dict[int, int] = {}
    for index, text in enumerate(texts):
        terms = frozenset(text.casefold().split())
        sizes = range(int(threshold * len(terms)), int(len(terms) / threshold) + 2) if terms else ()
        alike = sorted(chain.from_iterable(by_size.get(size, ()) for size in sizes))
        first = next((first for first, other in alike if _repeats(terms, other, threshold)), None)
        if first is None:
            by_size.setdefault(len(terms), []).append((index, terms))
        else:
            repeats[index] = first
    return repeats


def _repeats(left: frozenset[str], right: frozenset[str], threshold: float) -> bool:
    """True if their Jaccard similarity reaches a threshold; other texts are told apart by their first words."""
    allowed = len(left) - int(threshold * (len(left) + len(right)) / (1 + threshold)) + 1
    strangers = 0
    for word in left:
        strangers += word not in right
        if strangers > allowed:
            return False
    return jaccard(left, right) >= threshold


def contained_versions(texts: Sequence[str], kin: Sequence[Collection[str]]) -> dict[int, int]:
    """For each text that says nothing which its kin does not say further up, the index of the kin that says most of it.

    Its content may be spread over several texts: two files of one resume are split at different places. The texts are
    the best first; the kin of each are the families of its node and of its document.
    """
    said = [shingles(text) if families else _NONE for text, families in zip(texts, kin, strict=True)]
    kept: list[int] = []
    repeats: dict[int, int] = {}
    for index, own in enumerate(said):
        if not kin[index]:
            continue
        mates = [place for place in kept if not set(kin[index]).isdisjoint(kin[place])]
        if not mates:
            kept.append(index)
            continue
        held = [len(np.intersect1d(own, said[place], assume_unique=True)) for place in mates]
        known = np.unique(np.concatenate([_NONE, *(said[place] for place in mates)]))
        if len(own) and len(np.intersect1d(own, known, assume_unique=True)) >= CONTAINED * len(own):
            repeats[index] = mates[held.index(max(held))]
        else:
            kept.append(index)
    return repeats


def no_families(_: Collection[str]) -> dict[str, str]:
    """The families where none are known."""
    return {}


class DuplicateFilter(Postprocessor):
    """Drops nodes whose words a better ranked node repeats, and near-copies of better ranked nodes.

    Near-copies are nodes of one family, and nodes of other documents of one family (two versions of a resume). The
    observer learns which documents each kept node also stands for.
    """

    families: Families = Field(no_families, exclude=True)

    def applied(self, nodes: list[NodeWithScore], query: QueryBundle | None = None) -> list[NodeWithScore]:
        repeats = near_duplicates([hit.node.get_content() for hit in nodes])
        left = [hit for place, hit in enumerate(nodes) if place not in repeats]
        documents = {document_of(hit.node) for hit in left}
        family = self.families(documents | {hit.node.node_id for hit in left}) if len(documents) > 1 else {}
        older = contained_versions([hit.node.get_content() for hit in left], _kin(left, family))
        stands_for = {hit.node.node_id: nodes[repeats[place]] for place, hit in enumerate(nodes) if place in repeats}
        stands_for |= {left[place].node.node_id: left[kept] for place, kept in older.items()}
        for hit in nodes:
            kept_hit = hit
            while kept_hit.node.node_id in stands_for:
                kept_hit = stands_for[kept_hit.node.node_id]
            if kept_hit is not hit:
                self.observer.copied(hit.node.node_id, kept_hit.node.node_id)
        return [hit for hit in nodes if hit.node.node_id not in stands_for]


def _kin(nodes: Sequence[NodeWithScore], family: Mapping[str, str]) -> list[set[str]]:
    """The families of each node and of its document, of those that more than one document here has a part in."""
    documents = [document_of(hit.node) for hit in nodes]
    kin = [
        {family[name] for name in (hit.node.node_id, document) if name in family}
        for hit, document in zip(nodes, documents, strict=True)
    ]
    holders: dict[str, set[str]] = {}
    for document, names in zip(documents, kin, strict=True):
        for name in names:
            holders.setdefault(name, set()).add(document)
    return [{name for name in names if len(holders[name]) > 1} for names in kin]
