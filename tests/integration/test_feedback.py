import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from config.settings import Settings
from pipelines.answers import Answer
from pipelines.errors import RetrievalError, SourceError
from pipelines.evaluation.feedback_export import export
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import ingest
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.query_log import MOST_WORDS, Feedback, latest_feedback, save_feedback
from pipelines.types import Audience, Filters, Turn
from tests.conftest import MakeSettings
from tests.integration.releases import rows
from tests.shell import Shell

POSTS = {
    "crane.md": "# Crane\n\nMarit built the harbour crane controller in 2014. It moved 40 containers an hour.\n",
    "garden.md": "# Garden\n\nTomatoes need sun. Water them every morning and never at noon.\n",
    "lock.md": "# Lock\n\nThe lock chamber is eleven metres wide. Its gates were renewed in oak.\n",
}
CRANE = "How many containers did the harbour crane move?"
Say = Callable[..., None]


@pytest.fixture(scope="module")
def stored(stock: MakeSettings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """What the tests have copies of; the lock is private."""
    folder, settings = tmp_path_factory.mktemp("docs"), stock()
    for name, body in POSTS.items():
        (folder / name).write_text(body)
    ingest(settings, [str(folder / "crane.md"), str(folder / "garden.md")])
    ingest(settings, [str(folder / "lock.md")], overrides=Overrides(visibility="private"))
    return settings


@pytest.fixture
def settings(stored: Settings, make_settings: MakeSettings) -> Settings:
    return make_settings(stored)


@pytest.fixture
def engine(settings: Settings) -> QueryEngine:
    return build_query_engine(settings)


@pytest.fixture
def answer(engine: QueryEngine) -> Answer:
    return engine.ask(CRANE)


@pytest.fixture
def say(engine: QueryEngine, answer: Answer) -> Say:
    """Says something of the answer, as a reader of the session `s` does."""

    def say(kind: str, value: int = 1, source: int = 0, *, of: Answer = answer, session: str = "s", limit: int = 100,
            audience: Audience = "owner", **more: str) -> None:  # fmt: skip
        given = Feedback(kind, value, source, **more)  # type: ignore[arg-type]
        save_feedback(engine.database.engine, of.trace_id, given, session=session, audience=audience, limit=limit)

    return say


def kept(engine: QueryEngine, columns: str = "kind, value, source, session") -> list[tuple[Any, ...]]:
    return rows(engine.database.engine, f"SELECT {columns} FROM feedback ORDER BY id")


# What is kept


def test_feedback_is_kept_with_its_query_nodes_and_settings(engine: QueryEngine, answer: Answer, say: Say) -> None:
    say("wrong_source", source=1)
    (source,) = [source for source in answer.sources if source.n == 1]
    shown = [node for each in answer.sources for node in each.node_ids]
    columns = "query_id, settings, document_id, node_ids, shown, audience"
    assert kept(engine, columns) == [
        (answer.trace_id, engine.fingerprint, source.document_id, list(source.node_ids), shown, "owner")
    ]


def test_a_thumb_replaces_the_one_before_and_can_be_taken_back(engine: QueryEngine, say: Say) -> None:
    say("thumb", 1)
    say("thumb", 1, session="another")
    say("thumb", -1)
    assert sorted(kept(engine)) == [("thumb", -1, 0, "s"), ("thumb", 1, 0, "another")]
    say("thumb", 0)
    assert kept(engine) == [("thumb", 1, 0, "another")]


def test_words_replace_those_before_and_none_take_them_back(engine: QueryEngine, say: Say) -> None:
    say("text", words=" The year\x00 is wrong. ")
    say("text", words="The year is \x1b[2Jwrong;\nit \ud800was 2015.")
    assert kept(engine, "words") == [("The year is [2Jwrong;\nit was 2015.",)]
    say("text", words="  ")
    assert kept(engine) == []


def test_opening_a_source_again_is_counted_and_keeps_where_it_was_opened_first(engine: QueryEngine, say: Say) -> None:
    say("opened", source=1, place="sentence")
    say("opened", source=1, place="list")
    say("opened", source=2, place="list")
    assert kept(engine, "source, value, place") == [(1, 2, "sentence"), (2, 1, "list")]


def test_the_nearest_passages_of_an_abstention_can_be_opened(engine: QueryEngine, say: Say) -> None:
    silent = engine.ask("Which submarine museum lends violins to astronauts?")
    assert not silent.answered
    say("opened", source=1, of=silent, place="list")
    assert kept(engine, "document_id") == [(silent.nearest[0].document_id,)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Feedback("wrong_source", source=99), "no source 99"),
        (Feedback("opened", source=0), "no source 0"),
        (Feedback("text", words="a" * (MOST_WORDS + 1)), "too long"),
        (Feedback("thumb", 2), "not valid feedback"),
        (Feedback("wrong_source", -1, 1), "not valid feedback"),
        (Feedback("thumb", 1, 7), "not valid feedback"),
        (Feedback("opened", source=1, place="elsewhere"), "not valid feedback"),
    ],
)
def test_what_is_no_feedback_is_refused(engine: QueryEngine, answer: Answer, given: Feedback, said: str) -> None:
    with pytest.raises(RetrievalError, match=said):
        save_feedback(engine.database.engine, answer.trace_id, given, session="s", audience="owner", limit=10)
    assert kept(engine) == []


