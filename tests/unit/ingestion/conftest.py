"""Files made in memory, the loader behind one call, and what the web lists."""

import io
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from config.settings import Limits
from pipelines.ingestion.loaders import load
from pipelines.ingestion.sources import Access, Listing
from pipelines.ingestion.sources.web import Web
from pipelines.types import Document, SourceItem
from tests.fake_web import FakeSite

Listed = Callable[..., Listing]
Drawing = tuple[float, float, str, str, float]  # x, y from the bottom, text, font, size
MakePdf = Callable[..., bytes]
LoadBytes = Callable[..., Document]


@pytest.fixture(scope="session")
def load_bytes() -> LoadBytes:
    """`load_bytes(data, name)`: the Document of a file of that name in the folder `files`."""

    def loaded(data: bytes, name: str = "note.md", limits: Limits | None = None) -> Document:
        item = SourceItem(f"file:///files/{name}", name, "file:///files", "file")
        return load(data, item, limits=limits)

    return loaded


@pytest.fixture
def listed(site: FakeSite, access: Access) -> Listed:
    """`listed(path)`: what the web lists at a path of the site, as a run of its own."""

    def listing(path: str, **given: object) -> Listing:
        web = Web(replace(access, **given))
        try:
            return web.list(site.url + path)
        finally:
            web.close()

    return listing


@pytest.fixture(scope="session")
def make_pdf() -> MakePdf:
    """`make_pdf(pages)`: a page is a list of drawings, or of plain lines set in 11 point Helvetica, 14 apart."""

    def made(pages: Sequence[Sequence[Drawing | str]], *, title: str = "", password: str = "") -> bytes:
        buffer = io.BytesIO()
        encrypt = StandardEncryption(password, strength=128) if password else None
        canvas = Canvas(buffer, pagesize=(595, 842), invariant=True, encrypt=encrypt)
        if title:
            canvas.setTitle(title)
        for page in pages:
            for number, drawing in enumerate(page):
                x, y, text, font, size = (
                    (72, 740 - 14 * number, drawing, "Helvetica", 11) if isinstance(drawing, str) else drawing
                )
                canvas.setFont(font, size)
                canvas.drawString(x, y, text)
            canvas.showPage()
        canvas.save()
        return buffer.getvalue()

    return made
