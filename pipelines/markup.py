"""What is markup in a text: spans of Markdown, HTML and site templates, each with what a reader reads in its place."""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

_TAGS = frozenset(
    "a abbr address article aside audio b big blockquote body br button caption center cite code col colgroup dd del"
    " details dfn div dl dt em embed figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe"
    " img input ins kbd label li link main map mark meta nav object ol option p param picture pre q rp rt ruby s samp"
    " script section select small source span strike strong style sub summary sup table tbody td template textarea"
    " tfoot th thead time title tr tt u ul var video wbr".split()
)
INLINE_TAGS = frozenset(
    "a abbr b big cite code del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u"
    " var wbr".split()
)
_WITHDRAWN = frozenset(("s", "del", "strike", "script", "style"))  # tags that take their words with them
_SAID = frozenset("content note quote summary text".split())  # attributes of a template's tag that hold sentences
_SPOKEN = _SAID | frozenset("alt caption description label title".split())  # of a shortcode
CELL = " | "

Span = tuple[int, int]


class Markup(NamedTuple):
    """A span that is no words: what is read in its place, and true if it hides words (comments, struck text)."""

    start: int
    end: int
    words: str = ""
    hides: bool = False


_Span = TypeVar("_Span", Markup, Span)


class MarkupScan(NamedTuple):
    """The markup of a text; the contents of its code blocks; its links and images. All ascend and are apart."""

    markup: list[Markup]
    code: list[Span]
    links: list[Span]
    images: list[Span]


