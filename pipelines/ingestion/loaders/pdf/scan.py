"""A PDF page that is only a drawing or an image: drawn within a time, and read by tesseract."""

import ctypes
import time
from typing import TYPE_CHECKING, Any

from pipelines.ingestion.loaders.base import Limits
from pipelines.ingestion.loaders.ocr import DPI, MAX_PIXELS, Patience, Recognised, recognise, trouble_of

if TYPE_CHECKING:
    from PIL.Image import Image

_POINTS = 72.0


def read_scan(page: Any, limits: Limits, patience: Patience) -> Recognised:
    """What tesseract reads on the page as it is shown; nothing is drawn if it cannot be asked."""
    trouble = trouble_of(limits) or patience.trouble
    if trouble:
        return Recognised(trouble=trouble)
    width, height = page.get_size()
    scale = min(DPI / _POINTS, (MAX_PIXELS / max(width * height, 1.0)) ** 0.5)
    with patience.page() as until:
        image = drawn(page, scale, until)
        if image is None:
            return Recognised(trouble="its drawings take too long to be drawn")
        return recognise(image, scale * _POINTS, limits, until)


def drawn(page: Any, scale: float, until: float) -> "Image | None":
    """The page in shades of grey, `scale` pixels a point; None if that takes longer.

    Args:
        page: PDFium's page.
        scale: Pixels per point.
        until: When to give up, as `time.monotonic` counts; PDFium asks between two of the page's objects.
    """
    from pypdfium2 import PdfBitmap, raw

    width, height = (max(1, round(side * scale)) for side in page.get_size())
    asked = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(raw.IFSDK_PAUSE))
    pause = raw.IFSDK_PAUSE(version=1, NeedToPauseNow=asked(lambda _: time.monotonic() > until))
    bitmap = PdfBitmap.new_native(width, height, raw.FPDFBitmap_Gray)
    try:
        bitmap.fill_rect((255, 255, 255, 255), 0, 0, width, height)
        flags = raw.FPDF_ANNOT | raw.FPDF_GRAYSCALE
        state = raw.FPDF_RenderPageBitmap_Start(bitmap, page, 0, 0, width, height, 0, flags, pause)
        raw.FPDF_RenderPage_Close(page)
        return bitmap.to_pil().copy() if state == raw.FPDF_RENDER_DONE else None
    finally:
        bitmap.close()
