"""The questions that the reader, and the weights of its signals, are fitted on."""

from pathlib import Path

import pytest

from data.reader_portfolios import READER, UNITS, unpacked
from pipelines.evaluation.datasets import load_topics


@pytest.mark.parametrize("portfolio", [*READER, *UNITS], ids=lambda path: path.stem)
def test_every_quote_of_a_question_stands_in_its_document(portfolio: Path, tmp_path: Path) -> None:
    path, documents = unpacked(portfolio, tmp_path)
    topics = load_topics(path)
    texts = {str(each.relative_to(documents)): " ".join(each.read_text("utf-8").split())
             for each in documents.rglob("*") if each.is_file()}  # fmt: skip
    assert len(topics) >= 100
    assert [topic.id for topic in topics if topic.answerable != bool(topic.quotes)] == []
    quotes = (quote for topic in topics for quote in topic.quotes)
    assert [quote for quote in quotes if " ".join(quote.text.split()) not in texts[quote.document]] == []
