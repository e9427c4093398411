"""The pages of a PDF or a scan as one document: furniture lifted, columns in order, text with its places."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.ingestion.loaders.base import Content, first_heading
from pipelines.ingestion.loaders.pdf.columns import read_pages
from pipelines.ingestion.loaders.pdf.furniture import split_furniture
from pipelines.ingestion.loaders.pdf.layout import group_lines, style_of
from pipelines.ingestion.loaders.pdf.lines import Line
from pipelines.ingestion.loaders.pdf.text import render
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.observe import log
from pipelines.types import Furniture, LineBox


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of a page; `confidence` (0 to 100) if they were recognised in its image."""

    lines: Sequence[Line]
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Composed:
    """The text of a document, where its pages start and its lines stand, and what was lifted out of it."""

    rendering: Rendering
    starts: tuple[int, ...]
    boxes: tuple[LineBox, ...]
    furniture: tuple[Furniture, ...]
    without_text: tuple[int, ...]
    confidences: dict[str, float]

    @property
    def heading(self) -> str:
        """The words of the first heading of the highest level, or nothing."""
        headings = [block for block in self.rendering.blocks if block.kind == "heading"]
        largest = min(headings, key=lambda block: block.level, default=None)
        return first_heading(self.rendering.text, (largest,)) if largest else ""

    def unread(self, name: str, trouble: str) -> dict[str, str]:
        """Why pages have no text, as metadata and as a warning; nothing if all have some or there is no reason."""
        if not (self.without_text and trouble):
            return {}
        log("warning", "pages without text", document=name, pages=len(self.without_text), reason=trouble)
        return {"unread": trouble}

    def content(self, metadata: dict[str, Any] | None = None, **stated: Any) -> Content:
        """The content of the document, with what its file states; recognised pages are marked in `ocr`."""
        recognised = {"ocr": self.confidences} if self.confidences else {}
        return Content(
            text=self.rendering.text,
            blocks=self.rendering.blocks,
            furniture=self.furniture,
            pages=self.starts,
            pages_without_text=self.without_text,
            boxes=self.boxes,
            metadata={**(metadata or {}), **recognised},
            **stated,
        )


def compose(pages: Sequence[Page]) -> Composed:
    """The pages as one text in reading order."""
    kept, lifted = split_furniture([page.lines for page in pages])
    lines = read_pages(kept)
    rendering, starts, boxes = render(group_lines(lines, style_of(lines)), len(pages))
    numbered = list(enumerate(pages, start=1))
    return Composed(
        rendering=rendering,
        starts=starts,
        boxes=boxes,
        furniture=tuple(Furniture(line.page, line.text) for line in lifted),
        without_text=tuple(number for number, page in numbered if not page.lines),
        confidences={str(number): page.confidence for number, page in numbered if page.confidence is not None},
    )
