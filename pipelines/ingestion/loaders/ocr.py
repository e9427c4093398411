"""OCR: the words of a page image, as tesseract reads them."""

import io
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from statistics import mean, median
from typing import TYPE_CHECKING

from pipelines.ingestion.loaders.base import Limits
from pipelines.ingestion.loaders.pdf.words import Word, readable

if TYPE_CHECKING:
    from PIL.Image import Image

PROGRAM = "tesseract"
DPI = 300
MAX_PIXELS = 16_000_000
SECONDS = 15.0

_LEAST_CONFIDENCE = 25.0
_FIELDS = 12
_SAME_SIZE = 0.18
_ASCENDING, _LOW, _DESCENDING = 0.72, 0.52, 0.21  # of the size, as most typefaces have it
_BULLETS = frozenset("«»¢°*e·-+")
_BULLET_GAP = 0.5
_POINTS = 72.0


@dataclass(frozen=True, slots=True)
class Recognised:
    """The words of a page image; `confidence` is their mean, 0 to 100; `trouble` says why there are none."""

    words: tuple[Word, ...] = ()
    confidence: float = 0.0
    trouble: str = ""


class Patience:
    """How long the pages of one document may still be recognised."""

    def __init__(self, seconds: float) -> None:
        self._allowed = self._left = seconds

    @property
    def trouble(self) -> str:
        """Why no further page is recognised; empty while there is time."""
        said = f"recognising its pages took longer than {self._allowed:g} seconds in all"
        return "" if self._left > 0 else f"{said} (FOOTNOTE_INGESTION__OCR_SECONDS)"

    @contextmanager
    def page(self) -> Iterator[float]:
        """The moment, as `time.monotonic` counts, by which a page must be done; the time until then is spent."""
        began = time.monotonic()
        try:
            yield began + min(SECONDS, self._left)
        finally:
            self._left -= time.monotonic() - began


def trouble_of(limits: Limits) -> str:
    """Why no image can be read; empty when one can."""
    if limits.ocr == "off":
        return "text recognition is off (FOOTNOTE_INGESTION__OCR)"
    return "" if shutil.which(PROGRAM) else f"{PROGRAM} is not installed"


def recognise(image: "Image", dpi: float, limits: Limits, until: float) -> Recognised:
    """The words of an image of a page, in reading order as tesseract sees it; never raises for what is in the image.

    Args:
        image: Larger ones than `MAX_PIXELS` are made smaller.
        dpi: Pixels per inch; places and sizes come out in points.
        limits: The languages, as tesseract names them.
        until: When tesseract is given up, as `time.monotonic` counts.
    """
    shrunk = min(1.0, (MAX_PIXELS / max(image.width * image.height, 1)) ** 0.5)
    if shrunk < 1:
        image = image.resize((max(1, int(image.width * shrunk)), max(1, int(image.height * shrunk))))
    buffer = io.BytesIO()
    image.convert("L").save(buffer, "PNG", compress_level=1)
    command = [PROGRAM, "stdin", "stdout", "-l", limits.ocr_languages, "--dpi", str(round(dpi * shrunk)), "tsv"]
    left = max(until - time.monotonic(), 0.0)
    try:
        done = subprocess.run(command, input=buffer.getvalue(), capture_output=True, timeout=left, check=False)
    except subprocess.TimeoutExpired:
        return Recognised(trouble=f"a page took longer than {SECONDS:g} seconds")
    except OSError as error:
        return Recognised(trouble=f"{PROGRAM} does not start: {error.strerror}")
    if done.returncode:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
        return Recognised(trouble=f"{PROGRAM} failed: {said or f'exit code {done.returncode}'}")
    return _words_of(done.stdout.decode("utf-8", "replace"), image.height, _POINTS / (dpi * shrunk))


def _words_of(table: str, height: int, scale: float) -> Recognised:
    """The words of tesseract's table; those that it hardly trusts are left out."""
    rows = [fields for line in table.splitlines()[1:] if len(fields := line.split("\t")) == _FIELDS]
    rows = [row for row in rows if float(row[10]) >= _LEAST_CONFIDENCE and readable(row[11])]
    lines = [list(line) for _, line in groupby(rows, key=lambda row: row[:5])]
    if not lines:
        return Recognised()
    sizes = [_size(line) for line in lines]
    usual = median(sizes)
    words = [
        word
        for line, size in zip(lines, sizes, strict=True)
        for word in _line(line, usual if abs(size - usual) < _SAME_SIZE * usual else size, height, scale)
    ]
    return Recognised(tuple(words), round(mean(float(row[10]) for row in rows), 1))


def _size(line: Sequence[Sequence[str]]) -> float:
    """The size of the type in pixels, told by how tall words of such letters are."""
    sizes = []
    for row in line:
        above = _ASCENDING if any(char.isupper() or char.isdigit() or char in "bdfhklt" for char in row[11]) else _LOW
        below = _DESCENDING if any(char in "gjpqy,;()[]{}|/@$Q" for char in row[11]) else 0.0
        sizes.append(int(row[9]) / (above + below))
    return median(sizes)


def _line(rows: Sequence[Sequence[str]], size: float, height: int, scale: float) -> Iterable[Word]:
    """The words of a line; a lone sign before a gap is a bullet, whatever it is read for."""
    baseline = height - median(int(row[7]) + int(row[9]) for row in rows)
    reached: float = -size
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        left, top, width, tall = (int(field) for field in row[6:10])
        gap = size if following is None else int(following[6]) - left - width
        begins = left - reached >= size and gap > _BULLET_GAP * size
        reached = left + width
        yield Word(
            text="•" if begins and row[11] in _BULLETS else readable(row[11]),
            x0=left * scale,
            x1=reached * scale,
            y=baseline * scale,
            bottom=(height - top - tall) * scale,
            top=(height - top) * scale,
            size=max(round(size * scale * 2) / 2, 1.0),
        )