_INLINE = re.compile(
    r"""
      (?P<escape> \\(?:[!-/:-@\[-`{-~]|$) )
    | (?P<ticks> `+ )
    | (?P<comment> <!-- | \{/\* | \{-- | \{>> | \{\{/\* | \{\#[ ] | \{\{[<%]\s*comment\b | \{%-?\s*comment\b )
    | (?P<template> \{\{ | \{% )
    | (?P<dropped> [ \t]*\{(?::[^{}\n]{1,200}|[#.][\w.:#="' -]{1,200})\} | \[\^[^\[\]\s]{1,50}\]:?
        | [ \t]\^(?=\w*[A-Za-z]|\w{6})[\w-]{2,60}[ \t]*$ )
    | (?P<address> <(?:https?://|mailto:)[^<>\s]{1,2000}> )
    | (?P<tag> </?(?P<name>[A-Za-z][A-Za-z0-9]*)(?=[\s/>])[^<>]{0,2000}> )
    | (?P<aside> %% )
    | (?P<wiki> !?\[\[(?![ \s])(?P<target>[^\[\]\n|]{1,300}?)(?:\\?\|(?P<alias>[^\[\]\n]{1,300}))?\]\] )
    | (?P<open> [!^]?\[ )
    | (?P<close> \] )
    | (?P<struck> (?<![~\w])~(?=[^~\s])|(?<!~)~~(?!~) )
    | (?P<run> \*+ | _+ | (?<!=)==(?!=) )
    | (?P<emoji> (?<![\w:/`]):(?=[a-z+-])[a-z0-9_+-]{2,40}:(?![\w:/`]) )
    | (?P<field> (?<=\w)::(?=[ \t]) )
    | (?P<entity> &\#?\w{1,32}; )
    | (?P<bar> [ \t]*\|[ \t]* )
    """,
    re.VERBOSE | re.MULTILINE,
)
_SIGN = re.compile(r"[]\\`<{\[^~*_=:&|%]")  # one is in all that `_INLINE` finds, behind blanks and `!` alone
_FENCE = re.compile(
    r"(?P<quote>[ \t>]*)(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(?P<mark>`{3,}(?=[^`\n]*$)|~{3,})"
    r"[ \t{.]*(?P<language>[\w+#-]*)",
    re.MULTILINE,
)
_RULE = re.compile(r"[ \t>]*[-=*_~|:+^#]+[-=*_~|:+^#\s]*")
_COLUMN_RULE = re.compile(r"[ \t>]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+")
_DEFINITION = re.compile(r" {0,3}\*?\[(?!\^)([^\[\]\n]{1,200})\]:[ \t]*\S[^\n]*")
_DEFINED = re.compile(r" {0,3}:[ \t]+(?=\S)")  # what is said of the term on the line above
_IMPORT = re.compile(r"import\s[\w{},*\s$]+\sfrom\s+['\"][^'\"\n]+['\"];?[ \t]*")
_OPENER = re.compile(
    r"[ \t]*(?:(?:!!!|\?\?\?\+?)[ \t]+[\w-]+(?:[ \t]+[\w-]+)*(?:[ \t]+\"(?P<title>[^\"\n]*)\")?"
    r"|===[+!]?[ \t]+\"(?P<tab>[^\"\n]*)\""
    r"|:{3,}[ \t]*(?:\{?[\w-]+\}?)?(?:\[(?P<label>[^\[\]\n]*)\]|[ \t]+(?P<rest>[^\n{]*))?(?:\{[^{}\n]*\})?"
    r"|\{[{%][<%-]?[ \t]*/?(?:end)?tabs?(?:item)?(?:[ \t]+(?:\w+=)?\"(?P<tabbed>[^\"\n]*)\")?[^\n\"]*?[%>-]?[%}]\}"
    r"|</?[A-Z]\w*(?:\s(?:[^<>\n]*?\s)?(?:(?:label|title)=[\"'](?P<shown>[^\"'\n]*)[\"'])?[^<>\n]*)?>)[ \t]*"
)
_LINE_MARKS = re.compile(
    r"[ \t]*(?P<quote>(?:>[ \t]?)*)[ \t]*"
    r"(?:(?P<heading>#{1,6})[ \t]+|[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?|\[![\w -]{1,40}\][+-]?[ \t]*)?"
)
_BREAK = re.compile(r"\n(?=[ \t>]*(?:\n|[-*+•][ \t]|\d{1,3}[.)][ \t]|#{1,6}[ \t]|\||```|~~~|\Z))")
_TARGET = re.compile(r"\((?:[^()\n]|\([^()\n]{0,300}\)){0,2000}+\)|\[[^\[\]\n]{0,200}\]")
_ATTRIBUTE = re.compile(r"""(?:\b([\w-]+)\s{0,3}=\s{0,3})?(?:"([^"]*)"|'([^']*)'|`([^`]*)`)""")
_ROW_BAR = re.compile(r"\\(?=\|)|[ \t]*(?<!\\)\|[ \t]*")
_NO_MARKS = dict.fromkeys(map(ord, " ,.–/()"))  # signs that are no markup behind a letter
_CLOSING = {"<!--": "-->", "{/*": "*/}", "{{/*": "*/}}", "{# ": "#}", "{--": "--}", "{>>": "<<}"}


def _outside_templates(line: str) -> str:
    """A line without its `{{ ... }}`: the bars of a filter there part no cells."""
    first, *others = line.split("{{")
    return first + "".join(part.partition("}}")[2] if "}}" in part else f"{{{{{part}" for part in others)