def test_feedback_on_an_unknown_answer_is_refused(engine: QueryEngine) -> None:
    searched = engine.search(CRANE).trace.id
    for query in (searched, "0123456789abcdef", "'; DROP TABLE feedback; --"):
        with pytest.raises(RetrievalError, match="no answer"):
            save_feedback(engine.database.engine, query, Feedback("thumb"), session="s", audience="owner", limit=10)


def test_a_session_has_a_limit_of_feedback_but_can_change_it(engine: QueryEngine, say: Say) -> None:
    say("thumb", 1, limit=2)
    say("opened", source=1, limit=2)
    with pytest.raises(RetrievalError, match="reached its limit"):
        say("opened", source=2, limit=2)
    say("thumb", -1, limit=2)
    say("opened", source=1, limit=2)
    assert kept(engine) == [("thumb", -1, 0, "s"), ("opened", 2, 1, "s")]
    say("opened", source=2, limit=2, session="another")


def test_feedback_goes_with_its_query_and_outlives_its_document(engine: QueryEngine, say: Say) -> None:
    say("opened", source=1)
    with engine.database.engine.begin() as connection:
        connection.execute(text("DELETE FROM documents"))
    assert len(kept(engine)) == 1
    assert latest_feedback(engine.database.engine, 10, "owner")[0]["document"] == ""
    with engine.database.engine.begin() as connection:
        connection.execute(text("DELETE FROM queries"))
    assert kept(engine) == []


# Who may see it


def test_a_visitor_gives_and_reads_feedback_only_on_visitors_questions(engine: QueryEngine, say: Say) -> None:
    public = engine.ask(CRANE, audience="visitor")
    with pytest.raises(RetrievalError, match="no answer"):
        say("thumb", 1, audience="visitor")  # of what the owner asked
    say("thumb", -1)
    say("wrong_source", source=1, of=public, audience="visitor", session="v")
    say("text", of=public, words="Mine.")
    assert [row["kind"] for row in latest_feedback(engine.database.engine, 10, "visitor")] == ["wrong_source"]
    assert [row["kind"] for row in latest_feedback(engine.database.engine, 10, "owner")] == [
        "text", "wrong_source", "thumb"
    ]  # fmt: skip


def test_a_visitor_is_not_told_the_name_of_a_document_that_became_private(engine: QueryEngine, say: Say) -> None:
    public = engine.ask(CRANE, audience="visitor")
    say("opened", source=1, of=public, audience="visitor")
    with engine.database.engine.begin() as connection:
        connection.execute(text("UPDATE documents SET visibility = 'private'"))
    (row,) = latest_feedback(engine.database.engine, 10, "visitor")
    assert (row["document"], "document_id" in row) == ("", False)
    assert latest_feedback(engine.database.engine, 10, "owner")[0]["document"] == "crane.md"


# The export


def exported(
    engine: QueryEngine, folder: Path, audience: Audience = "owner", **how: bool
) -> tuple[dict[str, Any], list[Any]]:
    report = export(engine.database.engine, folder, audience, **how)
    return report, [json.loads(line) for line in (folder / "topics.jsonl").read_text().splitlines()]


