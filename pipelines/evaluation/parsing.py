"""Measure how much of what documents state is found in their nodes, field by field, and the reading order of PDFs."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from pydantic import TypeAdapter
from rapidfuzz.distance import Indel
from rapidfuzz.fuzz import ratio

from pipelines.errors import FootnoteError, SourceError
from pipelines.evaluation.truth import Truth, read_truth, truth_of
from pipelines.facts import (
    CareerRecord,
    CertificationFacts,
    EducationFacts,
    Facts,
    JobFacts,
    LanguageFacts,
    ProjectFacts,
    SkillsFacts,
    records_of,
)
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders import load
from pipelines.ingestion.parsers import parse
from pipelines.text import fold
from pipelines.types import Document, SourceItem

_SAME_BULLET = 97
_PRESENT = "present"
_FILLING = frozenset({"in", "of", "en", "de", "des", "di", "em", "the", "der"})


def normal(value: str) -> str:
    """A value for comparing: case, spaces, accents and typographic variants folded, no sign at its ends."""
    return re.sub(r"\s*-\s*", "-", fold(value)).strip(" .,;:|-'\"")


def alike(stated: str, found: str) -> bool:
    """True if two values are equal after folding."""
    return normal(stated) == normal(found)


def same_month(stated: str, found: str) -> bool:
    """True if two ISO dates agree to the precision that both state: `2023` and `2023-04` do."""
    shorter = min(len(stated), len(found))
    return shorter > 0 and stated[:shorter] == found[:shorter]


def ends(said: JobFacts | EducationFacts, heard: JobFacts | EducationFacts) -> tuple[str, str]:
    """The two ends; where one side has a single date only, the other's end is none if it is that date as well."""
    last, ended = (_PRESENT if each.current else each.end_month or "" for each in (said, heard))
    if heard.start_month and not ended and same_month(last, said.start_month):
        return "", ""
    if said.start_month and not last and same_month(ended, heard.start_month):
        return "", ""
    return last, ended


def same_bullet(stated: str, found: str) -> bool:
    """True if two sentences are equal but for a joined hyphen or a space."""
    return ratio(normal(stated), normal(found)) >= _SAME_BULLET


def same_study(stated: str, found: str) -> bool:
    """Degree and subject as one, since a page may write them so: "M.Sc. in Physics", "M.Sc., Physics"."""
    return _study(stated) == _study(found)


def _study(text: str) -> list[str]:
    return [word for word in re.findall(r"[\w.+#&-]+", fold(text)) if word not in _FILLING]


_SPACED = 3


def reading_order(text: str, twin: str) -> float:
    """2 LCS / (words of the one + words of the other), from 0 to 1; 1 when the words are the same in the same order.

    LCS is the longest common subsequence. Words are runs of letters and digits, case and accents folded; a word that
    is set letter by letter ("S K I L L S") is one word.
    """
    return float(Indel.normalized_similarity(words_of(text), words_of(twin)))


def words_of(text: str) -> list[str]:
    """The words of a text in order, folded."""
    return list(_joined(re.findall(r"[^\W_]+", fold(text))))


def _joined(words: Iterable[str]) -> Iterator[str]:
    letters: list[str] = []
    for word in words:
        if len(word) == 1 and word.isalpha():
            letters.append(word)
            continue
        yield from _spelt(letters)
        letters = []
        yield word
    yield from _spelt(letters)


def _spelt(letters: list[str]) -> list[str]:
    return ["".join(letters)] if len(letters) >= _SPACED else letters


CORE = ("company", "position", "dates", "institution", "skills")
BESIDE = ("degree", "location", "bullets", "project", "certification", "language")
_Kind = TypeVar("_Kind")


@dataclass(slots=True)
class Tally:
    """How many values of a field are stated, found, and right."""

    stated: int = 0
    found: int = 0
    right: int = 0

    def add(self, other: "Tally") -> None:
        """Count the other's values with these."""
        self.stated += other.stated
        self.found += other.found
        self.right += other.right

    @property
    def f1(self) -> float | None:
        """2 right / (stated + found), the harmonic mean of precision and recall; None where there is nothing."""
        total = self.stated + self.found
        return 2 * self.right / total if total else None


@dataclass(slots=True)
class ParsingComparison:
    """The tallies by field; the values that are stated and not found, and those that are found and not stated."""

    tallies: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in CORE + BESIDE})
    missed: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[tuple[str, str]] = field(default_factory=list)

    def judge(self, name: str, stated: str, found: str, same: Callable[[str, str], bool] | None = None) -> None:
        """Count one value on each side; an empty one is no value."""
        right = bool(stated and found and (same or alike)(stated, found))
        self.tallies[name].add(Tally(bool(stated), bool(found), right))
        if stated and not right:
            self.missed.append((name, stated))
        if found and not right:
            self.wrong.append((name, found))


