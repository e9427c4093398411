"""Measure how much of what documents state is found in their nodes, field by field, and the reading order of PDFs."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from pydantic import TypeAdapter
from rapidfuzz.distance import Indel
from rapidfuzz.fuzz import ratio

from pipelines.errors import FootnoteError, SourceError
from pipelines.evaluation.corpus import Progress, no_progress
from pipelines.evaluation.truth import Truth, read_truth, truth_of
from pipelines.facts import (
    CareerRecord,
    CertificationFacts,
    EducationFacts,
    Facts,
    JobFacts,
    LanguageFacts,
    PersonFacts,
    ProjectFacts,
    SkillsFacts,
    records_of,
)
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders import load
from pipelines.ingestion.parsers import parse
from pipelines.text import fold
from pipelines.types import Document, SourceItem

CORE = ("company", "position", "dates", "institution", "skills")
BESIDE = ("name", "degree", "location", "bullets", "project", "certification", "language")
_ALWAYS_STATED = ("company", "position", "institution")
_FILLING = frozenset({"in", "of", "en", "de", "des", "di", "em", "the", "der"})
_IN_STUDY = frozenset("_.+#&-")
_SAME_BULLET = 97
_PRESENT = "present"
_MIN_SPELT = 3  # letters
_FACTS: TypeAdapter[Facts | None] = TypeAdapter(Facts | None)
_JUDGED, _TWINS = (".pdf", ".docx"), (".txt", ".docx")
_Kind = TypeVar("_Kind")
_Dated = TypeVar("_Dated", JobFacts, EducationFacts)
Same = Callable[[str, str], bool]


def normal(value: str) -> str:
    """A value for comparing: case, spaces, accents and typographic variants folded, no sign at its ends."""
    return "-".join(part.strip() for part in fold(value).split("-")).strip(" .,;:|-'\"")


def alike(stated: str, found: str) -> bool:
    """True if two values are equal after folding."""
    return normal(stated) == normal(found)


def same_month(stated: str, found: str) -> bool:
    """True if two ISO dates agree to the precision that both state: `2023` and `2023-04` do."""
    shorter = min(len(stated), len(found))
    return shorter > 0 and stated[:shorter] == found[:shorter]


def same_bullet(stated: str, found: str) -> bool:
    """True if two sentences are equal but for a joined hyphen or a space."""
    return ratio(normal(stated), normal(found)) >= _SAME_BULLET


def same_study(stated: str, found: str) -> bool:
    """Degree and subject as one, since a page may write them so: "M.Sc. in Physics", "M.Sc., Physics"."""
    one, other = ([word for word in _words(each, _IN_STUDY) if word not in _FILLING] for each in (stated, found))
    return one == other


def _words(text: str, signs: frozenset[str] = frozenset()) -> list[str]:
    return "".join(char if char.isalnum() or char in signs else " " for char in fold(text)).split()


def ends(said: JobFacts | EducationFacts, heard: JobFacts | EducationFacts) -> tuple[str, str]:
    """The two ends; where one side has a single date only, the other's end is none if it is that date as well."""
    last, ended = (_PRESENT if each.current else each.end_month or "" for each in (said, heard))
    if heard.start_month and not ended and same_month(last, said.start_month):
        return "", ""
    if said.start_month and not last and same_month(ended, heard.start_month):
        return "", ""
    return last, ended


def reading_order(text: str, twin: str) -> float:
    """2 LCS / (words of the one + words of the other), from 0 to 1; 1 when the words are the same in the same order.

    LCS is the longest common subsequence. Words are runs of letters and digits, case and accents folded; a word that
    is set letter by letter ("S K I L L S") is one word.
    """
    return float(Indel.normalized_similarity(_ordered_words(text), _ordered_words(twin)))


def _ordered_words(text: str) -> list[str]:
    words: list[str] = []
    for single, group in groupby(_words(text), key=lambda word: len(word) == 1 and word.isalpha()):
        run = list(group)
        words += ["".join(run)] if single and len(run) >= _MIN_SPELT else run
    return words


@dataclass(frozen=True, slots=True)
class Tally:
    """How many values of a field are stated, found, and right."""

    stated: int = 0
    found: int = 0
    right: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.stated + other.stated, self.found + other.found, self.right + other.right)

    @property
    def f1(self) -> float | None:
        """2 right / (stated + found), the harmonic mean of precision and recall; None where there is nothing."""
        total = self.stated + self.found
        return 2 * self.right / total if total else None


