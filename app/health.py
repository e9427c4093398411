"""What the page Health asks: checks and repairs, figures, the newest evaluation, and language models to connect."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from config.env_file import ENV_FILE, write_env
from pipelines.errors import ConfigError
from pipelines.evaluation.reports import newest_report, own_topics
from pipelines.models.connect import FoundServer, ModelChoice, find_servers
from pipelines.models.consult import examine_llm
from pipelines.query.doctor import examine_all
from pipelines.query.engine import QueryEngine
from pipelines.store.health import Finding
from pipelines.store.query_log import latest_feedback
from pipelines.store.statistics import statistics


@dataclass(frozen=True, slots=True)
class HealthDesk:
    """The state of an engine and its database, for its owner."""

    engine: QueryEngine

    def checks(self, *, fix: bool = False) -> list[Finding]:
        """The findings of `footnote doctor`; with `fix`, after the safe repairs."""
        return examine_all(self.engine.settings, fix=fix)

    def statistics(self, days: int) -> dict[str, Any]:
        """The report of `footnote stats`."""
        return statistics(self.engine.database.engine, days)

    def feedback(self, limit: int = 30) -> list[dict[str, Any]]:
        """The latest feedback that is more than an opened footnote, as `latest_feedback` gives it."""
        rows = latest_feedback(self.engine.database.engine, 10 * limit, "owner")
        return [row for row in rows if row["kind"] != "opened"][:limit]

    def evaluation(self) -> Mapping[str, Any] | None:
        """The newest report of `footnote eval answers`."""
        return newest_report(self.engine.database.engine)

    @property
    def topics_file(self) -> str:
        """Where the owner's judged questions stand; those of the sample are asked while there are none."""
        return str(own_topics(self.engine.settings.home.resolve()))

    def servers(self) -> list[FoundServer]:
        """The servers of language models on this machine."""
        return find_servers()

    def try_model(self, choice: ModelChoice) -> tuple[bool, str, str]:
        """Ask a model for one word: (it answered, what it is or what is wrong, what to do).

        Raises:
            ConfigError: If its address or name is missing.
        """
        return examine_llm(choice.applied(self.engine.settings))

    def connect(self, choice: ModelChoice) -> None:
        """Write the settings of a language model into `.env`, from which the next run of a page reads them.

        Raises:
            ConfigError: If the file cannot be written, or the environment sets one of them, which outranks the file.
        """
        given = choice.variables(self.engine.settings)
        if outranked := [name for name in given if name in os.environ]:
            raise ConfigError(f"{outranked[0]} is set in the environment, which outranks .env.", hint="Unset it there.")
        if "FOOTNOTE_LLM__API_BASE" in given and os.environ.get("OPENAI_API_KEY"):
            raise ConfigError(
                "OPENAI_API_KEY is set in the environment, and .env cannot send it to another server.",
                hint="Set the lines in the environment, too.",
            )
        try:
            write_env(ENV_FILE, given)
        except (OSError, ValueError) as error:
            raise ConfigError(f".env was not written: {error}", hint="Write the lines by hand.") from error
