"""The parts of retrieval by name, query settings changed by dotted name, and the ranks that this moves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from config.parts import PARTS
from config.settings import Settings
from pipelines.errors import ConfigError
from pipelines.types import SearchReport, SearchResult

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
    try:
        updated = {stage: _with(getattr(settings, stage), given) for stage, given in stages.items()}
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(
            f"{first['loc'][0]}: {first['msg']}.", hint="See .env.example for what a setting takes."
        ) from error
    return settings.model_copy(update=updated)


def _with(stage: BaseModel, changes: Mapping[str, Any]) -> BaseModel:
    return type(stage).model_validate({**stage.model_dump(), **changes})


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
    was = {result.node_id: result for result in before.results}
    now = {result.node_id: result for result in after.results}
    moved = [
        _move(result, was[node_id].rank if node_id in was else None, result.rank, before)
        for node_id, result in now.items()
        if node_id not in was or was[node_id].rank != result.rank
    ]
    return moved + [_move(result, result.rank, None, after) for node_id, result in was.items() if node_id not in now]


def _move(result: SearchResult, before: int | None, after: int | None, lacking: SearchReport) -> RankChange:
    why = "" if before and after else _fate(result.node_id, lacking)
    return RankChange(result.node_id, result.document_name, result.title, result.line_start, before, after, why)


def _fate(node_id: str, report: SearchReport) -> str:
    fates = {candidate.node_id: candidate.fate for candidate in report.trace.candidates}
    return fates.get(node_id, "not found")
