"""The dates and the lengths of time that a line of a LinkedIn profile states and nothing else."""

import re
from collections.abc import Sequence

from pipelines.ingestion.parsers.career.dates import DateRange, date_ranges, durations
from pipelines.ingestion.parsers.linkedin.lines import Row
from pipelines.text import fold

_NUMBER = re.compile(r"\d+")
_REST = re.compile(r"[\s()\[\]·•|,;:\-–—]+")
_MONTH_UNIT = re.compile(r"\d\s?m", re.IGNORECASE)


def dates_of(row: Row) -> DateRange | None:
    """The range that the row states and nothing beside it but a length of time; None for other rows."""
    ranges = date_ranges(row.words) if len(row.words) < 120 and not row.bullet else []
    if len(ranges) != 1:
        return None
    lengths = [span for span in durations(row.words) if span[0] >= ranges[0].end]
    if not (ranges[0].end_month or ranges[0].current or lengths):
        return None
    return ranges[0] if _is_rest(row.words, [(ranges[0].start, ranges[0].end), *lengths]) else None


def months_stated(words: str) -> int:
    """The months of the first length of time in the words: 38 for "3 years 2 months"; 0 without one."""
    spans = durations(words)
    if not spans:
        return 0
    stated = words[slice(*spans[0])]
    numbers = [int(number) for number in _NUMBER.findall(stated)]
    if len(numbers) == 2:
        return 12 * numbers[0] + numbers[1]
    return 0 if not numbers else numbers[0] if _MONTH_UNIT.search(fold(stated)) else 12 * numbers[0]


def months_of(row: Row) -> list[int]:
    """The months of a job as numbers, counted from its start; none where neither an end nor a length is stated."""
    stated = dates_of(row)
    if stated is None:
        return []
    start, length = _number(stated.start_month), months_stated(row.words)
    if not length and stated.end_month:
        length = _number(stated.end_month) - start + 1
    return list(range(start, start + min(max(length, 0), 1200)))


def _number(month: str) -> int:
    return int(month[:4]) * 12 + (int(month[5:7]) - 1 if len(month) > 4 else 0)


def is_length(row: Row) -> bool:
    """Whether the row is a length of time and nothing else."""
    spans = durations(row.words)
    return bool(spans) and _is_rest(row.words, spans)


def _is_rest(words: str, spans: Sequence[tuple[int, int]]) -> bool:
    kept, done = [], 0
    for start, end in sorted(spans):
        kept.append(words[done:start])
        done = end
    return not _REST.sub("", "".join([*kept, words[done:]]))
