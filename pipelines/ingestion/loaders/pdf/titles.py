"""Section titles beside what they head: in a column of their own at the left of a page, or several in one row."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipelines.ingestion.loaders.pdf.lines import HEADING_SIZE, PdfLine, group_rows, same_row, usual_size
from pipelines.ingestion.loaders.pdf.rows import is_item
from pipelines.ingestion.loaders.rendering import DATED

_MIN_TITLES, _MIN_KNOWN = 3, 2
_MAX_WORDS = 5
_SECTION = 100  # letters of a section at least, in the mean
_BODY_SHARE = 3  # letters beside a title for each of its own
_GAP = 0.5
_ALIGNED = 3.0
_INDENT = 1.5
_ABOVE = 0.3
_WRAPPED = 1.6  # type sizes between two lines of one title
_LABELS = frozenset(("skills", "languages"))  # names of groups of skills, too
_CAREER = frozenset(("experience", "education"))

Strip = tuple[tuple[PdfLine, ...], list[PdfLine]]  # the lines of a title, what stands on its right


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of a page: a section title at its left, or none, and its lines."""

    title: tuple[PdfLine, ...]
    lines: list[PdfLine]


def bands_of(pages: Sequence[Sequence[PdfLine]]) -> list[list[Band]]:
    """The bands of each page from the top; one band without a title where titles are not in a column of their own."""
    edges = Counter(round(x) for lines in pages for _, x in _with_body_beside(lines))
    for edge, count in edges.most_common(_MIN_TITLES):
        found = [_titled_strips(lines, float(edge)) if count > 1 else [] for lines in pages]
        styles = Counter(_style(title) for strips in found for title, _ in strips)
        found = [_in_style(strips, max(styles, key=lambda style: styles[style])) for strips in found] if styles else []
        titles = [title for strips in found for title, _ in strips]
        headed = sum(len(line.text) for strips in found for _, body in strips for line in body)
        is_wide = headed > _BODY_SHARE * sum(len(line.text) for title in titles for line in title)
        if titles and is_wide and _are_titles(titles, pages, headed):
            return [list(_page_bands(lines, strips)) for lines, strips in zip(pages, found, strict=True)]
    return [[Band((), list(lines))] for lines in pages]


def _in_style(strips: Sequence[Strip], style: tuple[float, bool]) -> list[Strip]:
    """The strips with titles in a style; none if another one stands between them, as in a column of text."""
    numbers = [number for number, (title, _) in enumerate(strips) if _style(title) == style]
    is_whole = bool(numbers) and numbers[-1] - numbers[0] + 1 == len(numbers)
    return [strips[number] for number in numbers] if is_whole else []


def section_named(title: str) -> str:
    """The section of which the words are the name; "" for other words."""
    from pipelines.ingestion.parsers.careers.section_names import section_of  # the parsers load what sources do without

    return section_of(title)


def _style(title: Sequence[PdfLine]) -> tuple[float, bool]:
    return title[0].size, title[0].bold


def _with_body_beside(lines: Sequence[PdfLine]) -> Iterator[tuple[PdfLine, float]]:
    """The short lines that open a row, with where the text begins that stands at some distance on their right."""
    rows = group_rows(lines)
    for number, (line, *others) in enumerate(rows):
        if len(line.text.split()) > _MAX_WORDS or DATED.search(line.text) or is_item(line.text):
            continue
        near = [other for row in (*rows[number - 1 : number], *rows[number + 1 : number + 2]) for other in row]
        beside = others or [other for other in near if _is_beside(line, other)]
        if beside and all(other.x0 > line.x1 + _GAP * line.size for other in beside):
            yield line, min(other.x0 for other in beside)


def _is_beside(title: PdfLine, other: PdfLine) -> bool:
    """True if both begin at about the same height, by baseline or by top."""
    return same_row(title, other) or (title.turn == other.turn and abs(title.top - other.top) < _ABOVE * title.size)


