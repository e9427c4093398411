"""Invented portfolios with judged questions, unpacked: lines with `name` and `text` of a document, and of questions."""

import json
from pathlib import Path

DATA = Path(__file__).parent
READER = tuple(sorted((DATA / "reader").glob("t*.jsonl")))  # the reader is fitted on these
UNITS = tuple(sorted((DATA / "units").glob("t*.jsonl")))  # and the weights of its signals on these: it never read them


def unpacked(portfolio: Path, folder: Path) -> tuple[Path, Path]:
    """The file of topics and the folder of documents of a portfolio, written below `folder`."""
    documents, topics = folder / "documents", folder / "topics.jsonl"
    rows = list(map(json.loads, portfolio.read_text(encoding="utf-8").splitlines()))
    for row in (row for row in rows if "text" in row):
        path = documents / row["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(row["text"], encoding="utf-8")
    asked = ({"kind": "fact", "facts": [], **row} for row in rows if "question" in row)
    topics.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in asked), encoding="utf-8")
    return topics, documents
