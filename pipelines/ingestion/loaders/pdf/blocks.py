"""Group the lines of a PDF, in reading order, into paragraphs, list items and headings."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from pipelines.contacts import is_contact
from pipelines.headings import is_capitals
from pipelines.ingestion.loaders.pdf.lines import HEADING_SIZE, PdfLine, breaks_address, usual_size
from pipelines.ingestion.loaders.pdf.rows import is_item
from pipelines.ingestion.loaders.pdf.titles import section_named
from pipelines.types import BlockKind

MAX_HEADING = 150
_STOPS = tuple(".!?:;…。！？")

_BOLD_HEADING = 80
_WORD_WIDTH = 0.5
_INDENT = 0.8
_INDENTS = 3
_FLUSH = 1.0
_NARROW = 22
_SHORT = 40
_JOINTS, _MAX_JOINT = tuple("-–—,&/("), 4  # letters of a word that joins
_YEAR = r"(?:19|20)\d\d"
_MONTH_YEAR = rf"(?:[^\W\d_]{{3,12}}\.? |[\d./-]{{1,6}})?{_YEAR}"
_OPEN = r"(?:à ce jour|la actualidad|la fecha|o momento|[^\W\d_]{3,12})"
_RANGE_END = re.compile(
    rf"(?<!\d)(?:[^\W\d_]{{3,12}}\.? |\d{{1,2}}[./-])?{_YEAR} ?"
    rf"(?:[-–—] ?(?:{_MONTH_YEAR}|{_OPEN})|(?:to|until|bis|au|à|al?|até) {_MONTH_YEAR})\)?$"
)
_MAX_LABEL = 41
_SENTENCE_END = re.compile(r"(?:[^\W\d_]{5,}|\b[a-zß-ÿ]{2,})[.!?] \(?$")
_DATE_END = re.compile(rf"[,;|·•(–—] ?{_MONTH_YEAR}\)?$")


@dataclass(slots=True)
class LineGroup:
    """The lines of one block."""

    kind: BlockKind
    lines: list[PdfLine] = field(default_factory=list)
    level: int = 0


@dataclass(frozen=True, slots=True)
class DocumentStyle:
    """Usual measures of a document: body size, line distance in sizes, heading sizes from the largest.

    `labels` are the words of lines with a capital that the document has several times, below different lines.
    """

    size: float
    leading: float
    heading_sizes: tuple[float, ...]
    bold_is_rare: bool
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Edge:
    """The edges of a column's lines, and the width, in type sizes, below which its lines may be items."""

    right: float
    narrow: float
    left: float = 0.0


def document_style(lines: Sequence[PdfLine]) -> DocumentStyle:
    """The usual measures over all lines."""
    size = usual_size(lines)
    gaps = [
        gap
        for above, below in pairwise(lines)
        if above.size == below.size == size and 0.8 < (gap := (above.y - below.y) / max(size, 1)) < 3.2
    ]
    larger = {line.size for line in lines if line.size >= size * HEADING_SIZE and _is_title_like(line.text)}
    bold = sum(len(line.text) for line in lines if line.bold)
    texts = Counter(text for _, text in {(above.text, line.text) for above, line in pairwise(lines)})
    return DocumentStyle(
        size=size,
        leading=median(gaps) if gaps else 1.2,
        heading_sizes=tuple(sorted(larger, reverse=True)),
        bold_is_rare=bold < 0.4 * sum(len(line.text) for line in lines),
        labels=frozenset(text for text, count in texts.items() if count > 1 and text[0].isupper()),
    )


def group_lines(lines: Sequence[PdfLine], style: DocumentStyle) -> list[LineGroup]:
    """The blocks of the document; a paragraph may continue over the end of a column or page."""
    groups: list[LineGroup] = []
    edges, lefts = _right_edges(lines), _left_edges(lines)
    wrapped = _wrapped_columns(lines, edges)
    for position, line in enumerate(lines):
        above = lines[position - 1] if position else None
        below = lines[position + 1] if position + 1 < len(lines) else None
        level = _heading_level(line, above, below, style)
        if level:
            if not (groups and _continues_heading(groups[-1], line, level, edges[position - 1])):
                groups.append(LineGroup("heading", level=level))
        elif is_item(line.text):
            groups.append(LineGroup("list"))
        elif not groups or groups[-1].kind == "heading":
            if not (groups and _goes_on_in_font(groups[-1].lines[-1], line, edges[position - 1])):
                groups.append(LineGroup("paragraph"))
        else:
            narrow = _NARROW if (line.page, line.column) in wrapped else _SHORT
            if _begins(
                groups[-1], line, below, style, Edge(edges[position - 1], narrow, lefts[line.page, line.column])
            ):
                groups.append(LineGroup("paragraph"))
        groups[-1].lines.append(line)
    return [_demote_long_heading(group) for group in groups]