@dataclass(slots=True)
class ParsingComparison:
    """The tallies by field; the values that are stated and not found, and those that are found and not stated.

    `false_jobs` counts the jobs that were found beyond those that the truth has.
    """

    tallies: dict[str, Tally] = field(default_factory=lambda: dict.fromkeys(CORE + BESIDE, Tally()))
    missed: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[tuple[str, str]] = field(default_factory=list)
    false_jobs: int = 0

    def judge(self, name: str, stated: str, found: str, same: Same = alike) -> None:
        """Count one value on each side; an empty one is no value."""
        right = bool(stated and found and same(stated, found))
        self.tallies[name] += Tally(bool(stated), bool(found), right)
        if stated and not right:
            self.missed.append((name, stated))
        if found and not right:
            self.wrong.append((name, found))

    def judge_lists(self, name: str, stated: Sequence[str], found: Sequence[str], same: Same = alike) -> None:
        """Count the values of two lists in whatever order."""
        for one, other in match_entries(stated, found, lambda a, b: float(same(a, b))):
            self.judge(name, one or "", other or "", same)


def compare(truth: Truth, found: Sequence[CareerRecord]) -> ParsingComparison:
    """Compare the found records with the truth; kinds that the truth does not cover are skipped."""
    made = ParsingComparison()
    stated = truth.records
    if "person" in truth.kinds:
        names = [next((each.name for each in _of(PersonFacts, side) if each.name), "") for side in (stated, found)]
        made.judge("name", names[0], names[1])
    if "job" in truth.kinds:
        made.false_jobs = max(0, len(_of(JobFacts, found)) - len(_of(JobFacts, stated)))
        _compare_dated(made, _of(JobFacts, stated), _of(JobFacts, found), JobFacts(company=""))
    if "education" in truth.kinds:
        _compare_dated(made, _of(EducationFacts, stated), _of(EducationFacts, found), EducationFacts(institution=""))
    if "skills" in truth.kinds:
        _compare_skills(made, _of(SkillsFacts, stated), _of(SkillsFacts, found))
    named = (("project", ProjectFacts, "name"), ("certification", CertificationFacts, "name"),
             ("language", LanguageFacts, "language"))  # fmt: skip
    for kind, of, attribute in named:
        if kind in truth.kinds:
            one, other = (
                [getattr(each, attribute) for each in side if isinstance(each, of)] for side in (stated, found)
            )
            made.judge_lists(kind, one, other)
    return made


def duplicates(found: Iterable[CareerRecord]) -> int:
    """How many jobs say the same company, position and dates as one before them."""
    keys = [(normal(job.company), normal(job.position), job.start_month, job.end_month) for job in _of(JobFacts, found)]
    return len(keys) - len(set(keys))


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


def _compare_dated(made: ParsingComparison, stated: list[_Dated], found: list[_Dated], nothing: _Dated) -> None:
    """Compare jobs, or degrees, with their dates; a field that no entry of the truth has is not judged."""
    judged = [name for name in _fields(nothing) if name in _ALWAYS_STATED or any(_fields(one)[name] for one in stated)]
    detailed = any(_bullets(one) for one in stated)
    for one, other in match_entries(stated, found, _likeness):
        said, heard = one or nothing, other or nothing
        for name in judged:
            same = same_study if name == "degree" else alike
            made.judge(name, _fields(said)[name], _fields(heard)[name], same)
        made.judge("dates", said.start_month, heard.start_month, same_month)
        made.judge("dates", *ends(said, heard), same_month)
        if detailed:
            made.judge_lists("bullets", _bullets(said), _bullets(heard), same_bullet)


def _fields(entry: JobFacts | EducationFacts) -> dict[str, str]:
    """The named values of an entry; it is recognised by the first two."""
    if isinstance(entry, JobFacts):
        return {"company": entry.company, "position": entry.position, "location": entry.location}
    return {"institution": entry.institution, "degree": f"{entry.degree} {entry.area}".strip()}


def _bullets(entry: JobFacts | EducationFacts) -> tuple[str, ...]:
    return entry.bullets if isinstance(entry, JobFacts) else ()


def _likeness(one: _Dated, other: _Dated) -> float:
    dates = same_month(one.start_month, other.start_month) + same_month(*ends(one, other))
    named = zip(list(_fields(one).values())[:2], list(_fields(other).values())[:2], strict=True)
    return dates + sum(ratio(normal(stated), normal(found)) for stated, found in named) / 50


