"""The BM25 index: its scores, and that an index with deltas equals one that is built anew."""

import math
import random
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.store import lexical_index
from pipelines.store.index_files import checksums
from pipelines.store.lexical_index import BM25Parameters, LexicalIndex, Segment, with_pairs
from pipelines.store.read_snapshot import Mark
from pipelines.store.tokens import tokenise

MARK = Mark(7, 1_700_000_000_000_000)


def index(*texts: str) -> LexicalIndex:
    return LexicalIndex.build(segments(" ".join(tokenise(text)) for text in texts), BM25Parameters(), MARK)


def segments(terms: Iterable[str]) -> list[Segment]:
    """A node n0, n1 ... for each, in a document of its own."""
    return [Segment(f"n{number}", f"d{number}", held) for number, held in enumerate(terms)]


def found(built: LexicalIndex, question: str, k: int = 10) -> list[str]:
    return [node_id for node_id, _ in built.search(tokenise(question), k)]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Wrote C++ for ten years", "C++"),
        ("C# services", "c#"),
        ("on .NET 8", ".net"),
        ("a Node.js gateway", "node.js"),
        ("a Node.js gateway", "Node"),
        ("models in R and Go", "R"),
        ("models in R and Go", "go"),
        ("built the CI/CD", "ci/cd"),
        ("built the CI/CD", "CI"),
        ("built the CI/CD", "cd"),
        ("wrote C/C++", "C"),
        ("wrote C/C++", "c++"),
        ("wrote Java/C++", "Java"),
        ("wrote Java/C++", "C++"),
        ("wrote C++/C#/Java", "C#"),
        ("wrote Node.js/C++", "node.js"),
        ("wrote Node.js/C++", "Node"),
        ("wrote Node.js/C++", "C++"),
        ("wrote Java+C++", "C++"),
        ("models in Python/R", "R"),
        ("models in R/Shiny", "r"),
        ("models in R/Shiny", "Shiny"),
        ("scripts in Bash/C", "C"),
        ("an ASP.NET site", ".net"),
        ("an ASP.NET site", "asp.net"),
        ("in C#/.NET", ".NET"),
        ("deployed on k8s/Nomad", "Kubernetes"),
        ("asked GPT-4", "gpt-4"),
        ("asked GPT-4", "4"),
        ("the function getUserName", "user name"),
        ("the function getUserName", "getusername"),
        ("parse_http_header()", "http header"),
        ("on k8s since 2019", "Kubernetes"),
        ("Kubernetes operator", "k8s"),
        ("café résumé", "resume cafe"),
        ("resume", "résumé"),
        ("Anna’s pipelines", "pipeline of Anna"),
        ("an IT department", "IT"),
    ],
)
def test_technical_words_are_found(text: str, question: str) -> None:
    assert found(index("something else entirely", text), question) == ["n1"]


@pytest.mark.parametrize("question", ["C", "R"])
def test_a_single_letter_language_is_not_found_in_other_names(question: str) -> None:
    assert found(index("Wrote C++ and C# and R&D plans"), question) == []


@pytest.mark.parametrize(("text", "question"), [("on k8s", "8"), ("with i18n", "18"), ("mail a@b.net", ".net")])
def test_a_piece_of_a_word_is_no_term(text: str, question: str) -> None:
    assert found(index(text), question) == []


def test_a_node_that_matches_nothing_is_never_returned() -> None:
    assert found(index("apples", "pears"), "quantum") == []


def test_stop_words_alone_find_nothing() -> None:
    assert found(index("what is the", "a pear"), "what is the") == []


def test_an_empty_corpus_answers_an_empty_list() -> None:
    assert index().search(tokenise("anything"), 5) == []
    assert index("the of and").search(tokenise("anything"), 5) == []


def test_filters_apply_before_the_cut() -> None:
    built = index(*["go go go"] * 50, "go")
    assert built.search(["go"], 1, allowed={"n50", "unknown"})[0][0] == "n50"


def test_a_search_for_more_nodes_than_there_are_returns_all() -> None:
    assert len(found(index("go", "go here"), "go", k=100)) == 2


