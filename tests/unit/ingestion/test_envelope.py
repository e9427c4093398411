"""Remote documents as bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import LoadError
from pipelines.ingestion.envelope import Envelope, pack, unpack

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON), st.binary())
def test_unpack_inverts_pack(facts: dict[str, object], body: bytes) -> None:
    assert unpack(pack(Envelope(facts, body)), "a") == Envelope(facts, body)


def test_the_order_of_facts_does_not_change_the_bytes() -> None:
    assert pack(Envelope({"a": 1, "b": 2}, b"x")) == pack(Envelope({"b": 2, "a": 1}, b"x"))


@pytest.mark.parametrize("data", [b"", b"# A page", b"footnote envelope 1\n{}", b"footnote envelope 1\n{broken\nbody"])
def test_other_bytes_are_refused_by_the_name_of_the_document(data: bytes) -> None:
    with pytest.raises(LoadError, match=r"data of ann/notes is damaged"):
        unpack(data, "ann/notes")
