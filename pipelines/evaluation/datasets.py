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
    """What `read` makes of each line of a JSON Lines file; blank lines are passed over.

    Raises:
        SourceError: If the file cannot be read, or a line is not what `read` takes.
    """
    number = 0
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                number += 1
                if line.strip():
                    yield read(json.loads(line))
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error, hint) from error
    except KeyError as error:
        raise SourceError(f"Line {number} of {path} lacks {error}.", hint=hint) from error
    except (ValueError, TypeError, IndexError, AttributeError) as error:
        raise SourceError(f"Line {number} of {path} cannot be read: {error}.", hint=hint) from error


def unreadable(path: Path, error: Exception, hint: str) -> SourceError:
    """The error for a data file that cannot be read, with the reason in words."""
    reasons: dict[type[Exception], str] = {
        FileNotFoundError: "does not exist",
        IsADirectoryError: "is a folder, not a file",
        UnicodeDecodeError: "is not UTF-8 text",
    }
    why = reasons.get(type(error)) or f"cannot be read: {getattr(error, 'strerror', None) or error}"
    return SourceError(f"{path} {why}.", hint=hint)


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a document that answer a topic; spaces are folded when they are compared."""

    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Topic:
    """A question, the quotes that answer it (none = unanswerable), and what an answer must contain."""

    id: str
    question: str
    answerable: bool
    kind: str
    quotes: tuple[Quote, ...]
    facts: tuple[str, ...]


def read_topic(row: Mapping[str, Any]) -> Topic:
    """The topic of a row: id, question, answerable, kind, quotes (document, text), facts."""
    quotes = tuple(Quote(**quote) for quote in row["quotes"])
    return Topic(row["id"], row["question"], row["answerable"], row["kind"], quotes, tuple(row["facts"]))


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

    Attributes:
        sha: Twelve hex digits of the corpus file.
        qrels: By topic, by document, how relevant (0 = not).
    """

    name: str
    sha: str
    corpus: tuple[Item, ...]
    topics: dict[str, str]
    qrels: dict[str, dict[str, int]]


def load_beir(folder: Path, *, limit: int | None = None) -> Dataset:
    """The dataset of a BEIR folder: corpus.jsonl, queries.jsonl and the one split in qrels/ (test before the others).

    Raises:
        SourceError: If a file is missing or a line is broken.
    """
    splits = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    if not splits:
        raise SourceError(f"{folder}/qrels holds no .tsv file.", hint=_BEIR_HINT)
    qrels = _qrels(splits.get("test") or next(iter(splits.values())))
    rows = json_lines(folder / "queries.jsonl", lambda row: (str(row["_id"]), str(row["text"])), _BEIR_HINT)
    judged = [row for row in rows if any(grade > 0 for grade in qrels.get(row[0], {}).values())][:limit]
    corpus = folder / "corpus.jsonl"
    items = tuple(item for item in json_lines(corpus, _item, _BEIR_HINT) if item.title or item.text)
    sha = hashlib.sha256(corpus.read_bytes()).hexdigest()[:12]
    return Dataset(folder.resolve().name, sha, items, dict(judged), {topic: qrels[topic] for topic, _ in judged})


def _item(row: Mapping[str, Any]) -> Item:
    return Item(str(row["_id"]), str(row.get("title") or "").strip(), str(row["text"] or "").strip())


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        fields = line.split("\t")
        if len(fields) < 3 or not fields[-1].strip().lstrip("-").isdigit():
            if number == 1 or not line.strip():
                continue  # the header
            raise SourceError(
                f"Line {number} of {path} is not a judgement.", hint="Write: topic TAB document TAB grade."
            )
        qrels.setdefault(fields[0], {})[fields[-2]] = int(fields[-1])
    return qrels


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence, the sentences of the page that it cites, and which of them support it.

    Attributes:
        label: `supported`, `partially_supported` or `not_supported`.
        gold: Sets of sentence numbers from 0, each enough by itself; none for a claim that is not supported.
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
