"""Load CSV, TSV, XLSX and ODS: each row as a sentence that names its columns.

openpyxl reads XLSX, not docling, which takes 760 MB for 200,000 cells (openpyxl's stream takes 45 MB) and loses
percentages, currencies, and the difference between a date and a time.
"""

import csv
import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time
from typing import Any, NamedTuple

from config.settings import Limits
from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, damaged_file, title_from_name
from pipelines.ingestion.loaders.office import (
    CONTENT,
    CORE,
    content_with_properties,
    property_title,
    read_odf,
    read_parts,
)
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.ingestion.loaders.text import decode
from pipelines.text import canonical
from pipelines.types import SourceItem

MAX_CELLS = 500_000
Merges = dict[int, list[tuple[int, int, int, int]]]  # by first row: first column, last column, first row, last row

_MAX_PLACES = 20 * MAX_CELLS
_MAX_NAME = 80
_HEAD_SHARE = 0.6
_LOOKED_AT = 50
_STOPS = (".", "!", "?", "…", "。")
_UNNAMED_SHEETS = frozenset("sheet table tabelle feuil feuille hoja planilha foglio blad".split())
_DELIMITERS = ",;\t|"
_SAMPLE = 20_000
_SAMPLE_ROWS = 30
_MAX_FIELD = 10_000_000
_FIGURES = str.maketrans("", "", "0123456789.,'+-/:()%$€£¥₹ ")
_IN_FIGURES = frozenset(("", "T", "TZ", "Z", "e", "E"))  # letters of times and powers of ten
_BROKEN = (KeyError, ValueError, TypeError, AttributeError, OSError, SyntaxError, zipfile.BadZipFile, zlib.error)
_MAX_MERGED_CELLS = 10_000
_CURRENCY = re.compile(r"\[\$([^\]-]{1,5})|([$€£¥₹])")
_QUOTED = re.compile(r'"([$€£¥₹]{1,3})"|"[^"]*"')
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")


class CellValue(NamedTuple):
    """The displayed text of a cell, and whether it is words rather than a number, a date or a boolean."""

    text: str
    is_words: bool = True


EMPTY = CellValue("")


Row = Sequence[CellValue]


class CellBudget:
    """Limits how many cells of a file are read.

    Raises:
        LoadError: From `spend`, when the limit is exceeded.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._cells = 0
        self._places = 0

    def spend(self, cells: int, places: int) -> None:
        """Count filled cells, and the positions that they are spread over."""
        self._cells += cells
        self._places += places
        if self._cells > MAX_CELLS or self._places > _MAX_PLACES:
            reason = f"more than {MAX_CELLS:,} cells" if self._cells > MAX_CELLS else "its cells spread too widely"
            raise LoadError(
                f"{self._name} is too large a table: {reason}.", hint="Split it, or keep only the rows that matter."
            )


def load_delimited(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The rows with their column names; the delimiter is detected."""
    raw, encoding = decode(data, item.name)
    text = canonical(raw)
    stated = text[4:5] if text[:4].lower() == "sep=" and text[5:6] == "\n" else ""
    text = text[6:] if stated else text
    delimiter = stated or delimiter_of(text)
    rendering, lines = Rendering(), list[int]()
    try:
        add_rows(rendering, _csv_rows(text, delimiter, CellBudget(item.name), lines, 2 if stated else 1), lines=lines)
    except csv.Error as error:
        raise LoadError(f"{item.name} is not a readable table: {error}.", hint="Check its quotation marks.") from error
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        first_line=rendering.first_line,
        metadata={} if encoding == "utf-8" else {"encoding": encoding},
    )


def delimiter_of(text: str) -> str:
    """The delimiter that splits the first rows into the most columns of equal number; a comma if none does."""
    sample = text[:_SAMPLE]
    complete = sample.rpartition("\n")[0] if len(text) > _SAMPLE else sample
    return max(_DELIMITERS, key=lambda delimiter: _evenness(complete, delimiter))


def _evenness(sample: str, delimiter: str) -> float:
    """Score of a delimiter: columns, times the share of rows that have the usual number; 0 for one column."""
    reader = csv.reader(io.StringIO(sample), delimiter=delimiter)
    widths = [len(row) for row, _ in zip(reader, range(_SAMPLE_ROWS), strict=False) if row]
    usual = max(widths, key=widths.count, default=1)
    return 0.0 if usual < 2 else usual**0.5 * (widths.count(usual) / len(widths)) ** 2


