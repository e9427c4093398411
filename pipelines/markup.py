"""Remove Markdown and HTML markup from a text, for indexing only."""

import html
import re

_TAGS = (
    "a abbr address article aside audio b big blockquote body br button caption center cite code col colgroup dd del"
    " details dfn div dl dt em embed figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe"
    " img input ins kbd label li link main map mark meta nav object ol option p param picture pre q rp rt ruby s samp"
    " script section select small source span strike strong style sub summary sup table tbody td template textarea"
    " tfoot th thead time title tr tt u ul var video wbr"
).split()
INLINE_TAGS = frozenset(
    "a abbr b big cite code del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u"
    " var wbr".split()
)
_TAG = re.compile(rf"</?({'|'.join(sorted(_TAGS, key=len, reverse=True))})(?:[\s/][^<>]{{0,2000}})?>", re.IGNORECASE)
_ALT = re.compile(r"""\salt\s{0,3}=\s{0,3}(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_TARGET = r"\((?:[^()\n]|\([^()\n]{0,300}\)){0,2000}+\)"
_IMAGE = re.compile(rf"!\[([^\[\]]{{0,1000}})\](?:{_TARGET}|\[[^\[\]\n]{{0,200}}\])")
_PLACE = r"(?:\([^()\n]*\)|\[[^\[\]\n]*\])"
_PICTURE = re.compile(rf"\[?!\[[^\[\]]*\]{_PLACE}(?:\]{_PLACE})?|<img\b[^<>]*>", re.IGNORECASE)
_LINK = re.compile(rf"\[([^\[\]]{{1,1000}})\](?:{_TARGET}|\[[^\[\]\n]{{0,200}}\])")
_DEFINITION = re.compile(r"^ {0,3}\[[^\[\]\n]{1,200}\]:[ \t]*\S[^\n]*$", re.MULTILINE)
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,50}\]")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]{1,2000})>")
_TEMPLATE = re.compile(r"\{%[^%\n]{0,500}%\}|\{:[^{}\n]{1,200}\}")
_STARS = re.compile(r"(?<!\\)(?:\*{1,3}|~~)(?=\S)|(?<=\S)(?<!\\)(?:\*{1,3}|~~)")
_UNDERSCORES = re.compile(r"(?<![\w\\])(_{1,3})(?=[^\s_])([^_\n]{1,500}(?:_[^_\n]{1,200}){0,10}?)(?<=\S)\1(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)([^`\n]{1,2000})\1(?!`)")
_LINE_MARKS = re.compile(r"^[ \t]*(?:>[ \t]?)*[ \t]*(?:#{1,6}[ \t]+|[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?)?")
_RULE = re.compile(r"[-=*_~|:+^#\s]+")
_DASH = re.compile(r"^ *- (?=\S)")
_TABLE_RULE = re.compile(r"\|(?: --- \|)+")
_FENCE = re.compile(r"[ \t>]*(?:```|~~~)")
_SPACES = re.compile(r"[ \t\xa0]+")
_BLANK_LINES = re.compile(r"\n{3,}")


def plain(text: str) -> str:
    """The words of a Markdown or HTML text: linked, emphasised and alternative text stays, markup goes.

    Images become their alternative text, links their text; comments, tags, link targets, emphasis, table rules and list
    markers are dropped. Code keeps its characters. Takes time linear in the text.
    """
    kept: list[str] = []
    prose: list[str] = []
    fenced = False
    for line in without_comments(text).split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            kept.append(_prose("\n".join(prose)))
            prose = []
        elif fenced:
            kept.append(line.rstrip())
        else:
            prose.append(line)
    kept.append(_prose("\n".join(prose)))
    return _BLANK_LINES.sub("\n\n", "\n".join(kept)).strip()


def without_images(text: str) -> str:
    """The text without images, with or without a link around them, and without their alternative text."""
    return _PICTURE.sub("", text)


def without_rendering_marks(text: str) -> str:
    """The text of a loader's rendering without code fences, table pipes and list dashes."""
    lines = (_without_line_marks(line) for line in text.split("\n") if not _FENCE.match(line))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


def with_opening_fence(text: str) -> str:
    """A part of a code block with an opening fence, unless it has one."""
    opened = any(_FENCE.match(line) for line in text.split("\n")[:-1])  # on the last line it closes
    return text if opened else f"```\n{text}"


def _without_line_marks(line: str) -> str:
    if not (line.startswith("| ") and line.endswith(" |")):
        return _DASH.sub("", line, count=1)
    if _TABLE_RULE.fullmatch(line):
        return ""
    cells = line.replace("\\|", "\x00").replace("|", " ").replace("\x00", "|")
    return _SPACES.sub(" ", cells).strip()


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


def _prose(text: str) -> str:
    """Strip markup outside code fences; code spans are set aside so that nothing in them counts as markup."""
    codes: list[str] = []

    def aside(match: re.Match[str]) -> str:
        codes.append(match[2])
        return f"\x00{len(codes) - 1}\x00"

    text = _CODE.sub(aside, text) if "`" in text else text
    if "](" in text or "]:" in text or "][" in text or "[^" in text:
        text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", _FOOTNOTE.sub("", _DEFINITION.sub("", text))))
    if "<" in text:
        text = _TAG.sub(_tag_text, _AUTOLINK.sub(r"\1", text))
    if "{" in text:
        text = _TEMPLATE.sub("", text)
    text = _STARS.sub("", text)
    text = _UNDERSCORES.sub(r"\2", text) if "_" in text else text
    text = "\n".join(_line(line) for line in text.split("\n"))
    text = html.unescape(_ESCAPE.sub(r"\1", text))
    return re.sub("\x00(\\d+)\x00", lambda match: codes[int(match[1])], text) if codes else text


def _tag_text(match: re.Match[str]) -> str:
    name = match[1].lower()
    if name == "img":
        alt = _ALT.search(match[0])
        return (alt[1] or alt[2] or "") if alt else ""
    return "" if name in INLINE_TAGS else " "


def _line(line: str) -> str:
    if _RULE.fullmatch(line):
        return ""
    marks = _LINE_MARKS.match(line)
    if marks is not None:
        line = line[marks.end() :]
        if "#" in marks[0]:
            line = line.rstrip().rstrip("#")
    if "|" in line:
        line = line.strip().strip("|").replace("|", " ")
    return _SPACES.sub(" ", line).strip()
