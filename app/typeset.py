"""Text from documents and models as HTML and Markdown that cannot act: escaped, reflowed, highlighted."""

import re
from collections.abc import Sequence
from html import escape
from itertools import pairwise

from pipelines.markup import scan_markup

AROUND = 400
# What means something in Markdown, in Streamlit's additions to it, or to a reader that makes links of addresses.
_MARKDOWN = re.compile(
    r"[\\`*_{}\[\]<>#|~$!&@]|:(?=[A-Za-z/_+-])|(?<=www)\.|^[+\-](?=\s)|(?<=^\d)[.)](?=\s)|(?<=^\d\d)[.)](?=\s)"
)
_OWN_LINE = re.compile(r"[ \t]*(?:[-*+•·–>|#]|\d{1,3}[.)]\s|```|~~~|$)")
_STYLES = {"**": "b", "__": "b", "*": "i", "_": "i", "***": "bi", "`": "c", "``": "c"}
_REACH = 40  # characters in which a word ends
_WRAPPED = 50  # a line this long that is followed by running text was broken by width, not by meaning


def literal(text: str) -> str:
    """Markdown that shows exactly this text, on one line: no link, image, icon, colour or formula comes of it."""
    return _MARKDOWN.sub(r"\\\g<0>", " ".join(text.split()))


def runs(text: str) -> list[list[str]]:
    """[styles, words] of a sentence in Markdown; styles are `b` bold, `i` italic, `c` code, `|` the end of a cell.

    Nothing else is taken out: a tag or a bracket stays, as it may be what the sentence is about.
    """
    made: list[list[str]] = []
    done, on = 0, ""
    is_row = text.startswith("|") and text.endswith("|")
    for span in scan_markup(text).markup:
        raw = text[span.start : span.end]
        style = _STYLES.get(raw)
        is_bar = is_row and raw.strip() == "|"
        if not style and not is_bar:
            continue
        made.append([on, text[done : span.start]])
        done = span.end
        if is_bar:
            made.append(["|", ""])
            done = len(text) - len(text[span.end :].lstrip(" "))
        else:
            on = "".join(sorted({*on} ^ {*(style or "")}))
    return [run for run in [*made, [on, text[done:]]] if run[1] or run[0] == "|"]


def running_html(pieces: Sequence[str | int], standing_in: str = "") -> str:
    """An answer while it is written: escaped text, and the numbers of its footnotes.

    With `standing_in`, the note of that text above it, it is marked as a quotation that will be replaced.
    """
    body = "".join(
        f'<sup class="fn-mark">{piece}</sup>' if isinstance(piece, int) else escape(piece) for piece in pieces
    )
    note = f'<p class="fn-note">{escape(standing_in)}</p>' if standing_in else ""
    kind = "fn-prose fn-running fn-preview" if standing_in else "fn-prose fn-running"
    return f'{note}<div class="{kind}" aria-live="polite">{body}<span class="fn-caret"></span></div>'


def passage_html(text: str, spans: Sequence[tuple[int, int]], *, cut_before: bool, cut_after: bool) -> str:
    """A passage with its spans (offsets in `text`) marked; an ellipsis where the document continues."""
    begin = _whole_word(text, 0) if cut_before else 0
    end = _last_word(text) if cut_after else len(text)
    begin = min([begin, *(start for start, _ in spans)])
    end = max([end, *(stop for _, stop in spans)])
    body = marked(reflow(text)[begin:end], [(start - begin, stop - begin) for start, stop in spans])
    return f"{'… ' if begin or cut_before else ''}{body}{' …' if cut_after else ''}"


def marked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Escaped text with `<mark>` around each span; spans may overlap or touch and are then one."""
    html, done = [], 0
    for start, stop in _merged(spans):
        html += [escape(text[done:start]), "<mark>", escape(text[start:stop]), "</mark>"]
        done = stop
    return "".join([*html, escape(text[done:])])


def reflow(text: str) -> str:
    """The same text, as long as before, in which a line that was only broken by width runs on."""
    lines = text.split("\n")
    joined = [lines[0]]
    for before, line in pairwise(lines):
        runs_on = len(before) >= _WRAPPED and not _OWN_LINE.match(before[:4]) and not _OWN_LINE.match(line)
        joined.append((" " if runs_on else "\n") + line)
    return "".join(joined)


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(span for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _whole_word(text: str, at: int) -> int:
    window = text[at : at + _REACH]
    gap = next((place for place, char in enumerate(window) if char.isspace()), None)
    return at if gap is None else at + len(window) - len(window[gap:].lstrip())


def _last_word(text: str) -> int:
    window = text[-_REACH:]
    gap = next((place for place in reversed(range(len(window))) if window[place].isspace()), None)
    return len(text) if gap is None else len(text) - len(window) + len(window[:gap].rstrip())
