import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.errors import SourceError
from pipelines.evaluation.answerability import load_collection
from pipelines.evaluation.datasets import Quote, load_beir, load_claims, load_topics
from pipelines.text import fold

SAMPLE = Path(__file__).parents[3] / "data"


def write_beir(folder: Path, *, split: str = "test") -> Path:
    """A set of three documents and three topics, one of them without a relevant document."""
    (folder / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": "crane", "title": "Crane", "text": "The crane moved 40 containers an hour."},
        {"_id": "garden", "title": "", "text": "Tomatoes need sun every day."},
        {"_id": "title-only", "title": "Report on harbour dredging", "text": ""},
    ]
    topics = [
        {"_id": "1", "text": "How many containers did the crane move?"},
        {"_id": "2", "text": "harbour dredging"},
        {"_id": "3", "text": "nothing"},
    ]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, topics)))
    rows = "query-id\tcorpus-id\tscore\n1\tcrane\t1\n2\ttitle-only\t1\n3\tgarden\t0\n"
    (folder / "qrels" / f"{split}.tsv").write_text(rows)
    return folder


@pytest.mark.parametrize("split", ["test", "train", "dev"])
def test_a_beir_folder_is_read_whatever_split_it_holds(tmp_path: Path, split: str) -> None:
    dataset = load_beir(write_beir(tmp_path / "harbour", split=split))
    assert dataset.name == "harbour"
    assert [item.id for item in dataset.corpus] == ["crane", "garden", "title-only"]
    assert dataset.qrels == {"1": {"crane": 1}, "2": {"title-only": 1}}
    assert list(dataset.topics) == ["1", "2"]


def test_a_limit_keeps_the_first_topics(tmp_path: Path) -> None:
    assert list(load_beir(write_beir(tmp_path), limit=1).topics) == ["1"]


@pytest.mark.parametrize("broken", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_broken_set_is_named_with_its_line(tmp_path: Path, broken: str) -> None:
    write_beir(tmp_path)
    path = tmp_path / broken
    path.write_text(path.read_text() + "\n{nonsense\n")
    with pytest.raises(SourceError, match=r"Line \d+ of"):
        load_beir(tmp_path)


def test_a_folder_without_judgements_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="qrels"):
        load_beir(tmp_path)


def test_every_topic_of_the_portfolio_is_sound() -> None:
    topics = load_topics(SAMPLE / "eval" / "topics.jsonl")
    assert len({topic.id for topic in topics}) == len(topics)
    assert sum(topic.answerable for topic in topics) >= 40
    assert sum(not topic.answerable for topic in topics) >= 10
    for topic in topics:
        assert bool(topic.quotes) == bool(topic.facts) == topic.answerable
        assert all((SAMPLE / "sample" / quote.document).is_file() for quote in topic.quotes)
        quoted = " ".join(fold(quote.text) for quote in topic.quotes)
        assert all(fold(fact) in quoted for fact in topic.facts), topic.id


def test_every_topic_about_the_posts_is_sound() -> None:
    qa = SAMPLE / "eval" / "qa"
    topics = load_topics(qa / "topics.jsonl")
    assert len({topic.id for topic in topics}) == len(topics)
    assert [sum(topic.answerable for topic in topics), len(topics)] == [28, 40]
    for topic in topics:
        assert bool(topic.quotes) == bool(topic.facts) == topic.answerable
        posts = [(qa / "documents" / quote.document).read_text() for quote in topic.quotes]
        assert all(quote.text in post for quote, post in zip(topic.quotes, posts, strict=True)), topic.id
        said = fold(" ".join(map(paragraphs_of, topic.quotes, posts)))
        assert all(fold(fact) in said for fact in topic.facts), topic.id


def paragraphs_of(quote: Quote, post: str) -> str:
    """The paragraphs of a post that a quote is in."""
    before, _, after = post.partition(quote.text)
    return before.rpartition("\n\n")[2] + quote.text + after.partition("\n\n")[0]


def test_a_broken_topics_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"id": "a"}\n')
    with pytest.raises(SourceError, match="Line 1"):
        load_topics(tmp_path / "t.jsonl")


@pytest.mark.parametrize(
    ("load", "form"),
    [
        (load_claims, "supporting_sentences"), (load_collection, "answerability"), (load_topics, "topics"),
    ],
    ids=["claims", "answerability", "topics"],
)  # fmt: skip
def test_a_missing_file_is_named_with_the_form_that_is_expected(
    tmp_path: Path, load: Callable[[Path], object], form: str
) -> None:
    with pytest.raises(SourceError) as refused:
        load(tmp_path / "missing.jsonl")
    assert refused.value.message == f"{tmp_path / 'missing.jsonl'} cannot be read: No such file or directory."
    assert form in refused.value.hint
