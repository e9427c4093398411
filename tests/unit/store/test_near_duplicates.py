"""How alike texts are, told from their signatures."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.store.near_duplicates import (
    ALIKE,
    LEAST,
    Signature,
    bands,
    components,
    joint,
    likeness,
    shingles,
    signatures,
)

RANDOM = random.Random(7)
VOCABULARY = [f"word{number}" for number in range(2_000)]
TEXT = " ".join(RANDOM.choice(VOCABULARY) for _ in range(600))


def signed(text: str) -> Signature:
    (signature,) = signatures([shingles(text)])
    assert signature is not None
    return signature


def jaccard(one: str, other: str) -> float:
    left, right = set(shingles(one).tolist()), set(shingles(other).tolist())
    return len(left & right) / len(left | right)


def test_case_accents_and_punctuation_make_no_difference() -> None:
    assert (shingles("Ann’s ÉCOLE, by the sea") == shingles("ann's ecole by the SEA!")).all()


def test_signatures_are_those_of_datasketch() -> None:
    from datasketch import MinHash

    sets = [np.unique(np.random.default_rng(size).integers(0, 2**32, size, dtype=np.uint32)) for size in (1, 2, 300)]
    theirs = MinHash.generator(sets, num_perm=128, seed=1, scheme="affine32", hashfunc=int)
    for own, other in zip(signatures(sets), theirs, strict=True):
        assert own is not None
        assert own.tolist() == other.hashvalues.tolist()


def test_the_order_of_words_makes_a_difference() -> None:
    assert set(shingles("one two three four").tolist()).isdisjoint(shingles("four three two one").tolist())


def test_a_text_of_three_words_has_one_shingle_and_a_shorter_one_none() -> None:
    assert [len(shingles(text)) for text in ("", "one two", "one two three", "one two three one two three")] == [
        0,
        0,
        1,
        3,
    ]


def test_a_signature_is_the_same_in_every_process() -> None:
    assert signed("one two three four five").tolist()[:2] == SAME


SAME = [84460991, 2140202432]


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1, 0.3])
def test_likeness_estimates_the_jaccard_similarity_of_the_shingles(share: float) -> None:
    words = TEXT.split()
    changed = " ".join(word if RANDOM.random() > share else "other" for word in words)
    true = jaccard(TEXT, changed)
    assert float(likeness(signed(TEXT), signed(changed))) == pytest.approx(
        true, abs=4 * (true * (1 - true) / 128) ** 0.5
    )


def test_near_copies_share_a_band_and_other_texts_do_not() -> None:
    copy, stranger = " ".join(TEXT.split()[:550]), " ".join(reversed(TEXT.split()))
    assert set(bands(signed(TEXT))) & set(bands(signed(copy)))
    assert not set(bands(signed(TEXT))) & set(bands(signed(stranger)))
    assert len(set(bands(signed(TEXT)))) == 128 // 4


def test_the_joint_signature_is_that_of_all_shingles_together() -> None:
    one, other = TEXT[:1000], TEXT[1000:2000]
    both = np.union1d(shingles(one), shingles(other))
    joined = joint([signed(one), None, signed(other)])
    assert joined is not None
    assert (joined == signatures([both])[0]).all()
    assert joint([None]) is None


def test_texts_without_shingles_have_no_signature() -> None:
    assert signatures([shingles("two words"), shingles("one two three")])[0] is None
    assert len(shingles(" ".join(f"w{n}" for n in range(20)))) == LEAST


@given(st.lists(st.integers(0, 5), max_size=8), st.randoms())
def test_components_do_not_depend_on_the_order_of_their_members(kinds: list[int], shuffler: random.Random) -> None:
    texts = [" ".join(TEXT.split()[100 * kind : 100 * kind + 100]) for kind in kinds]
    members = {f"m{place}": signed(text) for place, text in enumerate(texts)}
    names = list(members)
    shuffler.shuffle(names)
    expected = {frozenset(f"m{i}" for i, other in enumerate(kinds) if other == kind) for kind in kinds}
    assert {
        frozenset(group) for group in components({name: members[name] for name in names}, ALIKE["node"])
    } == expected


def test_the_components_are_those_of_comparing_every_pair() -> None:
    random_words = random.Random(11)
    texts = [" ".join(random_words.choice(VOCABULARY) for _ in range(80)) for _ in range(12)]
    for text in list(texts):
        words = text.split()
        for changed in (2, 6, 12):  # some are alike enough, some are not, some by way of another
            texts.append(" ".join(words[changed:] + [random_words.choice(VOCABULARY) for _ in range(changed)]))
    members = {f"{place:02}": signed(text) for place, text in enumerate([*texts, *texts[:5]])}
    alike = ALIKE["document"]
    tied = {name: {name} for name in members}
    for one, own in members.items():
        for other, its in members.items():
            shared = (own == its).reshape(-1, 4).all(axis=1).any()
            if shared and likeness(own, its) >= alike and tied[one] is not tied[other]:
                tied[one] |= tied[other]
                for name in tied[one]:
                    tied[name] = tied[one]
    expected = {frozenset(group) for group in tied.values()}
    assert {frozenset(group) for group in components(members, alike)} == expected
    assert 12 < len(expected) < len(members)
