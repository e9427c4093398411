"""The Markdown of an answer: the headings, lists, tables and code blocks around its sentences."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from pipelines.query.citation_markers import escape_markers, numbers_of, split_markers
from pipelines.structure import sentences
from pipelines.text import Span

_HEADING = re.compile(r" {0,3}(?:#{1,6} .{1,120}|(?:\*\*|__)[^*_\n]{1,80}(?:\*\*|__):?)\s*")
_FENCES = ("```", "~~~")
# In code, a marker stands at the end of a line and after no operator: `a[0]` and `a = [1]` are code.
_CODE_MARKERS = re.compile(r"(?<![-=(\[{,:+*/<>|&\s])(?:[ \t]+\[\d{1,3}\])+[ \t]*$")
_FOOTNOTES = re.compile(r"(?: \[\d+\])*")
_ITEM = re.compile(r"(?:\A|\n)[ \t]*(?:[-*+•]|(\d{1,3}[.)]))(?: \[[ xX]\])?[ \t]+\Z")
_LONGEST_TITLE = 120
Kind = Literal["heading", "paragraph", "bullets", "numbers", "code", "table"]


class CitedText(NamedTuple):
    """A sentence as a model wrote it, without markers.

    `before` is what stands between the sentence before and this one: spaces, list marks, headings, fences. A line of
    code keeps its spaces. `quote` are the words of the source that it shows in another form; empty where they are its
    own. `cells` are those of a row of a table, each with the name of its column before it.
    """

    text: str
    citations: tuple[int, ...]
    before: str = " "
    is_code: bool = False
    quote: str = ""
    cells: tuple[tuple[str, str], ...] = ()


def cited_sentences(text: str, valid: Sequence[int]) -> list[CitedText]:
    """The sentences of an answer in order, with the sources that each cites; numbers outside `valid` are dropped.

    A marker belongs to the sentence that it stands in or directly after; one before the first sentence, to the first.
    A heading without a marker is no sentence, unless nothing else is left.
    """
    clean, markers, code, headings = _without_markers(text)
    prose = clean
    for start, end in (*code, *headings):
        prose = prose[:start] + "\n".join(" " * len(line) for line in prose[start:end].split("\n")) + prose[end:]
    lines = {span for block in code for span in _code_lines(clean, block)}
    spans = sorted([*sentences(prose), *lines]) or sentences(clean)
    numbers: list[list[int]] = [[] for _ in spans]
    for at, n in markers:
        owner = max((index for index, (start, _) in enumerate(spans) if start < at), default=0)
        if spans and n in valid and n not in numbers[owner]:
            numbers[owner].append(n)
    found, done = [], 0
    for (start, end), own in zip(spans, numbers, strict=True):
        is_code = (start, end) in lines
        words = clean[start:end] if is_code else escape_markers(" ".join(clean[start:end].split()))
        found.append(CitedText(words, tuple(own), clean[done:start], is_code))
        done = end
    return found


def _without_markers(text: str) -> tuple[str, list[tuple[int, int]], list[Span], list[Span]]:
    """(the text without markers, (offset, number) of each marker, the spans of fenced code, the spans of headings)."""
    clean = ""
    markers: list[tuple[int, int]] = []
    code: list[Span] = []
    headings: list[Span] = []
    for part, kind in _parts(text):
        start = len(clean)
        if kind == "prose":
            found, own = split_markers(part)
            markers += [(start + marker.at, marker.n) for marker in own]
            clean += found
        elif kind == "heading":
            clean += part
            headings.append((start, start + len(part.rstrip("\n"))))
        else:
            for line in part.splitlines(keepends=True):
                bare = line.rstrip("\n")
                cited = _CODE_MARKERS.search(bare)
                clean += bare[: cited.start()] if cited else bare
                markers += [(len(clean), n) for n in numbers_of(cited.group())] if cited else []
                clean += "\n" * line.endswith("\n")
            code.append((start, len(clean)))
    return clean, markers, code, headings


def _code_lines(text: str, block: Span) -> list[Span]:
    """The spans of the lines of a code block without its fences, trimmed."""
    found, start = [], block[0]
    for line in text[slice(*block)].split("\n"):
        if line.strip() and not _is_fence(line):
            first = start + len(line) - len(line.lstrip())
            found.append((first, first + len(line.strip())))
        start += len(line) + 1
    return found


def _is_fence(line: str) -> bool:
    return line.lstrip(" \t").startswith(_FENCES)


def _is_opening(line: str) -> bool:
    """True for a fence with nothing behind it but the name of a language."""
    name = line.strip().lstrip("`~").lstrip()
    return _is_fence(line) and all(sign.isalnum() or sign in "_+#.-" for sign in name)


def _is_heading(line: str) -> bool:
    return _HEADING.fullmatch(line) is not None and not split_markers(line)[1]


def _underlined(text: str, line: str) -> str:
    """The line of its own at the end of a text, if the next line underlines it as a heading; else empty."""
    above, _, title = text.removesuffix("\n").rpartition("\n")
    is_underline = line.rstrip() in ("=" * len(line.rstrip()), "-" * len(line.rstrip())) and len(line.rstrip()) > 2
    is_alone = text.endswith("\n") and (not above or above.endswith("\n")) and len(title) <= _LONGEST_TITLE
    is_title = is_alone and title[:1].strip() != "" and title[0] not in "|>*+-" and not split_markers(title)[1]
    return f"{title}\n" if is_underline and is_title else ""


def _parts(text: str) -> list[tuple[str, Literal["prose", "heading", "code"]]]:
    """The text cut into prose, headings without a marker, and fenced code with its fences, closed or not."""
    parts: list[tuple[str, Literal["prose", "heading", "code"]]] = [("", "prose")]
    for line in text.splitlines(keepends=True):
        own, kind = parts[-1]
        if kind == "code" and _is_fence(line):
            rest = line.lstrip(" \t").lstrip(line.lstrip(" \t")[0])
            parts[-1] = (own + line[: len(line) - len(rest)] + "\n" * bool(rest.strip()), kind)
            parts.append((rest, "prose"))
        elif kind == "code":
            parts[-1] = (own + line, kind)
        elif _is_opening(line):
            parts.append((line, "code"))
        elif _is_heading(line):
            parts += [(line, "heading"), ("", "prose")]
        elif title := _underlined(own, line):
            parts[-1] = (own.removesuffix(title), kind)
            parts += [(title + line, "heading"), ("", "prose")]
        else:
            parts[-1] = (own + line, kind)
    return parts


def without(parts: Sequence[CitedText], dropped: Iterable[int]) -> list[CitedText]:
    """The sentences without some of them; headings, fences and line breaks before a dropped one stay."""
    gone, kept, carried = set(dropped), list[CitedText](), ""
    for index, part in enumerate(parts):
        before = part.before
        if carried and "\n" not in before:
            before = carried
        elif marks := [line for line in carried.split("\n") if _HEADING.fullmatch(line) or _is_fence(line)]:
            before = "\n" + "\n".join(marks) + before
        if index in gone:
            carried = before
        else:
            kept.append(part._replace(before=before))
            carried = ""
    return kept


def joined(parts: Sequence[CitedText]) -> str:
    """The answer's Markdown: each sentence after what stood before it, and followed by its markers.

    The markers of code follow its block. What reads as a marker in a sentence is put into round brackets; code stays as
    it is, since nothing inside of it is a marker.
    """
    made = ""
    of_code: list[int] = []
    for part in parts:
        gap = _gap(part)
        made += _with_code_markers(gap, of_code) if made or gap.strip() else ""
        made += part.text if part.is_code else escape_markers(part.text) + _markers(part.citations)
        of_code += [n for n in part.citations if part.is_code and n not in of_code]
    if parts and parts[-1].is_code:
        opening = next(line for line in reversed(made.split("\n")) if _is_fence(line))
        rest = opening.lstrip(" \t").lstrip("`~")
        made += _with_code_markers(f"\n{opening.removesuffix(rest)}", of_code)
    while "\n\n\n" in made:
        made = made.replace("\n\n\n", "\n\n")
    return made.strip("\n")


def _gap(part: CitedText) -> str:
    """The separator before a sentence of an answer; a single line break inside a paragraph is a space."""
    before = part.before
    if before.strip() or (part.is_code and "\n" in before):
        lines = before.split("\n")
        return "\n".join([*(line.rstrip() for line in lines[:-1]), lines[-1]]) if len(lines) > 1 else before
    if before.count("\n") > 1:
        return "\n\n"
    return "\n" if "\n" in before and part.text.startswith("|") else " "


def _with_code_markers(gap: str, of_code: list[int]) -> str:
    """The gap with the markers of the code block that it closes, which are taken."""
    lines = gap.split("\n")
    closing = next((at for at, line in enumerate(lines) if _is_fence(line)), None)
    if closing is None or not of_code:
        return gap
    lines[closing + 1 : closing + 1] = [_markers(of_code).strip(), ""]
    of_code.clear()
    return "\n".join(lines)


def _markers(citations: Iterable[int]) -> str:
    return "".join(f" [{n}]" for n in citations)


# Reading an answer's text


class AnswerBlock(NamedTuple):
    """A part of an answer's text: a heading with its text, or the indexes of the sentences in each of its lines.

    A line is an item of a list, a line of code or a row of a table; a paragraph is one. `indents` are of code.
    """

    kind: Kind
    text: str = ""
    lines: tuple[tuple[int, ...], ...] = ()
    indents: tuple[str, ...] = ()


def spans_in(answer: str, texts: Sequence[str]) -> list[Span]:
    """The span of each sentence in the answer's text, its markers included; (-1, -1) for one that is not found."""
    found, done = [], 0
    for text in texts:
        form = next((form for form in (escape_markers(text), text) if answer.find(form, done) >= 0), None)
        start = answer.find(form, done) if form else -1
        after = _FOOTNOTES.match(answer, start + len(form)) if form else None
        done = after.end() if after else done
        found.append((start, done) if after else (-1, -1))
    return found


