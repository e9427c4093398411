"""Export readers' feedback as topics and judgements that `footnote eval` reads."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select

from pipelines.errors import SourceError
from pipelines.store.database import reading
from pipelines.store.filters import seen_by
from pipelines.store.query_log import AnswerFeedback, answers_with_feedback
from pipelines.store.schema import documents
from pipelines.text import fold
from pipelines.types import Audience


@dataclass(slots=True)
class _Topic:
    """A question and what sessions made of it: votes for each passage (document id, words), and for silence.

    `relevant` and `wrong` are the passages that still stand in a document: (its id, its name, words).
    """

    id: str
    question: str
    votes: Counter[tuple[str, str]] = field(default_factory=Counter)
    silence: int = 0
    comments: list[dict[str, Any]] = field(default_factory=list)
    relevant: list[tuple[str, str, str]] = field(default_factory=list)
    wrong: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def silent(self) -> bool:
        """True if readers were content with no answer."""
        return self.silence > 0 and not self.votes


def export(engine: Engine, folder: Path, audience: Audience, *, with_text: bool = False) -> dict[str, Any]:
    """Write the feedback into a folder, and say how much: `topics`, `relevant`, `not_relevant`, `unanswerable`, and
    `left_out` by reason.

    topics.jsonl is what `footnote eval answers TOPICS --ingested` reads, corpus.jsonl, queries.jsonl and qrels/ what
    `footnote eval beir FOLDER` reads; comments.jsonl holds readers' words, and is written only with `with_text`.
    Documents that this audience may not see are left out.

    Raises:
        SourceError: If the folder holds anything already, or cannot be written.
    """
    left_out = Counter[str]()
    topics = _topics(answers_with_feedback(engine, audience), left_out)
    kept = [topic for topic in topics if _is_judged(engine, topic, audience, left_out)]
    judged = [topic for topic in kept if not topic.silent]
    asked = (
        {"id": topic.id, "question": topic.question, "answerable": not topic.silent, "kind": "feedback",
         "quotes": [{"document": name, "text": words} for _, name, words in topic.relevant], "facts": []}
        for topic in kept if topic.relevant or topic.silent
    )  # fmt: skip
    grades = {(topic.id, document): 0 for topic in judged for document, _, _ in topic.wrong}
    grades |= {(topic.id, document): 1 for topic in judged for document, _, _ in topic.relevant}
    wanted = select(documents.c.id.label("_id"), documents.c.title, documents.c.text).where(seen_by(audience))
    try:
        if folder.exists() and any(folder.iterdir()):
            raise SourceError(f"{folder} is not empty.", hint="Name a new folder.")
        (folder / "qrels").mkdir(parents=True, exist_ok=True)
        _write_lines(folder / "topics.jsonl", asked)
        _write_lines(folder / "queries.jsonl", ({"_id": topic.id, "text": topic.question} for topic in judged))
        rows = (f"{topic}\t{document}\t{grade}\n" for (topic, document), grade in grades.items())
        (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows), encoding="utf-8")
        with reading(engine, "reading documents") as connection:
            stored = connection.execute(wanted.order_by(documents.c.id).execution_options(yield_per=100))
            _write_lines(folder / "corpus.jsonl", map(dict, stored.mappings() if kept else ()))
        if with_text:
            comments = ({"topic": topic.id, **said} for topic in topics for said in topic.comments)
            _write_lines(folder / "comments.jsonl", comments)
    except OSError as error:
        raise SourceError(f"{folder} cannot be written: {error.strerror}.", hint="Name another folder.") from error
    return {
        "topics": len(kept),
        "relevant": sum(len(topic.relevant) for topic in kept),
        "not_relevant": sum(len(topic.wrong) for topic in kept),
        "unanswerable": sum(topic.silent for topic in kept),
        "left_out": dict(left_out),
    }


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _topics(answers: Iterable[AnswerFeedback], left_out: Counter[str]) -> list[_Topic]:
    """The questions that were judged, oldest first; one that was asked again is one topic with the votes of all."""
    topics: dict[str, _Topic] = {}
    for said in answers:
        if said.filtered:
            left_out["asked within filters"] += 1
            continue
        topic = topics.setdefault(fold(said.alone).casefold(), _Topic(said.query_id, said.alone))
        for session in dict.fromkeys(given["session"] for given in said.given):
            mine = [given for given in said.given if given["session"] == session]
            for passage, vote in verdicts(said, mine).items():
                topic.votes[passage] += vote
            thumb = sum(given["value"] for given in mine if given["kind"] == "thumb")
            topic.silence += 0 if said.answered else thumb
            words = [given["words"] for given in mine if given["kind"] == "text"]
            topic.comments += [{"question": said.question, "thumb": thumb, "text": text} for text in words]
    return list(topics.values())


def verdicts(said: AnswerFeedback, given: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], int]:
    """One session's judgements of the passages of an answer: (document id, words) -> 1 relevant, -1 not.

    A source that was reported as wrong is not relevant. Of an answer with a thumb up, the cited sources that were
    opened are relevant, and all that it cites where none of them was. Nothing else says anything: a source that was
    only opened may have been opened in vain.
    """
    given = list(given)
    wrong = {one["source"] for one in given if one["kind"] == "wrong_source"}
    opened = {one["source"] for one in given if one["kind"] == "opened"}
    right: set[int] = set()
    if said.answered and any(one["kind"] == "thumb" and one["value"] > 0 for one in given):
        cited = set(said.quotes)
        right = (cited & opened or cited) - wrong
    votes: dict[tuple[str, str], int] = {}
    for vote, numbers in ((1, right), (-1, wrong)):
        for n in sorted(numbers & said.sources.keys()):
            source = said.sources[n]
            for words in said.quotes.get(n) or (source["snippet"],):
                votes[source["document_id"], words] = vote
    return votes


def _is_judged(engine: Engine, topic: _Topic, audience: Audience, left_out: Counter[str]) -> bool:
    """Sort the passages of a topic that still stand in a document; True if something is known of it."""
    with reading(engine, "reading documents") as connection:
        for (document, words), votes in topic.votes.items():
            held = documents.c.text.contains(words, autoescape=True)
            named = select(documents.c.name).where(documents.c.id == document, seen_by(audience), held)
            name = connection.execute(named).scalar()
            if not votes:
                left_out["readers disagree"] += 1
            elif name is None:
                left_out["the document is gone or changed"] += 1
            else:
                (topic.relevant if votes > 0 else topic.wrong).append((document, name, words))
    known = bool(topic.relevant or topic.wrong or topic.silent)
    if not known:
        left_out["nothing is known of what is relevant"] += 1
    return known
