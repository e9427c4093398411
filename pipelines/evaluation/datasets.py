"""Load topics and judgements: quoted answers, BEIR folders, labelled claims."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import SourceError


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


_BEIR_HINT = "Name a folder in BEIR's form: corpus.jsonl, queries.jsonl and qrels/*.tsv."
_CLAIMS_HINT = "Name a JSON Lines file of claims in WiCE's form: claim, label, evidence, supporting_sentences."


def unreadable(path: Path, error: Exception, hint: str) -> SourceError:
    """The error for a data file that cannot be read, with the reason in words."""
    match error:
        case FileNotFoundError():
            why = "does not exist"
        case IsADirectoryError():
            why = "is a folder, not a file"
        case OSError():
            why = f"cannot be read: {(error.strerror or str(error)).lower()}"
        case UnicodeDecodeError():
            why = "is not UTF-8 text"
        case _:
            why = f"cannot be read: {error}"
    return SourceError(f"{path} {why}.", hint=hint)


def load_topics(path: Path) -> list[Topic]:
    """The topics of a JSON Lines file, in order.

    Raises:
        SourceError: If the file is missing or a line is not a topic.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error, "Name a topics file; data/README.md describes its form.") from error
    topics = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            topics.append(
                Topic(
                    id=row["id"],
                    question=row["question"],
                    answerable=row["answerable"],
                    kind=row["kind"],
                    quotes=tuple(Quote(**quote) for quote in row["quotes"]),
                    facts=tuple(row["facts"]),
                )
            )
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(
                f"Line {number} of {path} is not a topic: {error}.", hint="See data/README.md."
            ) from error
    return topics


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
    questions = {
        str(row["_id"]): str(row["text"]) for row in _rows(folder / "queries.jsonl", ("_id", "text"), _BEIR_HINT)
    }
    judged = [topic for topic in questions if any(grade > 0 for grade in qrels.get(topic, {}).values())][:limit]
    corpus = tuple(
        Item(str(row["_id"]), str(row.get("title") or "").strip(), str(row["text"] or "").strip())
        for row in _rows(folder / "corpus.jsonl", ("_id", "text"), _BEIR_HINT)
    )
    return Dataset(
        name=folder.resolve().name,
        sha=hashlib.sha256((folder / "corpus.jsonl").read_bytes()).hexdigest()[:12],
        corpus=tuple(item for item in corpus if item.title or item.text),
        topics={topic: questions[topic] for topic in judged},
        qrels={topic: qrels[topic] for topic in judged},
    )


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

    Raises:
        SourceError: If the file is missing or a line is broken.

    Source: Kamoi, Goyal, Rodriguez, Durrett, EMNLP 2023, doi:10.18653/v1/2023.emnlp-main.470.
    """
    claims: list[Claim] = []
    for row in _rows(path, ("claim", "label", "evidence", "supporting_sentences"), _CLAIMS_HINT):
        evidence, numbers = tuple(map(str, row["evidence"])), row["supporting_sentences"]
        gold = tuple(frozenset(chosen) for chosen in numbers if chosen)
        if any(not 0 <= number < len(evidence) for chosen in gold for number in chosen):
            raise SourceError(f"Claim {len(claims) + 1} of {path} is supported by a sentence that is not there.")
        claims.append(Claim(row["claim"], row["label"], evidence, gold))
    return claims


def _rows(path: Path, needed: tuple[str, ...], hint: str) -> Iterator[dict[str, Any]]:
    try:
        file = path.open(encoding="utf-8")
    except OSError as error:
        raise unreadable(path, error, hint) from error
    with file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                missing = [name for name in needed if name not in row]
            except (ValueError, TypeError) as error:
                raise SourceError(f"Line {number} of {path} is not JSON: {error}.", hint=hint) from error
            if missing:
                raise SourceError(f"Line {number} of {path} lacks {', '.join(missing)}.", hint=hint)
            yield row


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
