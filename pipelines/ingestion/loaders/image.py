"""LOAD IMAGE: the text of a scan or a photograph, page by page."""

import io
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, Limits
from pipelines.ingestion.loaders.ocr import Patience, Recognised, recognise, trouble_of
from pipelines.ingestion.loaders.pdf.lines import page_lines
from pipelines.ingestion.loaders.pdf.pages import Page, compose
from pipelines.types import SourceItem

if TYPE_CHECKING:
    from PIL.Image import Image

_LEAST_DPI, _USUAL_DPI, _MOST_DPI = 70, 150, 1200
_TURNED = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}  # how the camera was held, and what undoes it
_BROKEN = (OSError, SyntaxError, ValueError, EOFError)


def load_image(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """What tesseract reads in the image; every frame of a TIFF is a page.

    Raises:
        LoadError: If tesseract is missing or off, the image is broken or too large, or nothing is to be read in it.
    """
    trouble = trouble_of(limits)
    if trouble:
        raise LoadError(
            f"{item.name} is an image, and {trouble}.",
            hint="Install tesseract (apt install tesseract-ocr), and leave FOOTNOTE_INGESTION__OCR at auto.",
        )
    patience = Patience(limits.ocr_seconds)
    found = list(_read(data, item.name, limits, patience))
    pages = [_page(read, number) for number, read in enumerate(found, start=1)]
    said = patience.trouble or next((read.trouble for read in found if read.trouble), "")
    if not any(page.lines for page in pages):
        raise LoadError(
            f"No text is to be read in the image {item.name}{said and f': {said}'}.",
            hint="If it shows words, scan it larger, upright and sharp; a picture without words has nothing to index:"
            " leave it out of the folder.",
        )
    composed = compose(pages)
    return composed.content(title=composed.heading, metadata=composed.unread(item.name, said))


def _read(data: bytes, name: str, limits: Limits, patience: Patience) -> Iterator[Recognised]:
    """What is read on each page of the image, as long as there is time."""
    image, count = _opened(data, name, limits.max_pages)
    for number in range(count):
        if patience.trouble:
            yield Recognised(trouble=patience.trouble)
            continue
        with patience.page() as until:
            read = recognise(*_frame(image, number, name), limits, until)
        yield read


def _page(read: Recognised, number: int) -> Page:
    return Page(page_lines(read.words, number), read.confidence if read.words else None)


def _opened(data: bytes, name: str, max_pages: int) -> tuple["Image", int]:
    """(the image, how many pages it has)."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            image = Image.open(io.BytesIO(data))
            count = getattr(image, "n_frames", 1)
        except Image.DecompressionBombError as error:
            raise _too_large(name) from error
        except _BROKEN as error:
            raise _broken(name) from error
    if count > max_pages:
        raise LoadError(
            f"{name} has {count:,} pages, over the limit of {max_pages:,}.",
            hint="Split it, or raise FOOTNOTE_INGESTION__MAX_PAGES.",
        )
    return image, count


def _frame(image: "Image", number: int, name: str) -> tuple["Image", float]:
    """A page of the image in shades of grey, upright, and its pixels per inch."""
    from PIL import ExifTags, Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            image.seek(number)
            dpi = float(image.info.get("dpi", (0, 0))[0])
            grey = image.convert("L")
            turn = _TURNED.get(image.getexif().get(ExifTags.Base.Orientation, 1))
            upright = grey if turn is None else grey.transpose(Image.Transpose(turn))
            return upright, dpi if _LEAST_DPI <= dpi <= _MOST_DPI else _USUAL_DPI
        except Image.DecompressionBombError as error:
            raise _too_large(name) from error
        except _BROKEN as error:
            raise _broken(name) from error


def _too_large(name: str) -> LoadError:
    return LoadError(f"{name} has too many pixels to be read.", hint="Save it smaller.")


def _broken(name: str) -> LoadError:
    return LoadError(f"{name} is a broken image.", hint="Open it in a viewer and save it again.")
