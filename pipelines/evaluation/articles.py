"""Measure article extraction from web pages by four-word shingles, beside plain trafilatura.

Words are runs of letters and digits as they are written. A page's precision and recall are shares of its shingles, so
that all pages have equal weight.

Source: scrapinghub/article-extraction-benchmark, evaluate.py.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pipelines.errors import FootnoteError, SourceError
from pipelines.evaluation.datasets import unreadable
from pipelines.ingestion.envelope import Envelope, pack
from pipelines.ingestion.loaders import load
from pipelines.ingestion.loaders.sniff import HTML
from pipelines.types import SourceItem

Progress = Callable[[str, int, int], None]
Shingles = Counter[tuple[str, ...]]
_SHINGLE = 4
_WORD = re.compile(r"\w+")
_HINT = "Name a folder with ground-truth.json and html/*.html.gz."


@dataclass(frozen=True, slots=True)
class PageScore:
    """Precision and recall (0..1) of the extracted text against the article's body.

    Attributes:
        precision: Of the shingles that were read, those of the body; None where nothing was read.
        recall: Of the shingles of the body, those that were read; None where the body has none.
        exact: Whether all words are the same, in order.
        error: Why the page could not be read; empty when it could.
    """

    page: str
    precision: float | None
    recall: float | None
    exact: bool
    error: str = ""

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 without either."""
        precision, recall = self.precision or 0.0, self.recall or 0.0
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def score_page(page: str, body: str, read: str, error: str = "") -> PageScore:
    """Score the extracted text against the body."""
    true, found = shingles(body), shingles(read)
    common = (true & found).total()
    if true == found:
        return PageScore(page, 1.0 if found else None, 1.0 if true else None, words(body) == words(read), error)
    return PageScore(
        page,
        common / found.total() if found else None,
        common / true.total() if true else None,
        False,
        error,
    )


def words(text: str) -> list[str]:
    """The runs of letters, digits and underscores, as they are written."""
    return _WORD.findall(text)


def shingles(text: str) -> Shingles:
    """Every four words in a row, counted; a shorter text is one shingle, and one without words has none."""
    found = words(text)
    runs = (tuple(found[at : at + _SHINGLE]) for at in range(max(1, len(found) - _SHINGLE + 1)))
    return Counter(run for run in runs if run)


def measure_articles(
    folder: Path, *, limit: int | None = None, on_progress: Progress | None = None
) -> Mapping[str, Sequence[PageScore]]:
    """Score our loader and plain trafilatura on each page; by system, pages in their order.

    Raises:
        SourceError: If the folder holds no pages with their bodies.
    """
    truth = _truth(folder)
    pages = list(truth)[:limit]
    done: dict[str, list[PageScore]] = {"ours": [], "trafilatura": []}
    for number, page in enumerate(pages, start=1):
        source, body = _source(folder, page), str(truth[page].get("articleBody", ""))
        read, error = _ours(page, str(truth[page].get("url", "")), source)
        done["ours"].append(score_page(page, body, read, error))
        done["trafilatura"].append(score_page(page, body, _plain(source)))
        if on_progress:
            on_progress("reading", number, len(pages))
    return done


def _truth(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    path = folder / "ground-truth.json"
    try:
        truth = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(path, error, _HINT) from error
    if not isinstance(truth, dict) or not truth or not all(isinstance(one, dict) for one in truth.values()):
        raise SourceError(f"{path} holds no articles by the name of their page.", hint=_HINT)
    return truth


def _source(folder: Path, page: str) -> bytes:
    path = folder / "html" / f"{page}.html.gz"
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError) as error:
        raise unreadable(path, error, _HINT) from error


def _ours(page: str, url: str, source: bytes) -> tuple[str, str]:
    """(what our loader reads, why it could not)."""
    item = SourceItem(url or f"https://example.org/{page}", page, "eval", "web")
    told = {"url": item.uri, "type": HTML, "charset": ""}
    try:
        return load(pack(Envelope(told, source)), item).text, ""
    except FootnoteError as error:
        return "", error.message


def _plain(source: bytes) -> str:
    """The text by trafilatura with the benchmark's options: without comments, all else at its default."""
    from trafilatura import extract

    return extract(source, include_comments=False) or ""


def summary(done: Sequence[PageScore]) -> dict[str, float]:
    """The means over the pages: of precision, recall and F1, and the published F1, that of mean precision and recall.

    Pages of which nothing was read count in recall and the mean F1, not in precision; `accuracy` is the share of pages
    that are read word for word.
    """
    precision = _mean([each.precision for each in done if each.precision is not None])
    recall = _mean([each.recall for each in done if each.recall is not None])
    return {
        "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        "mean_f1": _mean([each.f1 for each in done]),
        "precision": precision,
        "recall": recall,
        "accuracy": _mean([float(each.exact) for each in done]),
    }


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def articles_json(done: Mapping[str, Sequence[PageScore]]) -> dict[str, Any]:
    """The means of each system, and each page with ours, the worst first; plain data."""
    worst = sorted(done["ours"], key=lambda each: (each.f1, each.page))
    return {
        "pages": len(worst),
        "systems": {name: summary(judged) for name, judged in done.items()},
        "worst": [
            {"page": each.page, "f1": each.f1, "precision": each.precision, "recall": each.recall,
             "exact": each.exact, "error": each.error}
            for each in worst
        ],
    }  # fmt: skip
