"""Whether every heading and every table cell of a file stands in its nodes, under the right section path.

A heading's path is that of the headings above it in the file (each of a lower level than the next), and itself. A
cell's is that of the last heading before it. A node is under such a path if

- its section path is that one, title for title, or
- its section path goes on below that one, and the node itself holds the words of that heading and of each one further
  down: it begins at the heading (which has next to nothing of its own) and goes on into what lies below it.

Titles are the same but for case, marks, a number before them and the `(2)` of a repeated one. Those that the file does
not say are headings (they were found by their look) are passed over in section paths.

A heading or cell is in the nodes if its words stand there, all of them in a row, once for each time that the file has
them. It is under its path if they so stand in nodes that are. So what was put under the heading of a neighbour, or only
under the one above, is not. The nodes of resumes and profiles stand under the sections that their parsers name, not
under the person's name or the line of an entry, so those headings are not under their paths.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from pipelines.errors import FootnoteError, SourceError
from pipelines.evaluation.parsing import read_document
from pipelines.evaluation.structure_sources import READERS
from pipelines.evaluation.structure_words import Said, Stated, title_words
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders.sniff import MARKDOWN
from pipelines.ingestion.parsers import parse
from pipelines.ingestion.structure import MAX_TITLE
from pipelines.text import plain

Progress = Callable[[str, int, int], None]
Titles = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What became of a heading or a cell: whether it is in the nodes, whether under its path, and if not, why."""

    stated: Stated
    path: Titles
    in_nodes: bool
    in_section: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a file's structure; `error` says why it could not be read or parsed, and is empty if it could."""

    name: str
    parser: str = ""
    found: tuple[Found, ...] = ()
    error: str = ""

    @property
    def headings(self) -> list[Found]:
        """Those that are headings."""
        return [each for each in self.found if each.stated.level]

    @property
    def cells(self) -> list[Found]:
        """Those that are table cells."""
        return [each for each in self.found if not each.stated.level]

    @property
    def exceptions(self) -> list[Found]:
        """Those that are not under their path."""
        return [each for each in self.found if not each.in_section]


class _Nodes:
    """The section path and the text of each node, and what the nodes under a path say."""

    def __init__(self, nodes: Iterable[tuple[Titles, str]]) -> None:
        self._nodes = [(titles, text, Said([text])) for titles, text in nodes]
        self._under: dict[Titles, Said] = {}
        self.all = Said(text for _, text, _ in self._nodes)

    def under(self, path: Titles) -> Said:
        """Those in the section of that path, and those that begin there and go on in one below."""
        if path not in self._under:
            self._under[path] = Said(text for titles, text, said in self._nodes if _is_under(titles, said, path))
        return self._under[path]

    def first_with(self, stated: Stated, text: str) -> Titles | None:
        """The path of the first node that says it."""
        return next((titles for titles, _, said in self._nodes if _times(stated, text, said)), None)


def _is_under(titles: Titles, said: Said, path: Titles) -> bool:
    if titles[: len(path)] != path:
        return False
    return titles == path or all(said.count(title) for title in titles[max(len(path) - 1, 0) :])


def structure_of(folder: Path, *, limit: int | None = None, on_progress: Progress | None = None) -> list[Kept]:
    """Load, classify and parse the files below a folder whose format is read here, by name; see the module.

    Raises:
        SourceError: If the folder holds no such file.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in READERS and path.is_file())[:limit]
    if not files:
        raise SourceError(
            f"{folder} holds no file of these formats: {', '.join(READERS)}.", hint="Name another folder."
        )
    done: list[Kept] = []
    for number, path in enumerate(files, start=1):
        done.append(kept(path, path.relative_to(folder).as_posix()))
        if on_progress:
            on_progress("parsing", number, len(files))
    return done


def kept(path: Path, name: str) -> Kept:
    """What becomes of one file's headings and cells."""
    try:
        document = classify(read_document(path))
        nodes = parse(document)
    except FootnoteError as error:
        return Kept(name, error=error.message)
    try:
        stated = list(READERS[path.suffix.lower()](path))
    except (ValueError, KeyError, SyntaxError, BadZipFile) as error:
        return Kept(name, error=f"{name} can be loaded but not checked: {error}")
    texts = [plain(node.text) if document.mime == MARKDOWN else node.text for node in nodes]
    paths = [node.metadata["section_path"] for node in nodes]
    return Kept(name, nodes[0].metadata["parser"], tuple(judged(stated, zip(paths, texts, strict=True))))


