"""How like what is read of a page is to its article, by the published measure."""

import gzip
import json
from pathlib import Path

import pytest

from pipelines.errors import SourceError
from tests.bench.articles import PageScore, articles_json, measure_articles, score_page, shingles, summary
from tests.fake_web import FILLER, page


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pages, of which one is read word for word, and one needs JavaScript."""
    (tmp_path / "html").mkdir()
    bodies = {"good": f"A title {FILLER}", "scripted": "Words that only a browser sees, and a few more."}
    sources = {
        "good": page("A title", FILLER).body,
        "scripted": b"<html><body><script>draw()</script></body></html>",
    }
    truth = {name: {"articleBody": body, "url": f"https://example.org/{name}"} for name, body in bodies.items()}
    (tmp_path / "ground-truth.json").write_text(json.dumps(truth), "utf-8")
    for name, source in sources.items():
        (tmp_path / "html" / f"{name}.html.gz").write_bytes(gzip.compress(source))
    return tmp_path


def test_shingles_are_every_four_words_in_a_row_counted() -> None:
    assert shingles("a b, c-d e") == {("a", "b", "c", "d"): 1, ("b", "c", "d", "e"): 1}
    assert shingles("Two words") == {("Two", "words"): 1}
    assert shingles("x x x x x") == {("x",) * 4: 2}
    assert not shingles(" ... ")


def test_precision_is_of_what_was_read_and_recall_of_the_body() -> None:
    found = score_page("p", body="a b c d e f", read="a b c d e x y")  # 2 of 3 shingles; 2 of 4
    assert (found.precision, found.recall) == (2 / 4, 2 / 3)
    assert found.f1 == pytest.approx(2 * (2 / 4) * (2 / 3) / (2 / 4 + 2 / 3))
    assert not found.exact


@pytest.mark.parametrize(
    ("body", "read", "precision", "recall", "exact"),
    [
        ("a b c d", "A. b c d", 0, 0, False),
        ("a b c d", "a, b c - d!", 1, 1, True),
        ("a b c d", "", None, 0, False),
        ("", "a b c d", 0, None, False),
        ("", "", None, None, True),
    ],
)
def test_words_count_as_they_are_written_and_what_is_not_read_has_no_precision(
    body: str, read: str, precision: float | None, recall: float | None, exact: bool
) -> None:
    found = score_page("p", body, read)
    assert (found.precision, found.recall, found.exact) == (precision, recall, exact)


def test_the_published_f1_is_that_of_the_means_and_each_page_counts_alike() -> None:
    means = summary(
        [
            PageScore("a", 2 / 3, 1.0, 0.5, False),
            PageScore("b", 2 / 3, 0.5, 1.0, False),
            PageScore("c", 0.0, None, 0.0, False),
        ]
    )
    assert (means["precision"], means["recall"]) == (0.75, 0.5)
    assert means["f1"] == pytest.approx(2 * 0.75 * 0.5 / 1.25)
    assert means["mean_f1"] == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert summary([])["f1"] == 0


def test_pages_are_read_by_our_loader_and_one_that_cannot_be_read_says_why(folder: Path) -> None:
    done = measure_articles(folder)
    good, scripted = done["ours"]
    assert (good.exact, good.f1) == (True, 1.0)
    assert (scripted.precision, scripted.recall) == (None, 0.0)
    assert "needs JavaScript" in scripted.error
    report = articles_json(done)
    assert [each.page for each in report["worst"]] == ["scripted", "good"]
    assert (report["pages"], report["systems"]["ours"]["accuracy"]) == (2, 0.5)
    assert len(measure_articles(folder, limit=1)["trafilatura"]) == 1


def test_a_folder_without_articles_is_refused_with_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"ground-truth\.json cannot be read: No such file") as refused:
        measure_articles(tmp_path)
    assert "html/*.html.gz" in refused.value.hint
    (tmp_path / "ground-truth.json").write_text("[]")
    with pytest.raises(SourceError, match="holds no articles"):
        measure_articles(tmp_path)
