"""What people ask is kept, for them alone; a share link shows one answer, and no private document."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from config.settings import Settings
from pipelines.answers import Answer
from pipelines.errors import RetrievalError
from pipelines.query.engine import build_query_engine
from pipelines.store.conversations import (
    Archive,
    Holder,
    Message,
    exported,
    forget_visitors,
    new_key,
)
from pipelines.store.database import open_database
from pipelines.store.query_log import jsonable, latest_queries
from pipelines.store.shared_view import HIDDEN
from pipelines.types import Filters, Turn
from tests.conftest import Ingested, MakeSettings
from tests.shell import Shell

OWNER = Holder()
Answered = tuple[Engine, str, Message]
BUILT = "Who built the anagama kiln?"
TEXTS = {
    "kiln.md": "# Kiln\n\nThe anagama kiln at Dunsyre was built by Ruth Aldous.\n",
    "diary.md": "# Diary\n\nThe anagama kiln at Dunsyre was built by Ruth Aldous in secret.\n",
}


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    database = open_database(settings)
    yield database.engine
    database.engine.dispose()


def asked(engine: Engine, holder: Holder, question: str) -> tuple[str, Message]:
    """A conversation with one question."""
    conversation = Archive(engine, holder).begin(question)
    message = Message(question)
    return conversation, replace(message, id=Archive(engine, holder).add(conversation, message))


def test_a_message_is_read_as_it_was_stored(engine: Engine) -> None:
    conversation = Archive(engine, OWNER).begin("  Kilns \n and reeds ")
    turns, filters = (Turn("What is a kiln?", "An oven.", ("Kiln",)),), Filters(year=(2014,))
    message = Message("Who\0 built it?", filters, turns, reader="llama", waits_for=7)
    stored = Archive(engine, OWNER).add(conversation, message)
    read = Archive(engine, OWNER).read(conversation)
    assert read
    assert (read.title, read.draft) == ("Kilns and reeds", "")
    [found] = read.messages
    assert (found.id, found.question, found.state) == (stored, "Who built it?", "asked")
    assert (found.filters, found.turns, found.reader, found.waits_for) == (filters, turns, "llama", 7)
    half = replace(found, state="stopped", pieces=("Ruth ", 1), problem=("It stopped.", "Go on."))
    assert Archive(engine, OWNER).store(half)
    read = Archive(engine, OWNER).read(conversation)
    assert read
    assert read.messages == (half,)


def test_a_draft_is_kept_until_the_question_is_asked(engine: Engine) -> None:
    conversation, _ = asked(engine, OWNER, BUILT)
    Archive(engine, OWNER).keep_draft(conversation, "And how of")
    read = Archive(engine, OWNER).read(conversation)
    assert read
    assert read.draft == "And how of"
    Archive(engine, OWNER).add(conversation, Message("And how often?"))
    read = Archive(engine, OWNER).read(conversation)
    assert read
    assert read.draft == ""


def test_nobody_reads_or_changes_the_conversation_of_another(engine: Engine) -> None:
    ann, ben = Holder("visitor", new_key()), Holder("visitor", new_key())
    conversation, message = asked(engine, ann, BUILT)
    for other in (ben, OWNER):
        assert Archive(engine, other).list() == []
        assert Archive(engine, other).read(conversation) is None
        assert not Archive(engine, other).store(replace(message, state="stopped"))
        Archive(engine, other).rename(conversation, "Mine")
        Archive(engine, other).keep_draft(conversation, "Mine")
        Archive(engine, other).delete(conversation)
        for act in (
            lambda other=other: Archive(engine, other).add(conversation, Message("Mine?")),
            lambda other=other: Archive(engine, other).share(message.id),
        ):
            with pytest.raises(RetrievalError):
                act()
    read = Archive(engine, ann).read(conversation)
    assert read
    assert (read.title, read.draft, [each.state for each in read.messages]) == (BUILT, "", ["asked"])
    with engine.connect() as connection:
        assert ann.key not in str(connection.execute(text("SELECT holder FROM conversations")).scalars().all())


@pytest.mark.parametrize("key", ["", "guessable"])
def test_a_visitor_without_a_random_key_has_no_conversations(engine: Engine, key: str) -> None:
    with pytest.raises(RetrievalError, match="no key"):
        Archive(engine, Holder("visitor", key)).list()


def test_a_deletion_can_be_taken_back(engine: Engine) -> None:
    conversation, message = asked(engine, OWNER, BUILT)
    Archive(engine, OWNER).delete(conversation)
    assert Archive(engine, OWNER).list() == []
    assert Archive(engine, OWNER).read(conversation) is None
    Archive(engine, OWNER).restore(conversation)
    read = Archive(engine, OWNER).read(conversation)
    assert read
    assert [each.id for each in read.messages] == [message.id]


def test_a_deletion_is_final_after_an_hour(engine: Engine) -> None:
    old, _ = asked(engine, OWNER, BUILT)
    Archive(engine, OWNER).delete(old)
    with engine.begin() as connection:
        connection.execute(text("UPDATE conversations SET deleted_at = deleted_at - interval '61 minutes'"))
    Archive(engine, OWNER).delete(asked(engine, OWNER, "Why?")[0])
    Archive(engine, OWNER).restore(old)
    assert Archive(engine, OWNER).list() == []
    with engine.connect() as connection:
        assert connection.execute(text("SELECT question FROM messages")).scalars().all() == ["Why?"]


def test_a_search_takes_its_words_as_they_stand(engine: Engine) -> None:
    named = {title: asked(engine, OWNER, title)[0] for title in ("100% larch", "1000 larches", "a_b", "axb")}
    Archive(engine, OWNER).rename(named["axb"], "Renamed")
    for words, titles in {
        "100%": ["100% larch"], "LARCH": ["1000 larches", "100% larch"], "a_b": ["a_b"], "axb": ["Renamed"], "';--": [],
    }.items():  # fmt: skip
        assert [row.title for row in Archive(engine, OWNER).list(words)] == titles


def test_only_the_conversations_of_visitors_are_forgotten(engine: Engine) -> None:
    mine, _ = asked(engine, OWNER, BUILT)
    for _ in range(2):
        asked(engine, Holder("visitor", new_key()), BUILT)
    assert forget_visitors(engine) == 2
    assert [row.id for row in Archive(engine, OWNER).list()] == [mine]


def test_the_command_forgets_what_visitors_asked(
    ingested: Ingested, make_settings: MakeSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = make_settings(like=ingested(TEXTS)[1])
    query = build_query_engine(settings)
    for audience in ("owner", "visitor"):
        list(query.answer(BUILT, audience=audience))
    engine = query.database.engine
    mine, _ = asked(engine, OWNER, BUILT)
    asked(engine, Holder("visitor", new_key()), BUILT)
    shell = Shell(settings, monkeypatch, tmp_path)
    assert shell.json("forget", "--visitor-data", "--yes") == {"conversations": 1, "queries": 1}
    assert [row["audience"] for row in latest_queries(engine, 9)] == ["owner"]
    assert [row.id for row in Archive(engine, OWNER).list()] == [mine]
    engine.dispose()


# Shared answers


@pytest.fixture
def answered(ingested: Ingested, make_settings: MakeSettings) -> Iterator[Answered]:
    """An answer of the owner that cites both documents, stored."""
    settings = make_settings(like=ingested(TEXTS)[1])
    query = build_query_engine(settings)
    *_, answer = query.answer(BUILT, audience="owner")
    assert isinstance(answer, Answer)
    engine = query.database.engine
    conversation, message = asked(engine, OWNER, BUILT)
    message = replace(message, state="answered", answer=answer)
    assert Archive(engine, OWNER).store(message)
    yield engine, conversation, message
    engine.dispose()


def test_an_answer_is_read_whole(answered: Answered) -> None:
    engine, conversation, message = answered
    read = Archive(engine, OWNER).read(conversation)
    assert read
    assert read.messages[0].answer == message.answer
    [row] = exported(read)["messages"]
    assert (row["question"], row["answer"]["answer"]) == (BUILT, message.answer.answer if message.answer else "")
    found = Archive(engine, OWNER).list("built by ruth")
    assert [each.id for each in found] == [conversation]


def test_a_share_link_is_made_once_and_revoked_for_good(answered: Answered) -> None:
    engine, conversation, message = answered
    assert Archive(engine, OWNER).shares(conversation) == {}
    token = Archive(engine, OWNER).share(message.id)
    assert len(token) >= 22
    assert Archive(engine, OWNER).share(message.id) == token
    assert Archive(engine, OWNER).shares(conversation) == {message.id: token}
    shared = Archive(engine, Holder()).shared(token)
    assert shared
    assert shared.answer
    assert message.answer
    assert shared.answer.answer == message.answer.answer
    Archive(engine, Holder("visitor", new_key())).revoke(message.id)
    assert Archive(engine, Holder()).shared(token)
    Archive(engine, OWNER).revoke(message.id)
    assert Archive(engine, Holder()).shared(token) is None
    assert Archive(engine, OWNER).share(message.id) != token


def test_a_deleted_conversation_shares_nothing(answered: Answered) -> None:
    engine, conversation, message = answered
    token = Archive(engine, OWNER).share(message.id)
    Archive(engine, OWNER).delete(conversation)
    assert Archive(engine, Holder()).shared(token) is None


def cited(answer: Answer | None) -> set[str]:
    assert answer
    return {source.documentName for source in answer.sources}


@pytest.mark.parametrize("change", ["private", "gone"])
def test_a_shared_answer_loses_what_became_private_or_is_gone(answered: Answered, change: str) -> None:
    engine, _, message = answered
    token = Archive(engine, OWNER).share(message.id)
    shared = Archive(engine, Holder()).shared(token)
    assert shared
    assert cited(shared.answer) == cited(message.answer) == {"kiln.md", "diary.md"}
    with engine.begin() as connection:
        if change == "private":
            connection.execute(text("UPDATE documents SET visibility = 'private' WHERE name = 'diary.md'"))
        else:
            connection.execute(text("DELETE FROM documents WHERE name = 'diary.md'"))
    shared = Archive(engine, Holder()).shared(token)
    assert shared
    assert shared.answer
    assert cited(shared.answer) <= {"kiln.md"}
    assert "secret" not in str(jsonable(shared.answer))
    assert "diary" not in str(jsonable(shared.answer)).lower()
    assert shared.answer.notes == (HIDDEN,)
    assert [source.n for source in shared.answer.sources] == [*range(1, len(shared.answer.sources) + 1)]
    numbers = {n for sentence in shared.answer.sentences for n in sentence.citations}
    assert numbers <= {source.n for source in shared.answer.sources}


def test_a_visitors_conversation_loses_what_became_private(answered: Answered) -> None:
    engine, _, message = answered
    ann = Holder("visitor", new_key())
    conversation, question = asked(engine, ann, BUILT)
    Archive(engine, ann).store(replace(message, id=question.id))
    with engine.begin() as connection:
        connection.execute(text("UPDATE documents SET visibility = 'private' WHERE name = 'diary.md'"))
    read = Archive(engine, ann).read(conversation)
    assert read
    assert "secret" not in str(exported(read))
