"""Families: near-copies among nodes and among documents, found when a document is written."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from llama_index.core.schema import BaseNode
from numpy.typing import NDArray
from sqlalchemy import BigInteger, ColumnElement, Connection, Engine, cast, delete, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY

from pipelines.store.copying import append_rows
from pipelines.store.database import reading
from pipelines.store.signatures import (
    LEAST,
    PERMUTATIONS,
    ROWS,
    Signature,
    bands,
    joint,
    likeness,
    shingles,
    signatures,
)
from pipelines.store.tables import families
from pipelines.text import searchable

ALIKE = {"node": 0.8, "document": 0.7}  # estimated similarity from which two members are near-copies


class Member(NamedTuple):
    """A node or a document that has enough words to be compared."""

    id: str
    kind: str
    document_id: str
    signature: Signature
    bands: list[int]


def write_families(connection: Connection, document_ids: Collection[str], members: Sequence[Member]) -> None:
    """Find the near-copies of documents and of their nodes among all others, and make one family of each group.

    A family is a connected component: every member is a near-copy of another. It is called by its smallest member id,
    so that families do not depend on the order in which documents come.

    Args:
        connection: Whose transaction goes on to hold all families.
        document_ids: What is known of them is forgotten.
        members: Theirs now, see `members_of`.
    """
    forget_families(connection, document_ids)
    if members:
        rows = [
            {"member": one.id, "kind": one.kind, "document_id": one.document_id, "family": one.id,
             "signature": one.signature.astype("<u4").tobytes(), "bands": one.bands}
            for one in members
        ]  # fmt: skip
        append_rows(connection, families, rows)
        _join(connection, document_ids, members)


def members_of(document_id: str, mime: str, nodes: Sequence[BaseNode]) -> Iterator[Member]:
    """A document's nodes, and the document itself, but for those that say too little to be compared."""
    hashed = [shingles(searchable("", node.get_content(), mime, node.metadata["kind"])) for node in nodes]
    signed = signatures(hashed)
    for node, held, signature in zip(nodes, hashed, signed, strict=True):
        if signature is not None and len(held) >= LEAST:
            yield Member(node.node_id, "node", document_id, signature, bands(signature))
    whole = joint(signed)
    if whole is not None and sum(map(len, hashed)) >= LEAST:
        yield Member(document_id, "document", document_id, whole, bands(whole))


def lock_families(connection: Connection) -> None:
    """Let nobody else change families before the transaction ends, so that it sees all the others."""
    connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended('families', 0))"))


def forget_families(connection: Connection, document_ids: Collection[str]) -> None:
    """Take documents and their nodes out of their families; what they alone held together comes apart."""
    lock_families(connection)
    f = families.c
    own = f.document_id.in_(document_ids)
    left = connection.execute(delete(families).where(own).returning(f.family)).scalars()
    names = set(left)
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


def _join(connection: Connection, document_ids: Collection[str], own: Sequence[Member]) -> None:
    """Make one family of each new member and of all whose near-copies it is."""
    f = families.c
    sought = sorted({band for member in own for band in member.bands})
    # As a subquery: where the planner sees the numbers, it takes the comparing of arrays for cheap, and reads all rows.
    wanted = select(cast(sought, ARRAY(BigInteger))).scalar_subquery()
    elsewhere = f.document_id.not_in(document_ids)
    rows = connection.execute(
        select(f.kind, f.family, f.signature).distinct().where(f.bands.op("&&")(wanted), elsewhere)
    ).all()
    groups = _Groups()
    for kind, alike in ALIKE.items():
        new = {member.id: member.signature for member in own if member.kind == kind}
        for component in components(new, alike):
            for member in component:
                groups.tie(min(component), member)
        others = [(row.family, _signature(row.signature)) for row in rows if row.kind == kind]
        table = _stacked([signature for _, signature in others])
        for member, signature in new.items():
            for place in _copies_of(signature, table, alike):
                groups.tie(member, others[place][0])
    for group in groups:
        if len(group) > 1:
            _rename(connection, f.family.in_(group), min(group))


def _rename(connection: Connection, which: ColumnElement[bool], name: str) -> None:
    connection.execute(update(families).where(which).values(family=name))


def _signature(stored: bytes) -> Signature:
    return np.frombuffer(stored, dtype="<u4")


def components(members: Mapping[str, Signature], alike: float) -> list[set[str]]:
    """The members in groups that near-copies hold together, each alone that is nobody's near-copy."""
    same: dict[bytes, list[str]] = {}
    for member, signature in members.items():
        same.setdefault(signature.tobytes(), []).append(member)
    groups, in_band = _Groups(), dict[int, list[str]]()
    for first, *others in same.values():
        for other in (first, *others):
            groups.tie(first, other)
        held = [in_band.setdefault(band, []) for band in bands(members[first])]
        rivals = list(dict.fromkeys(chain.from_iterable(held)))
        for place in _copies_of(members[first], [members[rival] for rival in rivals], alike):
            groups.tie(first, rivals[place])
        for each in held:
            each.append(first)
    return list(groups)


def _stacked(rows: Sequence[Signature]) -> NDArray[np.uint32]:
    return np.array(rows, dtype=np.uint32).reshape(len(rows), PERMUTATIONS)


def _copies_of(one: Signature, others: Sequence[Signature] | NDArray[np.uint32], alike: float) -> list[int]:
    """The places of those signatures that are near-copies of one: alike enough, with a band in common."""
    if not len(others):
        return []
    table = np.asarray(others)
    bands_shared = (one == table).reshape(len(table), PERMUTATIONS // ROWS, ROWS).all(axis=-1).any(axis=-1)
    return [int(place) for place in np.flatnonzero(bands_shared & (likeness(one, table) >= alike))]


class _Groups:
    """Names in groups that grow together as names are tied."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def tie(self, one: str, other: str) -> None:
        """Make one group of the groups of two names."""
        self._parent[self._root(one)] = self._root(other)

    def _root(self, name: str) -> str:
        parent = self._parent.setdefault(name, name)
        while parent != self._parent[parent]:
            self._parent[name] = parent = self._parent[parent]
        return parent

    def __iter__(self) -> Iterator[set[str]]:
        groups: dict[str, set[str]] = {}
        for name in list(self._parent):
            groups.setdefault(self._root(name), set()).add(name)
        return iter(groups.values())


# Reading


def families_of(engine: Engine, members: Collection[str]) -> dict[str, str]:
    """The family of each of these nodes and documents; those without one are missing.

    Takes no filters: the caller has the ids from reads that did.
    """
    f = families.c
    with reading(engine, "reading families") as connection:
        found = connection.execute(select(f.member, f.family).where(f.member.in_(list(members))))
        return {row.member: row.family for row in found}
