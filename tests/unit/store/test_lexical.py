from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.store.lexical import LexicalIndex, LexicalIndexes, Parameters
from pipelines.store.tokens import tokenise


def index(*texts: str, version: int = 1) -> LexicalIndex:
    rows = [(f"n{number}", " ".join(tokenise(text))) for number, text in enumerate(texts)]
    return LexicalIndex.build(version, rows, Parameters())


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


def test_more_are_asked_for_than_there_are() -> None:
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
    loaded = LexicalIndex.load(tmp_path / "index")
    assert loaded.search(["go", "rust"], 3) == built.search(["go", "rust"], 3)
    assert loaded.idf("rust") == built.idf("rust")
    assert loaded.version == 1


@given(st.text(max_size=200))
def test_terms_hold_no_space_and_are_the_same_twice(text: str) -> None:
    terms = tokenise(text)
    assert all(term and term.split() == [term] for term in terms)
    assert tokenise(text) == terms


class Corpus:
    """A corpus that counts how often it is read."""

    def __init__(self) -> None:
        self.version, self.rows, self.reads = 1, [("a", "go")], 0

    def segments(self, audience: str) -> list[tuple[str, str]]:
        self.reads += 1
        return list(self.rows)


def test_a_snapshot_is_built_once_and_loaded_by_the_next_process(tmp_path: Path) -> None:
    corpus = Corpus()
    first = LexicalIndexes(tmp_path, lambda: corpus.version, corpus.segments, Parameters())
    second = LexicalIndexes(tmp_path, lambda: corpus.version, corpus.segments, Parameters())
    assert first.current("owner").search(["go"], 1) == second.current("owner").search(["go"], 1)
    assert corpus.reads == 1


def test_a_refreshed_snapshot_follows_the_corpus(tmp_path: Path) -> None:
    corpus = Corpus()
    indexes = LexicalIndexes(tmp_path, lambda: corpus.version, corpus.segments, Parameters())
    indexes.current("owner")
    corpus.version, corpus.rows = 2, [("b", "rust")]
    indexes.refresh("owner")
    assert indexes.current("owner").search(["rust"], 1)[0][0] == "b"


def test_a_broken_snapshot_is_built_again(tmp_path: Path) -> None:
    corpus = Corpus()
    LexicalIndexes(tmp_path, lambda: 1, corpus.segments, Parameters()).refresh("owner")
    next(tmp_path.glob("owner-*")).joinpath("ids.json").write_text("{")
    again = LexicalIndexes(tmp_path, lambda: 1, corpus.segments, Parameters())
    assert again.current("owner").search(["go"], 1)[0][0] == "a"
