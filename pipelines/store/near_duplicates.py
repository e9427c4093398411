"""Near-duplicates: MinHash signatures, and families of near-copies among nodes and among documents."""

import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BigInteger, ColumnElement, Connection, Engine, cast, delete, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY

from pipelines.store.database import append_rows, read_rows
from pipelines.store.schema import families
from pipelines.text import fold, searchable

if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode

Signature = NDArray[np.uint32]

LEAST = 18  # shingles, which are 20 words: a shorter text is too short to be called a copy
PERMUTATIONS = 128
_SEED = 1
ROWS = 4  # of a band: two texts of similarity .7 share one of the 32 bands in all but 2 of 10,000 cases
_WORD = re.compile(r"\w+")
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
_BAND_MIX = np.array([0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3], dtype=np.uint64)


def shingles(text: str) -> NDArray[np.uint32]:
    """The hashes of all sequences of three words, each once, ascending; none for fewer than three words.

    Case, accents and punctuation do not count.
    """
    words = _WORD.findall(fold(text))
    if len(words) < 3:
        return np.empty(0, dtype=np.uint32)
    hashes = np.fromiter(map(zlib.crc32, map(str.encode, words)), dtype=np.uint64, count=len(words))
    mixed = sum((hashes[place : len(words) - 2 + place] * _MIX[place] for place in range(3)), np.uint64(0))
    return np.unique((np.asarray(mixed) >> np.uint64(32)).astype(np.uint32))


