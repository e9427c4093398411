"""The chat's engine over a real database."""

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from app import session
from app.chat_engine import ChatEngine, build_chat_engine
from app.cli.pack_files import load_pack
from app.door import Door
from app.settings import read_settings
from app.worker import JobWorker
from config.prompts import MY_NO_ANSWER, NO_ANSWER_OF
from config.settings import PersonaSettings, Settings
from pipelines.answers import Answer
from pipelines.errors import ConfigError
from pipelines.types import Filters, Turn
from tests.app.fakes import FakeEngine

RESUME = (
    b"# Ines Varga\n\n## Experience\n\n### Senior Engineer, Northmere Bridges\n\nMarch 2018 - present\n\n"
    b"- Inspected forty bridges\n"
)
KILN = b"---\ndate: 2014-05-01\n---\n# Kiln\n\nThe anagama kiln at Dunsyre was built by Ruth Aldous.\n"


def take_in(engine: ChatEngine, *files: tuple[str, bytes]) -> list[tuple[str, str]]:
    """Let a worker take files in: (name, outcome) of each."""
    job = engine.jobs.upload(files)
    worker = JobWorker(engine.settings)
    assert worker.work_once()
    worker.close()
    return [(file.name, file.outcome) for file in engine.jobs.files(job)]


def test_uploads_are_answered_from_listed_and_removed_with_their_files(settings: Settings) -> None:
    engine = build_chat_engine(settings)
    assert take_in(engine, ("kiln.md", KILN), ("empty.md", b"")) == [("kiln.md", "added"), ("empty.md", "failed")]

    shelf = engine.shelf()
    assert [(d.name, d.title, d.nodes, d.coverage) for d in shelf.documents] == [("kiln.md", "Kiln", 1, 1.0)]
    assert [(f.name, f.stored) for f in shelf.failures] == [("empty.md", False)]
    assert [(document.year, document.dated[:4]) for document in shelf.documents if document.year] == [(2014, "2014")]

    *_, answer = engine.answer("Who built the anagama kiln?", history=(), filters=Filters())
    assert isinstance(answer, Answer)
    evidence = answer.sentences[0].evidence[0]
    passage = engine.passage(evidence.document_id, evidence.start, evidence.end, 400)
    assert passage is not None
    assert passage[1] == evidence.quote == "The anagama kiln at Dunsyre was built by Ruth Aldous."

    run_id = engine.remove(shelf.documents)
    assert engine.shelf().documents == ()
    assert not (settings.home / "uploads" / "kiln.md").exists()
    engine.undo_removal(run_id)
    assert [document.name for document in engine.shelf().documents] == ["kiln.md"]
    assert (settings.home / "uploads" / "kiln.md").read_bytes() == KILN
    engine.close()


def test_answers_are_in_the_name_of_the_only_person_until_another_persona_is_stored(settings: Settings) -> None:
    engine = build_chat_engine(settings)
    take_in(engine, ("resume.md", RESUME))
    assert engine.persona().name == "Ines Varga"
    unanswered = "What did the anagama kiln cost?"
    *_, answer = engine.answer(unanswered, history=(), filters=Filters())
    assert answer.answer.startswith(NO_ANSWER_OF.format(name="Ines Varga"))  # type: ignore[union-attr]
    engine.save_persona(PersonaSettings(voice="first"), "data:picture")
    *_, answer = engine.answer(unanswered, history=(), filters=Filters())
    assert answer.answer.startswith(MY_NO_ANSWER)  # type: ignore[union-attr]
    assert engine.picture() == "data:picture"
    assert [each.question for each in engine.questions() if each.is_sure] == [
        "What does Ines Varga do at Northmere Bridges?",
    ]
    engine.close()


def test_the_same_file_again_is_unchanged_and_another_of_its_name_replaces_it(settings: Settings) -> None:
    engine = build_chat_engine(settings)
    outcomes = [take_in(engine, ("kiln.md", data))[0][1] for data in (KILN, KILN, KILN + b"\nIt is fired twice.\n")]
    assert outcomes == ["added", "unchanged", "updated"]
    assert len(engine.shelf().documents) == 1
    engine.close()


def test_the_engine_is_kept_until_a_setting_changes(
    make_settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = make_settings(), make_settings()
    current = [first]
    monkeypatch.setattr(session, "read_settings", lambda: current[0])
    engine = session.get_engine()
    assert session.get_engine() is engine
    current[0] = first.model_copy(update={"openai_api_key": SecretStr("another")})
    assert session.get_engine() is not engine
    current[0] = second
    session.get_engine().close()


def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_RETRIEVAL__TOP_N", "none")
    with pytest.raises(ConfigError, match="FOOTNOTE_RETRIEVAL__TOP_N"):
        read_settings()


def test_the_fake_of_the_page_tests_is_called_like_the_engine() -> None:
    public = {name for name in vars(ChatEngine) if not name.startswith("_")}
    public |= {name for name in vars(Door) if name in vars(FakeEngine) and not name.startswith("_")}
    for name in public:
        real, fake = getattr(ChatEngine, name), getattr(FakeEngine, name, None)
        if inspect.isfunction(real):
            assert fake is not None
            assert list(inspect.signature(real).parameters) == list(inspect.signature(fake).parameters), name


def test_an_answer_is_handed_out_as_a_pack_with_what_it_was_asked_of(settings: Settings, tmp_path: Path) -> None:
    engine = build_chat_engine(settings)
    take_in(engine, ("kiln.md", KILN))
    history, filters = (Turn("What is a kiln?", "An oven."),), Filters(year=(2014,))
    *_, answer = engine.answer("Who built the anagama kiln?", history=history, filters=filters)
    assert isinstance(answer, Answer)
    (tmp_path / "answer.zip").write_bytes(engine.archived_pack(answer, history, filters))
    pack = load_pack(str(tmp_path / "answer.zip"))
    assert (pack.asked.question, pack.asked.history[0].question, pack.asked.filters.year) == (
        "Who built the anagama kiln?", "What is a kiln?", (2014,)
    )  # fmt: skip
    assert pack.answer.trace_id == answer.trace_id
    assert pack.trace
    assert [source.node_ids[0] for source in pack.answer.sources] == [pack.trace.candidates[0].node_id]
    engine.close()