class _Delimiter:
    """A run of emphasis marks that waits for its partner."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


class _Scanner:
    """Reads a text once, line by line, and notes its markup."""

    def __init__(self, text: str, code: Sequence[Span]) -> None:
        self.text = text
        self.markup: list[Markup] = []
        self.code: list[Span] = []
        self.links: list[Span] = []
        self.images: list[Span] = []
        self._indented = [start for start, _ in code]
        self._indented_ends = [end for _, end in code]
        self._defined: set[str] | None = None
        self._delimiters: dict[str, list[_Delimiter]] = {}
        self._brackets: list[int] = []
        self._block_end = self._raw_until = -1
        self._missing: dict[str, int] = {}  # of a closing mark, up to where there is none
        self._cells = 0
        self._is_row = self._is_table = self._under_rule = False

    def scan(self) -> MarkupScan:
        start = 0
        while start <= len(self.text):
            end = self.text.find("\n", start)
            start = self._line(start, len(self.text) if end < 0 else end)
        markup = outermost(self.markup)
        return MarkupScan(markup, self.code, outermost([*self.links, *self.images]), outermost(self.images))

    def _line(self, start: int, end: int) -> int:
        """Read a line; returns where the next one begins, which may be further down."""
        text = self.text
        held = bisect_right(self._indented, start) - 1
        if held >= 0 and start < self._indented_ends[held]:
            self.code.append((start, self._indented_ends[held]))
            return self._after(self._indented_ends[held])
        if not text[start:end].strip():
            self._end_block()
            self._under_rule = False
            return end + 1
        if fence := _FENCE.match(text, start, end):
            return self._fence(fence, start, end)
        if self._frame(start, end):
            self._end_block()
            return end + 1
        if start > 1 and text[start - 2] != "\n" and (defined := _DEFINED.match(text, start, end)):
            self._note(start - 1, defined.end(), ": ")
            return self._inline(defined.end(), end)
        marks = _LINE_MARKS.match(text, start, end)
        assert marks is not None
        self._is_table = text.startswith("|", marks.end("quote"))
        line = _outside_templates(text[start:end])
        self._is_row = self._is_table or " | " in line or ("|" in line and self._is_in_table(end))
        if marks.end() > marks.end("quote") or self._is_row:
            self._end_block()
        if marks[0].strip():
            self._note(start, marks.end())
        if marks["heading"]:
            words = text[start:end].rstrip()
            self._note(start + len(words.rstrip("#")), end)
        return self._inline(marks.end(), end)

    def _is_in_table(self, end: int) -> bool:
        """True if a rule below the names of columns stood above in this block, or stands right below."""
        last = self.text.find("\n", end + 1)
        rule = _COLUMN_RULE.fullmatch(self.text, end + 1, last if last >= 0 else len(self.text))
        self._under_rule = self._under_rule or rule is not None
        return self._under_rule

    def _after(self, position: int) -> int:
        """Where the line after the one of a position begins."""
        found = self.text.find("\n", position)
        return len(self.text) + 1 if found < 0 else found + 1

    def _end_block(self) -> None:
        self._delimiters.clear()
        self._brackets.clear()

    def _note(self, start: int, end: int, words: str = "", *, hides: bool = False) -> None:
        if start < end:
            self.markup.append(Markup(start, end, words, hides))

    def _fence(self, opening: re.Match[str], start: int, end: int) -> int:
        """Note the lines of a fence and the quote marks between them; what is not closed is code to the end."""
        text, mark = self.text, opening["mark"]
        self._end_block()
        self._note(start, end)
        first = at = min(end + 1, len(text))
        while at < len(text):
            last = text.find("\n", at)
            last = len(text) if last < 0 else last
            line = text[at:last].strip(" \t>")
            if line.startswith(mark) and not line.strip(mark[0]):
                self._note(at, last)
                break
            if ">" in opening["quote"]:
                inset = len(text[at:last]) - len(text[at:last].lstrip("> \t"))
                self._note(at, at + inset)
            at = last + 1
        else:
            last = len(text)
        self.code.append((first, min(at, len(text))))
        return last + 1

    def _frame(self, start: int, end: int) -> bool:
        """Note a line that frames others: a rule, a definition of a link, an opener or end of a container."""
        text = self.text
        if any(frame.fullmatch(text, start, end) for frame in (_RULE, _DEFINITION, _IMPORT)):
            self._note(start, end)
            return True
        if found := opener(text, start, end):
            self._note(start, found[0])
            self._note(found[1], end)
            return True
        return False

    def _inline(self, start: int, end: int) -> int:
        """Read a line's words; returns where the next line begins."""
        if self._is_row and self.text.startswith("|", start):
            self._note(start, start + 1)
            start += 1
        self._cells = 0 if self._is_row else self._cells
        while found := self._next_inline(start, end):
            kind = found.lastgroup if found.lastgroup not in ("name", "target", "alias") else ""
            kind = kind or ("tag" if found["tag"] else "wiki")
            start = max(getattr(self, f"_read_{kind}")(found, end), found.start() + 1)
            if start > end:
                end = self.text.find("\n", start - 1)
                end = len(self.text) if end < 0 else end
        return end + 1

    def _next_inline(self, start: int, end: int) -> re.Match[str] | None:
        """The next match of `_INLINE`, without trying it at each letter before the first sign."""
        if (sign := _SIGN.search(self.text, start, end)) is None:
            return None
        at = sign.start()
        while at > start and self.text[at - 1] in " \t!":
            at -= 1
        return _INLINE.search(self.text, at, end)

    def _limit(self, position: int) -> int:
        """Where the block of a position ends."""
        if self._block_end < position:
            found = _BREAK.search(self.text, position)
            self._block_end = found.start() if found else len(self.text)
        return self._block_end

    def _find(self, mark: str, position: int, limit: int) -> int:
        """Where a closing mark stands before a limit; -1 for none. Never looks twice where there is none."""
        if self._missing.get(mark, -1) >= limit:
            return -1
        found = self.text.find(mark, position, limit)
        if found < 0:
            self._missing[mark] = limit
        return found

    def _read_dropped(self, found: re.Match[str], end: int) -> int:
        """Attributes, references to footnotes and ids of blocks show nothing."""
        self._note(*found.span())
        return found.end()

    def _read_escape(self, found: re.Match[str], end: int) -> int:
        self._note(found.start(), found.start() + 1)
        return found.end()

    def _read_ticks(self, found: re.Match[str], end: int) -> int:
        """A code span: only a bar's backslash is markup in it, and only in a row."""
        mark, start, limit = found[0], found.end(), self._limit(found.end())
        if self._is_table:
            limit = next((at for at in range(start, end) if self.text[at] == "|" and self.text[at - 1] != "\\"), end)
        if self._missing.get(mark, -1) >= limit:
            return start
        closing = self._run_of_ticks(len(mark), start, limit)
        if closing < 0:
            self._missing[mark] = limit
            return start
        self._note(*found.span())
        self._note(closing, closing + len(mark))
        escaped = self.text.find("\\|", start, closing) if self._is_table else -1
        while escaped >= 0:
            self._note(escaped, escaped + 1)
            escaped = self.text.find("\\|", escaped + 1, closing)
        return closing + len(mark)

    def _run_of_ticks(self, length: int, start: int, limit: int) -> int:
        """Where a run of just as many ticks stands; -1 for none."""
        while (first := self.text.find("`", start, limit)) >= 0:
            start = first
            while start < limit and self.text[start] == "`":
                start += 1
            if start - first == length:
                return first
        return -1

    def _read_comment(self, found: re.Match[str], end: int) -> int:
        opening, whole = found[0], len(self.text)
        if opening.endswith("comment"):
            last = self._find("endcomment" if "%" in opening and "<" not in opening else "/comment", found.end(), whole)
            mark = "%}" if opening.startswith("{%") else "}}"
            closing = self._find(mark, last, whole) + len(mark) if last >= 0 else -1
            closing = closing if closing >= len(mark) else -1
        else:
            mark = _CLOSING[opening]
            closing = self._find(mark, found.end(), whole) + len(mark)
            closing = closing if closing >= len(mark) else -1
        if closing < 0:
            return found.end()
        self._note(found.start(), closing, hides=True)
        return closing

    def _read_template(self, found: re.Match[str], end: int) -> int:
        """A tag of a site's templates; what a shortcode says in quotes is read in its place."""
        start = found.start()
        mark = "}}" if found[0] == "{{" else "%}"
        last = self._find(mark, found.end(), self._limit(found.end()))
        inside = self.text[found.end() : last].strip("-<>% ") if last >= 0 else ""
        if last < 0 or (start < self._raw_until and not inside.startswith("endraw")):
            return found.end()
        if inside == "raw":
            ended = self._find("endraw", last, len(self.text))
            self._raw_until = ended if ended >= 0 else self._raw_until
        is_shortcode = mark == "}}" and self.text[found.end() : found.end() + 1] in ("<", "%")
        self._note(start, last + 2, _spoken(inside, is_shortcode=is_shortcode) if is_shortcode or mark == "%}" else "")
        return last + 2

    def _read_address(self, found: re.Match[str], end: int) -> int:
        self._note(found.start(), found.start() + 1)
        self._note(found.end() - 1, found.end())
        self.links.append((found.start(), found.end()))
        return found.end()

    def _read_tag(self, found: re.Match[str], end: int) -> int:
        name, whole = found["name"].lower(), found[0]
        if name not in _TAGS:
            return found.start() + 1
        if name in _WITHDRAWN and not whole.startswith("</"):
            closing = self._find(f"</{name}>", found.end(), len(self.text))
            if closing >= 0:
                self._note(found.start(), closing + len(name) + 3, hides=True)
                return closing + len(name) + 3
        words = "" if name in INLINE_TAGS else " "
        if name == "img":
            words = next((_said(each) for each in _ATTRIBUTE.finditer(whole) if (each[1] or "").lower() == "alt"), "")
            self.images.append(found.span())
        elif name in ("td", "th") and not whole.startswith("</"):
            words = CELL if self._cells else " "
            self._cells += 1
        elif name == "tr":
            self._cells = 0
        self._note(*found.span(), words)
        return found.end()

    def _read_aside(self, found: re.Match[str], end: int) -> int:
        """A comment of Obsidian, inside a paragraph or between lines of its own."""
        start, text = found.start(), self.text
        is_line = not text[text.rfind("\n", 0, start) + 1 : start].strip() and not text[found.end() : end].strip()
        if not is_line and start and (text[start - 1].isalnum() or text[start - 1] == "%"):
            return found.end()
        closing = self._find("%%", found.end(), len(text) if is_line else self._limit(found.end()))
        if closing < 0:
            return found.end()
        self._note(start, closing + 2, hides=True)
        return closing + 2

    def _read_wiki(self, found: re.Match[str], end: int) -> int:
        """A link of a wiki shows its alias, else its page; what it embeds shows nothing."""
        if found[0].startswith("!") or found["target"].lower().strip("_") == "toc":
            self._note(*found.span())
        elif found["alias"]:
            self._note(found.start(), found.start("alias"))
            self._note(found.end("alias"), found.end())
            self.links.append(found.span())
        else:
            self._note(*found.span(), " > ".join(part for part in found["target"].lstrip("#").split("#")))
            self.links.append(found.span())
        return found.end()

    def _read_open(self, found: re.Match[str], end: int) -> int:
        self._brackets.append(found.start())
        return found.end()

    def _read_close(self, found: re.Match[str], end: int) -> int:
        """The end of a link or an image: an image inside a link is a badge, which says nothing."""
        if not self._brackets:
            return found.end()
        text, start = self.text, self._brackets.pop()
        if text[start] == "^":
            self._note(start, start + 2, " (")
            self._note(*found.span(), ")")
            return found.end()
        is_image = text[start] == "!"
        first = start + 1 + is_image
        target = _TARGET.match(text, found.end())
        if target is None and not (found.start() > first and self._is_defined(text[first : found.start()])):
            return found.end()
        after = target.end() if target else found.end()
        if is_image and start and text[start - 1] == "[" and text[after : after + 2] in ("](", "]["):
            self._note(start, after)
        else:
            self._note(start, first)
            self._note(found.start(), after)
        (self.images if is_image else self.links).append((start, after))
        return after

    def _is_defined(self, label: str) -> bool:
        if self._defined is None:
            definitions = (_DEFINITION.match(line) for line in self.text.split("\n") if "]:" in line)
            self._defined = {" ".join(each[1].casefold().split()) for each in definitions if each}
        return bool(self._defined) and " ".join(label.casefold().split()) in self._defined

    def _read_struck(self, found: re.Match[str], end: int) -> int:
        mark = found[0]
        closing = self._find(mark, found.end(), self._limit(found.end()))
        inside = self.text[found.end() : max(closing, found.end())]
        after = self.text[closing + len(mark) : closing + len(mark) + 1]
        is_part = len(mark) == 1 and (after.isalnum() or after == "~")  # `~5 ms` and `~/bin` are struck by no other one
        if not inside or inside[0].isspace() or inside[-1].isspace() or is_part:
            return found.end()
        self._note(found.start(), closing + len(mark), hides=True)
        return closing + len(mark)

    def _read_run(self, found: re.Match[str], end: int) -> int:
        """A run of emphasis marks closes the last one of its kind that stands open, or opens one."""
        start, after, mark = found.start(), found.end(), found[0][0]
        before = self.text[start - 1] if start else " "
        following = self.text[after] if after < len(self.text) else " "
        opens = not following.isspace() and (following.isalnum() or before.isspace() or not before.isalnum())
        closes = not before.isspace() and (before.isalnum() or following.isspace() or not following.isalnum())
        if mark in "_=" and before.isalnum() and following.isalnum():
            return after
        waiting = self._delimiters.setdefault(mark, [])
        while closes and start < after and waiting:
            count = min(after - start, waiting[-1].end - waiting[-1].start)
            self._note(waiting[-1].end - count, waiting[-1].end)
            self._note(start, start + count)
            start += count
            waiting[-1].end -= count
            if waiting[-1].start == waiting[-1].end:
                waiting.pop()
        if opens and start < after:
            waiting.append(_Delimiter(start, after))
        return after

    def _read_emoji(self, found: re.Match[str], end: int) -> int:
        before = self.text[: found.start()][-1:] == " " and not self.text[found.end() : found.end() + 1].isalnum()
        self._note(found.start() - before, found.end())
        return found.end()

    def _read_field(self, found: re.Match[str], end: int) -> int:
        self._note(found.start() + 1, found.end())
        return found.end()

    def _read_entity(self, found: re.Match[str], end: int) -> int:
        words = html.unescape(found[0])
        if words != found[0]:
            self._note(*found.span(), words)
        return found.end()

    def _read_bar(self, found: re.Match[str], end: int) -> int:
        if self._is_row:
            self._note(*found.span(), CELL if self.text[found.end() : end].strip() else "")
        return found.end()