def compare(truth: Truth, found: Sequence[CareerRecord]) -> ParsingComparison:
    """Compare the found records with the truth; kinds that the truth does not cover are skipped."""
    made = ParsingComparison()
    if "job" in truth.kinds:
        _compare_jobs(made, _of(JobFacts, truth.records), _of(JobFacts, found))
    if "education" in truth.kinds:
        _compare_schools(made, _of(EducationFacts, truth.records), _of(EducationFacts, found))
    if "skills" in truth.kinds:
        _compare_skills(made, _of(SkillsFacts, truth.records), _of(SkillsFacts, found))
    named: tuple[tuple[str, type[ProjectFacts | CertificationFacts | LanguageFacts], str], ...] = (
        ("project", ProjectFacts, "name"),
        ("certification", CertificationFacts, "name"),
        ("language", LanguageFacts, "language"),
    )
    for name, kind, attribute in named:
        if name in truth.kinds:
            stated, heard = (
                [getattr(record, attribute) for record in _of(kind, side)] for side in (truth.records, found)
            )
            _compare_lists(made, name, stated, heard)
    return made


def duplicates(found: Iterable[CareerRecord]) -> int:
    """How many jobs say the same company, position and dates as one before them."""
    keys = Counter((normal(job.company), normal(job.position), job.start_month, job.end_month)
                   for job in _of(JobFacts, found))  # fmt: skip
    return keys.total() - len(keys)


def _of(kind: type[_Kind], records: Iterable[object]) -> list[_Kind]:
    return [record for record in records if isinstance(record, kind)]


def match_entries(
    stated: Sequence[_Kind], found: Sequence[_Kind], likeness: Callable[[_Kind, _Kind], float]
) -> list[tuple[_Kind | None, _Kind | None]]:
    """Each entry with at most one partner, the likest pairs first; then what is left alone on either side."""
    ranked = sorted(
        ((likeness(one, other), -n, -m) for n, one in enumerate(stated) for m, other in enumerate(found)), reverse=True
    )
    pairs: list[tuple[_Kind | None, _Kind | None]] = []
    left, right = set(range(len(stated))), set(range(len(found)))
    for score, n, m in ranked:
        if score > 0 and -n in left and -m in right:
            left.discard(-n)
            right.discard(-m)
            pairs.append((stated[-n], found[-m]))
    pairs += [(stated[n], None) for n in sorted(left)]
    return pairs + [(None, found[m]) for m in sorted(right)]


def _compare_jobs(made: ParsingComparison, stated: list[JobFacts], found: list[JobFacts]) -> None:
    located, detailed = any(job.location for job in stated), any(job.bullets for job in stated)
    nothing = JobFacts(company="")
    for one, other in match_entries(stated, found, _job_likeness):
        said, heard = one or nothing, other or nothing
        made.judge("company", said.company, heard.company)
        made.judge("position", said.position, heard.position)
        _judge_dates(made, said, heard)
        if located:
            made.judge("location", said.location, heard.location)
        if detailed:
            _compare_lists(made, "bullets", said.bullets, heard.bullets, same_bullet)


def _job_likeness(one: JobFacts, other: JobFacts) -> float:
    dates = same_month(one.start_month, other.start_month) + same_month(*ends(one, other))
    names = ratio(normal(one.company), normal(other.company)) + ratio(normal(one.position), normal(other.position))
    return dates + names / 50


def _compare_schools(made: ParsingComparison, stated: list[EducationFacts], found: list[EducationFacts]) -> None:
    studied = any(school.degree or school.area for school in stated)
    nothing = EducationFacts(institution="")
    for one, other in match_entries(stated, found, _school_likeness):
        said, heard = one or nothing, other or nothing
        made.judge("institution", said.institution, heard.institution)
        _judge_dates(made, said, heard)
        if studied:
            made.judge("degree", _studied(said), _studied(heard), same_study)


def _school_likeness(one: EducationFacts, other: EducationFacts) -> float:
    dates = same_month(one.start_month, other.start_month) + same_month(*ends(one, other))
    degrees = ratio(normal(_studied(one)), normal(_studied(other)))
    return dates + (ratio(normal(one.institution), normal(other.institution)) + degrees) / 50


def _studied(school: EducationFacts) -> str:
    return f"{school.degree} {school.area}".strip()


