"""The parts of retrieval by name, query settings changed by dotted name, and the ranks that such a change moves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from config.parts import PARTS
from config.settings import Settings
from pipelines.errors import ConfigError
from pipelines.types import SearchReport

# Stages whose settings a query reads; the others belong to the store and the models, which are built already.
TUNABLE = ("analysis", "retrieval", "factors", "evidence", "escalation", "context", "answer")


def settings_without(names: tuple[str, ...]) -> dict[str, Any]:
    """The settings, by dotted name, that switch these parts off.

    Raises:
        ConfigError: If a part does not exist.
    """
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise ConfigError(f"There is no part {unknown[0]!r}.", hint=f"Parts: {', '.join(PARTS)}.")
    return {name: value for part in names for name, value in PARTS[part].items()}


def change_settings(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """These settings with other values by dotted name, checked as if they had been read; strings are converted.

    Raises:
        ConfigError: If a name is not a setting of a query, or a value does not fit it.
    """
    stages: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        stage, _, field = name.partition(".")
        if stage not in TUNABLE or field not in type(getattr(settings, stage)).model_fields:
            raise ConfigError(f"There is no setting {name!r} of a query.", hint=f"Stages: {', '.join(TUNABLE)}.")
        stages.setdefault(stage, {})[field] = value
    updated = {}
    try:
        for stage, given in stages.items():
            held: BaseModel = getattr(settings, stage)
            updated[stage] = type(held).model_validate({**held.model_dump(), **given})
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(
            f"{first['loc'][0]}: {first['msg']}.", hint="See .env.example for what a setting takes."
        ) from error
    return settings.model_copy(update=updated)


@dataclass(frozen=True, slots=True)
class RankChange:
    """A passage that another ranking moved: ranks from 1, None where it is not among the results.

    `why` says its outcome in the ranking that lacks it.
    """

    node_id: str
    document_name: str
    title: str
    line_start: int
    before: int | None
    after: int | None
    why: str = ""

    @property
    def kind(self) -> str:
        """`up`, `down`, `new` or `gone`."""
        if self.before is None or self.after is None:
            return "new" if self.before is None else "gone"
        return "up" if self.after < self.before else "down"


def rank_changes(before: SearchReport, after: SearchReport) -> list[RankChange]:
    """The passages that moved between two rankings: by their rank after, then the gone ones by their rank before."""
    was, now = ({result.node_id: result for result in report.results} for report in (before, after))
    moves = []
    for node_id, result in {**now, **was}.items():
        ranks = (was[node_id].rank if node_id in was else None, now[node_id].rank if node_id in now else None)
        lacking = before if ranks[0] is None else after
        fates = {candidate.node_id: candidate.fate for candidate in lacking.trace.candidates} if None in ranks else {}
        why = fates.get(node_id, "not found") if None in ranks else ""
        if ranks[0] != ranks[1]:
            moves.append(RankChange(node_id, result.document_name, result.title, result.line_start, *ranks, why))
    return moves
