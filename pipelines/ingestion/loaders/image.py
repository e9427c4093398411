"""Load images: the text of a scan or photograph, read by Tesseract OCR."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from config.settings import Limits
from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, check_page_count
from pipelines.ingestion.loaders.pdf.lines import page_lines
from pipelines.ingestion.loaders.pdf.ocr import OcrBudget, OcrResult, ocr_unavailable, recognise_image
from pipelines.ingestion.loaders.pdf.pages import PdfPage, compose_pages, main_heading, unread_pages
from pipelines.types import SourceItem

if TYPE_CHECKING:
    from PIL.Image import Image


_LEAST_DPI, _USUAL_DPI, _MOST_DPI = 70, 150, 1200
_TRANSPOSE = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}  # EXIF orientation: the transposition that undoes it


def load_image(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The text that Tesseract reads in the image; every frame of a TIFF is a page.

    Raises:
        LoadError: If Tesseract is missing or off, the image is broken or too large, or has no readable text.
    """
    problem = ocr_unavailable(limits)
    if problem:
        raise LoadError(
            f"{item.name} is an image, and {problem}.",
            hint="Install tesseract (apt install tesseract-ocr), and leave FOOTNOTE_INGESTION__OCR at auto.",
        )
    budget = OcrBudget(limits.ocr_seconds)
    found = list(_recognise_pages(data, item.name, limits, budget))
    pages = [
        PdfPage(page_lines(read.words, number), read.confidence if read.words else None)
        for number, read in enumerate(found, start=1)
    ]
    problem = budget.problem or next((read.problem for read in found if read.problem), "")
    if not any(page.lines for page in pages):
        raise LoadError(
            f"No text could be read in the image {item.name}{problem and f': {problem}'}.",
            hint="If it shows words, scan it larger, upright and sharp; a picture without words has nothing to index:"
            " leave it out of the folder.",
        )
    content = compose_pages(pages)
    metadata = {**unread_pages(content, item.name, problem), **content.metadata}
    return replace(content, title=main_heading(content), metadata=metadata)


def _recognise_pages(data: bytes, name: str, limits: Limits, budget: OcrBudget) -> Iterator[OcrResult]:
    """The result for each page of the image, while there is time."""
    from PIL import Image

    with _pillow_errors(name):
        image = Image.open(io.BytesIO(data))
        count = getattr(image, "n_frames", 1)
    check_page_count(name, count, limits)
    for number in range(count):
        if budget.problem:
            yield OcrResult(problem=budget.problem)
            continue
        with budget.page() as until:
            read = recognise_image(*_frame(image, number, name), limits, until)
        yield read


def _frame(image: "Image", number: int, name: str) -> tuple["Image", float]:
    """(a page of the image, greyscale and upright, its pixels per inch)."""
    from PIL import ExifTags, Image

    with _pillow_errors(name):
        image.seek(number)
        dpi = float(image.info.get("dpi", (0, 0))[0])
        grey = image.convert("L")
        turn = _TRANSPOSE.get(image.getexif().get(ExifTags.Base.Orientation, 1))
        upright = grey if turn is None else grey.transpose(Image.Transpose(turn))
        return upright, dpi if _LEAST_DPI <= dpi <= _MOST_DPI else _USUAL_DPI


@contextmanager
def _pillow_errors(name: str) -> Iterator[None]:
    """Turn Pillow's errors into LoadError, and drop its warnings."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except Image.DecompressionBombError as error:
            raise LoadError(f"{name} has too many pixels to be read.", hint="Save it smaller.") from error
        except (OSError, SyntaxError, ValueError, EOFError) as error:
            hint = "Open it in a viewer and save it again."
            raise LoadError(f"{name} is a broken image.", hint=hint) from error