def test_scores_are_ranked_and_ties_go_by_id() -> None:
    hits = index("go", "go", "go go").search(["go"], 3)
    assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)
    assert [node_id for node_id, _ in hits][-2:] == sorted(node_id for node_id, _ in hits[-2:])


def test_a_rare_term_weighs_more_than_a_common_one() -> None:
    built = index("go rust", "go", "go")
    assert built.idf("rust") > built.idf("go")
    assert built.idf("unheard") > built.idf("rust")


def test_a_saved_snapshot_ranks_as_the_built_one(tmp_path: Path) -> None:
    built = index("go rust", "go", "café")
    built.save(tmp_path / "index")
    loaded = LexicalIndex.load(tmp_path / "index", BM25Parameters())
    assert loaded.search(["go", "rust"], 3) == built.search(["go", "rust"], 3)
    assert loaded.idf("rust") == built.idf("rust")
    assert loaded.mark == MARK


@given(st.text(max_size=200))
def test_terms_hold_no_space_and_are_the_same_twice(text: str) -> None:
    terms = tokenise(text)
    assert all(term and term.split() == [term] for term in terms)
    assert tokenise(text) == terms


def scored(held: list[str], terms: list[str] | dict[str, float], **parameters: float) -> list[float]:
    rows = segments(held)
    scores = LexicalIndex.build(rows, BM25Parameters(**parameters)).score_of(terms, [row.node_id for row in rows])
    return [scores[row.node_id] for row in rows]


def test_a_term_of_the_header_counts_header_weight_times() -> None:
    split = scored(["go\trust team", "\tgo rust"], ["go"], header_weight=3)
    assert split == scored(["go go go rust team", "go rust"], ["go"])
    assert split[0] > split[1]


def test_a_segment_may_lack_either_field() -> None:
    assert scored(["go\t", "\tgo", "go"], ["go"])[0] > 0
    assert len(set(scored(["go\t", "\tgo", "go"], ["go"]))) == 1


def bm25(df: int, nodes: int, tf: int, length: int, mean: float, k1: float = 1.2, b: float = 0.75) -> float:
    return math.log(1 + (nodes - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * length / mean))


def test_neighbouring_terms_add_the_weighted_bm25_of_their_pair() -> None:
    held = ["data scienc", "scienc data", "data on scienc"]  # pairs: 1, 1, and 2 + 1 at distance two
    paired = scored(held, ["data", "scienc"], pair_weight=0.5)
    alone = scored(held, ["data", "scienc"])
    mean = (1 + 1 + 3) / 3
    assert paired[0] - alone[0] == pytest.approx(0.5 * bm25(2, 3, 1, 1, mean), rel=1e-5)
    assert paired[1] == alone[1]
    assert paired[2] - alone[2] == pytest.approx(0.5 * bm25(2, 3, 1, 3, mean), rel=1e-5)


def test_a_pair_that_occurs_twice_scores_more_but_not_twice_as_much() -> None:
    mean = (3 + 3 + 1) / 3
    once, twice = bm25(2, 3, 1, 3, mean), bm25(2, 3, 2, 3, mean)
    held = ["a b x", "a b b", "c d"]  # "a b" once; once at each distance
    gained = np.subtract(scored(held, ["a", "b"], pair_weight=1.0), scored(held, ["a", "b"]))
    assert gained == pytest.approx([once, twice, 0.0], rel=1e-5)
    assert once < twice < 2 * once


def test_no_pair_spans_header_and_text() -> None:
    held = ["data\tscienc", "x\ty"]
    assert scored(held, ["data", "scienc"], pair_weight=1.0) == scored(held, ["data", "scienc"])


def test_a_pair_of_the_question_is_ordered_and_adjacent() -> None:
    held = ["a b", "b a"]
    asked_apart = scored(held, ["a", "x", "b"], pair_weight=1.0)
    assert asked_apart[0] == asked_apart[1]


def test_terms_may_carry_weights() -> None:
    held = ["go rust", "go", "rust rust"]
    plain = scored(held, ["go", "rust", "rust"])
    assert scored(held, {"go": 1.0, "rust": 2.0}) == plain
    assert scored(held, {"go": 0.5, "rust": 1.0}) == pytest.approx([score / 2 for score in plain])


