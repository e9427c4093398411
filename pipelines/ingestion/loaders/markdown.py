"""LOAD Markdown: the file's own text after its front matter."""

from pipelines.ingestion.loaders.base import Content, Limits
from pipelines.ingestion.loaders.front_matter import (
    metadata_of,
    modified_of,
    published_of,
    read_front_matter,
    title_of_front_matter,
)
from pipelines.ingestion.loaders.text import decode
from pipelines.ingestion.structure import markdown_blocks
from pipelines.text import canonical
from pipelines.types import SourceItem


def load_markdown(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The Markdown text with its CommonMark blocks; front matter becomes title, author, dates and metadata."""
    raw, encoding = decode(data, item.name)
    whole = canonical(raw)
    front = read_front_matter(whole)
    text = whole[front.end :]
    metadata = metadata_of(front)
    if encoding != "utf-8":
        metadata["encoding"] = encoding
    return Content(
        text=text,
        blocks=markdown_blocks(text),
        title=title_of_front_matter(front),
        author=", ".join(metadata.get("authors", ())),
        published_at=published_of(front),
        modified_at=modified_of(front),
        first_line=whole.count("\n", 0, front.end) + 1,
        metadata=metadata,
    )
