"""OCR: the words of a page image, read by Tesseract."""

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

from config.settings import Limits
from pipelines.ingestion.loaders.pdf.words import Word, readable_text

if TYPE_CHECKING:
    from PIL.Image import Image

PROGRAM = "tesseract"
DPI = 300
MAX_PIXELS = 16_000_000
PAGE_SECONDS = 15.0
_LEAST_CONFIDENCE = 25.0
_FIELDS = 12
_SAME_SIZE = 0.18
_ASCENDER, _X_HEIGHT, _DESCENDER = 0.72, 0.52, 0.21  # shares of the type size in most typefaces
_BULLETS = frozenset("«»¢°*e·-+")
_BULLET_GAP = 0.5
_POINTS = 72.0


@dataclass(frozen=True, slots=True)
class OcrResult:
    """The words of a page image, their mean confidence (0 to 100), and why there are none (`problem`)."""

    words: tuple[Word, ...] = ()
    confidence: float = 0.0
    problem: str = ""


class OcrBudget:
    """Limits the time for recognising the pages of one document."""

    def __init__(self, seconds: float) -> None:
        self._seconds = self._left = seconds

    @property
    def problem(self) -> str:
        """The reason that no further page is recognised; empty while there is time."""
        problem = f"recognising its pages took longer than {self._seconds:g} seconds in all"
        return "" if self._left > 0 else f"{problem} (FOOTNOTE_INGESTION__OCR_SECONDS)"

    @contextmanager
    def page(self) -> Iterator[float]:
        """The deadline (`time.monotonic`) for a page; the time until the block ends is spent."""
        began = time.monotonic()
        try:
            yield began + min(PAGE_SECONDS, self._left)
        finally:
            self._left -= time.monotonic() - began


def ocr_unavailable(limits: Limits) -> str:
    """The reason that no image can be read; empty if one can."""
    if limits.ocr == "off":
        return "text recognition is off (FOOTNOTE_INGESTION__OCR)"
    return "" if shutil.which(PROGRAM) else f"{PROGRAM} is not installed"


def recognise_image(image: "Image", dpi: float, limits: Limits, until: float) -> OcrResult:
    """The words of a page image in Tesseract's reading order; never raises for the image's content.

    It is shrunk if it has more than `MAX_PIXELS`. Places and sizes of words are in points; `until` is the deadline, in
    `time.monotonic` seconds.
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
        return OcrResult(problem=f"a page took longer than {PAGE_SECONDS:g} seconds")
    except OSError as error:
        return OcrResult(problem=f"{PROGRAM} does not start: {error.strerror}")
    if done.returncode:
        problem = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
        return OcrResult(problem=f"{PROGRAM} failed: {problem or f'exit code {done.returncode}'}")
    return _words_of(done.stdout.decode("utf-8", "replace"), image.height, _POINTS / (dpi * shrunk))


def _words_of(table: str, height: int, scale: float) -> OcrResult:
    """The words of Tesseract's table, without those of very low confidence."""
    rows = [fields for line in table.splitlines()[1:] if len(fields := line.split("\t")) == _FIELDS]
    rows = [row for row in rows if float(row[10]) >= _LEAST_CONFIDENCE and readable_text(row[11])]
    lines = [list(line) for _, line in groupby(rows, key=lambda row: row[:5])]
    if not lines:
        return OcrResult()
    sizes = [_type_size(line) for line in lines]
    usual = median(sizes)
    words = [
        word
        for line, size in zip(lines, sizes, strict=True)
        for word in _line_words(line, usual if abs(size - usual) < _SAME_SIZE * usual else size, height, scale)
    ]
    return OcrResult(tuple(words), round(mean(float(row[10]) for row in rows), 1))


def _type_size(line: Sequence[Sequence[str]]) -> float:
    """The type size in pixels, estimated from the heights of the words and their letters."""
    sizes = []
    for row in line:
        above = (
            _ASCENDER if any(char.isupper() or char.isdigit() or char in "bdfhklt" for char in row[11]) else _X_HEIGHT
        )
        below = _DESCENDER if any(char in "gjpqy,;()[]{}|/@$Q" for char in row[11]) else 0.0
        sizes.append(int(row[9]) / (above + below))
    return median(sizes)


def _line_words(rows: Sequence[Sequence[str]], size: float, height: int, scale: float) -> Iterable[Word]:
    """The words of a line; a single character before a gap is a bullet, whatever it was read as."""
    baseline = height - median(int(row[7]) + int(row[9]) for row in rows)
    previous_end: float = -size
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        left, top, width, line_height = (int(field) for field in row[6:10])
        gap = size if following is None else int(following[6]) - left - width
        starts_line = left - previous_end >= size and gap > _BULLET_GAP * size
        previous_end = left + width
        yield Word(
            text="•" if starts_line and row[11] in _BULLETS else readable_text(row[11]),
            x0=left * scale,
            x1=previous_end * scale,
            y=baseline * scale,
            bottom=(height - top - line_height) * scale,
            top=(height - top) * scale,
            size=max(round(size * scale * 2) / 2, 1.0),
        )
