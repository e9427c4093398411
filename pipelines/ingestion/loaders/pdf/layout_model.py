"""Read PDFs with docling's layout models (tables and scans too), if they are installed on this machine."""

import io
import os
import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from math import isnan
from pathlib import Path
from typing import Any

from pipelines.ingestion.loaders.base import Content
from pipelines.ingestion.loaders.docling_reader import DoclingWalk, SourceText
from pipelines.observe import log, log_failure
from pipelines.types import Furniture, LineBox

Convert = Callable[[bytes], Any]
REQUIRED_MODULES = ("torch", "docling_ibm_models")

_LAYOUT = ("*layout*", "*docling-models*")


def layout_converter(*, ocr: bool) -> Convert | None:
    """A converter that uses docling's models; None unless the `[layout]` extra and the model files are installed.

    Args:
        ocr: Whether Tesseract may read the pages that are images.
    """
    if not all(find_spec(name) for name in REQUIRED_MODULES):
        return None
    folder = artifacts_folder()
    if folder is None:
        _warn_once()
        return None
    return _converter(folder, ocr)


def artifacts_folder() -> Path | None:
    """The folder of docling's models: from its settings, else its cache; None if they are missing."""
    from docling.datamodel.settings import settings

    stated = os.environ.get("DOCLING_ARTIFACTS_PATH") or settings.artifacts_path
    folder = Path(stated).expanduser() if stated else settings.cache_dir / "models"
    return folder if any(next(folder.glob(pattern), None) for pattern in _LAYOUT) else None


@lru_cache(maxsize=1)
def _warn_once() -> None:
    log(
        "warning",
        "docling's layout models are not on this machine; PDFs are read without them",
        hint="docling-tools models download",
    )


@lru_cache(maxsize=2)
def _converter(folder: Path, ocr: bool) -> Convert:
    from docling.datamodel.base_models import DocumentStream, InputFormat
    from docling.datamodel.pipeline_options import PdfPipelineOptions, TesseractCliOcrOptions
    from docling.document_converter import DocumentConverter, PdfFormatOption

    options = PdfPipelineOptions(artifacts_path=folder, do_ocr=ocr, ocr_options=TesseractCliOcrOptions())
    converter = DocumentConverter(format_options={InputFormat.PDF: PdfFormatOption(pipeline_options=options)})

    def convert(data: bytes) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return converter.convert(DocumentStream(name="document.pdf", stream=io.BytesIO(data)))

    return convert


def read_with_layout_model(convert: Convert, data: bytes, name: str) -> Content | None:
    """The document as docling's models read it; None, with a warning, if they fail or find no text."""
    try:
        result = convert(data)
    except Exception as error:  # noqa: BLE001 - whatever a model raises, the file can be read without it
        log_failure("docling's layout models failed; the PDF is read without them", error, document=name)
        return None
    document = result.document
    walk = _PagedWalk(document, SourceText(""))
    rendering = walk.render()
    if not rendering.text:
        return None
    furniture = (
        Furniture(item.prov[0].page_no if item.prov else 1, item.text)
        for item in document.texts
        if item.content_layer == "furniture" and item.text
    )
    filled = {box.page for box in walk.boxes}
    confidences = _confidences(result)
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        furniture=tuple(furniture),
        pages=(0, *rendering.pages[1:]),
        pages_without_text=tuple(page for page in sorted(document.pages) if page not in filled),
        boxes=tuple(walk.boxes),
        metadata={"ocr": confidences} if confidences else {},
    )


class _PagedWalk(DoclingWalk):
    """Also records the start of each page and the place of each block."""

    def __init__(self, document: Any, source: SourceText) -> None:
        super().__init__(document, source)
        self.boxes: list[LineBox] = []
        self._outermost = self._rendering
        self._last = max(document.pages, default=0)
        self._page = 0

    def render(self) -> Any:
        """Render the body."""
        rendering = super().render()
        self._open_up_to(self._last)
        return rendering

    def _item(self, item: Any, depth: int, number: int) -> None:
        place = next(iter(getattr(item, "prov", None) or ()), None)
        if place is None or self._rendering is not self._outermost:
            super()._item(item, depth, number)
            return
        self._open_up_to(place.page_no)
        before = len(self._rendering.blocks)
        super()._item(item, depth, number)
        added = self._rendering.blocks[before:]
        if added:
            box = place.bbox.to_bottom_left_origin(self._document.pages[place.page_no].size.height)
            sides = (round(box.l, 1), round(box.b, 1), round(box.r, 1), round(box.t, 1))
            self.boxes.append(LineBox(added[0].start, added[-1].end, place.page_no, *sides))

    def _open_up_to(self, page: int) -> None:
        while self._page < page:
            self._rendering.open_page()
            self._page += 1


def _confidences(result: Any) -> dict[str, float]:
    """Mean OCR confidence of each recognised page, 0 to 100."""
    pages = getattr(getattr(result, "confidence", None), "pages", {})
    scores = {str(page): getattr(found, "ocr_score", None) for page, found in pages.items()}
    return {page: round(100 * score, 1) for page, score in scores.items() if score is not None and not isnan(score)}