def outermost(spans: Sequence[_Span]) -> list[_Span]:
    """The spans that begin in no other one, ascending."""
    kept: list[_Span] = []
    done = 0
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if span[0] >= done:
            kept.append(span)
            done = span[1]
    return kept


def fence_of(text: str, start: int, end: int) -> str | None:
    """The language of a fenced block of code, maybe empty; None where no fence opens it."""
    found = _FENCE.match(text, start, end)
    return found["language"] if found else None


def bars_of_row(text: str, start: int, end: int) -> Iterator[Markup]:
    """The bars of a row between `start` and `end`, and the strokes before those that are a cell's own."""
    for found in _ROW_BAR.finditer(text, start, end):
        if found[0] == "\\":
            yield Markup(*found.span())
        else:
            yield Markup(*found.span(), CELL if found.start() > start and found.end() < end else "")


def _said(attribute: re.Match[str]) -> str:
    return next((value for value in attribute.groups()[1:] if value is not None), "")


def _spoken(tag: str, *, is_shortcode: bool) -> str:
    """What a tag says in quotes: sentences, and of a shortcode also what names or describes what is shown."""
    names = _SPOKEN if is_shortcode else _SAID
    values = [((each[1] or "").lower(), _said(each)) for each in _ATTRIBUTE.finditer(tag)]
    return " ".join(said for name, said in values if name in names or (is_shortcode and not name and " " in said))


