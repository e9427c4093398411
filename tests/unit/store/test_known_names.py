import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.store.known_names import NameIndex, names_of

NAMES = ("wave buoy", "Wave Buoy codec", "zorkle", "Zorkle", "codec", "buoy zorkle")


def index(*files: tuple[str, str]) -> NameIndex:
    """Names of (file name, title), each document called by its file name."""
    return NameIndex((name, file) for file, title in files for name in names_of(file, title))


def documents(known: NameIndex, text: str) -> list[str]:
    return [document for _, ids in known.find(text) for document in ids]


SHELF = index(
    ("blog/2019-05-14-late-data-is-data.md", "When the buoys sleep"),
    ("github/latemark/README.md", "README"),
    ("resume.pdf", "Résumé"),
    ("x/search.md", "Search"),
    ("about.md", "About me"),
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Is it in blog/2019-05-14-late-data-is-data.md?", ["blog/2019-05-14-late-data-is-data.md"]),
        ("Is it in 2019-05-14-late-data-is-data?", ["blog/2019-05-14-late-data-is-data.md"]),
        ("what late data is data says", ["blog/2019-05-14-late-data-is-data.md"]),
        ("WHEN the Buoys sleep", ["blog/2019-05-14-late-data-is-data.md"]),
        ("What is latemark's licence?", ["github/latemark/README.md"]),
        ("open resume.pdf", ["resume.pdf"]),
    ],
)
def test_a_document_is_named_by_file_name_title_or_the_folder_of_a_readme(text: str, named: list[str]) -> None:
    assert documents(SHELF, text) == named


@pytest.mark.parametrize("text", ["her resume", "the readme", "tell me about me", "latemarks", "late data", "", "..."])
def test_kinds_of_documents_and_parts_of_names_are_no_names(text: str) -> None:
    assert documents(SHELF, text) == []


@pytest.mark.parametrize("text", ["full text search", "Search for it", "It ended. Search on", "WHAT IS SEARCH"])
def test_an_ordinary_word_is_a_name_only_with_a_capital(text: str) -> None:
    assert documents(SHELF, text) == []
    assert documents(SHELF, "what does Search say?") == ["x/search.md"]


def test_the_longest_name_is_taken_and_names_do_not_overlap() -> None:
    known = NameIndex([("wave buoy", "a"), ("wave buoy codec", "b"), ("codec zorkle", "c")])
    assert known.find("a wave buoy codec zorkle, a wave-buoy") == [("wave buoy codec", ("b",)), ("wave buoy", ("a",))]


def test_a_name_gives_every_document_that_bears_it_unless_they_are_too_many() -> None:
    assert documents(NameIndex([("zorkle", "a"), ("Zorkle", "b")]), "zorkle") == ["a", "b"]
    assert documents(NameIndex(("zorkle", str(n)) for n in range(21)), "zorkle") == []


@given(st.lists(st.lists(st.tuples(st.sampled_from("abcd"), st.lists(st.sampled_from(NAMES), max_size=4)), max_size=4)))
def test_an_index_that_follows_changes_is_the_one_that_is_made_anew(changes: list[list[tuple[str, list[str]]]]) -> None:
    held: dict[str, list[str]] = {}
    followed = NameIndex(())
    for change in changes:
        held |= dict(change)
        changed = {document for document, _ in change}
        followed = NameIndex(((name, own) for own in changed for name in held[own]), before=followed, changed=changed)
        anew = NameIndex((name, own) for own, names in held.items() for name in names)
        for text in (" and ".join(NAMES), "Zorkle's codec", "the wave"):
            assert [ids for _, ids in followed.find(text)] == [ids for _, ids in anew.find(text)]
        assert {name: followed.kind_of(name) for name in NAMES} == {name: anew.kind_of(name) for name in NAMES}
