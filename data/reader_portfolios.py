"""The invented portfolios of `data/reader`, unpacked: lines with `name` and `text` of a document, and of questions."""

import json
from pathlib import Path

DATA = Path(__file__).parent
PORTFOLIOS = tuple(sorted((DATA / "reader").glob("t*.jsonl")))
TWINS = DATA / "reader_twins.jsonl"


def unpacked(portfolio: Path, folder: Path, *, twins: bool = False) -> tuple[Path, Path]:
    """The file of topics and the folder of documents of a portfolio, written below `folder`.

    With `twins` the topics are others: near misses, answered questions of the same form, and follow-ups with the
    questions before them. The reader was not fitted on these.
    """
    documents, topics = folder / "documents", folder / "topics.jsonl"
    rows = list(map(json.loads, portfolio.read_text(encoding="utf-8").splitlines()))
    for row in (row for row in rows if "text" in row):
        path = documents / row["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(row["text"], encoding="utf-8")
    if twins:
        rows = [row for row in map(json.loads, TWINS.open(encoding="utf-8")) if row["portfolio"] == portfolio.stem]
    asked = ({"kind": "fact", "facts": [], **row} for row in rows if "question" in row)
    topics.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in asked), encoding="utf-8")
    return topics, documents