def opener(text: str, start: int, end: int) -> Span | None:
    """The span of the title of a line that opens or ends an admonition, a tab or another container; None for others."""
    found = _OPENER.fullmatch(text, start, end)
    if found is None:
        return None
    return next((found.span(name) for name in _OPENER.groupindex if found[name]), (end, end))


def scan_markup(text: str, code: Sequence[Span] = ()) -> MarkupScan:
    """The markup of a Markdown text; nothing inside code is markup. Takes time linear in the text.

    Links, emphasis and images show their text, wiki links their alias, shortcodes what they say in quotes. Comments and
    struck text hide their words. Badges, tags, templates, ids, emoji codes, rules and the marks of lines show nothing.

    Args:
        text: Markdown.
        code: Spans of indented code, ascending; fences are found.
    """
    return _Scanner(text, code).scan()


def replaced(text: str, markup: Sequence[Markup], start: int = 0, end: int | None = None) -> str:
    """A part of a text with what is read in place of its markup, which ascends."""
    end = len(text) if end is None else end
    kept: list[str] = []
    for at in range(max(bisect_right(markup, (start,)) - 1, 0), len(markup)):
        span = markup[at]
        if span.end <= start:
            continue
        if span.start >= end:
            break
        kept += [text[start : span.start], span.words if start <= span.start else ""]
        start = max(start, min(span.end, end))
    return "".join((*kept, text[start:end]))


