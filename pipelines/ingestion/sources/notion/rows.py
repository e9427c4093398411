"""The rows of a database, over all its data sources."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipelines.ingestion.sources.notion.address import digits
from pipelines.ingestion.sources.notion.api import Api
from pipelines.ingestion.sources.notion.asking import Gone
from pipelines.ingestion.sources.notion.pages import is_settled, table_of
from pipelines.ingestion.sources.notion.properties import Properties
from pipelines.ingestion.sources.notion.reduce import is_gone

Told = Mapping[str, Any]


@dataclass(slots=True)
class Rows:
    """The rows of a database.

    Attributes:
        tables: A table for each data source.
        pages: The rows with their properties, by age within a data source.
        databases: The ids of the databases among them; a wiki holds some.
        asked: What of the properties took requests of its own, by page.
        hidden: The names of the data sources that are not shared with the integration.
    """

    tables: list[dict[str, Any]] = field(default_factory=list)
    pages: list[tuple[Told, list[list[str]]]] = field(default_factory=list)
    databases: list[str] = field(default_factory=list)
    asked: dict[str, Any] = field(default_factory=dict)
    hidden: list[str] = field(default_factory=list)

    @property
    def below(self) -> list[list[str]]:
        """[`page` or `database`, id] of each row."""
        pages = (["page", digits(page["id"])] for page, _ in self.pages)
        return [*pages, *(["database", each] for each in self.databases)]


def fetch_rows(api: Api, properties: Properties, database: Told, before: Told) -> Rows:
    """All rows of a database; `before` is what took requests the last time.

    Raises:
        SourceError: If one request fails: no part of a table passes for the whole.
    """
    found = Rows()
    for source in database["data_sources"]:
        name = str(source.get("name") or "")
        try:
            held = [row for row in api.rows(digits(source["id"])) if not is_gone(row)]
        except Gone:
            found.hidden.append(name or digits(source["id"]))
            continue
        pages = sorted((row for row in held if row["object"] == "page"), key=_age)
        for page in pages:
            properties.know(page)
        said = [_properties(properties, page, before, found.asked) for page in pages]
        found.tables.append(table_of(name, pages, said))
        found.pages += zip(pages, said, strict=True)
        found.databases += [digits(row["parent"]["database_id"]) for row in held if row["object"] == "data_source"]
    return found


def _properties(properties: Properties, page: Told, before: Told, asked: dict[str, Any]) -> list[list[str]]:
    """The properties of a row; what took requests of its own is noted, and asked again only once it changed."""
    page_id, edited = digits(page["id"]), str(page.get("last_edited_time") or "")
    old = before.get(page_id, {})
    found, took = properties.of(page, old.get("texts", {}) if old.get("edited") == edited else {})
    if took and is_settled(edited):
        asked[page_id] = {"edited": edited, "texts": took}
    return found


def _age(page: Told) -> tuple[str, str]:
    return str(page.get("created_time")), str(page["id"])