def _right_edges(lines: Sequence[PdfLine]) -> list[float]:
    """For each line, how far right the lines of its column reach that begin near it or a little further in."""
    reach: dict[tuple[int, int], dict[int, float]] = {}
    for line in lines:
        bands = reach.setdefault((line.page, line.column), {})
        band = int(line.x0 // 36)
        if not line.apart:
            bands[band] = max(bands.get(band, 0.0), line.x1)
    edges = []
    for line in lines:
        bands = reach[line.page, line.column]
        near = [edge for band, edge in bands.items() if -1 <= band - int(line.x0 // 36) <= _INDENTS]
        edges.append(max(near, default=line.x1))
    return edges


def _left_edges(lines: Sequence[PdfLine]) -> dict[tuple[int, int], float]:
    """How far left the lines of each column reach."""
    reach: dict[tuple[int, int], float] = {}
    for line in lines:
        key = line.page, line.column
        reach[key] = min(reach.get(key, line.x0), line.x0)
    return reach


def _wrapped_columns(lines: Sequence[PdfLine], edges: Sequence[float]) -> set[tuple[int, int]]:
    """The columns with a wrapped line; in others the widest line does not tell where the edge is."""
    return {
        (line.page, line.column)
        for above, line, right in zip(lines, lines[1:], edges, strict=False)
        if _same_column(above, line)
        and above.size == line.size
        and (above.hyphen or (line.text[0].islower() and not is_contact(line.text)))
        and _fills(above, line, right - 2 * line.size)
    }


def ends_sentence(text: str) -> bool:
    """True if a text ends with a stop, maybe within quotation marks or brackets."""
    return text.rstrip("\"'”’)]").endswith(_STOPS)


def _is_title_like(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return letters >= 2 and len(text) <= MAX_HEADING and not (len(text) > 60 and ends_sentence(text))


def _heading_level(line: PdfLine, above: PdfLine | None, below: PdfLine | None, style: DocumentStyle) -> int:
    """1 to 6 for a heading: larger than the body, or at about its size alone in bold or in capitals; else 0."""
    closes = above is not None and _same_column(above, line) and _is_open(above.text) and ")" in line.text
    if not _is_title_like(line.text) or is_item(line.text) or line.left or line.right or closes:
        return 0
    if line.size >= style.size * HEADING_SIZE:
        return min(style.heading_sizes.index(line.size) + 1, 6) if line.size in style.heading_sizes else 0
    least = min(len(style.heading_sizes) + 1, 6)
    if line.title or line.size < style.size * 0.9:
        return least if line.title else 0
    if (
        is_capitals(line.text)
        and not _is_name_of_thing(line.text)
        and not (below and is_capitals(below.text) and above and is_capitals(above.text))
    ):
        return least
    if not (style.bold_is_rare and line.bold and len(line.text) <= _BOLD_HEADING) or line.text[-1] in ".,;":
        return 0
    apart = above is None or not _same_column(above, line) or above.y - line.y > style.leading * line.size * 1.2
    apart = apart or above is None or above.size >= style.size * HEADING_SIZE
    followed = below is not None and (_same_column(line, below) or below.page != line.page)
    followed = followed and (below is None or below.size < style.size * HEADING_SIZE)
    level = min(least + (line.size <= style.size), 6)
    return level if apart and followed else 0


def _continues_heading(group: LineGroup, line: PdfLine, level: int, right: float) -> bool:
    """True for the next line of a heading that has no room in the one above, or that a gutter wraps."""
    last = group.lines[-1]
    near = _same_column(last, line) and 0 < last.y - line.y < 1.8 * line.size
    if group.kind != "heading" or group.level != level or (last.size, last.bold) != (line.size, line.bold) or not near:
        return False
    words = " ".join(each.text for each in group.lines)
    if section_named(words) and not section_named(f"{words} {line.text}"):
        return False
    goes_on = line.text[0].islower() or _breaks_off(last.text.lower()) or last.hyphen
    return last.title or goes_on or _fills(last, line, right - 2 * line.size)


def _begins_in_font(last: PdfLine, line: PdfLine) -> bool:
    """True if a line of several fonts begins in that in which the line above ends."""
    return bool(line.breaks) and last.size == line.size and line.font == last.end_font


def _goes_on_in_font(last: PdfLine, line: PdfLine, right: float) -> bool:
    """True if the last line of a heading goes on in the line below, which ends in another font."""
    below = _same_column(last, line) and 0 < last.y - line.y < 1.8 * line.size and abs(last.x0 - line.x0) < _FLUSH
    return below and not last.right and _begins_in_font(last, line) and _fills(last, line, right - line.size)


def _begins(group: LineGroup, line: PdfLine, below: PdfLine | None, style: DocumentStyle, edge: Edge) -> bool:
    """True if the line begins a new block after the group's last line."""
    last = group.lines[-1]
    if line.left or line.apart or last.apart or line.chip != last.chip:
        return True
    if line.text in style.labels and group.kind != "list":
        return True
    if last.hyphen or breaks_address(last.text, line.text):
        return False
    if _RANGE_END.match(line.text) and not _breaks_off(last.text):
        return True
    return is_contact(line.text) or is_contact(last.text) or not _goes_on(group, line, below, style, edge)


def _goes_on(group: LineGroup, line: PdfLine, below: PdfLine | None, style: DocumentStyle, edge: Edge) -> bool:
    """True if the line may continue the group's last line, by position and type."""
    last = group.lines[-1]
    if not _same_column(last, line):
        return line.text[0].islower() and last.size == line.size and not ends_sentence(last.text)
    gap = (last.y - line.y) / max(line.size, 1)
    if abs(last.size - line.size) > 0.1 * line.size or gap < 0 or gap > style.leading * 1.3 + 0.1:
        return False
    is_open = _breaks_off(last.text) and not last.text.endswith(_JOINTS)
    is_name = last.bold and not line.bold and not _begins_in_font(last, line)
    if (is_name and not is_open) or _changes_font(last, line):
        return False
    if last.right:
        is_styled = last.bold or (bool(last.breaks) and last.end_font == line.font)
        limit = last.limit if is_styled else last.right[0].x0 - 0.5 * last.size
        return not line.right and (last.x1 + first_word(line) >= limit or _breaks_off(last.text))
    if line.text[0].islower():
        # a lone word below a short line is an item
        return " " in line.text or _fills(last, line, (last.x0 + edge.right) / 2)
    return not _begins_nearby(group, line, edge) and not _is_item(group, line, below, edge)


def _changes_font(last: PdfLine, line: PdfLine) -> bool:
    """True if a line of several fonts ends in one, and the next one begins in another and with a capital."""
    is_new = last.end_font != line.font and line.text[0].isupper() and bool(last.breaks or line.breaks)
    return is_new and not _breaks_off(last.text) and not last.hyphen


def _begins_nearby(group: LineGroup, line: PdfLine, edge: Edge) -> bool:
    """True if a line at the usual distance begins a block: by indent, space left above it, or dates."""
    last = group.lines[-1]
    if group.kind == "list":
        begin = group.lines[0].x0
        goes_on = line.x0 > begin - _FLUSH and _fills(last, line, edge.right - 2 * line.size)
        return line.x0 < begin + 0.3 * line.size and (not goes_on or _is_dated(line.text))
    indent = _INDENT * line.size
    inside = last.x0 > edge.left + _FLUSH and max(last.x0, line.x0) > edge.left + 3 * line.size
    flush_right = inside and abs(last.x1 - line.x1) < _FLUSH < abs(last.x0 - line.x0)  # its left edge is ragged
    outdented = line.x0 < last.x0 - indent and len(group.lines) > 1
    if not flush_right and (line.x0 > last.x0 + indent or outdented):
        return True
    if begins_entry(last.text, line.text, is_first=len(group.lines) == 1):
        return True
    if _is_labelled(line.text) and _is_labelled(group.lines[0].text):
        return True
    if flush_right:
        return last.x0 - _about_first_word(line) > edge.left + 2 * line.size
    return not _fills(last, line, edge.right - 2 * line.size)


def _is_labelled(text: str) -> bool:
    """True for a label from a capital on, and its value: "Languages: Go"."""
    label, _, value = text.partition(": ")
    is_label = 1 < len(label) <= _MAX_LABEL and label[0].isalpha() and not "a" <= label[0] <= "z"
    return is_label and value[:1].strip() != "" and not any(sign in label for sign in ":.,;")


def _is_name_of_thing(text: str) -> bool:
    """True for capitals and a number, as HTML5."""
    return text.isalnum() and text[-1].isdigit() and text.rstrip("0123456789").isalpha()


def begins_entry(above: str, line: str, *, is_first: bool) -> bool:
    """True if the line is dated like the one above or after a sentence, or follows a first line ending in dates."""
    if not line[0].isupper():
        return False
    if _is_dated(line) and (_is_dated(above) or ends_sentence(above)):
        return True
    return is_first and _RANGE_END.search(above) is not None


def _is_dated(line: str) -> bool:
    """True if a line ends in dates that end no sentence."""
    dates = _RANGE_END.search(line) or _DATE_END.search(line)
    return dates is not None and _SENTENCE_END.search(line[: dates.start()]) is None


def _is_item(group: LineGroup, line: PdfLine, below: PdfLine | None, edge: Edge) -> bool:
    """True if a line of a narrow column is an item: nothing shows that the line above continues."""
    last = group.lines[-1]
    width = (edge.right - last.x0) / max(line.size, 1)
    if group.kind == "list" or width > edge.narrow or not line.text[0].isalpha():
        return False
    if width > _NARROW and not line.text[0].isupper():
        return False
    in_last_font = bool(last.breaks) and last.font != last.end_font == line.font and not line.breaks
    commas = line.text.count(",") and sum(each.text.count(",") for each in group.lines)
    is_full = commas > 1 and _fills(last, line, edge.right - line.size)
    in_list = (_is_labelled(group.lines[0].text) or is_full) and "," in last.text and not _is_labelled(line.text)
    prose = (
        any(above.text[0].islower() for above in group.lines[1:])
        or (line.text[-1] == "." and last.text[-1] != "." and "," in line.text)
        or (below is not None and _same_column(line, below) and below.text[0].islower() and below.size == line.size)
    )
    return not (prose or in_last_font or in_list) and not _breaks_off(last.text)


def _breaks_off(text: str) -> bool:
    """True if a line ends in a joint, or in a short word of small letters."""
    word = text.rsplit(maxsplit=1)[-1].lstrip("\"'“‘«([")
    is_joint = len(word) <= _MAX_JOINT and word.isalpha() and word.islower()
    return text.endswith(_JOINTS) or is_joint or _is_open(text)


def _is_open(text: str) -> bool:
    return text.count("(") > text.count(")")


def _fills(last: PdfLine, line: PdfLine, right: float) -> bool:
    """True if the line's first word would not have fitted at the end of the line above."""
    return last.x1 + _about_first_word(line) >= right


def _about_first_word(line: PdfLine) -> float:
    """About the width of the line's first word in a usual font, without the space before it."""
    return len(line.text.split(maxsplit=1)[0]) * line.size * _WORD_WIDTH


def first_word(line: PdfLine) -> float:
    """The width of the line's first word with the space before it, by the mean width of its letters."""
    return (line.x1 - line.x0) * (len(line.text.split(maxsplit=1)[0]) + 1) / len(line.text)


def _same_column(one: PdfLine, other: PdfLine) -> bool:
    return one.page == other.page and one.column == other.column


def _demote_long_heading(group: LineGroup) -> LineGroup:
    """The group; a heading of many lines becomes a paragraph in large type."""
    length = sum(len(line.text) for line in group.lines)
    too_long = group.kind == "heading" and (len(group.lines) > 3 or length > MAX_HEADING)
    return LineGroup("paragraph", group.lines) if too_long else group