def test_a_pair_is_as_heavy_as_its_lighter_term() -> None:
    assert with_pairs({"a": 1.0, "b": 0.4}, ["a", "b", "unweighted"]) == {"a": 1.0, "b": 0.4, "a b": 0.4}


def test_a_filtered_search_is_an_exact_scan_of_the_allowed_nodes() -> None:
    chance = random.Random(3)
    words = [f"w{number}" for number in range(40)]
    rows = segments(" ".join(chance.choices(words, k=chance.randint(1, 30))) for _ in range(300))
    built = LexicalIndex.build(rows, BM25Parameters(pair_weight=0.1))
    for _ in range(200):
        terms = chance.choices(words, k=chance.randint(1, 6))
        allowed = set(chance.sample([row.node_id for row in rows], chance.randint(0, 300))) | {"gone"}
        scan = built.score_of(terms, allowed)
        exact = sorted(((n, score) for n, score in scan.items() if score > 0), key=lambda hit: (-hit[1], hit[0]))
        assert built.search(terms, 10, allowed) == exact[:10]


def test_a_saved_snapshot_keeps_its_pairs(tmp_path: Path) -> None:
    paired = BM25Parameters(pair_weight=0.1)
    built = LexicalIndex.build(segments(["data scienc", "scienc data"]), paired)
    built.save(tmp_path / "index")
    loaded = LexicalIndex.load(tmp_path / "index", paired)
    (first, more), (_, less) = loaded.search(["data", "scienc"], 2)
    assert loaded.search(["data", "scienc"], 2) == built.search(["data", "scienc"], 2)
    assert first == "n0"
    assert more > less


WORDS = ["go", "rust", "data", "scienc", "kubernet", "harbour", "crane"]
PARAMETERS = BM25Parameters(k1=1.1, b=0.6, header_weight=2, pair_weight=0.15)
QUESTIONS = (["go"], ["data", "scienc"], ["rust", "go", "rust"], ["harbour", "crane", "kubernet"], ["unheard"], WORDS)

terms = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
node = st.one_of(terms, st.tuples(terms, terms).map("\t".join))
edit = st.tuples(st.sampled_from("abcde"), st.one_of(st.none(), st.lists(node, max_size=3)))


def nodes_of(document: str, held: Sequence[str]) -> list[Segment]:
    """A node keeps its id where its text stays, as it does when only metadata change."""
    return [Segment(f"{document}.{place}.{text}", document, text) for place, text in enumerate(held)]


def assert_same(index: LexicalIndex, segments: Sequence[Segment], parameters: BM25Parameters = PARAMETERS) -> None:
    """Whether an index tells just what one of these nodes alone would, to the last bit."""
    anew = LexicalIndex.build(segments, parameters)
    ids = [*{segment.node_id for segment in segments}, "unknown"]
    assert len(index) == len(anew)
    for question in QUESTIONS:
        assert index.search(question, 100) == anew.search(question, 100)
        assert index.search(question, 2, {*ids[::2]}) == anew.search(question, 2, {*ids[::2]})
        assert index.score_of(question, ids) == anew.score_of(question, ids)
    for word in (*WORDS, "unheard"):
        assert index.holders([word], ids) == {node_id for node_id, score in anew.score_of([word], ids).items() if score}
    for word in [*WORDS, "unheard"]:
        assert index.document_frequency(word) == anew.document_frequency(word)
        assert index.idf(word) == anew.idf(word)
    assert index.nearest("kuberntes") == anew.nearest("kuberntes")