def _titled_strips(lines: Sequence[PdfLine], edge: float) -> list[Strip]:
    """The lines left of the edge with those right of it, down to the next title or a line across the edge."""
    strips: list[Strip] = []
    beside = {id(line): -_ALIGNED <= x - edge <= _INDENT * line.size for line, x in _with_body_beside(lines)}
    is_open = False
    for line in sorted(lines, key=lambda line: -_height(line, edge)):
        last = strips[-1][0][-1] if strips and is_open else None
        is_left = line.x1 < edge - _GAP
        is_note = is_left and is_open and bool(DATED.search(line.text))  # of the entry beside it
        if is_left and last and _style([last]) == _style([line]) and 0 < last.y - line.y < _WRAPPED * line.size:
            strips[-1] = (*strips[-1][0], line), strips[-1][1]
        elif is_left and not is_note and beside.get(id(line), is_open):
            strips.append(((line,), []))
            is_open = True
        elif line.x0 < edge - _ALIGNED and not is_note:
            is_open = False  # it goes across the edge, or text stands elsewhere beside it
        elif is_open:
            strips[-1][1].append(line)
    return strips


def _height(line: PdfLine, edge: float) -> float:
    """The top of a line; a title begins above the larger type beside it."""
    return line.top + _ABOVE * line.size * (2 if line.x1 < edge - _GAP else 0)


def _are_titles(titles: Sequence[tuple[PdfLine, ...]], pages: Sequence[Sequence[PdfLine]], headed: int) -> bool:
    """True if groups of lines head what is beside them: in one style, larger than that, or known names of sections.

    `headed` is the number of letters beside them: labels of short values are no titles.
    """
    lines = [line for page in pages for line in page]
    size = usual_size(lines)
    words = [" ".join(line.text for line in title) for title in titles]
    if any(DATED.search(each) or len(each.split()) > _MAX_WORDS for each in words):
        return False
    if len(set(map(_style, titles))) > 1:
        return False
    known = {section for each in words if (section := section_named(each))}
    is_long = bool(known & _CAREER) or headed >= _SECTION * len(titles)
    if len(known) >= _MIN_KNOWN and known - _LABELS and is_long and 2 * len(known) >= len(titles):
        return True
    beside = [line for title in titles for line in lines if line is not title[0] and _is_beside(title[0], line)]
    least = max(HEADING_SIZE * size, max((line.size for line in beside), default=0.0) + 0.1)
    return len(titles) >= _MIN_TITLES and all(title[0].size >= least for title in titles)


def _page_bands(lines: Sequence[PdfLine], strips: Sequence[Strip]) -> Iterator[Band]:
    """The bands of a page in order; lines above, between and below the strips are bands without a title."""
    rest = sorted(lines, key=lambda line: -line.top)
    for title, body in strips:
        inside = {id(line) for line in (*title, *body)}
        first = _height(title[0], title[0].x1 + 2 * _GAP)
        above = [line for line in rest if line.top > first and id(line) not in inside]
        if above:
            yield Band((), above)
        yield Band(tuple(replace(line, apart=True, title=True) for line in title), body)
        rest = [line for line in rest if id(line) not in inside and line.top <= first]
    if rest:
        yield Band((), rest)


def titles_in_row(lines: Sequence[PdfLine]) -> tuple[float, list[PdfLine], list[PdfLine]] | None:
    """(where the second begins, what stands above, what stands below) the first row of nothing but section titles.

    What stands below ends at a line across that edge, or at the title above such a line. None without such a row.
    """
    rows = group_rows(lines)
    for number, row in enumerate(rows):
        if len(row) < 2 or len({_style([line]) for line in row}) > 1:
            continue
        known = {section_named(line.text) for line in row}
        if "" in known or len(known) < len(row):
            continue
        edge = row[1].x0
        end = next(
            (at for at, below in enumerate(rows[number:], number)
             if any(line.x0 < edge - _ALIGNED and line.x1 > edge for line in below)), len(rows)
        )  # fmt: skip
        style = _style(row)
        last = end
        while end < len(rows) and last - 1 > number and all(line.x1 < edge for line in rows[last - 1]):
            last -= 1
            if _style(rows[last]) == style:
                end = last
        inside = [line for each in rows[number:end] for line in each]
        return edge, [line for each in rows[:number] for line in each], inside
    return None
