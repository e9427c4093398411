"""LOAD ODS: each row of a sheet as a sentence with its column names; what a cell shows stands in the file."""

import io
from collections.abc import Iterator
from typing import Any

from pipelines.ingestion.loaders.base import Content, Limits, title_of_name
from pipelines.ingestion.loaders.office import CONTENT, read_odf
from pipelines.ingestion.loaders.package import broken, stated_title, with_properties
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.ingestion.loaders.rows import MAX_CELLS, NOTHING, Budget, Row, Value, add_rows, is_unnamed
from pipelines.types import SourceItem

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")


def load_odf_sheets(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The sheets of an OpenDocument file that are not hidden, each under its name."""
    from lxml.etree import LxmlError

    parts = read_odf(data, item.name, limits)
    rendering = Rendering()
    try:
        tables = list(_sheets(parts[CONTENT].encode(), Budget(item.name)))
    except LxmlError as error:
        raise broken(item.name) from error
    for title, rows in tables:
        add_rows(rendering, rows, "" if len(tables) == 1 and is_unnamed(title) else title)
    return with_properties(rendering, parts, stated_title(parts) or title_of_name(item.name))


def _sheets(content: bytes, budget: Budget) -> Iterator[tuple[str, list[Row]]]:
    from lxml.etree import iterparse

    hidden: set[str] = set()
    rows: list[Row] = []
    tags = [f"{_STYLE}table-properties", f"{_TABLE}table-row", f"{_TABLE}table"]
    for _, element in iterparse(io.BytesIO(content), events=("end",), tag=tags, resolve_entities=False, recover=False):
        if element.tag == f"{_TABLE}table-row":
            row = _row(element, budget)
            times = _times(element, f"{_TABLE}number-rows-repeated") if row else 1
            budget.spend((times - 1) * sum(bool(value.text) for value in row), (times - 1) * len(row))
            rows.extend([row] * times)
            element.clear()
        elif element.tag == f"{_TABLE}table":
            if element.get(f"{_TABLE}style-name") not in hidden:
                yield element.get(f"{_TABLE}name", ""), rows
            rows = []
        elif element.get(f"{_TABLE}display") == "false":
            hidden.add(element.getparent().get(f"{_STYLE}name", ""))


def _row(element: Any, budget: Budget) -> list[Value]:
    row: list[Value] = []
    for cell in element.iterchildren(*_CELLS):
        value = _value(cell)
        times = _times(cell, f"{_TABLE}number-columns-repeated")
        if value.text:
            budget.spend(times, times)
        row.extend([value] * times)
    while row and not row[-1].text:
        row.pop()
    budget.spend(0, 1 + len(row))
    return row


def _value(cell: Any) -> Value:
    kind = cell.get(f"{_OFFICE}value-type", "string")
    texts = [" ".join("".join(paragraph.itertext()).split()) for paragraph in cell.iterchildren(f"{_TEXT}p")]
    text = " ".join(filter(None, texts))
    if kind == "date":
        text = cell.get(f"{_OFFICE}date-value", text).replace("T", " ").removesuffix(" 00:00:00")
    return Value(text, kind == "string") if text else NOTHING


def _times(element: Any, attribute: str) -> int:
    """How often a row or a cell stands there; past the limit the exact number does not count."""
    stated = element.get(attribute, "1")
    return min(max(int(stated), 1), MAX_CELLS + 1) if stated.isdecimal() else 1