def plain(text: str, *, images: bool = True) -> str:
    """The words of a Markdown or HTML text: linked, emphasised and alternative text stays, markup goes.

    What counts as markup says `scan_markup`; bars between cells become spaces, code keeps its characters.

    Args:
        text: Markdown.
        images: False to drop the alternative texts of images as well.
    """
    if text[:1].isalpha() and text.translate(_NO_MARKS).isalnum():
        return _with_single_spaces(text)
    scan = scan_markup(text)
    markup = scan.markup if images else outermost([*(Markup(*span) for span in scan.images), *scan.markup])
    spans = [span._replace(words=" ") if span.words == CELL else span for span in markup]
    kept: list[str] = []
    done = 0
    for start, end in scan.code:
        kept += [_tidied(replaced(text, spans, done, start)), "\n".join(_code_lines(replaced(text, spans, start, end)))]
        done = end
    kept.append(_tidied(replaced(text, spans, done)))
    return _with_single_gaps("\n".join(kept))


def _with_single_gaps(text: str) -> str:
    """The text with at most one empty line in a row, and none at its ends."""
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip()


def _code_lines(code: str) -> Iterator[str]:
    yield from (line.rstrip() for line in code.strip("\n").split("\n"))


def _tidied(text: str) -> str:
    return "\n".join(_with_single_spaces(line) for line in text.split("\n"))


