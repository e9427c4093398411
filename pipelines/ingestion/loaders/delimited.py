"""LOAD CSV and TSV: each row as a sentence with its column names."""

import csv
import io
import re
from collections.abc import Iterator

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, Limits
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.ingestion.loaders.rows import Budget, Row, Value, add_rows
from pipelines.ingestion.loaders.text import decode
from pipelines.text import canonical
from pipelines.types import SourceItem

_DELIMITERS = ",;\t|"
_SAMPLE = 20_000
_SAMPLE_ROWS = 30
_MAX_FIELD = 10_000_000
_SAID = re.compile(r"sep=(.)\n", re.IGNORECASE)
_NUMBER = re.compile(r"[-+(]?[$€£¥₹]?\s?\d[\d.,' ]*(?:[eE][-+]?\d+)?\s?[%$€£¥₹]?\)?|true|false", re.IGNORECASE)
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ][\d:.,+Z-]*)?")


def load_delimited(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The rows under the names of their columns; the delimiter is the one that parts the rows most evenly."""
    raw, encoding = decode(data, item.name)
    text = canonical(raw)
    said = _SAID.match(text)
    text = text[said.end() :] if said else text
    delimiter = said[1] if said else delimiter_of(text)
    rendering, lines = Rendering(), list[int]()
    try:
        add_rows(rendering, _rows(text, delimiter, Budget(item.name), lines, 2 if said else 1), lines=lines)
    except csv.Error as error:
        raise LoadError(f"{item.name} is no readable table: {error}.", hint="Check its quotation marks.") from error
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        first_line=rendering.first_line,
        metadata={} if encoding == "utf-8" else {"encoding": encoding},
    )


def delimiter_of(text: str) -> str:
    """The delimiter that gives the first rows the most columns of the same number; a comma where none does."""
    sample = text[:_SAMPLE]
    complete = sample.rpartition("\n")[0] if len(text) > _SAMPLE else sample
    return max(_DELIMITERS, key=lambda delimiter: _evenness(complete, delimiter))


def _evenness(sample: str, delimiter: str) -> float:
    """Columns, times the share of rows that have the usual number of them; 0 where that is one."""
    reader = csv.reader(io.StringIO(sample), delimiter=delimiter)
    widths = [len(row) for row, _ in zip(reader, range(_SAMPLE_ROWS), strict=False) if row]
    usual = max(widths, key=widths.count, default=1)
    return 0.0 if usual < 2 else usual**0.5 * (widths.count(usual) / len(widths)) ** 2


def _rows(text: str, delimiter: str, budget: Budget, lines: list[int], first: int) -> Iterator[Row]:
    """The rows; the line that each begins on, counted from `first`, is added to `lines` before it comes."""
    csv.field_size_limit(_MAX_FIELD)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    read = 0
    for fields in reader:
        lines.append(first + read)
        read = reader.line_num
        row = [_value(field.strip()) for field in fields]
        budget.spend(sum(bool(value.text) for value in row), 1 + len(row))
        yield row


def _value(text: str) -> Value:
    return Value(text, not (_NUMBER.fullmatch(text) or _DATE.fullmatch(text)))
