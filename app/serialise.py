"""The serialiser of the command line and the servers: any result as plain data for its one JSON document."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from functools import singledispatch
from pathlib import PurePath
from typing import Any

from pipelines.errors import FootnoteError

# By type, the names of a JSON object where they are not the fields of the type: NAME, or NAME=PATH of attributes and
# indices, a list on the way being gone through. NAME? is left out where it is empty; *PATH puts the names of an inner
# object here, and * the fields of the type. PATH:shape has that shape instead of its type's.
SHAPES = {
    "Done": "*facts",
    "Status": "documents sources totals",
    "IngestReport": "run_id *counts nodes embedded seconds seconds_at_sources=looked stopped items",
    "IngestItem": "document outcome stage error=message error_class=error hint nodes embedded",
    "RunResult": "*report *plan:noted refused_removals=plan.refused:refusal",
    "noted": "skipped=skipped.name passed_over=skipped:remark stored_in_part=partial:part empty",
    "remark": "name reason",
    "part": "document=name reason",
    "refusal": "source=0 documents=1 of=2",
    "PlanResult": "counts outcomes steps:planned *plan:noted refused_removals=plan.refused:refusal settled:settled "
    "embeddings=seen.embeddings sentence_groups=seen.sentence_groups tokens=seen.tokens "
    "header_calls=seen.headers.calls header_tokens=seen.headers.tokens estimated sampled cost",
    "planned": "action=0.action document=1.document reason=0.reason outcome=1.outcome stage=1.stage "
    "error_class=1.error message=1.message hint=1.hint nodes=1.nodes embeddings=1.embedded estimated=2",
    "settled": "document=0.document reason=1",
    "RoundResult": "at sources=found.locations *report refused_removals=found.refused:refusal error=found.error "
    "again_seconds=found.again",
    "UndoPlan": "undoes=run_id counts steps:undone",
    "undone": "action=0 document=1.item.name document_id=1.document_id reason=1.reason hint=2",
    "Removal": "run_id=report.run_id removed:removed forgotten=failed.document",
    "removed": "id=document_id document",
    "SearchReport": "query intent results evidence timings_ms notes trace_id=trace.id",
    "Ranking": "*report trace_id *ledger parts?",
    "FeedbackExport": "*report",
    "RankChange": "* kind",
    "Answered": "*answer",
    "Replayed": "*replay",
    "Replay": "question=before.asked.question asked_at=before.made_at same changes causes quotations "
    "fingerprints=:fingerprints answer=after.answer",
    "fingerprints": "before=before.fingerprint after=after.fingerprint",
    "StoredModel": "table label=identity.label *identity active documents of=stored complete nodes bytes "
    "added=added_at",
    "ModelList": "models=stored note",
    "ModelAdded": "model price added=done.documents nodes=done.nodes embedded=done.embedded failed:notembedded "
    "seconds=done.seconds",
    "notembedded": "document=0 stage=1.stage error=1.message error_class=1.error hint=1.hint",
    "ModelServing": "active=model.identity.label before=before.label changed corpus_version=version note",
    "ModelsCompared": "a b *done",
    "Health": "healthy checks",
    "Experiment": "dataset topics systems comparisons fingerprint",
    "Report": "*figures",
    "ParsedFile": "name category theme f1 jobs stated_jobs twice order seconds error missed=comparison.missed "
    "wrong=comparison.wrong false_jobs=comparison.false_jobs",
}


@singledispatch
def serialise(value: Any) -> Any:
    """The value as what `json.dumps` takes: a result as the object of its shape, a time as its ISO string."""
    shape = SHAPES.get(type(value).__name__, "*" if is_dataclass(value) else "")
    if shape:
        return dict(_named(value, shape))
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value


@serialise.register(Mapping)
def _(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {" ".join(key) if isinstance(key, tuple) else str(key): serialise(item) for key, item in value.items()}


@serialise.register(list | tuple | set | frozenset)
def _(value: Iterable[Any]) -> list[Any]:
    return [serialise(item) for item in value]


@serialise.register
def _(value: FootnoteError) -> dict[str, str]:
    return {"type": type(value).__name__, "message": value.message, "hint": value.hint}


@serialise.register
def _(value: date) -> str:
    return value.isoformat()


@serialise.register
def _(value: Enum) -> Any:
    return value.value


@serialise.register
def _(value: PurePath) -> str:
    return str(value)


def _named(value: Any, shape: str) -> Iterator[tuple[str, Any]]:
    for part in shape.split():
        name, _, path = part.partition("=")
        if part == "*":
            yield from ((each.name, serialise(getattr(value, each.name))) for each in fields(value))
        elif part.startswith("*"):
            yield from (_found(value, part[1:]) or {}).items()
        else:
            found = _found(value, path or name.rstrip("?"))
            if found or not name.endswith("?"):
                yield name.rstrip("?").partition(":")[0], found


def _found(value: Any, path: str) -> Any:
    """The serialised value at a path, in the shape that the path names, if it names one."""
    path, _, shape = path.partition(":")
    inner = _at(value, path)
    if not shape:
        return serialise(inner)
    return (
        [dict(_named(each, SHAPES[shape])) for each in inner]
        if isinstance(inner, (list, tuple))
        else dict(_named(inner, SHAPES[shape]))
    )


def _at(value: Any, path: str) -> Any:
    name, _, rest = path.partition(".")
    if not name or value is None:
        return value
    if isinstance(value, (list, tuple)) and not (name.isdigit() or hasattr(value, name)):
        return [_at(each, path) for each in value]
    return _at(value[int(name)] if name.isdigit() else getattr(value, name), rest)