def test_the_export_quotes_what_the_answer_cites(engine: QueryEngine, answer: Answer, say: Say, tmp_path: Path) -> None:
    say("thumb", 1)
    say("text", words="Good, my phone is 555-0199.")
    report, topics = exported(engine, tmp_path / "out")
    quoted = [citation.quote for sentence in answer.sentences for citation in sentence.evidence]
    assert "It moved 40 containers an hour." in quoted
    quotes = [{"document": "crane.md", "text": quote} for quote in quoted]
    told = {"answerable": True, "kind": "feedback", "facts": [], "quotes": quotes}
    assert topics == [{"id": answer.trace_id, "question": CRANE, **told}]
    assert (report["topics"], report["relevant"]) == (1, len(quotes))
    assert len((tmp_path / "out" / "corpus.jsonl").read_text().splitlines()) == 3
    everything = "".join(path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert "555-0199" not in everything
    exported(engine, tmp_path / "worded", with_text=True)
    (comment,) = map(json.loads, (tmp_path / "worded" / "comments.jsonl").read_text().splitlines())
    assert (comment["thumb"], comment["text"]) == (1, "Good, my phone is 555-0199.")


def test_a_question_asked_twice_is_one_topic_and_readers_who_disagree_cancel_out(
    engine: QueryEngine, say: Say, tmp_path: Path
) -> None:
    say("thumb", 1)
    again = engine.ask(f"  {CRANE.upper()} ")
    (cited,) = {n for sentence in again.sentences for n in sentence.citations}
    say("wrong_source", source=cited, of=again, session="another")
    report, topics = exported(engine, tmp_path / "out")
    assert topics == []
    assert set(report["left_out"]) == {"readers disagree", "nothing is known of what is relevant"}
    say("thumb", 1, of=again, session="third")
    assert [topic["question"] for topic in exported(engine, tmp_path / "more")[1]] == [CRANE]


def test_an_abstention_with_a_thumb_up_is_a_topic_without_an_answer(
    engine: QueryEngine, say: Say, tmp_path: Path
) -> None:
    silent = engine.ask("Which submarine museum lends violins to astronauts?")
    say("thumb", 1, of=silent)
    report, (topic,) = exported(engine, tmp_path / "out")
    assert (topic["answerable"], topic["quotes"], report["unanswerable"]) == (False, [], 1)


def test_a_follow_up_is_exported_as_it_was_made_whole(engine: QueryEngine, say: Say, tmp_path: Path) -> None:
    turn = Turn(CRANE, "It moved 40 containers an hour.", ("Crane",))
    followed = engine.ask("And when was it built?", history=[turn])
    say("thumb", 1, of=followed)
    _, (topic,) = exported(engine, tmp_path / "out")
    assert {"built", "crane"} <= set(topic["question"].casefold().replace("?", "").split())


def test_what_cannot_be_judged_any_more_is_left_out_and_counted(engine: QueryEngine, say: Say, tmp_path: Path) -> None:
    filtered = engine.ask(CRANE, filters=Filters(document=("crane.md",)))
    say("thumb", 1, of=filtered)
    say("thumb", 1)
    with engine.database.engine.begin() as connection:
        connection.execute(text("UPDATE documents SET text = replace(replace(text, '40', '41'), 'Marit', 'Mart')"))
    report, topics = exported(engine, tmp_path / "out")
    assert topics == []
    assert report["left_out"].pop("the document is gone or changed") >= 1
    assert report["left_out"] == {"asked within filters": 1, "nothing is known of what is relevant": 1}


def test_a_public_export_holds_nothing_that_a_visitor_may_not_see(
    engine: QueryEngine, say: Say, tmp_path: Path
) -> None:
    say("thumb", 1, of=engine.ask("How wide is the lock chamber?"))
    public = engine.ask(CRANE, audience="visitor")
    say("thumb", 1, of=public, audience="visitor")
    _, (topic,) = exported(engine, tmp_path / "out", "visitor")
    assert topic["question"] == CRANE
    everything = "".join(path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert "lock" not in everything
    assert "gates were renewed" in (exported(engine, tmp_path / "all"), (tmp_path / "all/corpus.jsonl").read_text())[1]


def test_an_export_never_overwrites(engine: QueryEngine, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SourceError, match="not empty"):
        export(engine.database.engine, tmp_path, "owner")


# The command line


@pytest.fixture
def shell(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    return Shell(settings, monkeypatch, tmp_path)


@pytest.mark.usefixtures("own_databases")
def test_eval_reads_the_export_as_it_is(engine: QueryEngine, say: Say, shell: Shell) -> None:
    say("thumb", 1)
    garden = engine.ask("When should tomatoes get water?")
    say("thumb", 1, of=garden)
    wider = engine.ask("How wide is the lock chamber?")
    say("wrong_source", source=1, of=wider)
    say("thumb", 1, of=engine.ask("Which submarine museum lends violins to astronauts?"))
    report = shell.json("feedback", "export", "out")
    assert (report["topics"], report["unanswerable"], report["not_relevant"] > 0) == (4, 1, True)
    portfolio = shell.json("eval", "answers", "out/topics.jsonl", "--ingested")
    assert portfolio["topics"] == 3
    assert portfolio["systems"]["default"]["success@5"] == portfolio["systems"]["default"]["answered"] == 1.0
    beir = shell.json("eval", "beir", "out", "--system", "default")
    assert beir["systems"]["default"]["recall@100"] == 1.0
    assert "0\n" in Path("out/qrels/test.tsv").read_text()


def test_feedback_is_added_and_listed_from_the_command_line(answer: Answer, shell: Shell) -> None:
    query = answer.trace_id[:8]
    done = shell.json("feedback", "add", query, "--down", "--wrong-source", "1", "--text", "[red]No[/red]")
    assert done == {"query_id": answer.trace_id, "kept": ["thumb", "wrong_source", "text"]}
    assert shell.json("feedback", "add", query, "--up")["kept"] == ["thumb"]
    listed = shell.json("feedback")["feedback"]
    assert [(row["kind"], row["value"], row["source"]) for row in listed] == [
        ("thumb", 1, 0), ("text", 1, 0), ("wrong_source", 1, 1)
    ]  # fmt: skip
    code, said = shell("feedback")
    assert (code, "[red]No[/red]" in said, "wrong source" in said) == (0, True, True)


@pytest.mark.parametrize("words", [(), ("--up", "--down")])
def test_no_feedback_or_two_kinds_at_once_are_refused(answer: Answer, shell: Shell, words: tuple[str, ...]) -> None:
    assert shell("feedback", "add", answer.trace_id, *words)[0] == 2


def test_an_empty_list_says_how_to_begin(engine: QueryEngine, shell: Shell) -> None:
    assert "footnote feedback add" in shell("feedback")[1]
