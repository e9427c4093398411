"""How much of what documents state is found in their nodes, field by field, and whether they are read in order."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from pydantic import TypeAdapter

from pipelines.errors import FootnoteError, SourceError
from pipelines.evaluation.fields import BESIDE, CORE, Comparison, Tally, compare, duplicates
from pipelines.evaluation.reading_order import reading_order
from pipelines.evaluation.truth import Truth, read_truth, truth_of
from pipelines.facts import CareerRecord, Facts, JobFacts, records_of
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders import load
from pipelines.ingestion.parsers import parse
from pipelines.types import Document, SourceItem

Progress = Callable[[str, int, int], None]
_FACTS: TypeAdapter[Facts | None] = TypeAdapter(Facts | None)
_JUDGED = (".pdf", ".docx")
_TWINS = (".txt", ".docx")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What became of one document.

    Attributes:
        name: Relative to the folder.
        category: As it was classified.
        theme: The layout that its truth names, else its folder; "(docx)" after it for a Word document.
        jobs: How many jobs were found, and `stated_jobs` how many there are; None without truth.
        twice: How many of the jobs say what one before them says.
        order: Likeness (0 to 1) to the twin in reading order; None without a twin.
        error: Why it could not be read or parsed; empty when it could.
    """

    name: str
    category: str
    theme: str
    truth: Truth | None
    comparison: Comparison = field(default_factory=Comparison)
    jobs: int = 0
    twice: int = 0
    order: float | None = None
    seconds: float = 0.0
    error: str = ""

    @property
    def stated_jobs(self) -> int | None:
        """How many jobs the truth has; None without truth."""
        if self.truth is None:
            return None
        return sum(isinstance(record, JobFacts) for record in self.truth.records)

    @property
    def expected(self) -> str:
        """The category that its truth names, else the one that was found."""
        return (self.truth.category if self.truth else "") or self.category


def parse_folder(folder: Path, *, limit: int | None = None, on_progress: Progress | None = None) -> list[Parsed]:
    """Load, classify and parse the PDF and DOCX files below a folder, by name, and compare each with its truth.

    Nothing is stored or embedded. A document that cannot be read has its whole truth missed.

    Raises:
        SourceError: If the folder holds no such file, or a truth file cannot be understood.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _JUDGED and path.is_file())[:limit]
    if not files:
        raise SourceError(f"{folder} holds no PDF or DOCX file.", hint="Name a folder of documents and their truth.")
    done: list[Parsed] = []
    for number, path in enumerate(files, start=1):
        done.append(parsed(path, folder))
        if on_progress:
            on_progress("parsing", number, len(files))
    return done


def parsed(path: Path, folder: Path) -> Parsed:
    """What becomes of one document.

    Raises:
        SourceError: If its truth file cannot be understood.
    """
    stated = truth_of(path)
    truth = read_truth(stated) if stated else None
    theme = ((truth.theme if truth else "") or path.parent.name) + (" (docx)" if path.suffix.lower() == ".docx" else "")
    name, started = path.relative_to(folder).as_posix(), perf_counter()
    try:
        document = classify(read_document(path))
        found = facts_of(document)
        order = _order(path, document.text)
    except FootnoteError as error:
        missed = compare(truth, []) if truth else Comparison()
        return Parsed(name, "", theme, truth, missed, seconds=perf_counter() - started, error=error.message)
    return Parsed(
        name=name,
        category=document.category,
        theme=theme,
        truth=truth,
        comparison=compare(truth, found) if truth else Comparison(),
        jobs=sum(isinstance(record, JobFacts) for record in found),
        twice=duplicates(found),
        order=order,
        seconds=perf_counter() - started,
    )


def read_document(path: Path) -> Document:
    """The document of a file, outside of any source, ready for a parser.

    Raises:
        LoadError: If it cannot be read as its type.
    """
    data = path.read_bytes()
    item = SourceItem(uri=path.resolve().as_uri(), name=path.name, source="eval", source_kind="file")
    return load(data, item).with_(content_sha=hashlib.sha256(data).hexdigest())


def facts_of(document: Document) -> list[CareerRecord]:
    """The career records of the document's nodes in order; one that several parts of an entry repeat counts once."""
    records: dict[CareerRecord, None] = {}
    for node in parse(document):
        records.update(dict.fromkeys(records_of(_FACTS.validate_python(node.metadata["facts"]))))
    return list(records)


def _order(path: Path, text: str) -> float | None:
    """The likeness of a PDF's text to its twin; None where there is none."""
    if path.suffix.lower() != ".pdf":
        return None
    for suffix in _TWINS:
        twin = path.with_suffix(suffix)
        if twin.is_file():
            return reading_order(text, read_document(twin).text)
    return None


def grouped(done: Iterable[Parsed], key: Callable[[Parsed], str]) -> dict[str, list[Parsed]]:
    """The documents with truth by what `key` says of them, in the order of that."""
    groups: dict[str, list[Parsed]] = defaultdict(list)
    for each in done:
        if each.truth:
            groups[key(each)].append(each)
    return dict(sorted(groups.items()))


def scores(done: Sequence[Parsed]) -> dict[str, float | None]:
    """F1 by field over all these documents together, and `all` over the five fields that are asked for."""
    tallies = {name: _total(each.comparison.tallies[name] for each in done) for name in CORE + BESIDE}
    return {"all": _total(tallies[name] for name in CORE).f1} | {name: tally.f1 for name, tally in tallies.items()}


def parsing_json(done: Sequence[Parsed]) -> dict[str, Any]:
    """The scores over all documents, by category and by layout, and each document with what it misses; plain data."""
    orders = [each.order for each in done if each.order is not None]
    return {
        "documents": len(done),
        "f1": scores([each for each in done if each.truth]),
        "categories": {name: scores(held) for name, held in grouped(done, lambda each: each.expected).items()},
        "themes": {name: scores(held) for name, held in grouped(done, lambda each: each.theme).items()},
        "order": {"twins": len(orders), "mean": sum(orders) / len(orders), "worst": min(orders)} if orders else None,
        "twice": sum(each.twice for each in done),
        "files": [_file_json(each) for each in done],
    }


def _file_json(each: Parsed) -> dict[str, Any]:
    return {
        "name": each.name,
        "category": each.category,
        "theme": each.theme,
        "f1": scores([each]) if each.truth else None,
        "jobs": each.jobs,
        "stated_jobs": each.stated_jobs,
        "twice": each.twice,
        "order": each.order,
        "seconds": round(each.seconds, 3),
        "error": each.error,
        "missed": [list(pair) for pair in each.comparison.missed],
        "wrong": [list(pair) for pair in each.comparison.wrong],
    }


def _total(tallies: Iterator[Tally] | Iterable[Tally]) -> Tally:
    total = Tally()
    for tally in tallies:
        total.add(tally)
    return total