def _compare_skills(made: ParsingComparison, stated: list[SkillsFacts], found: list[SkillsFacts]) -> None:
    """Skills as sets; what a group is called is neither missed nor wrong when it is found as a skill."""
    groups = {normal(each.group) for each in stated if each.group}
    said = {normal(skill): skill for each in stated for skill in each.skills}
    heard = {normal(skill): skill for each in found for skill in each.skills}
    for key in [*said, *(key for key in heard if key not in said and key not in groups)]:
        made.judge("skills", said.get(key, ""), heard.get(key, ""))


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The result for one document.

    `theme` is the layout that its truth names, else its folder; "(docx)" after it for a Word document. `twice` counts
    jobs that say what one before them says; `order` is the likeness (0 to 1) to the twin in reading order.
    """

    name: str
    category: str
    theme: str
    truth: Truth | None
    comparison: ParsingComparison
    jobs: int = 0
    twice: int = 0
    order: float | None = None
    seconds: float = 0.0
    error: str = ""

    @property
    def stated_jobs(self) -> int | None:
        """How many jobs the truth has; None without truth."""
        return len(_of(JobFacts, self.truth.records)) if self.truth else None

    @property
    def expected(self) -> str:
        """The category that its truth names, else the one that was found."""
        return (self.truth.category if self.truth else "") or self.category

    @property
    def f1(self) -> dict[str, float | None] | None:
        """F1 by field; None without truth."""
        return field_scores([self]) if self.truth else None


def parse_folder(folder: Path, *, limit: int | None = None, on_progress: Progress = no_progress) -> list[ParsedFile]:
    """Load, classify and parse the PDF and DOCX files below a folder, by name, and compare each with its truth.

    Nothing is stored or embedded. A document that cannot be read has its whole truth missed. A SourceError if the
    folder holds no such file, or a truth file cannot be understood.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _JUDGED and path.is_file())[:limit]
    if not files:
        raise SourceError(f"{folder} holds no PDF or DOCX file.", hint="Name a folder of documents and their truth.")
    done: list[ParsedFile] = []
    for path in files:
        done.append(parse_file(path, folder))
        on_progress("parsing", len(done), len(files))
    return done


def parse_file(path: Path, folder: Path) -> ParsedFile:
    """Parse one document and compare it with its truth."""
    stated = truth_of(path)
    truth = read_truth(stated) if stated else None
    theme = ((truth.theme if truth else "") or path.parent.name) + (" (docx)" if path.suffix.lower() == ".docx" else "")
    started, category, error = perf_counter(), "", ""
    found: list[CareerRecord] = []
    order = None
    try:
        document = classify(read_document(path))
        category, found = document.category, facts_of(document)
        twin = next((path.with_suffix(suffix) for suffix in _TWINS if path.with_suffix(suffix).is_file()), None)
        if twin and path.suffix.lower() == ".pdf":
            order = reading_order(document.text, read_document(twin).text)
    except FootnoteError as caught:
        category, found, error = "", [], caught.message
    return ParsedFile(
        name=path.relative_to(folder).as_posix(),
        category=category,
        theme=theme,
        truth=truth,
        comparison=compare(truth, found) if truth else ParsingComparison(),
        jobs=len(_of(JobFacts, found)),
        twice=duplicates(found),
        order=order,
        seconds=round(perf_counter() - started, 3),
        error=error,
    )


def read_document(path: Path) -> Document:
    """The document of a file, outside of any source, ready for a parser."""
    data = path.read_bytes()
    item = SourceItem(uri=path.resolve().as_uri(), name=path.name, source="eval", source_kind="file")
    return load(data, item).with_(content_sha=hashlib.sha256(data).hexdigest())


def facts_of(document: Document) -> list[CareerRecord]:
    """The career records of the document's nodes in order; one that several parts of an entry repeat counts once."""
    records: dict[CareerRecord, None] = {}
    for node in parse(document):
        records.update(dict.fromkeys(records_of(_FACTS.validate_python(node.metadata["facts"]))))
    return list(records)


def field_scores(done: Sequence[ParsedFile]) -> dict[str, float | None]:
    """F1 by field over all these documents together, and `all` over the five fields that are asked for."""
    tallies = {name: sum((each.comparison.tallies[name] for each in done), Tally()) for name in CORE + BESIDE}
    return {"all": sum((tallies[name] for name in CORE), Tally()).f1} | {name: own.f1 for name, own in tallies.items()}


def parsing_report(done: Sequence[ParsedFile]) -> dict[str, Any]:
    """The scores over all documents, by category and by layout, the reading order, and each document."""
    orders = [each.order for each in done if each.order is not None]
    judged = [each for each in done if each.truth]

    def scores_by(kind: Callable[[ParsedFile], str]) -> dict[str, dict[str, float | None]]:
        names = sorted({kind(each) for each in judged})
        return {name: field_scores([each for each in judged if kind(each) == name]) for name in names}

    return {
        "documents": len(done),
        "f1": field_scores(judged),
        "categories": scores_by(lambda each: each.expected),
        "themes": scores_by(lambda each: each.theme),
        "order": {"twins": len(orders), "mean": sum(orders) / len(orders), "worst": min(orders)} if orders else None,
        "twice": sum(each.twice for each in done),
        "false_jobs": sum(each.comparison.false_jobs for each in done),
        "files": list(done),
    }
