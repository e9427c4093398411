"""Questions about the documents as such, which the database answers."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from config.settings import Settings
from pipelines.query.answerers.corpus import DOCUMENT_LIST
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.node_writer import replace_documents
from pipelines.types import Filters
from tests.conftest import MakeSettings
from tests.shell import Shell
from tests.stored import make_document, replacement_of

SHELF: list[tuple[str, str, dict[str, Any]]] = [
    ("kiln.md", "# Firing a kiln\n\nThe glaze melts late. A kiln cools for a day.",
     {"category": "blog", "title": "Firing a kiln", "published_at": datetime(2021, 3, 4, tzinfo=UTC)}),
    ("loom.md", "# Warping a loom\n\nThe warp is wound by hand. A kiln is not needed.",
     {"category": "blog", "title": "Warping a loom", "published_at": datetime(2022, 5, 6, tzinfo=UTC)}),
    ("bench/README.md", "# bench\n\nPlans of a bench, drawn in glaze pencil.",
     {"category": "github", "title": "bench", "modified_at": datetime(2020, 1, 2, tzinfo=UTC)}),
    ("diary.md", "# Diary\n\nThe secret glaze holds cobalt.",
     {"category": "generic", "title": "Diary", "visibility": "private"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def engine(stock: MakeSettings) -> QueryEngine:
    return shelved(stock())


def shelved(settings: Settings) -> QueryEngine:
    made = build_query_engine(settings)
    for name, body, facts in SHELF:
        replace_documents(made.store, [replacement_of(make_document(name, body, **facts), made.settings)])
    return made


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How many documents are there?", "There are 4 documents: blog (2), generic (1), github (1)."),
        ("how many blog posts do you have", "There are 2 blog posts."),
        ("What is the number of files in the index?", "There are 4 files: blog (2), generic (1), github (1)."),
        (
            "How many resumes are there?",
            "No document is known as a resume. There are 4 documents: blog (2), generic (1), github (1).",
        ),
    ],
)
def test_documents_are_counted_by_category(engine: QueryEngine, question: str, said: str) -> None:
    answer = engine.ask(question)
    assert (answer.answered, answer.answer, answer.sources, answer.model) == (True, said, (), DOCUMENT_LIST)


def test_what_is_not_seen_or_filtered_out_is_not_counted(engine: QueryEngine) -> None:
    question = "How many documents are there?"
    assert engine.ask(question, audience="visitor").answer == "There are 3 documents: blog (2), github (1)."
    assert engine.ask(question, filters=Filters(category=("blog",))).answer == "There are 2 documents."
    assert "Diary" not in engine.ask("Which documents do you have?", audience="visitor").answer
    assert not engine.ask("Which documents mention cobalt?", audience="visitor").answered


def test_every_document_that_is_named_has_a_footnote_to_its_own_words(engine: QueryEngine) -> None:
    answer = engine.ask("Which posts do you have?")
    assert answer.answer.splitlines()[2:] == [
        "- Warping a loom (blog, 2022-05-06) [1]", "- Firing a kiln (blog, 2021-03-04) [2]",
    ]  # fmt: skip
    bodies = {f"id-{name}": body for name, body, _ in SHELF}
    for sentence in answer.sentences[1:]:
        (cited,) = sentence.evidence
        assert cited.quote
        assert bodies[cited.document_id][cited.start : cited.end] == cited.quote


def test_what_is_new_is_told_by_the_day_of_the_ingest_and_the_documents_own_dates(engine: QueryEngine) -> None:
    answer = engine.ask("What's new?")
    assert "4 documents new or changed." in answer.answer
    assert answer.sources[0].title == "Warping a loom"
    assert [source.title for source in engine.ask("What is the latest post?").sources] == ["Warping a loom"]


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Which posts are about kilns?", {"Firing a kiln", "Warping a loom"}),
        ("Which documents mention glaze?", {"Firing a kiln", "bench", "Diary"}),
        ("Are there any posts about the warp?", {"Warping a loom"}),
        ("which documents contain “glaze melts”", {"Firing a kiln"}),
    ],
)
def test_the_documents_that_hold_all_words_of_a_topic_are_listed(
    engine: QueryEngine, question: str, titles: set[str]
) -> None:
    answer = engine.ask(question)
    assert {source.title for source in answer.sources} == titles
    assert {cited.n for line in answer.sentences for cited in line.evidence} == {source.n for source in answer.sources}


def test_a_post_mentions_what_its_title_or_its_tags_say_in_any_form_of_the_word(settings: Settings) -> None:
    engine = shelved(settings)
    tagged = make_document(
        "clay.md", "It dries slowly.", category="blog", title="Measuring clay", metadata={"tags": ["evaluation", "mud"]}
    )
    replace_documents(engine.store, [replacement_of(tagged, engine.settings)])
    engine.indexes.refresh("owner")
    for topic in ("evaluation", "evaluating", "mud", "measuring clay"):
        answer = engine.ask(f"Which posts are about {topic}?")
        assert answer.answer.splitlines()[2:] == ["- Measuring clay (blog) [1]"], topic


def test_a_topic_that_no_document_holds_is_told_so(engine: QueryEngine) -> None:
    answer = engine.ask("Which posts are about submarines?")
    assert (answer.answered, answer.answer, answer.sources) == (False, "No post mentions “submarines”.", ())


def test_a_list_that_is_cut_says_so(settings: Settings) -> None:
    engine = shelved(settings)
    for n in range(11):
        note = make_document(f"note{n}.md", f"# Note {n}\n\nA chisel of {n} mm.", category="generic")
        replace_documents(engine.store, [replacement_of(note, engine.settings)])
    engine.indexes.refresh("owner")
    for question, said in [
        ("Which documents mention chisels?", "11 documents mention “chisels”. The first 10:"),
        ("What documents do you have?", "15 documents: generic (12), blog (2), github (1). The latest 10:"),
    ]:
        answer = engine.ask(question)
        assert said in answer.answer
        assert len(answer.sources) == 10


@pytest.mark.parametrize(
    "question",
    [
        "How many documents did the potter translate?",
        "How many documents does a kiln need?",
        "What is new in the glaze?",
        "Which posts of the fence are rotten?",
        "What did the post about the kiln say?",
        "How many files are opened by the loom?",
    ],
)
def test_a_question_on_what_documents_say_is_no_question_about_the_documents(
    engine: QueryEngine, question: str
) -> None:
    assert engine.ask(question).model != DOCUMENT_LIST


def test_the_trace_and_the_json_tell_that_the_database_answered(
    engine: QueryEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code, out = Shell(engine.settings, monkeypatch, tmp_path)("ask", "which documents mention glaze?", "--json")
    assert (code, json.loads(out)["model"]) == (0, DOCUMENT_LIST)
    request = engine._request("How many documents are there?")
    assert "corpus" in engine.finished(request)[1].tags


def test_who_wrote_a_document_and_when_is_told_by_its_own_data(settings: Settings) -> None:
    engine = shelved(settings)
    note = make_document("lens.md", "# Lens\n\nThe lens weighs three tonnes.", title="Lens", author="Tove Lind",
                         published_at=datetime(2022, 8, 19, tzinfo=UTC))  # fmt: skip
    replace_documents(engine.store, [replacement_of(note, engine.settings)])
    assert "by Tove Lind" in engine.ask("Who is the author of Lens?").answer
    assert "of 2022-08-19" in engine.ask("When was Lens published?").answer
    assert engine.ask("Who wrote Warping a loom?").model != DOCUMENT_LIST
