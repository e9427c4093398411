"""A page of a PDF as a picture with the cited lines on it; made in a process of its own, as PDFium needs."""

import base64
import io
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from pipelines.ingestion.loaders.pdf.load import render_page
from pipelines.types import LineBox

_SCALE = 2.0  # pixels per point
_MOST_POINTS = 2000  # of a side
_DRAWING_SECONDS = 8.0
_SECONDS = 25.0


def page_picture(pdf: Path, page: int, lines: Sequence[LineBox]) -> dict[str, Any] | None:
    """{"image": a data URL, "boxes": [left, top, width, height] in shares of the page}; None if it cannot be drawn.

    Args:
        pdf: The file.
        page: From 1.
        lines: Of that page.
    """
    command = [sys.executable, "-m", "app.page_picture", str(pdf), str(page)]
    try:
        done = subprocess.run(
            command, input=json.dumps([astuple(line) for line in lines]), capture_output=True, text=True,
            timeout=_SECONDS, check=True, cwd=Path(__file__).parents[1],
        )  # fmt: skip
        drawn: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.SubprocessError, ValueError):
        return None
    return drawn


def drawn_page(pdf: Path, page: int, lines: Sequence[LineBox]) -> dict[str, Any]:
    """The picture of `page_picture`, drawn in this process.

    Raises:
        PdfiumError: If the file cannot be read.
        TimeoutError: If the page takes too long to be drawn.
    """
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf.read_bytes())
    sheet = document[page - 1]
    width, height = sheet.get_size()
    scale = min(_SCALE, _SCALE * _MOST_POINTS / max(width, height))
    image = render_page(sheet, scale, time.monotonic() + _DRAWING_SECONDS)
    if image is None:
        raise TimeoutError("the page takes too long to be drawn")
    held = io.BytesIO()
    image.save(held, "PNG", optimize=True)
    return {
        "image": f"data:image/png;base64,{base64.b64encode(held.getvalue()).decode('ascii')}",
        "boxes": [
            [line.x0 / width, 1 - line.y1 / height, (line.x1 - line.x0) / width, (line.y1 - line.y0) / height]
            for line in lines
        ],
    }


if __name__ == "__main__":
    given = [LineBox(*line) for line in json.load(sys.stdin)]
    sys.stdout.write(json.dumps(drawn_page(Path(sys.argv[1]), int(sys.argv[2]), given)))
