"""A page of a PDF as a picture, and the boxes of cited words on it; made in a process of its own, as PDFium needs."""

import base64
import io
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines.ingestion.loaders.pdf.load import render_page
from pipelines.ingestion.loaders.pdf.words import Word, page_words

_SCALE = 2.0  # pixels per point
_MOST_POINTS = 2000  # of a side
_DRAWING_SECONDS = 8.0
_SECONDS = 25.0


def page_picture(pdf: Path, page: int, quotes: Sequence[str]) -> dict[str, Any] | None:
    """{"image": a data URL, "boxes": [left, top, width, height] in shares of the page}; None if it cannot be drawn.

    Args:
        pdf: The file.
        page: From 1.
        quotes: The cited words, as they are stored.
    """
    command = [sys.executable, "-m", "app.page_picture", str(pdf), str(page)]
    try:
        done = subprocess.run(
            command, input=json.dumps(list(quotes)), capture_output=True, text=True, timeout=_SECONDS, check=True,
            cwd=Path(__file__).parents[1],
        )  # fmt: skip
        drawn: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.SubprocessError, ValueError):
        return None
    return drawn


def drawn_page(pdf: Path, page: int, quotes: Sequence[str]) -> dict[str, Any]:
    """What `page_picture` gives, drawn in this process.

    Raises:
        PdfiumError: If the file cannot be read.
        TimeoutError: If the page takes too long to be drawn.
    """
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf.read_bytes())
    sheet = document[page - 1]
    width, height = sheet.get_size()
    boxes = boxes_of(page_words(sheet, sheet.get_textpage()), quotes)
    scale = min(_SCALE, _SCALE * _MOST_POINTS / max(width, height))
    image = render_page(sheet, scale, time.monotonic() + _DRAWING_SECONDS)
    if image is None:
        raise TimeoutError("the page takes too long to be drawn")
    held = io.BytesIO()
    image.save(held, "PNG", optimize=True)
    return {
        "image": f"data:image/png;base64,{base64.b64encode(held.getvalue()).decode('ascii')}",
        "boxes": [
            [left / width, 1 - top / height, (right - left) / width, (top - bottom) / height]
            for left, bottom, right, top in boxes
        ],
    }


def boxes_of(words: Sequence[Word], quotes: Sequence[str]) -> list[tuple[float, float, float, float]]:
    """(left, bottom, right, top) of each line of the page that the quotes take, in points."""
    letters = "".join(word.text for word in words)
    ends, at = [], 0
    for word in words:
        at += len(word.text)
        ends.append(at)
    found: set[int] = set()
    for quote in quotes:
        whole = "".join(quote.split())
        pieces = [whole] if whole in letters else ["".join(line.split()) for line in quote.split("\n")]
        stop = 0
        for piece in filter(None, pieces):
            start = letters.find(piece, stop) if piece in letters[stop:] else letters.find(piece)
            if start >= 0:
                stop = start + len(piece)
                found |= {at for at, end in enumerate(ends) if end > start and end - len(words[at].text) < stop}
    lines: dict[float, list[Word]] = {}
    for index in sorted(found):
        if not words[index].turn:
            lines.setdefault(round(words[index].y), []).append(words[index])
    return [
        (min(w.x0 for w in row), min(w.bottom for w in row), max(w.x1 for w in row), max(w.top for w in row))
        for row in lines.values()
    ]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(drawn_page(Path(sys.argv[1]), int(sys.argv[2]), json.load(sys.stdin))))
