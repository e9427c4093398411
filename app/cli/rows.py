"""Answers and results as JSON, read back for printing."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from pipelines.answers import Citation, Source


def source_of(row: Mapping[str, Any]) -> Source:
    """A source that was stored as JSON by any release; a missing field is empty."""
    lists = {"section_path", "node_ids", "also_in", "page_breaks", "near_copies"}
    numbers = {"n", "line_start", "line_end", "start", "end"}
    given: dict[str, Any] = {each.name: row.get(each.name, "") for each in fields(Source)}
    given |= {name: tuple(row.get(name, ())) for name in lists}
    given |= {name: row.get(name, 0) for name in numbers} | {"structure": None}
    return Source(**given | {"page": row.get("page")})


def result_source(row: Mapping[str, Any]) -> Source:
    """A search result as JSON, as a source."""
    return source_of({**row, "documentName": row["document_name"], "snippet": row["text"]})


def conflict_of(row: Mapping[str, Any] | str) -> tuple[str, tuple[int, ...]]:
    """(the text of a stored conflict, the numbers of its sources); older conflicts are only a text."""
    return (row, ()) if isinstance(row, str) else (row["said"], tuple(side["n"] for side in row["sides"]))


def citations_of(sentences: Sequence[Mapping[str, Any]], n: int) -> list[Citation]:
    """The citations of a source in the sentences of a stored answer that have a place."""
    rows = (row for sentence in sentences for row in sentence.get("evidence") or () if row["n"] == n)
    return [Citation(**row) for row in rows if row.get("line_start")]


def cited_numbers(sentences: Sequence[Mapping[str, Any]], conflicts: Iterable[Mapping[str, Any] | str]) -> set[int]:
    """The numbers of the sources that a stored answer cites, in its sentences or as sides of a conflict."""
    cited = {n for sentence in sentences for n in sentence["citations"]}
    return cited.union(*(conflict_of(conflict)[1] for conflict in conflicts))


def options_of(filters: Mapping[str, Any]) -> str:
    """Filters as the options of the command line that set them: `--category blog --year 2024`; empty for none."""
    given = ((name, [value] if isinstance(value, str) else value) for name, value in filters.items() if value)
    return shlex.join(word for name, values in given for value in values for word in (f"--{name}", str(value)))
