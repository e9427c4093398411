"""What docling reads out of web and office files, rendered block by block."""

import io
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.docling_walk import Walk
from pipelines.ingestion.loaders.package import broken
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.ingestion.loaders.runs import Source

if TYPE_CHECKING:
    from docling.document_converter import DocumentConverter

HTML_SUFFIX = ".html"


def convert(data: bytes, name: str, suffix: str, words: str, pictured: Sequence[str] = ()) -> Rendering:
    """The rendering of a file.

    Args:
        data: Its bytes.
        name: For errors.
        suffix: What tells docling the format.
        words: Its bare text in order, from which the spaces between runs are read.
        pictured: The alternative texts of its pictures in order, "" for none, where docling does not read them.

    Raises:
        LoadError: If docling cannot read it.
    """
    from docling.datamodel.base_models import ConversionStatus, DocumentStream

    stream = DocumentStream(name=f"document{suffix}", stream=io.BytesIO(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about pictures, which are not read
        result = _converter().convert(stream, raises_on_error=False)
    if result.status != ConversionStatus.SUCCESS:
        reason = " ".join(str(result.errors[0].error_message).split())[:300] if result.errors else ""
        if not reason or "with hash" in reason:  # which says no more than that it could not be read
            raise broken(name)
        raise LoadError(f"{name} is broken: {reason.rstrip('.')}.", hint="Open it and save it again.")
    try:
        return Walk(result.document, Source(words), pictured, is_page=suffix == HTML_SUFFIX).render()
    except RecursionError as error:
        raise LoadError(f"{name} nests its lists or tables too deeply.", hint="Save it in a simpler form.") from error


@lru_cache(maxsize=1)
def _converter() -> "DocumentConverter":
    from docling.datamodel.backend_options import HTMLBackendOptions
    from docling.datamodel.base_models import InputFormat
    from docling.document_converter import DocumentConverter, HTMLFormatOption

    html = HTMLFormatOption(backend_options=HTMLBackendOptions(infer_furniture=False, add_title=False))
    formats = [InputFormat.HTML, InputFormat.DOCX, InputFormat.PPTX, InputFormat.ODT, InputFormat.ODP]
    return DocumentConverter(allowed_formats=formats, format_options={InputFormat.HTML: html})
