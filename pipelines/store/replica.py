"""A replica of the database: questions read from it, and everything is written to the database itself."""

from dataclasses import dataclass

from sqlalchemy import Engine, func, select
from sqlalchemy.exc import DBAPIError

from config.settings import Settings
from pipelines.errors import ConfigError
from pipelines.store.database import HEAD, Database, current_revision, make_engine, parsed_url, reading, translate
from pipelines.store.schema import corpus_changes, corpus_version
from pipelines.wording import format_count


@dataclass(frozen=True, slots=True)
class Lag:
    """The changes of the corpus that a replica lacks, and the seconds since the first of them (0 if there is none)."""

    changes: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{format_count(self.changes, 'change')} and {self.seconds:.1f} s behind" if self.changes else "up to date"
        )


def database_to_read(settings: Settings, database: Database) -> Database:
    """The replica that the settings name; without one, the database itself.

    Raises:
        ConfigError: If its address is no URL, or its tables are not those of this program.
        ServiceUnavailable: If no server answers.
    """
    if settings.read_url is None:
        return database
    engine = make_engine(parsed_url(settings.read_url, "FOOTNOTE_READ_URL"), embedded=False)
    try:
        with engine.connect() as connection:
            revision = current_revision(connection)
    except DBAPIError as error:
        engine.dispose()
        raise translate(error, "connecting to the replica of FOOTNOTE_READ_URL") from error
    if revision != HEAD:
        engine.dispose()
        raise ConfigError(
            f"The replica of FOOTNOTE_READ_URL stands at migration {revision}, and the database at {HEAD}.",
            hint="Wait until it has followed, or name a replica of the database of DATABASE_URL.",
        )
    return Database(engine, engine.url.render_as_string(hide_password=True), embedded=False)


def lag(database: Engine, replica: Engine) -> Lag:
    """The changes of the database that the replica lacks now.

    Raises:
        ServiceUnavailable: If one of them cannot be reached.
    """
    with reading(replica, "looking where the replica stands") as connection:
        reached = connection.execute(select(corpus_version.c.version)).scalar_one()
    changes = corpus_changes.c
    age = func.extract("epoch", func.now() - func.min(changes.at))
    with reading(database, "looking where the corpus stands") as connection:
        row = connection.execute(select(func.count(), age).where(changes.version > reached)).one()
    return Lag(int(row[0]), max(float(row[1] or 0.0), 0.0))