@given(
    st.dictionaries(st.sampled_from("abcde"), st.lists(node, max_size=3)),
    st.lists(st.lists(edit, max_size=3), max_size=5),
)
def test_after_any_edits_an_index_scores_as_a_new_one(
    documents: dict[str, list[str]], steps: list[list[tuple[str, list[str] | None]]]
) -> None:
    held = {name: nodes_of(name, nodes) for name, nodes in documents.items()}
    index = LexicalIndex.build([segment for nodes in held.values() for segment in nodes], PARAMETERS)
    for version, edits in enumerate(steps):
        for name, nodes in edits:
            held.pop(name, None)
            if nodes is not None:
                held[name] = nodes_of(name, nodes)
        changed = {name for name, _ in edits}
        index = index.stepped(
            Mark(version, version), changed, [segment for name in changed for segment in held.get(name, [])]
        )
        assert_same(index, [segment for nodes in held.values() for segment in nodes])


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.lists(node, max_size=3)), st.integers(1, 5))
def test_nodes_that_are_counted_a_few_at_a_time_make_the_same_files(held: dict[str, list[str]], at_once: int) -> None:
    rows = [row for document in sorted(held) for row in nodes_of(document, held[document])]
    with tempfile.TemporaryDirectory() as folder:
        LexicalIndex.build(rows, PARAMETERS, MARK).save(Path(folder) / "whole")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lexical_index, "_COUNTED", at_once)
            LexicalIndex.build(iter(rows), PARAMETERS, MARK).save(Path(folder) / "parts")
        assert checksums(Path(folder) / "parts") == checksums(Path(folder) / "whole")


def test_many_small_steps_leave_few_deltas_and_the_scores_of_one_build() -> None:
    chance = random.Random(5)
    held = {f"d{n}": nodes_of(f"d{n}", [" ".join(chance.choices(WORDS, k=20))]) for n in range(300)}
    index = LexicalIndex.build([segment for nodes in held.values() for segment in nodes], PARAMETERS)
    for step in range(150):
        name = f"d{chance.randrange(400)}"
        held[name] = nodes_of(name, [" ".join(chance.choices(WORDS, k=20))])
        index = index.stepped(Mark(step, step), {name}, held[name])
    assert len(index._pieces) <= 5
    assert_same(index, [segment for nodes in held.values() for segment in nodes])


def test_stepping_an_index_does_not_change_it() -> None:
    rows = nodes_of("a", ["go rust"]) + nodes_of("b", ["go"])
    index = LexicalIndex.build(rows, PARAMETERS)
    index.stepped(Mark(1, 1), {"a"}, [])
    assert_same(index, rows)


def test_words_of_gone_nodes_are_no_spellings() -> None:
    index = LexicalIndex.build(nodes_of("a", ["kubernet internationalis"]) + nodes_of("b", ["go"]), PARAMETERS)
    assert index.nearest("kuberntes")
    assert index.nearest("intrenatoinalisation")
    gone = index.stepped(Mark(1, 1), {"a"}, [])
    assert gone.nearest("kuberntes") == gone.nearest("intrenatoinalisation") == []


def test_a_saved_index_is_its_snapshot_without_what_changed_since(tmp_path: Path) -> None:
    rows = nodes_of("a", ["go rust"]) + nodes_of("b", ["go"])
    index = LexicalIndex.build(rows, PARAMETERS, Mark(3, 30))
    index.stepped(Mark(4, 40), {"a"}, []).save(tmp_path / "index")
    loaded = LexicalIndex.load(tmp_path / "index", PARAMETERS)
    assert loaded.mark == Mark(3, 30)
    assert_same(loaded, rows)
    assert_same(loaded.stepped(Mark(5, 50), {"b", "c"}, nodes_of("c", ["crane"])), rows[:1] + nodes_of("c", ["crane"]))


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.3)])
def test_scores_are_those_of_the_bm25s_library(k1: float, b: float) -> None:
    chance = random.Random(11)
    held = [chance.choices(WORDS, weights=range(1, len(WORDS) + 1), k=chance.randint(1, 40)) for _ in range(200)]
    model = bm25s.BM25(method="lucene", k1=k1, b=b)
    model.index(held, show_progress=False)
    rows = [Segment(f"n{number}", f"d{number}", " ".join(words)) for number, words in enumerate(held)]
    index = LexicalIndex.build(rows, BM25Parameters(k1=k1, b=b))
    for question in QUESTIONS[:4]:
        expected = model.get_scores(question)
        scores = index.score_of(question, [row.node_id for row in rows])
        assert list(scores.values()) == pytest.approx(expected.tolist(), rel=1e-5)
