"""The stored persona lies under that of the environment."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text

from config.settings import PersonaSettings, Settings
from pipelines.store.database import open_database
from pipelines.store.persona import read_persona, save_persona

NONE = PersonaSettings()


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    database = open_database(settings)
    yield database.engine
    database.engine.dispose()


def test_a_persona_is_stored_once_and_each_field_of_the_environment_outranks_it(engine: Engine) -> None:
    assert read_persona(engine, NONE) == (NONE, "")
    save_persona(engine, PersonaSettings(name="Ann"), "data:one")
    save_persona(engine, PersonaSettings(name="Ann Bell", voice="first", questions=("Who?",)), "data:two")
    stored, picture = read_persona(engine, NONE)
    assert (stored.name, stored.voice, stored.questions, picture) == ("Ann Bell", "first", ("Who?",), "data:two")
    over, _ = read_persona(engine, PersonaSettings(name="A. Bell"))
    assert (over.name, over.voice) == ("A. Bell", "first")


def test_a_stored_persona_that_is_wrong_by_now_is_left_out(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO persona (id, stated, picture) VALUES (1, '{\"gone\": 1}', '')"))
    assert read_persona(engine, PersonaSettings(name="Ann")) == (PersonaSettings(name="Ann"), "")