def signatures(hashed: Sequence[NDArray[np.uint32]]) -> list[Signature | None]:
    """The signature of each set of shingles, (128,); None for an empty one.

    They equal those of datasketch's MinHash ("affine32", seed 1), which takes half a second to import and ten times as
    long for a set. Source: Broder, SEQUENCES 1997, doi:10.1109/SEQUEN.1997.666900.
    """
    factors, offsets = _permutations()
    found: list[Signature | None] = []
    for each in hashed:  # the last step of MurmurHash3, which spreads similar numbers, and the permutations
        mixed = (each ^ (each >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        mixed = (mixed ^ (mixed >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        mixed ^= mixed >> np.uint32(16)
        found.append((mixed[:, None] * factors + offsets).min(axis=0) if len(each) else None)
    return found


@lru_cache(maxsize=1)
def _permutations() -> tuple[Signature, Signature]:
    """The odd factors and the offsets of 128 permutations of the numbers of 32 bits."""
    drawn = np.random.RandomState(_SEED)
    factors = drawn.randint(0, 1 << 31, PERMUTATIONS, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    return factors, drawn.randint(0, 1 << 32, PERMUTATIONS, dtype=np.uint32)


def joint(parts: Sequence[Signature | None]) -> Signature | None:
    """The signature of the union of some sets, from their signatures."""
    some = [part for part in parts if part is not None]
    return np.minimum.reduce(some) if some else None


def bands(signature: Signature) -> list[int]:
    """32 numbers of 64 bits, of which similar texts share some."""
    rows = signature.astype(np.uint64).reshape(-1, ROWS)
    places = np.arange(len(rows), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (rows * _BAND_MIX).sum(axis=1, dtype=np.uint64) + places
    mixed ^= mixed >> np.uint64(29)
    return [int(value) for value in (mixed * np.uint64(0xBF58476D1CE4E5B9)).view(np.int64)]


def likeness(one: NDArray[np.uint32], other: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The estimated Jaccard similarity (0..1) of the shingles behind signatures, along the last axis.

    Its standard error is sqrt(s (1 - s) / 128), at most 0.045. Source: Broder, SEQUENCES 1997,
    doi:10.1109/SEQUEN.1997.666900.
    """
    return np.asarray((one == other).mean(axis=-1))


ALIKE = {"node": 0.8, "document": 0.7}  # estimated similarity from which two members are near-copies


class Member(NamedTuple):
    """A node or a document with enough words to be compared."""

    id: str
    kind: str
    document_id: str
    signature: Signature
    bands: list[int]


def write_families(connection: Connection, document_ids: Collection[str], members: Sequence[Member]) -> None:
    """Find the near-copies of documents and of their nodes among all others, and make one family of each group.

    A family is a connected component: every member is a near-copy of another. Its name is its smallest member id, so
    that families do not depend on the order of the documents.

    The transaction locks all families until it ends. The former members of the documents are deleted; for the present
    ones see `members_of`.
    """
    forget_families(connection, document_ids)
    if not members:
        return
    rows = [
        {"member": one.id, "kind": one.kind, "document_id": one.document_id, "family": one.id,
         "signature": one.signature.astype("<u4").tobytes(), "bands": one.bands}
        for one in members
    ]  # fmt: skip
    append_rows(connection, families, rows)
    f = families.c
    sought = sorted({band for member in members for band in member.bands})
    # As a subquery: with the numbers in sight the planner takes comparing arrays for cheap, and reads all rows.
    wanted = select(cast(sought, ARRAY(BigInteger))).scalar_subquery()
    elsewhere = f.document_id.not_in(document_ids)
    near = connection.execute(
        select(f.kind, f.family, f.signature).distinct().where(f.bands.op("&&")(wanted), elsewhere)
    ).all()
    ties: list[tuple[str, str]] = []
    for kind, alike in ALIKE.items():
        new = {member.id: member.signature for member in members if member.kind == kind}
        for component in components(new, alike):
            ties += [(min(component), member) for member in component]
        others = [(row.family, _signature(row.signature)) for row in near if row.kind == kind]
        table = np.array([signature for _, signature in others], dtype=np.uint32).reshape(len(others), PERMUTATIONS)
        for member, signature in new.items():
            ties += [(member, others[place][0]) for place in _copies_of(signature, table, alike)]
    for group in _connected(ties):
        if len(group) > 1:
            _rename(connection, f.family.in_(group), min(group))


def members_of(document_id: str, mime: str, nodes: "Sequence[BaseNode]") -> Iterator[Member]:
    """A document's nodes, and the document itself; without those that have too few words."""
    hashed = [shingles(searchable("", node.get_content(), mime, node.metadata["kind"])) for node in nodes]
    signed = signatures(hashed)
    for node, each, signature in zip(nodes, hashed, signed, strict=True):
        if signature is not None and len(each) >= LEAST:
            yield Member(node.node_id, "node", document_id, signature, bands(signature))
    whole = joint(signed)
    is_node = any(node.node_id == document_id for node in nodes)  # a node without a document is its own
    if whole is not None and sum(map(len, hashed)) >= LEAST and not is_node:
        yield Member(document_id, "document", document_id, whole, bands(whole))


def lock_families(connection: Connection) -> None:
    """Lock the families until the transaction ends, so that it sees those of all others."""
    connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended('families', 0))"))


def forget_families(connection: Connection, document_ids: Collection[str]) -> None:
    """Remove documents and their nodes from their families, and split families that only they connected."""
    lock_families(connection)
    f = families.c
    removed = delete(families).where(f.document_id.in_(document_ids)).returning(f.family)
    names = set(connection.execute(removed).scalars())
    if not names:
        return
    rows = connection.execute(select(f.family, f.kind, f.member, f.signature).where(f.family.in_(names))).all()
    by_family: dict[tuple[str, str], dict[str, Signature]] = {}
    for row in rows:
        by_family.setdefault((row.family, row.kind), {})[row.member] = _signature(row.signature)
    for (family, kind), members in by_family.items():
        for component in components(members, ALIKE[kind]):
            if min(component) != family:
                _rename(connection, f.member.in_(component), min(component))


def _rename(connection: Connection, which: ColumnElement[bool], name: str) -> None:
    connection.execute(update(families).where(which).values(family=name))


def _signature(stored: bytes) -> Signature:
    return np.frombuffer(stored, dtype="<u4")


def components(members: Mapping[str, Signature], alike: float) -> list[set[str]]:
    """The members in groups that near-copies connect; a member without a near-copy is a group."""
    same: dict[bytes, list[str]] = {}
    for member, signature in members.items():
        same.setdefault(signature.tobytes(), []).append(member)
    ties, in_band = list[tuple[str, str]](), dict[int, list[str]]()
    for first, *others in same.values():
        ties += [(first, other) for other in (first, *others)]
        buckets = [in_band.setdefault(band, []) for band in bands(members[first])]
        rivals = list(dict.fromkeys(chain.from_iterable(buckets)))
        copies = _copies_of(members[first], [members[rival] for rival in rivals], alike)
        ties += [(first, rivals[place]) for place in copies]
        for bucket in buckets:
            bucket.append(first)
    return _connected(ties)


def _copies_of(one: Signature, others: Sequence[Signature] | NDArray[np.uint32], alike: float) -> list[int]:
    """The indices of the near-copies of a signature: similar enough, with a band in common."""
    if not len(others):
        return []
    table = np.asarray(others)
    bands_shared = (one == table).reshape(len(table), PERMUTATIONS // ROWS, ROWS).all(axis=-1).any(axis=-1)
    return [int(place) for place in np.flatnonzero(bands_shared & (likeness(one, table) >= alike))]


def _connected(ties: Iterable[tuple[str, str]]) -> list[set[str]]:
    """The names in groups that ties connect; the smaller of two groups joins the larger."""
    group_of: dict[str, set[str]] = {}
    for one, other in ties:
        smaller, larger = sorted((group_of.setdefault(name, {name}) for name in (one, other)), key=len)
        if smaller is not larger:
            larger |= smaller
            group_of |= dict.fromkeys(smaller, larger)
    return list({id(group): group for group in group_of.values()}.values())


# Reading


def families_of(engine: Engine, members: Collection[str]) -> dict[str, str]:
    """The family of each of these nodes and documents; those without one are missing.

    Takes no filters: the caller has the ids from reads that did.
    """
    f = families.c
    statement = select(f.member, f.family).where(f.member.in_(list(members)))
    return {row.member: row.family for row in read_rows(engine, "reading families", statement)}
