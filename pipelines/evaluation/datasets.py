"""Load topics and judgements: quoted answers, BEIR folders, labelled claims."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pipelines.errors import SourceError

_BEIR_HINT = "Name a folder in BEIR's form: corpus.jsonl, queries.jsonl and qrels/*.tsv."
_CLAIMS_HINT = "Name a JSON Lines file of claims in WiCE's form: claim, label, evidence, supporting_sentences."
_TOPICS_HINT = "Name a topics file; data/README.md describes its form."
_Row = TypeVar("_Row")


def json_lines(path: Path, read: Callable[[Mapping[str, Any]], _Row], hint: str) -> Iterator[_Row]:
    """The value that `read` makes of each line of a JSON Lines file; blank lines are passed over.

    Raises:
        SourceError: If the file cannot be read, or a line is not what `read` takes.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error, hint) from error
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                yield read(json.loads(line))
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            why = f"lacks {error}" if isinstance(error, KeyError) else f"cannot be read: {error}"
            raise SourceError(f"Line {number} of {path} {why}.", hint=hint) from error


def unreadable(path: Path, error: Exception, hint: str) -> SourceError:
    """The error for a data file that cannot be read, with the reason in words."""
    return SourceError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.", hint=hint)


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a document that answer a topic; spaces are folded when they are compared."""

    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Topic:
    """A question, the quotes that answer it (none = unanswerable), what an answer must hold, and those before it."""

    id: str
    question: str
    answerable: bool
    kind: str
    quotes: tuple[Quote, ...]
    facts: tuple[str, ...]
    history: tuple[str, ...] = ()


def read_topic(row: Mapping[str, Any]) -> Topic:
    """The topic of a row: id, question, answerable, kind, quotes (document, text), facts, history where it has one."""
    quotes, facts = tuple(Quote(**quote) for quote in row["quotes"]), tuple(row["facts"])
    history = tuple(row.get("history", ()))
    return Topic(row["id"], row["question"], row["answerable"], row["kind"], quotes, facts, history)


def load_topics(path: Path) -> list[Topic]:
    """The topics of a JSON Lines file, in order."""
    return list(json_lines(path, read_topic, _TOPICS_HINT))


@dataclass(frozen=True, slots=True)
class Item:
    """One document of a corpus."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """A corpus with judged topics; only topics that have a relevant document are kept.

    `sha` is twelve hex digits of the corpus file; `qrels` say by topic and document how relevant it is (0 = not).
    """

    name: str
    sha: str
    corpus: tuple[Item, ...]
    topics: dict[str, str]
    qrels: dict[str, dict[str, int]]


def file_sha(path: Path) -> str:
    """Twelve hex digits of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def load_beir(folder: Path, *, limit: int | None = None) -> Dataset:
    """The dataset of a BEIR folder: corpus.jsonl, queries.jsonl and the one split in qrels/ (test before the others).

    Raises:
        SourceError: If a file is missing or a line is broken.
    """
    splits = sorted((folder / "qrels").glob("*.tsv"), key=lambda path: (path.stem != "test", path.stem))
    if not splits:
        raise SourceError(f"{folder}/qrels holds no .tsv file.", hint=_BEIR_HINT)
    qrels = _qrels(splits[0])
    rows = json_lines(folder / "queries.jsonl", lambda row: (str(row["_id"]), str(row["text"])), _BEIR_HINT)
    topics = dict([row for row in rows if any(grade > 0 for grade in qrels.get(row[0], {}).values())][:limit])

    def read_item(row: Mapping[str, Any]) -> Item:
        return Item(str(row["_id"]), str(row.get("title") or "").strip(), str(row["text"] or "").strip())

    corpus = folder / "corpus.jsonl"
    items = tuple(item for item in json_lines(corpus, read_item, _BEIR_HINT) if item.title or item.text)
    return Dataset(folder.resolve().name, file_sha(corpus), items, topics, {topic: qrels[topic] for topic in topics})


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            topic, *_, document, grade = line.split("\t")
            qrels.setdefault(topic, {})[document] = int(grade)
        except ValueError as error:
            if number > 1 and line.strip():  # the first line is a header
                raise SourceError(f"Line {number} of {path} is not a judgement.", hint=_BEIR_HINT) from error
    return qrels


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence, the sentences of the page that it cites, and which of them support it.

    `label` is `supported`, `partially_supported` or `not_supported`; `gold` are sets of sentence numbers from 0, each
    enough by itself, none for a claim that is not supported.
    """

    text: str
    label: str
    evidence: tuple[str, ...]
    gold: tuple[frozenset[int], ...]


def load_claims(path: Path) -> list[Claim]:
    """The claims of a JSON Lines file in WiCE's form: `claim`, `label`, `evidence`, `supporting_sentences`.

    Source: Kamoi, Goyal, Rodriguez, Durrett, EMNLP 2023, doi:10.18653/v1/2023.emnlp-main.470.
    """
    return list(json_lines(path, _claim, _CLAIMS_HINT))


def _claim(row: Mapping[str, Any]) -> Claim:
    evidence = tuple(map(str, row["evidence"]))
    gold = tuple(frozenset(chosen) for chosen in row["supporting_sentences"] if chosen)
    if any(not 0 <= number < len(evidence) for chosen in gold for number in chosen):
        raise ValueError("a sentence supports it that is not there")
    return Claim(row["claim"], row["label"], evidence, gold)