def judged(stated: Sequence[Stated], nodes: Iterable[tuple[Sequence[str], str]]) -> Iterator[Found]:
    """What became of each, in order, in nodes of these section paths and texts; see the module."""
    known = {title_words(each.text) for each in stated if each.level}
    own = [(tuple(title for title in map(title_words, path) if title in known), text) for path, text in nodes]
    yield from _found(stated, _Nodes(own))


def _found(stated: Sequence[Stated], nodes: _Nodes) -> Iterator[Found]:
    everywhere: Counter[str] = Counter()
    within: Counter[tuple[Titles, str]] = Counter()
    for each, path in _with_paths(stated):
        text = path[-1] if each.level else each.text
        everywhere[text] += 1
        within[path, text] += 1
        in_nodes = _times(each, text, nodes.all) >= everywhere[text]
        in_section = in_nodes and _times(each, text, nodes.under(path)) >= within[path, text]
        yield Found(each, path, in_nodes, in_section, "" if in_section else _reason(each, text, nodes))


def _with_paths(stated: Iterable[Stated]) -> Iterator[tuple[Stated, Titles]]:
    """Each with its path in the file; a heading that need not divide the text is above nothing."""
    above: list[tuple[int, str]] = []
    for each in stated:
        if not each.level:
            yield each, tuple(title for _, title in above)
            continue
        path = [*(pair for pair in above if each.why or pair[0] < each.level), (each.level, title_words(each.text))]
        above = above if each.why else path
        yield each, tuple(title for _, title in path)


def _times(stated: Stated, text: str, said: Said) -> int:
    """How often a text is said, in whichever of its forms is said most often."""
    return max(said.count(form) for form in (text, *stated.also))


def _reason(stated: Stated, text: str, nodes: _Nodes) -> str:
    """Why a text is not under its path: what its reader says, else where it stands."""
    if stated.why or (stated.level and len(stated.text) > MAX_TITLE):
        return stated.why or f"longer than {MAX_TITLE} characters, and so a paragraph"
    path = nodes.first_with(stated, text)
    return "stands in no node" if path is None else f"stands under {' > '.join(path) or 'no heading'}"


def totals(done: Iterable[Kept]) -> dict[str, int]:
    """How many headings and cells these files have, how many are in the nodes, and how many under their path."""
    counts: Counter[str] = Counter()
    for each in done:
        for name, found in (("headings", each.headings), ("cells", each.cells)):
            counts[name] += len(found)
            counts[f"{name}_in_nodes"] += sum(one.in_nodes for one in found)
            counts[f"{name}_in_section"] += sum(one.in_section for one in found)
    names = [f"{name}{what}" for name in ("headings", "cells") for what in ("", "_in_nodes", "_in_section")]
    return {name: counts[name] for name in names}


def by_format(done: Iterable[Kept]) -> dict[str, list[Kept]]:
    """The files by the suffix of their name, in the order of that."""
    groups: dict[str, list[Kept]] = {}
    for each in done:
        groups.setdefault(each.name.rpartition(".")[2].lower(), []).append(each)
    return dict(sorted(groups.items()))


def structure_json(done: Sequence[Kept]) -> dict[str, Any]:
    """The totals, by format and of each file, with every heading and cell that is not under its path; plain data."""
    return {
        "files": len(done),
        "totals": totals(done),
        "formats": {name: totals(held) for name, held in by_format(done).items()},
        "documents": [
            {"name": each.name, "parser": each.parser, "error": each.error, **totals([each]),
             "exceptions": [exception_json(found) for found in each.exceptions]}
            for each in done
        ],
    }  # fmt: skip


def exception_json(found: Found) -> dict[str, Any]:
    """A heading or cell that is not under its path, and why; plain data."""
    return {
        "what": "heading" if found.stated.level else "cell",
        "text": found.stated.text,
        "path": list(found.path),
        "in_nodes": found.in_nodes,
        "reason": found.reason,
    }
