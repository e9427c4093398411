"""CHANGE DETECTION: the hashes of a document's content and metadata, and the recipe of its nodes."""

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pipelines.facts import repository_of
from pipelines.ingestion.context_header import HEADER_RULES_VERSION, repository_line
from pipelines.ingestion.parsers import PARSERS
from pipelines.ingestion.parsers.document_facts import document_records
from pipelines.ingestion.parsers.nodes import SpanParser
from pipelines.store.documents import ADDED_RECIPE
from pipelines.text import SEARCHABLE_VERSION
from pipelines.types import Document


def content_sha(document: Document, parser: str) -> str:
    """SHA-256 of what is embedded and what the nodes depend on; a new value means parse and embed again.

    The structure of the text counts: the same words under another heading or on another page make other nodes. So do
    the records that the nodes carry, part of which comes from the document's name and front matter.
    """
    structure = [[block.start, block.end, block.kind, block.level] for block in document.blocks]
    content = (document.text, structure, document.pages)
    repository = [repository_line(facts.model_dump())] if (facts := repository_of(document.metadata)) else []
    recipe_of = (parser, _version(parser), _HEADERS)
    records = [record.model_dump(mode="json") for record in document_records(document)]
    return _sha(*content, document.title, document.year, document.category, *recipe_of, *repository, *records)


def meta_sha(document: Document) -> str:
    """SHA-256 of the metadata that is stored but not embedded."""
    return _sha(
        document.author,
        document.visibility,
        document.published_at,
        document.modified_at,
        document.year,
        document.subcategory,
        document.collection,
        document.metadata,
        document.first_line,
    )


def recipe(parser: str, loaders: int, sizes: object, model: str = "", headers: str = "") -> str:
    """Describe the making of nodes by today's code and settings; a document of another recipe is loaded again.

    Of the sizes (`Settings.parsing`, or an object with its fields) the parser's own count, and of the model only where
    it embeds. `headers` says what writes headers that are not deterministic.
    """
    sized = ""
    if parser in PARSERS:
        sized = _size_summary(PARSERS[parser], sizes) + (f" model={model}" if PARSERS[parser].embeds else "")
    return f"{parser}@{_version(parser)}({sized}) loaders@{loaders} {_HEADERS}{headers and f' by {headers}'}"


@lru_cache(maxsize=64)
def _size_summary(parser: type[SpanParser], sizes: object) -> str:
    made = parser.sized(sizes)
    return " ".join(f"{field}={getattr(made, field)}" for field in made.own_fields())


def recipe_changes(stored: str, today: str) -> str:
    """Describe how a stored recipe differs from today's: `parser markdown 3 -> 4, header rules 1 -> 2`.

    Empty for equal recipes, and for nodes that another program added; `parsed by other rules` if one cannot be read.
    """
    if stored in (today, ADDED_RECIPE):
        return ""
    old, new = _RECIPE.fullmatch(stored), _RECIPE.fullmatch(today)
    if not old or not new:
        return "parsed by other rules"

    def changes(was: Mapping[str, str | None], now: Mapping[str, str | None], names: Mapping[str, str]) -> list[str]:
        pairs = ((label, was.get(name) or "none", now.get(name) or "none") for name, label in names.items())
        return [f"{label} {before} -> {after}" for label, before, after in pairs if before != after]

    parser = new["parser"]
    if old["parser"] != parser:
        found = [f"parser {old['parser']} -> {parser}"]
    elif new["version"] == "0":
        found = [f"there is no parser {parser} any more"]
    else:
        was, now = (dict(size.partition("=")[::2] for size in each["sizes"].split()) for each in (old, new))
        sizes = ", ".join(changes(was, now, {name: name for name in sorted({*was, *now} - {"model"})}))
        found = changes(old.groupdict(), new.groupdict(), {"version": f"parser {parser}"})
        found += [f"other sizes ({sizes})"] if sizes else []
        found += changes(was, now, {"model": "embedding model of the parser"})
    found += changes(old.groupdict(), new.groupdict(), _PARTS)
    if old["restored"] and not found:
        found.append("restored by a rollback")
    if old["failed"] and not found:
        found.append(f"{old['failed']} of its headers could not be written")
    return ", ".join(found) or "parsed by other rules"


# The format of `recipe`; ` but for N` is added when a language model failed to write N headers.
_PARTS = {"loaders": "loaders", "header": "header rules", "searchable": "searchable text", "writer": "header model"}
_RECIPE = re.compile(
    r"(?P<parser>[^@(]*)@(?P<version>\d+)\((?P<sizes>[^)]*)\) loaders@(?P<loaders>\d+) header@(?P<header>\d+)"
    r" searchable@(?P<searchable>\d+)(?: by (?P<writer>.*?))?(?P<restored> from version \d+)?"
    r"(?: but for (?P<failed>\d+))?"
)


_HEADERS = f"header@{HEADER_RULES_VERSION} searchable@{SEARCHABLE_VERSION}"


def _version(parser: str) -> int:
    """The version of a parser; 0 if it no longer exists."""
    return int(PARSERS[parser].model_fields["version"].default) if parser in PARSERS else 0


def _sha(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str, ensure_ascii=False).encode()).hexdigest()