def _csv_rows(text: str, delimiter: str, budget: CellBudget, lines: list[int], first: int) -> Iterator[Row]:
    """The rows; before each is yielded, its line number, counted from `first`, is added to `lines`."""
    csv.field_size_limit(_MAX_FIELD)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    read = 0
    for fields in reader:
        lines.append(first + read)
        read = reader.line_num
        texts = [field.strip() for field in fields]
        row = [CellValue(text, not _is_figure(text)) for text in texts]
        budget.spend(sum(bool(value.text) for value in row), 1 + len(row))
        yield row


def _is_figure(text: str) -> bool:
    """True for a number, an amount, a date, a time and a truth value."""
    is_number = text[:1].isalpha() is False and any(map(str.isdigit, text)) and text.translate(_FIGURES) in _IN_FIGURES
    return is_number or text.lower() in ("true", "false")


def load_workbook(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The visible sheets of an XLSX file, each under its name; formulas as their last computed values."""
    parts = read_parts(data, item.name, lambda name: name == CORE, limits)
    rendering = Rendering()
    budget = CellBudget(item.name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions
            for title, rows in _excel_sheets(data, budget):
                add_rows(rendering, rows, title)
    except _BROKEN as error:
        raise damaged_file(item.name) from error
    return content_with_properties(rendering, parts, property_title(parts) or title_from_name(item.name))


def _excel_sheets(data: bytes, budget: CellBudget) -> Iterator[tuple[str, Iterator[Row]]]:
    """(name, rows) of each visible sheet; the name is empty for a single sheet with the default name."""
    from openpyxl import load_workbook as opened

    book = opened(io.BytesIO(data), read_only=True, data_only=True)
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    for sheet in sheets:
        sheet.reset_dimensions()  # the stated size is often wrong
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            merges = _merges(archive.read(sheet._worksheet_path.lstrip("/")))
        bare = len(sheets) == 1 and is_default_sheet_name(sheet.title)
        yield "" if bare else sheet.title, _fill_merges(_excel_rows(sheet, budget), merges)


def _excel_rows(sheet: Any, budget: CellBudget) -> Iterator[list[CellValue]]:
    for cells in sheet.iter_rows():
        row = [
            EMPTY if cell.value is None else _excel_value(cell.value, str(cell.number_format or "")) for cell in cells
        ]
        budget.spend(sum(bool(value.text) for value in row), 1 + len(row))
        while row and not row[-1].text:
            row.pop()
        yield row


def _merges(sheet: bytes) -> Merges:
    """The merged ranges, without unbounded or very large ones."""
    from openpyxl.utils import range_boundaries

    found: Merges = {}
    for cell in sheet.rpartition(b"</sheetData>")[2].split(b"mergeCell ")[1:]:
        try:
            left, top, right, bottom = range_boundaries(cell.partition(b'ref="')[2].partition(b'"')[0].decode())
        except (ValueError, TypeError):
            continue
        if None in (left, top, right, bottom):
            continue
        (left, right), (top, bottom) = sorted((left, right)), sorted((top, bottom))
        if (right - left + 1) * (bottom - top + 1) <= _MAX_MERGED_CELLS:
            found.setdefault(top, []).append((left - 1, right - 1, top, bottom))
    return found


def _fill_merges(rows: Iterator[list[CellValue]], merges: Merges) -> Iterator[Row]:
    """The rows, with the value of a merged range in each of its cells."""
    active: list[tuple[int, int, int, CellValue]] = []
    for number, row in enumerate(rows, start=1):
        active = [merged for merged in active if merged[2] >= number]
        for left, right, _, bottom in merges.get(number, ()):
            if left < len(row) and row[left].text:
                active.append((left, right, bottom, row[left]))
        yield _fill_row(row, active) if active and row else row


def _fill_row(row: Sequence[CellValue], active: Sequence[tuple[int, int, int, CellValue]]) -> Row:
    width = max(len(row), *(right + 1 for _, right, _, _ in active))
    filled = [*row, *[EMPTY] * (width - len(row))]
    for left, right, _, value in active:
        filled[left : right + 1] = [value] * (right + 1 - left)
    return filled


def _excel_value(value: Any, shown: str) -> CellValue:
    """The displayed value: ISO dates and times, percentages and currencies, no floating point noise."""
    match value:
        case bool():
            return CellValue("yes" if value else "no", False)
        case datetime():
            midnight = value.time() == time() and "h" not in shown.lower()
            return CellValue(str(value.date()) if midnight else value.strftime("%Y-%m-%d %H:%M"), False)
        case date() | time():
            return CellValue(str(value), False)
        case int() | float():
            return CellValue(_excel_number(value, shown), False)
    return CellValue(" ".join(str(value).split()))


def _excel_number(value: float, shown: str) -> str:
    shown = shown.partition(";")[0]
    if "%" in shown:
        return f"{100 * value:.10g}%"
    number = f"{value:.15g}"
    currency = _CURRENCY.search(_QUOTED.sub(r"\1", shown))
    if currency is None or "e" in number:
        return number
    sign = currency[1] or currency[2]
    return f"{sign}{number}" if currency.start() < len(shown) / 2 else f"{number} {sign}"


def load_odf_sheets(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The visible sheets of an OpenDocument file, each under its name."""
    from lxml.etree import LxmlError

    parts = read_odf(data, item.name, limits)
    rendering = Rendering()
    try:
        tables = list(_odf_sheets(parts[CONTENT].encode(), CellBudget(item.name)))
    except LxmlError as error:
        raise damaged_file(item.name) from error
    for title, rows in tables:
        add_rows(rendering, rows, "" if len(tables) == 1 and is_default_sheet_name(title) else title)
    return content_with_properties(rendering, parts, property_title(parts) or title_from_name(item.name))


def _odf_sheets(content: bytes, budget: CellBudget) -> Iterator[tuple[str, list[Row]]]:
    from lxml.etree import iterparse

    hidden: set[str] = set()
    rows: list[Row] = []
    tags = [f"{_STYLE}table-properties", f"{_TABLE}table-row", f"{_TABLE}table"]
    for _, element in iterparse(io.BytesIO(content), events=("end",), tag=tags, resolve_entities=False, recover=False):
        if element.tag == f"{_TABLE}table-row":
            row = _odf_row(element, budget)
            times = _repeats(element, f"{_TABLE}number-rows-repeated") if row else 1
            budget.spend((times - 1) * sum(bool(value.text) for value in row), (times - 1) * len(row))
            rows.extend([row] * times)
            element.clear()
        elif element.tag == f"{_TABLE}table":
            if element.get(f"{_TABLE}style-name") not in hidden:
                yield element.get(f"{_TABLE}name", ""), rows
            rows = []
        elif element.get(f"{_TABLE}display") == "false":
            hidden.add(element.getparent().get(f"{_STYLE}name", ""))


def _odf_row(element: Any, budget: CellBudget) -> list[CellValue]:
    row: list[CellValue] = []
    for cell in element.iterchildren(*_CELLS):
        kind = cell.get(f"{_OFFICE}value-type", "string")
        texts = [" ".join("".join(paragraph.itertext()).split()) for paragraph in cell.iterchildren(f"{_TEXT}p")]
        text = " ".join(filter(None, texts))
        if kind == "date":
            text = cell.get(f"{_OFFICE}date-value", text).replace("T", " ").removesuffix(" 00:00:00")
        value = CellValue(text, kind == "string") if text else EMPTY
        times = _repeats(cell, f"{_TABLE}number-columns-repeated")
        if value.text:
            budget.spend(times, times)
        row.extend([value] * times)
    while row and not row[-1].text:
        row.pop()
    budget.spend(0, 1 + len(row))
    return row


def _repeats(element: Any, attribute: str) -> int:
    """The number of repetitions of a row or cell, capped just above the cell limit."""
    stated = element.get(attribute, "1")
    return min(max(int(stated), 1), MAX_CELLS + 1) if stated.isdecimal() else 1


def is_default_sheet_name(title: str) -> bool:
    """True if a sheet has the default name of a new sheet."""
    return title.strip().lower().rstrip("0123456789").rstrip(" _") in _UNNAMED_SHEETS


def add_rows(rendering: Rendering, rows: Iterable[Row], title: str = "", lines: Sequence[int] = ()) -> None:
    """Add a table: its title as a heading, captions above its header as paragraphs, each row as a sentence.

    Blank rows separate tables; one without a header keeps the last one's. `lines` holds the file's line of every row
    read so far; with it, a row is placed on that line.
    """
    names: list[str] = []
    for number, (first, stretch) in enumerate(_row_groups(rows)):
        places = lines[first : first + len(stretch)] or [0] * len(stretch)
        if title and not number:
            rendering.add(title, "heading", 1)
        above = _caption_count(stretch)
        for row, line in zip(stretch[:above], places, strict=False):
            rendering.add(next(value.text for value in row if value.text), "paragraph", line=line)
        body = stretch[above:]
        found, heads = _head(body)
        names = found if heads or above else names
        for at, row in enumerate(body[heads:]):
            sentence = _sentence(names, row)
            rendering.add(sentence, "table", close=bool(at), line=places[above + heads + at])


def _row_groups(rows: Iterable[Row]) -> Iterator[tuple[int, list[Row]]]:
    """The runs of non-blank rows, each with the number of its first row, from 0."""
    stretch: list[Row] = []
    number = 0
    for number, row in enumerate(rows, start=1):
        if any(value.text for value in row):
            stretch.append(row)
        elif stretch:
            yield number - 1 - len(stretch), stretch
            stretch = []
    if stretch:
        yield number - len(stretch), stretch


def _caption_count(rows: Sequence[Row]) -> int:
    """The number of leading rows with a single text (such as merged cells) above a table of several columns."""
    counts = (len({value.text for value in row if value.text}) for row in rows)
    alone = next((number for number, count in enumerate(counts) if count > 1), 0)
    return alone if alone < len(rows) else 0


def _head(rows: Sequence[Row]) -> tuple[list[str], int]:
    """(column names, number of header rows); two rows where the upper one groups the lower."""
    if len(rows) < 2:
        return [], 0
    if _is_head(rows[0], rows[1:]):
        return [value.text for value in rows[0]], 1
    upper, lower = rows[0], rows[1]
    width = max(len(upper), len(lower))
    pairs = [(_cell_at(upper, column), _cell_at(lower, column)) for column in range(width)]
    both = [
        CellValue(" ".join(dict.fromkeys(filter(None, (a.text, b.text)))), a.is_words or b.is_words) for a, b in pairs
    ]
    grouped = len({value.text for value in upper if value.text}) < sum(bool(value.text) for value in upper)
    if grouped and len(rows) > 2 and _is_head(both, rows[2:]):
        return [value.text for value in both], 2
    return [], 0


def _is_head(row: Row, below: Sequence[Row]) -> bool:
    """True if a row names the columns: different short words over most columns, none repeated below."""
    filled = [(column, value) for column, value in enumerate(row) if value.text]
    columns = {column for other in below[:_LOOKED_AT] for column, value in enumerate(other) if value.text}
    texts = {value.text.casefold() for _, value in filled}
    named = all(
        (value.is_words or (number and _is_year(value.text))) and len(value.text) <= _MAX_NAME
        for number, (_, value) in enumerate(filled)
    )
    again = any(_cell_at(other, column).text == value.text for other in below[:_LOOKED_AT] for column, value in filled)
    enough = len(filled) >= max(2, _HEAD_SHARE * len(columns))
    return named and enough and len(texts) == len(filled) and not again


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdecimal() and text[:2] in ("19", "20")


def _cell_at(row: Row, column: int) -> CellValue:
    return row[column] if column < len(row) else EMPTY


def _sentence(names: Sequence[str], row: Row) -> str:
    """The values with their column names, on one line, so that what a cell says stays with its row."""
    parts = []
    for column, value in enumerate(row):
        text = " ".join(value.text.split())
        name = " ".join(names[column].split()).rstrip(":") if column < len(names) else ""
        if text:
            parts.append(f"{name}: {text}" if name else text)
    sentence = "; ".join(parts)
    return sentence if sentence.endswith(_STOPS) else f"{sentence}."