def blocks_of(answer: str, texts: Sequence[str]) -> list[AnswerBlock]:
    """The headings, paragraphs, lists, tables and code blocks of an answer's text, with the sentences in each."""
    made: list[AnswerBlock] = []
    done, is_code = 0, False
    for index, (start, end) in enumerate(spans_in(answer, texts)):
        gap = answer[done:start] if start >= 0 else " "
        done = max(done, end)
        fences = 0
        for line in gap.split("\n"):
            fences += _is_fence(line)
            if is_code == (fences % 2 == 1) and _HEADING.fullmatch(line):
                made.append(AnswerBlock("heading", line.strip(" #*_:")))
        is_code ^= fences % 2 == 1
        kind = _kind(gap, made[-1].kind if made else "heading", is_code=is_code)
        if kind == "paragraph" and texts[index].startswith("|") and texts[index].endswith("|"):
            kind = "table"
        indents = (gap.rpartition("\n")[2],) if is_code else ()
        is_new_line = "\n" in gap or _ITEM.search(gap) is not None
        if not made or made[-1].kind != kind or fences or (kind == "paragraph" and is_new_line):
            made.append(AnswerBlock(kind, "", ((index,),), indents))
        elif is_new_line:
            last = made[-1]
            made[-1] = last._replace(lines=(*last.lines, (index,)), indents=(*last.indents, *indents))
        else:
            *others, line_before = made[-1].lines
            made[-1] = made[-1]._replace(lines=(*others, (*line_before, index)))
    return made


def _kind(gap: str, before: Kind, *, is_code: bool) -> Kind:
    """The kind of the block that a sentence after this gap belongs to."""
    if is_code:
        return "code"
    if item := _ITEM.search(gap):
        return "numbers" if item[1] else "bullets"
    return before if "\n" not in gap and before in ("bullets", "numbers") else "paragraph"
