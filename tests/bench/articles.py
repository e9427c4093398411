"""Measure article extraction from web pages by four-word shingles, beside plain trafilatura.

    python -m tests.bench.articles FOLDER

FOLDER has ground-truth.json and html/*.html.gz. Words are runs of letters and digits as they are written. A page's
precision and recall are shares of its shingles, so that all pages have equal weight.

Source: scrapinghub/article-extraction-benchmark, evaluate.py.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from trafilatura import extract

from pipelines.errors import FootnoteError, SourceError
from pipelines.evaluation.datasets import unreadable
from pipelines.ingestion.envelope import Envelope, pack
from pipelines.ingestion.loaders import load
from pipelines.ingestion.loaders.sniff import HTML
from pipelines.types import SourceItem
from tests.bench import arguments, show

_SHINGLE = 4
_WORD = re.compile(r"\w+")
_HINT = "Name a folder with ground-truth.json and html/*.html.gz."


@dataclass(frozen=True, slots=True)
class PageScore:
    """Precision and recall (0..1) of the extracted text against the article's body.

    Attributes:
        f1: Their harmonic mean; 0 without either.
        precision: Of the shingles that were read, those of the body; None where nothing was read.
        recall: Of the shingles of the body, those that were read; None where the body has none.
        exact: Whether all words are the same, in order.
        error: Why the page could not be read; empty when it could.
    """

    page: str
    f1: float
    precision: float | None
    recall: float | None
    exact: bool
    error: str = ""


def score_page(page: str, body: str, read: str, error: str = "") -> PageScore:
    """Score the extracted text against the body."""
    true, found = shingles(body), shingles(read)
    common = (true & found).total()
    precision, recall = (common / of.total() if of else None for of in (found, true))
    return PageScore(page, _f1(precision, recall), precision, recall, _WORD.findall(body) == _WORD.findall(read), error)


def _f1(precision: float | None, recall: float | None) -> float:
    return 2 * precision * recall / (precision + recall) if precision and recall else 0.0


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """Every four words in a row, counted; a shorter text is one shingle, and one without words has none."""
    found = _WORD.findall(text)
    runs = (tuple(found[at : at + _SHINGLE]) for at in range(max(1, len(found) - _SHINGLE + 1)))
    return Counter(run for run in runs if run)


def measure_articles(folder: Path, *, limit: int | None = None) -> dict[str, list[PageScore]]:
    """Score our loader and trafilatura with the benchmark's options on each page; by system, pages in their order.

    Raises:
        SourceError: If the folder holds no pages with their bodies.
    """
    path = folder / "ground-truth.json"
    done: dict[str, list[PageScore]] = {"ours": [], "trafilatura": []}
    try:
        truth = json.loads(path.read_text("utf-8"))
        if not isinstance(truth, dict) or not all(isinstance(one, dict) for one in truth.values()):
            raise SourceError(f"{path} holds no articles by the name of their page.", hint=_HINT)
        for page, stated in list(truth.items())[:limit]:
            path = folder / "html" / f"{page}.html.gz"
            source, body = gzip.decompress(path.read_bytes()), str(stated.get("articleBody", ""))
            read, error = _ours(page, stated, source)
            done["ours"].append(score_page(page, body, read, error))
            done["trafilatura"].append(score_page(page, body, extract(source, include_comments=False) or ""))
    except (OSError, EOFError, ValueError) as error:
        raise unreadable(path, error, _HINT) from error
    return done


def _ours(page: str, stated: Mapping[str, Any], source: bytes) -> tuple[str, str]:
    """(what our loader reads, why it could not)."""
    item = SourceItem(str(stated.get("url") or f"https://example.org/{page}"), page, "eval", "web")
    try:
        return load(pack(Envelope({"url": item.uri, "type": HTML, "charset": ""}, source)), item).text, ""
    except FootnoteError as error:
        return "", error.message


def summary(done: Sequence[PageScore]) -> dict[str, float]:
    """The means over the pages: of precision, recall and F1, and the published F1, that of mean precision and recall.

    Pages of which nothing was read count in recall and the mean F1, not in precision; `accuracy` is the share of pages
    that are read word for word.
    """
    precision, recall = _mean(each.precision for each in done), _mean(each.recall for each in done)
    return {
        "f1": _f1(precision, recall),
        "mean_f1": _mean(each.f1 for each in done),
        "precision": precision,
        "recall": recall,
        "accuracy": _mean(float(each.exact) for each in done),
    }


def _mean(values: Iterable[float | None]) -> float:
    known = [value for value in values if value is not None]
    return fmean(known) if known else 0.0


def articles_json(done: Mapping[str, Sequence[PageScore]]) -> dict[str, Any]:
    """The means of each system, and each page with ours, the worst first."""
    return {
        "pages": len(done["ours"]),
        "systems": {name: summary(judged) for name, judged in done.items()},
        "worst": sorted(done["ours"], key=lambda each: (each.f1, each.page)),
    }


if __name__ == "__main__":
    parser = arguments("articles", __doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, help="at most this many pages, from the first")
    given = parser.parse_args()
    show(articles_json(measure_articles(given.folder, limit=given.limit)))
