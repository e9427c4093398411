"""The context header of a node: what it is about, embedded and indexed before its text."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from llama_index.core.schema import BaseNode, TransformComponent

from pipelines.text import fold

HEADER_VERSION = 2
PARTS = frozenset({"title", "path", "year", "job", "lead", "repository"})

_MAX_CHARACTERS = 300


def header_of(title: str, section_path: Sequence[str] = (), *, year: int | None = None) -> str:
    """One line such as `Field notes (2024) > Kitchen > Stove`: title, year, headings; no name twice in a row.

    At most 300 characters: headings in the middle go first, then the end of the line.
    """
    parts: list[str] = []
    for name in (title, *section_path):
        if name and (not parts or fold(name) != fold(parts[-1])):
            parts.append(name)
    if year and parts and str(year) not in parts[0]:
        parts[0] = f"{parts[0]} ({year})"
    while len(parts) > 2 and len(" > ".join(parts)) > _MAX_CHARACTERS:
        parts.pop(-2)
    return " > ".join(parts)[:_MAX_CHARACTERS]


def jobs_of(facts: Mapping[str, Any] | None) -> str:
    """The jobs that a node's facts state, on one line: `Engineer at Acme (May 2019 - Jul 2022)`; empty for none.

    At most 300 characters: the last jobs go first, then the end of the line.
    """
    records = facts.get("records", [facts]) if facts else []
    jobs = [_job(record) for record in records if record["type"] == "job"]
    while len(jobs) > 1 and len("; ".join(jobs)) > _MAX_CHARACTERS:
        jobs.pop()
    return "; ".join(jobs)[:_MAX_CHARACTERS]


def _job(record: Mapping[str, Any]) -> str:
    what = " at ".join(filter(None, (record["position"], record["company"])))
    return f"{what} ({record['date_range']})" if record["date_range"] else what


def repository_line(facts: Mapping[str, Any] | None) -> str:
    """The repository that a node is of, on one line: `footnotes: Checked footnotes. Python; citations, markdown`.

    Empty for none. Stars and times are not in it: they change too often to be embedded. At most 300 characters.
    """
    if not facts or facts["type"] != "repository":
        return ""
    described = facts["description"].rstrip(".")
    tags = "; ".join(filter(None, (facts["language"], ", ".join(facts["topics"]))))
    said = ". ".join(filter(None, (described, tags)))
    return (f"{facts['name']}: {said}" if said else str(facts["name"]))[:_MAX_CHARACTERS]


class Contextualise(TransformComponent):
    """Gives every node its header, made of its own metadata: where it stands, what it repeats, the jobs that it states.

    A node of a repository has that, too.

    What it repeats (a job line, the head of a table) is the parser's.
    `parts` are what headers are made of; each can be left out, to measure what it brings.
    """

    parts: frozenset[str] = PARTS

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """Copies of the nodes with `metadata["header"]` set."""
        return [_with_header(node, self.parts) for node in nodes]


def _with_header(node: BaseNode, parts: Collection[str]) -> BaseNode:
    header = "\n".join(filter(None, _lines(node, parts)))
    return node.model_copy(update={"metadata": {**node.metadata, "header": header}})


def _lines(node: BaseNode, parts: Collection[str]) -> Iterator[str]:
    known = node.metadata
    title = known["title"] if "title" in parts else ""
    path = known["section_path"] if "path" in parts else ()
    yield header_of(title, path, year=known["year"] if "year" in parts else None)
    yield known["header"] if "lead" in parts else ""
    yield jobs_of(known["facts"]) if "job" in parts else ""
    yield repository_line(known["facts"]) if "repository" in parts else ""
