"""Load a file of a repository: its README or documentation, with the host's facts about the repository."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from config.settings import Limits
from pipelines.blocks import markdown_blocks
from pipelines.facts import RepositoryFacts
from pipelines.ingestion.envelope import unpack
from pipelines.ingestion.loaders.base import Content, as_document, check_size, parse_datetime
from pipelines.ingestion.loaders.html import load_html
from pipelines.ingestion.loaders.markdown import load_markdown
from pipelines.ingestion.loaders.sniff import HTML, MARKDOWN, PLAIN, sniff
from pipelines.ingestion.loaders.text import is_restructured, load_restructured, load_text
from pipelines.types import Document, SourceItem

_FACTS = ("name", "description", "language", "stars", "topics", "homepage", "licence", "pushed_at", "updated_at")
_KEPT = ("full_name", "private", "fork", "archived", "created_at", "path")
_LOADERS = {MARKDOWN: load_markdown, HTML: load_html}


def load_repository(data: bytes, item: SourceItem, limits: Limits) -> Document:
    """The Document of a README or another file, with the repository's facts in `metadata["repository"]`.

    A README is titled by its repository; a repository without README gets a description made of its facts. Files of a
    private repository are private, whatever their front matter states.

    Raises:
        LoadError: If the bytes are damaged, too large, or no text.
    """
    envelope = unpack(data, item.name)
    given, path = envelope.facts, str(envelope.facts["path"])
    check_size(item.name, len(envelope.body), limits, binary=False)
    is_file = item.uri.rpartition("#")[2] != "readme"
    named = replace(item, name=f"{given['full_name']}/{path}")
    content, mime = _content(envelope.body, named, limits) if path else (_description(given), MARKDOWN)
    facts = RepositoryFacts(**{name: given[name] for name in _FACTS})
    metadata = {
        **content.metadata,
        **{name: given[name] for name in _KEPT},
        "repository": facts.model_dump(mode="json", exclude={"project", "details"}),
    }
    if given["private"]:
        metadata["visibility"] = "private"
    content = replace(
        content,
        title=content.title if is_file else facts.name,
        modified_at=parse_datetime(facts.pushed_at) or content.modified_at,
        metadata=metadata,
    )
    return as_document(content, data, item, mime)


def _content(body: bytes, named: SourceItem, limits: Limits) -> tuple[Content, str]:
    mime = sniff(body, named.name)
    if is_restructured(named.name):
        return load_restructured(body, named, limits), PLAIN
    return _LOADERS.get(mime, load_text)(body, named, limits), mime if mime in _LOADERS else PLAIN


def _description(facts: Mapping[str, Any]) -> Content:
    """A repository's facts as Markdown; without stars and times, which change too often."""
    listed = {"Language": facts["language"], "Topics": ", ".join(facts["topics"])}
    linked = {"Homepage": facts["homepage"], "Licence": facts["licence"]}
    items = [f"- {label}: {value}\n" for label, value in {**listed, **linked}.items() if value]
    text = "".join([f"# {facts['name']}\n\n{facts['description']}\n\n", *items])
    return Content(text=text, blocks=markdown_blocks(text))
