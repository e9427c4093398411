"""Text from documents and models as HTML and Markdown that cannot act: escaped, reflowed, highlighted."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby, pairwise
from typing import Any

from pipelines.markup import Markup, scan_markup
from pipelines.structure import structure_of

# What means something in Markdown, in Streamlit's additions to it, or to a reader that makes links of addresses.
_MARKDOWN = re.compile(
    r"[\\`*_{}\[\]<>#|~$!&@]|:(?=[A-Za-z/_+-])|(?<=www)\.|^[+\-](?=\s)|(?<=^\d)[.)](?=\s)|(?<=^\d\d)[.)](?=\s)"
)
_TAGS = {"b": "strong", "i": "em", "c": "code"}
_ELEMENTS = {
    "heading": ("<h3>", "</h3>"), "code": ("<pre>", "</pre>"), "item": ('<div class="fn-item">', "</div>")
}  # fmt: skip
_CELL = "\ue002"  # between two cells of a row
_NOTE = ("\ue000", "\ue001")  # around the number of a footnote, in Unicode's private use
_OWN_LINE = re.compile(r"[ \t]*(?:[-*+•·–>|#]|\d{1,3}[.)]\s|```|~~~|$)")
_STYLES = {"**": "b", "__": "b", "*": "i", "_": "i", "***": "bi", "`": "c", "``": "c"}
_PLAIN = (".txt", ".text", ".pdf", ".docx", ".odt", ".csv", ".tsv")
_WRAPPED = 50  # a line this long that is followed by running text was broken by width, not by meaning


def literal(text: str) -> str:
    """Markdown that shows exactly this text, on one line: no link, image, icon, colour or formula comes of it."""
    return _MARKDOWN.sub(r"\\\g<0>", " ".join(text.split()))


def runs(text: str) -> list[list[str]]:
    """[styles, words] of a sentence in Markdown; styles are `b` bold, `i` italic, `c` code, `|` the end of a cell.

    Nothing else is taken out: a tag or a bracket stays, as it may be what the sentence is about.
    """
    is_row = text.startswith("|") and text.endswith("|")
    marks = []
    for mark in scan_markup(text).markup:
        raw = text[mark.start : mark.end]
        if raw in _STYLES:
            marks.append(mark)
        elif is_row and raw.strip() == "|":
            marks.append(Markup(mark.start, len(text) - len(text[mark.end :].lstrip(" "))))
    return [[str(styles), str(words)] for styles, words, _ in _runs(text, (0, len(text)), marks, ())]


def running_html(pieces: Sequence[str | int], state: str, standing_in: str = "") -> str:
    """An answer while it is written: its Markdown as far as it is complete, the numbers of its footnotes, the state.

    With `standing_in`, the note of that text above it, it is marked as a quotation that will be replaced.
    """
    text = "".join(f"{_NOTE[0]}{piece}{_NOTE[1]}" if isinstance(piece, int) else piece for piece in pieces)
    body = blocks_html(page_blocks(completed(text), (), is_markdown=True))
    body = body.replace(_NOTE[0], '<sup class="fn-mark">').replace(_NOTE[1], "</sup>")
    note = f'<p class="fn-note">{escape(standing_in)}</p>' if standing_in else ""
    kind = "fn-prose fn-running fn-preview" if standing_in else "fn-prose fn-running"
    said = f'<p class="fn-note" role="status">{escape(state)}<span class="fn-caret"></span></p>'
    return f'{note}<div class="{kind}">{body}</div>{said}'


def completed(text: str) -> str:
    """Markdown that is still being written, without what has only begun: a table without rows, a mark without words.

    Emphasis and code that are open are closed.
    """
    lines = text.split("\n")
    if lines[-1].strip(" #*_`~-+>|0123456789.)") == "":
        lines[-1] = ""
    rows = 0
    while rows < len(lines) and lines[-1 - rows].lstrip().startswith("|"):
        rows += 1
    if rows and not lines[-1].rstrip().endswith("|"):
        lines, rows = lines[:-1], rows - 1
    if rows == 1:  # no table yet
        lines = lines[:-1]
    kept = "\n".join(lines)
    if kept.count("```") % 2:
        return kept
    kept = kept[: len(kept) - 3] + kept[len(kept) - 3 :].rstrip("*_`") if _is_opening(kept) else kept
    last = kept.rpartition("\n\n")[2]
    kept += "`" * (last.count("`") % 2) + "**" * (last.count("**") % 2)
    opened = last.replace("**", "").rpartition("*")
    is_open = last.replace("**", "").count("*") % 2 and opened[0][-1:] in ("", " ", "\n") and opened[2][:1].strip()
    return f"{kept}*" if is_open else kept


def _is_opening(text: str) -> bool:
    """True if a text ends with a mark that opens, or that may be the half of one that closes."""
    last = text.rpartition("\n\n")[2]
    bare = text.rstrip("*_`")
    return bare != text and (bare[-1:] in ("", " ", "\n") or bool(last.count("**") % 2 or last.count("`") % 2))


def is_markdown(name: str) -> bool:
    """False for a file in whose text an asterisk is no mark, by its name."""
    return not name.lower().endswith(_PLAIN)


def blocks_html(blocks: Iterable[dict[str, Any]]) -> str:
    """The blocks of `page_blocks` as HTML."""
    made = ""
    for is_table, group in groupby(blocks, lambda block: block["kind"] in ("head", "row")):
        inside = "".join(_row_html(block) if is_table else _block_html(block) for block in group)
        made += f'<div class="fn-table"><table>{inside}</table></div>' if is_table else inside
    return made


def _block_html(block: dict[str, Any]) -> str:
    before, after = _ELEMENTS.get(block["kind"], ("<p>", "</p>"))
    return f"{before}{''.join(map(_run_html, block['runs']))}{after}"


def _row_html(block: dict[str, Any]) -> str:
    cells, tag = "".join(map(_run_html, block["runs"])).split(_CELL), "th" if block["kind"] == "head" else "td"
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells[1 : -1 if cells[-1] == '' else None])}</tr>"


def _run_html(run: Sequence[Any]) -> str:
    styles, text, _ = run
    if styles == "|":
        return _CELL
    opened = "".join(f"<{_TAGS[each]}>" for each in styles)
    return f"{opened}{escape(text)}{''.join(f'</{_TAGS[each]}>' for each in reversed(styles))}"


def page_blocks(text: str, spans: Sequence[tuple[int, int]], *, is_markdown: bool) -> list[dict[str, Any]]:
    """A document's text as blocks: the kind, the depth, and runs of [styles, words, number of the cited span or None].

    Args:
        text: The text of a document or a part of it.
        spans: Cited spans, ascending and apart.
        is_markdown: False where an asterisk is no mark.
    """
    structure = structure_of(text, mime="text/markdown" if is_markdown else "text/plain")
    shown = reflow(text)
    made: list[dict[str, Any]] = []

    def add(kind: str, start: int, end: int, depth: int = 0) -> None:
        words = _runs(text if kind == "code" else shown, (start, end), structure.markup, spans)
        made.append({"kind": kind, "depth": depth, "runs": words})

    done = 0
    for element in structure.elements:
        add("paragraph", done, element.start)
        start = max(done, element.start if element.kind == "label" else element.body)
        depth = element.level if element.kind in ("heading", "item") else 0
        add(element.kind, start, element.of if element.kind == "code" else element.end, depth)
        done = max(done, element.end)
    add("paragraph", done, len(text))
    return [block for block in made if any(run[1].strip() for run in block["runs"])]


def _runs(
    text: str, within: tuple[int, int], markup: Iterable[Markup], spans: Sequence[tuple[int, int]]
) -> list[list[str | int | None]]:
    """[styles, words, number of the cited span or None] of a part of a text, without this markup."""
    done, end = within
    made: list[list[str | int | None]] = []
    styles = ""
    inside = [span for span in markup if span.end > done and span.start < end]
    for mark in [*inside, Markup(end, end)]:
        for start, stop, number in _cut(done, max(done, min(mark.start, end)), spans):
            made.append([styles, text[start:stop], number])
        raw = text[mark.start : mark.end]
        if raw.strip() == "|":
            made.append(["|", "", None])
        elif mark.words:
            made.append([styles, mark.words, None])
        styles = "".join(sorted({*styles} ^ {*_STYLES.get(raw, "")}))
        done = max(done, mark.end)
    return [run for run in made if run[1] or run[0] == "|"]


def _cut(start: int, end: int, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int | None]]:
    """A span in pieces that are inside or outside of the cited spans, with the number of the one that it is in."""
    for number, (first, last) in enumerate(spans):
        if last <= start or first >= end:
            continue
        if first > start:
            yield start, first, None
        yield max(first, start), min(last, end), number
        start = min(last, end)
    if start < end:
        yield start, end, None


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order; those that overlap or touch are one."""
    found: list[tuple[int, int]] = []
    for start, stop in sorted(span for span in spans if span[0] < span[1]):
        if found and start <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(stop, found[-1][1]))
        else:
            found.append((start, stop))
    return found


def reflow(text: str) -> str:
    """The same text, as long as before, in which a line that was only broken by width runs on."""
    lines = text.split("\n")
    joined = [lines[0]]
    for before, line in pairwise(lines):
        runs_on = len(before) >= _WRAPPED and not _OWN_LINE.match(before[:4]) and not _OWN_LINE.match(line)
        joined.append((" " if runs_on else "\n") + line)
    return "".join(joined)