def _judge_dates(made: ParsingComparison, said: JobFacts | EducationFacts, heard: JobFacts | EducationFacts) -> None:
    made.judge("dates", said.start_month, heard.start_month, same_month)
    last, ended = ends(said, heard)
    made.judge("dates", last, ended, same_month)


def _compare_skills(made: ParsingComparison, stated: list[SkillsFacts], found: list[SkillsFacts]) -> None:
    """Skills as sets; what a group is called is neither missed nor wrong when it is found as a skill."""
    groups = {normal(each.group) for each in stated if each.group}
    said = {normal(skill): skill for each in stated for skill in each.skills}
    heard = {normal(skill): skill for each in found for skill in each.skills}
    for key, skill in said.items():
        made.judge("skills", skill, heard.get(key, ""))
    for key, skill in heard.items():
        if key not in said and key not in groups:
            made.judge("skills", "", skill)


def _compare_lists(
    made: ParsingComparison,
    name: str,
    stated: Sequence[str],
    found: Sequence[str],
    same: Callable[[str, str], bool] | None = None,
) -> None:
    for one, other in match_entries(stated, found, lambda a, b: float((same or alike)(a, b))):
        made.judge(name, one or "", other or "", same)


Progress = Callable[[str, int, int], None]
_FACTS: TypeAdapter[Facts | None] = TypeAdapter(Facts | None)
_JUDGED = (".pdf", ".docx")
_TWINS = (".txt", ".docx")


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The result for one document.

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
    comparison: ParsingComparison = field(default_factory=ParsingComparison)
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


def parse_folder(folder: Path, *, limit: int | None = None, on_progress: Progress | None = None) -> list[ParsedFile]:
    """Load, classify and parse the PDF and DOCX files below a folder, by name, and compare each with its truth.

    Nothing is stored or embedded. A document that cannot be read has its whole truth missed.

    Raises:
        SourceError: If the folder holds no such file, or a truth file cannot be understood.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _JUDGED and path.is_file())[:limit]
    if not files:
        raise SourceError(f"{folder} holds no PDF or DOCX file.", hint="Name a folder of documents and their truth.")
    done: list[ParsedFile] = []
    for number, path in enumerate(files, start=1):
        done.append(parse_file(path, folder))
        if on_progress:
            on_progress("parsing", number, len(files))
    return done


def parse_file(path: Path, folder: Path) -> ParsedFile:
    """Parse one document and compare it with its truth.

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
        missed = compare(truth, []) if truth else ParsingComparison()
        return ParsedFile(name, "", theme, truth, missed, seconds=perf_counter() - started, error=error.message)
    return ParsedFile(
        name=name,
        category=document.category,
        theme=theme,
        truth=truth,
        comparison=compare(truth, found) if truth else ParsingComparison(),
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


def group_files(done: Iterable[ParsedFile], key: Callable[[ParsedFile], str]) -> dict[str, list[ParsedFile]]:
    """The documents with truth by what `key` says of them, in the order of that."""
    groups: dict[str, list[ParsedFile]] = defaultdict(list)
    for each in done:
        if each.truth:
            groups[key(each)].append(each)
    return dict(sorted(groups.items()))


def field_scores(done: Sequence[ParsedFile]) -> dict[str, float | None]:
    """F1 by field over all these documents together, and `all` over the five fields that are asked for."""
    tallies = {name: _total(each.comparison.tallies[name] for each in done) for name in CORE + BESIDE}
    return {"all": _total(tallies[name] for name in CORE).f1} | {name: tally.f1 for name, tally in tallies.items()}


def parsing_json(done: Sequence[ParsedFile]) -> dict[str, Any]:
    """The scores over all documents, by category and by layout, and each document with its missed values."""
    orders = [each.order for each in done if each.order is not None]
    return {
        "documents": len(done),
        "f1": field_scores([each for each in done if each.truth]),
        "categories": {
            name: field_scores(held) for name, held in group_files(done, lambda each: each.expected).items()
        },
        "themes": {name: field_scores(held) for name, held in group_files(done, lambda each: each.theme).items()},
        "order": {"twins": len(orders), "mean": sum(orders) / len(orders), "worst": min(orders)} if orders else None,
        "twice": sum(each.twice for each in done),
        "files": [_file_json(each) for each in done],
    }


def _file_json(each: ParsedFile) -> dict[str, Any]:
    return {
        "name": each.name,
        "category": each.category,
        "theme": each.theme,
        "f1": field_scores([each]) if each.truth else None,
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
