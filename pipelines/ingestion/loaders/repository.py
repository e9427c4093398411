"""LOAD a file of a repository: its README or documentation, with what its host tells of the repository."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pipelines.errors import LoadError
from pipelines.facts import RepositoryFacts
from pipelines.ingestion.envelope import unpack
from pipelines.ingestion.loaders.base import Content, Limits, as_document
from pipelines.ingestion.loaders.front_matter import moment
from pipelines.ingestion.loaders.html import load_html
from pipelines.ingestion.loaders.markdown import load_markdown
from pipelines.ingestion.loaders.restructured import is_restructured, load_restructured
from pipelines.ingestion.loaders.sniff import HTML, MARKDOWN, PLAIN, sniff
from pipelines.ingestion.loaders.text import load_text
from pipelines.ingestion.structure import markdown_blocks
from pipelines.types import Document, SourceItem

_FACTS = ("name", "description", "language", "stars", "topics", "homepage", "licence", "pushed_at", "updated_at")
_TOLD = ("full_name", "private", "fork", "archived", "created_at", "path")
_LOADERS = {MARKDOWN: load_markdown, HTML: load_html}


def load_repository(data: bytes, item: SourceItem, limits: Limits) -> Document:
    """The document of a README or another file, its repository's facts in `metadata["repository"]`.

    A README is called what its repository is called. A repository without one is what is told of it. Files of a private
    repository are private, whatever they say themselves.

    Raises:
        LoadError: If the bytes are damaged, too large, or no text.
    """
    envelope = unpack(data, item.name)
    told, path = envelope.told, str(envelope.told["path"])
    if len(envelope.body) > limits.max_text_bytes:
        said = f"{item.name} has {len(envelope.body):,} bytes, over the limit of {limits.max_text_bytes:,} bytes."
        raise LoadError(said, hint="Raise FOOTNOTE_INGESTION__MAX_TEXT_BYTES.")
    is_file = item.uri.rpartition("#")[2] != "readme"
    named = replace(item, name=f"{told['full_name']}/{path}")
    content, mime = _content(envelope.body, named, limits) if path else (_described(told), MARKDOWN)
    facts = RepositoryFacts(**{name: told[name] for name in _FACTS})
    metadata = {
        **content.metadata,
        **{name: told[name] for name in _TOLD},
        "repository": facts.model_dump(mode="json"),
    }
    if told["private"]:
        metadata["visibility"] = "private"
    content = replace(
        content,
        title=content.title if is_file else facts.name,
        modified_at=moment(facts.pushed_at) or content.modified_at,
        metadata=metadata,
    )
    return as_document(content, data, item, mime)


def _content(body: bytes, named: SourceItem, limits: Limits) -> tuple[Content, str]:
    mime = sniff(body, named.name)
    if is_restructured(named.name):
        return load_restructured(body, named, limits), PLAIN
    return _LOADERS.get(mime, load_text)(body, named, limits), mime if mime in _LOADERS else PLAIN


def _described(told: Mapping[str, Any]) -> Content:
    """A repository in Markdown, as its host tells of it; without stars and times, which change too often."""
    text = "\n".join(_lines(told)) + "\n"
    return Content(text=text, blocks=markdown_blocks(text))


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"# {told['name']}", "", told["description"], "")
    listed = {"Language": told["language"], "Topics": ", ".join(told["topics"])}
    linked = {"Homepage": told["homepage"], "Licence": told["licence"]}
    yield from (f"- {label}: {value}" for label, value in {**listed, **linked}.items() if value)