def _with_single_spaces(line: str) -> str:
    return " ".join(filter(None, line.replace("\t", " ").replace("\xa0", " ").split(" "))).strip()


def without_rendering_marks(text: str) -> str:
    """The text of a loader's rendering without code fences, table pipes and list dashes."""
    lines = (_without_line_marks(line) for line in text.split("\n") if not _FENCE.match(line))
    return _with_single_gaps("\n".join(lines))


def with_opening_fence(text: str) -> str:
    """A part of a code block with an opening fence, unless it has one."""
    opened = any(_FENCE.match(line) for line in text.split("\n")[:-1])  # on the last line it closes
    return text if opened else f"```\n{text}"


def _without_line_marks(line: str) -> str:
    if not (line.startswith("| ") and line.endswith(" |")):
        item = line.lstrip(" ")
        return item[2:] if item.startswith("- ") and item[2:3].strip() else line
    if not line.strip("|- "):
        return ""
    cells = line.replace("\\|", "\x00").replace("|", " ").replace("\x00", "|")
    return _with_single_spaces(cells)


def without_comments(text: str) -> str:
    """The text without `<!-- ... -->`; an unclosed comment stays."""
    kept, start = [], 0
    while (opened := text.find("<!--", start)) >= 0:
        closed = text.find("-->", opened + 4)
        if closed < 0:
            break
        kept.append(text[start:opened])
        start = closed + 3
    kept.append(text[start:])
    return "".join(kept)
