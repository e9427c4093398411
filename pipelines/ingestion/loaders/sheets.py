"""LOAD XLSX: each row of a sheet as a sentence with its column names.

openpyxl reads it, not docling, which takes 760 MB for 200,000 cells (openpyxl's stream takes 45) and loses
percentages, currencies, and the difference between a date and a moment.
"""

import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from itertools import chain
from typing import Any

from pipelines.ingestion.loaders.base import Content, Limits, title_of_name
from pipelines.ingestion.loaders.package import CORE, broken, read_parts, stated_title, with_properties
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.ingestion.loaders.rows import NOTHING, Budget, Row, Value, add_rows, is_unnamed
from pipelines.types import SourceItem

_MERGED = re.compile(rb'mergeCell\b[^<>]{0,200}?\bref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_MAX_MERGED_CELLS = 10_000
_CURRENCY = re.compile(r"\[\$([^\]-]{1,5})|([$€£¥₹])")
_QUOTED = re.compile(r'"([$€£¥₹]{1,3})"|"[^"]*"')

Merges = dict[int, list[tuple[int, int, int, int]]]  # by first row: first column, last column, first row, last row


def load_workbook(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The sheets that are not hidden, each under its name; formulas as the values that were last computed."""
    parts = read_parts(data, item.name, lambda name: name == CORE, limits)
    rendering = Rendering()
    budget = Budget(item.name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, which are not read
            for title, rows in _sheets(data, budget):
                add_rows(rendering, rows, title)
    except (
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        OSError,
        SyntaxError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise broken(item.name) from error
    return with_properties(rendering, parts, stated_title(parts) or title_of_name(item.name))


def _sheets(data: bytes, budget: Budget) -> Iterator[tuple[str, Iterator[Row]]]:
    """(name, rows) of each visible sheet; the name that every new workbook's only sheet has says nothing."""
    from openpyxl import load_workbook as opened

    book = opened(io.BytesIO(data), read_only=True, data_only=True)
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    for sheet in sheets:
        sheet.reset_dimensions()  # what the file says of its size is often wrong
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            merges = _merges(archive.read(sheet._worksheet_path.lstrip("/")))
        bare = len(sheets) == 1 and is_unnamed(sheet.title)
        yield "" if bare else sheet.title, _spread(_rows(sheet, budget), merges)


def _rows(sheet: Any, budget: Budget) -> Iterator[list[Value]]:
    for cells in sheet.iter_rows():
        row = [NOTHING if cell.value is None else _value(cell.value, str(cell.number_format or "")) for cell in cells]
        budget.spend(sum(bool(value.text) for value in row), 1 + len(row))
        while row and not row[-1].text:
            row.pop()
        yield row


def _merges(sheet: bytes) -> Merges:
    """The merged ranges that are neither endless nor more than can be meant."""
    found: Merges = {}
    for match in _MERGED.finditer(sheet):
        left, right = _column(match[1]), _column(match[3])
        top, bottom = int(match[2]), int(match[4])
        if 0 < (right - left + 1) * (bottom - top + 1) <= _MAX_MERGED_CELLS:
            found.setdefault(top, []).append((left, right, top, bottom))
    return found


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number - 1


def _spread(rows: Iterator[list[Value]], merges: Merges) -> Iterator[Row]:
    """The rows, with the value of a merged range in each of its cells."""
    live: list[tuple[int, int, int, Value]] = []
    for number, row in enumerate(chain(rows), start=1):
        live = [merged for merged in live if merged[2] >= number]
        for left, right, _, bottom in merges.get(number, ()):
            if left < len(row) and row[left].text:
                live.append((left, right, bottom, row[left]))
        yield _filled(row, live) if live and row else row


def _filled(row: Sequence[Value], live: Sequence[tuple[int, int, int, Value]]) -> Row:
    width = max(len(row), *(right + 1 for _, right, _, _ in live))
    filled = [*row, *[NOTHING] * (width - len(row))]
    for left, right, _, value in live:
        filled[left : right + 1] = [value] * (right + 1 - left)
    return filled


def _value(value: Any, shown: str) -> Value:
    """What the cell shows: dates and times in ISO's way, percentages and currencies as such, no float noise."""
    match value:
        case bool():
            return Value("yes" if value else "no", False)
        case datetime():
            midnight = value.time() == time() and "h" not in shown.lower()
            return Value(str(value.date()) if midnight else value.strftime("%Y-%m-%d %H:%M"), False)
        case date() | time():
            return Value(str(value), False)
        case int() | float():
            return Value(_number(value, shown), False)
    return Value(" ".join(str(value).split()))


def _number(value: float, shown: str) -> str:
    shown = shown.partition(";")[0]
    if "%" in shown:
        return f"{100 * value:.10g}%"
    number = f"{value:.15g}"
    currency = _CURRENCY.search(_QUOTED.sub(r"\1", shown))
    if currency is None or "e" in number:
        return number
    sign = currency[1] or currency[2]
    return f"{sign}{number}" if currency.start() < len(shown) / 2 else f"{number} {sign}"
