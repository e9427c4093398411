"""Topics with quoted answers, as data/eval holds them."""

import json
from dataclasses import dataclass
from pathlib import Path

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


def load_topics(path: Path) -> list[Topic]:
    """The topics of a JSON Lines file, in order.

    Raises:
        SourceError: If the file is missing or a line is no topic.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.", hint="Name a topics file.") from error
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
            raise SourceError(f"Line {number} of {path} is no topic: {error}.", hint="See data/README.md.") from error
    return topics
