import json
import random
import re
from pathlib import Path
from string import ascii_lowercase

import pytest

from pipelines.store.lexical_index import BM25Parameters, LexicalIndex, Segment
from pipelines.store.tokens import foreign_stems, nearest, node_terms, tokenise

TEXTS = (
    "Kubernetes and its development",
    "the reliability of our infrastructure",
    "a development team, an internationalisation team, a reliable team",
)
INDEX = LexicalIndex.build(
    [Segment(f"n{number}", "d", " ".join(tokenise(text))) for number, text in enumerate(TEXTS)], BM25Parameters()
)


@pytest.mark.parametrize(
    ("word", "spelling", "term"),
    [
        ("kuberntes", "kubernetes", "kubernet"),  # left out
        ("kuberrnetes", "kubernetes", "kubernet"),  # added
        ("kubernates", "kubernetes", "kubernet"),  # wrong
        ("developmnet", "development", "develop"),  # swapped, in the ending that the stem is without
        ("intrenatoinalisation", "internationalisation", "internationalis"),  # two in a long word
    ],
)
def test_an_edit_is_undone(word: str, spelling: str, term: str) -> None:
    (found,) = INDEX.nearest(word)
    assert (found.spelling, found.term) == (spelling, term)
    assert 0.75 < found.similarity < 1


def test_in_a_word_of_four_letters_only_two_swapped_ones_are_an_edit() -> None:
    built = LexicalIndex.build([Segment("a", "d", "work")], BM25Parameters())
    assert [found.spelling for found in built.nearest("wrok")] == ["work"]
    assert built.nearest("wirk") == built.nearest("wrrk") == []


@pytest.mark.parametrize("word", ["x" + "q" * 1990, "kuberntes" * 4])
def test_a_run_of_letters_that_is_no_word_is_left_alone(word: str) -> None:
    looked: list[str] = []
    assert nearest(word, lambda term: looked.append(term) or 0, lambda letter: []) == []
    assert looked == []


@pytest.mark.parametrize("word", ["teem", "teams2", "ubernetes", "kbrntes", "quantum", "", "журналы"])
def test_short_far_and_other_words_are_left_alone(word: str) -> None:
    assert INDEX.nearest(word) == []


@pytest.mark.parametrize(("word", "held"), [("insect", "infect"), ("quality", "qualify"), ("spending", "sending")])
def test_a_right_word_is_not_taken_for_another(word: str, held: str) -> None:
    assert LexicalIndex.build([Segment("a", "d", " ".join(tokenise(held)))], BM25Parameters()).nearest(word) == []


def test_of_two_spellings_the_one_in_more_nodes_comes_first() -> None:
    for often, seldom in (("planet", "plant"), ("plant", "planet")):
        rows = [Segment(node_id, "d", term) for node_id, term in (("a", seldom), ("b", often), ("c", often))]
        built = LexicalIndex.build(rows, BM25Parameters())
        assert [found.term for found in built.nearest("plantet")] == [often, seldom]


def test_an_empty_index_knows_no_spelling() -> None:
    assert LexicalIndex.build([], BM25Parameters()).nearest("kubernetes") == []


def slip(word: str, chance: random.Random) -> str:
    place = chance.randrange(1, len(word) - 1)
    head, tail = word[:place], word[place:]
    letter = chance.choice(ascii_lowercase)
    return chance.choice(
        [head + tail[1:], head + letter + tail, head + letter + tail[1:], head + tail[1::-1] + tail[2:]]
    )


def words_of(questions: list[str]) -> list[str]:
    return sorted({word for question in questions for word in re.findall("[a-z]{6,}", question) if tokenise(word)})


@pytest.fixture(scope="module")
def questions() -> list[str]:
    lines = (Path(__file__).parents[3] / "data" / "eval" / "topics.jsonl").read_text().splitlines()
    return [json.loads(line)["question"] for line in lines]


def index_of(questions: list[str]) -> LexicalIndex:
    rows = [Segment(f"{number:03}", "d", " ".join(tokenise(question))) for number, question in enumerate(questions)]
    return LexicalIndex.build(rows, BM25Parameters())


def test_most_edits_in_the_words_of_real_questions_are_undone(questions: list[str]) -> None:
    built, chance = index_of(questions), random.Random(7)
    slips = [(slip(word, chance), tokenise(word)[0]) for word in chance.sample(words_of(questions), 100)]
    wrong = [(word, term) for word, term in slips if not built.document_frequency(tokenise(word)[0])][:60]
    undone = sum(term in {spelling.term for spelling in built.nearest(word)} for word, term in wrong)
    assert len(wrong) == 60
    assert undone >= 50


def test_right_words_that_no_node_holds_are_left_alone(questions: list[str]) -> None:
    built = index_of(questions[::2])
    unknown = [word for word in words_of(questions[1::2]) if not built.document_frequency(tokenise(word)[0])]
    assert len(unknown) > 100
    assert sum(bool(built.nearest(word)) for word in unknown) <= 0.02 * len(unknown)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("図書館は、月に開く。", ["図書", "書館", "館は", "月に", "に開", "開く"]),
        ("2019年3月，在星河科技", ["2019", "年", "3", "月", "在星", "星河", "河科", "科技"]),
        ("도서관은 매일", ["도서", "서관", "관은", "매일"]),
        ("ﾒｰﾄﾙ", ["メー", "ート", "トル"]),
        ("GPT-4的React组件", ["gpt-4", "gpt", "4", "的", "react", "组件"]),
    ],
)
def test_text_without_spaces_counts_by_pairs_of_letters(text: str, terms: list[str]) -> None:
    assert tokenise(text) == terms


def test_terms_of_latin_text_are_those_of_version_3() -> None:
    text = "The café's Node.js API (CI/CD on k8s) – €5, naïve C++17 and getUserName; Łódź’s R&D team, e.g. GPT-4."
    assert tokenise(text) == [
        "cafe", "node.js", "node", "js", "api", "ci/cd", "ci", "cd", "k8s", "kubernet", "5", "naiv", "c++", "17",
        "getusernam", "get", "user", "name", "łodz", "r&d", "team", "e.g", "gpt-4", "gpt", "4"
    ]  # fmt: skip


def test_other_scripts_leave_the_terms_of_english_documents_as_they_are() -> None:
    for path in Path("data/sample").rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert tokenise(f"{text}\n図書館\n{text}") == [*tokenise(text), "図書", "書館", *tokenise(text)]


@pytest.mark.parametrize(
    ("node", "question", "language"),
    [
        ("Sie hat die Brücken über den Fluss mit ihren Händen gebaut, und nicht allein.", "Brücke", "de"),
        ("Elle a peint les chevaux de la ville, et c'est elle qui les a soignés.", "cheval", "fr"),
        ("Ella diseñó los puentes de la ciudad, y también los pintó con su hermana.", "puente pintado", "es"),
    ],
)
def test_a_passage_has_stems_of_its_own_language_beside_its_terms(node: str, question: str, language: str) -> None:
    terms = node_terms(node)
    assert terms[: len(tokenise(node))] == tokenise(node)
    stems = foreign_stems(question, language) or tokenise(question)
    assert not set(stems).isdisjoint(terms[len(tokenise(node)) :])


def test_an_english_passage_has_no_foreign_stems() -> None:
    for path in Path("data/sample").rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert node_terms(text) == tokenise(text)
