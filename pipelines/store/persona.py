"""The persona of the chat: what the owner stored, under what the environment states."""

from pydantic import ValidationError
from sqlalchemy import Engine, func, select
from sqlalchemy.dialects.postgresql import insert as upsert

from config.settings import PersonaSettings
from pipelines.observe import log_failure
from pipelines.store.database import read_rows, writing
from pipelines.store.schema import persona


def read_persona(engine: Engine, stated: PersonaSettings) -> tuple[PersonaSettings, str]:
    """(the persona, its stored picture as a data URL or empty): each field as `stated`, else as stored.

    A stored persona that these settings do not accept any more is logged, and left out.

    Raises:
        ServiceUnavailable: If the database cannot be read.
    """
    rows = read_rows(engine, "reading the persona", select(persona.c.stated, persona.c.picture))
    stored, picture = rows[0] if rows else ({}, "")
    given = {name: getattr(stated, name) for name in stated.model_fields_set}
    try:
        return PersonaSettings.model_validate(stored | given), picture
    except ValidationError as error:
        log_failure("the stored persona was left out", error)
        return stated, ""


def save_persona(engine: Engine, changed: PersonaSettings, picture: str) -> None:
    """Store a persona in place of the one before: the fields that were set, and its picture as a data URL."""
    row = {"id": 1, "stated": changed.model_dump(mode="json", exclude_unset=True), "picture": picture}
    made = upsert(persona).values(row)
    with writing(engine, "storing the persona") as connection:
        connection.execute(made.on_conflict_do_update(index_elements=["id"], set_=row | {"changed_at": func.now()}))
