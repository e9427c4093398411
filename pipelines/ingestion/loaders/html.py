"""Load HTML: one walk over the element tree makes the blocks of a file, an article or a chapter."""

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count, filterfalse, islice, repeat
from typing import Any

from config.settings import Limits
from pipelines.errors import LoadError
from pipelines.headings import MAX_TITLE, is_mostly_capitals
from pipelines.ingestion.loaders.base import Content, parse_datetime
from pipelines.ingestion.loaders.rendering import Cell, Rendering, line_parts, table_parts
from pipelines.ingestion.loaders.text import decode
from pipelines.ingestion.loaders.titles import heading_title
from pipelines.markup import without_comments
from pipelines.text import canonical, one_line
from pipelines.types import SourceItem

# Elements that end a line.
BLOCKS = frozenset(
    "html head body address article aside blockquote button caption center dd details dialog div dl dt fieldset"
    " figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main menu nav ol p pre section summary table"
    " tbody td tfoot th thead title tr ul".split()
)
OUTSIDE = ("nav", "footer")  # elements beside what a page says
_UNSEEN = frozenset("title script style template noscript svg iframe select".split())
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_LINE_BREAKS = str.maketrans("\r\n\t", "   ")
_SPAN_DIGITS = 3  # of the rows and columns of a cell, and of the first number of a list
_MAX_TABLES = 20  # in each other
_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)\b[^<>]{0,300}?(?:charset|encoding)\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE
)
_HEAD = 4_096
_BROKEN_SHARE = 0.01
_UTF_16 = (b"<\0", b"\0<")  # without a byte order mark
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Browsers read these encodings as their supersets.
_SUPERSETS = {
    **dict.fromkeys(("ascii", "us-ascii", "iso-8859-1", "iso8859-1", "latin1", "latin-1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk", "x-gbk"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis"), "cp932"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "ksc5601"), "cp949"),
    **dict.fromkeys(("iso-8859-9", "latin5"), "cp1254"),
    "tis-620": "cp874",
}
_NOT_OF_PAGES = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf-7"})
_CONSENT = ("cookie", "consent", "gdpr")
_NOTICES = ("div", "section", "aside", "dialog", "form", "footer", "p")
_ANSWERS = frozenset("accept agree allow ok okay reject decline deny dismiss got".split())
_LONGEST_NOTICE, _SHORT_NOTICE = 5_000, 600  # characters; of one that is named so, and of another
_MOST_SPEAKING, _NOTICE_DEPTH = 50, 6
_MAX_DEPTH = 2_000  # nested elements; libxml2 drops those below 2,048
_PUBLISHED = (
    "article:published_time", "date", "dc.date", "dcterms.date", "dcterms.created", "dc.date.issued", "pubdate",
    "publish_date", "publish-date", "datepublished",
)  # fmt: skip
_MODIFIED = ("article:modified_time", "og:updated_time", "last-modified", "dcterms.modified", "datemodified")
_SECTION = re.compile(r"<!\[[^<>]*>")
_OPENING = re.compile(r"<!--|<!\[|<")
_NO_CHARACTER = re.compile(r"&#(?!(?:[0-9]++|[xX][0-9a-fA-F]++)[^0-9a-fA-F])")


def load_html(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The page's text; its only `<h1>` or its `<title>` is its title, `<meta>` gives author, date and description.

    Navigation is left out, and so are lists of links before the first heading; a page of nothing else is read whole.
    """
    source = decode_page(data, item.name)
    tree = parse_page(source, item.name)
    _drop_consent(tree, source)
    meta = dict(_meta(tree))
    rendering = render_page(tree, skipped=OUTSIDE, skips_menus=True)
    if not rendering.text:
        rendering = render_page(tree)
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        title=_only_heading(rendering) or title_element(tree),
        author=meta.get("author", ""),
        published_at=_first_date(meta, _PUBLISHED) or _time_of(tree),
        modified_at=_first_date(meta, _MODIFIED),
        metadata={"description": meta["description"]} if meta.get("description") else {},
    )


def title_element(tree: Any) -> str:
    """The words of a page's `<title>`; empty without one."""
    stated = next((element.text_content() for element in _elements(tree, "title")), "")
    return one_line(stated)


def _only_heading(rendering: Rendering) -> str:
    """The words of the only heading of level 1; empty if there are several, or none."""
    first = [block for block in rendering.blocks if block.kind == "heading" and block.level == 1]
    return heading_title(rendering.text, first) if len(first) == 1 else ""


def parse_page(source: str, name: str) -> Any:
    """The element tree of a page whose unclosed markup is text; None if it has no elements.

    Without that, the parser searches the rest of the page for each missing end, and after `&#` takes tags for text.
    Conditional sections such as `<![if !IE]>` are removed: browsers treat them as comments.

    Raises:
        LoadError: If its elements are nested deeper than the parser follows.
    """
    page = _NO_CHARACTER.sub("&amp;#", _SECTION.sub("", without_comments(source)))
    last = {"<!--": page.rfind("-->"), "<![": -1, "<": page.rfind(">")}
    page = _OPENING.sub(lambda opened: opened[0] if opened.start() < last[opened[0]] else f"&lt;{opened[0][1:]}", page)
    tree = parse_html(page)
    if is_deeper_than(tree, _MAX_DEPTH):
        hint = "Save it from a browser as PDF and ingest that file."
        raise LoadError(f"{name} has over {_MAX_DEPTH:,} nested elements.", hint=hint)
    return tree


def is_deeper_than(tree: Any, most: int) -> bool:
    """True if more than `most` elements are nested."""
    from lxml import etree

    depth = 0
    for event, _ in etree.iterwalk(tree, events=("start", "end")) if tree is not None else ():
        depth += 1 if event == "start" else -1
        if depth > most:
            return True
    return False


def _drop_consent(tree: Any, source: str) -> None:
    """Drop the notices of cookies from a page.

    A notice is an element that is named so, or a short one outside the main part that speaks of cookies and has a word
    to press.
    """
    if tree is None or not any(word in source.lower() for word in _CONSENT):
        return
    named = [element for element in tree.iter() if _is_named_consent(element)]
    speaking = [element for element in tree.iter() if "cookie" in f"{element.text} {element.tail}".lower()]
    most = min(_LONGEST_NOTICE, len(" ".join(tree.text_content().split())) // 2)
    likely = dict.fromkeys(  # each once: a list of named elements has the same elements around it
        notice
        for element in (*named, *speaking[:_MOST_SPEAKING])
        for notice in (element, *islice(element.iterancestors(), _NOTICE_DEPTH))
        if notice.tag in _NOTICES
    )
    is_changed = True
    while is_changed:  # without an inner list a notice may be short enough
        is_changed = False
        for notice in likely:
            if notice.getparent() is not None and _is_notice(notice, most):
                notice.drop_tree()
                is_changed = True


def _is_named_consent(element: Any) -> bool:
    names = " ".join(element.get(name, "") for name in ("id", "class", "aria-label")).lower()
    return any(word in names for word in _CONSENT)


def _is_notice(element: Any, most: int) -> bool:
    if any(True for _ in element.iter("main", "article", "h1")):
        return False
    words = " ".join(" ".join(element.itertext()).lower().split())
    if _is_named_consent(element):
        return len(words) <= most and any(word in words for word in (*_CONSENT, "privacy", "tracking"))
    is_inside = any(True for _ in element.iterancestors("main", "article"))
    return (
        not is_inside
        and len(words) <= min(most, _SHORT_NOTICE)
        and not _ANSWERS.isdisjoint(word.strip(".,;:!") for word in words.split())
    )


def parse_html(page: str) -> Any:
    """The element tree of a page; None if it has no elements."""
    from lxml import etree
    from lxml import html as lxml_html

    try:
        parser = lxml_html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
        return lxml_html.document_fromstring(page.encode(), parser=parser)
    except (etree.LxmlError, ValueError):
        return None


def decode_page(data: bytes, name: str, charset: str = "") -> str:
    """Decode a page's source to canonical text.

    By its byte order mark, or as UTF-16 that has none; else as UTF-8, unless a 7-bit encoding is stated or it is
    invalid; else in the charset that the server or the page states; else like plain text.

    `charset` is the one that the server states; empty if it states none.

    Raises:
        LoadError: If none of them fits.
    """
    if data.startswith(_MARKS) or (not charset and any(mark in data[:_HEAD] for mark in _UTF_16)):
        return canonical(decode(data, name)[0])
    named = [codec for one in (charset, _declared_charset(data)) if (codec := _codec(one))]
    first = named if any(codec.startswith(("iso2022", "hz", "utf-16")) for codec in named) else []
    for codec in (*first, "utf-8", *named):
        try:
            return canonical(data.decode(codec))
        except UnicodeDecodeError:
            continue
    for codec in named or ("utf-8",):  # allows a few broken bytes, as from a cut character
        text = data.decode(codec, "replace")
        if text.count("\ufffd") <= _BROKEN_SHARE * sum(not char.isascii() for char in text):
            return canonical(text)
    try:
        return canonical(decode(data, name)[0])
    except LoadError as error:
        stated = charset or (named[0] if named else "")
        reason = f"declares the charset {stated} but is not in it" if stated else "does not declare its charset"
        raise LoadError(f"{name} {reason}.", hint="Save it as UTF-8 from a browser, and ingest that file.") from error


def _codec(charset: str) -> str:
    """Python's name of a text encoding; empty if it has none, or pages cannot be in it."""
    name = charset.strip().strip("\"'").lower()
    try:
        codec = codecs.lookup(_SUPERSETS.get(name, name)).name
        return codec if codec not in _NOT_OF_PAGES and bytes(4).decode(codec) else ""
    except (LookupError, ValueError):
        return ""


def _declared_charset(data: bytes) -> str:
    """The encoding that the head of a page declares; "" without one."""
    found = _CHARSET.search(data[:_HEAD])
    return found[1].decode("ascii", "replace") if found else ""


def _elements(tree: Any, name: str) -> Iterator[Any]:
    yield from tree.iter(name) if tree is not None else ()


def _meta(tree: Any) -> Iterator[tuple[str, str]]:
    for element in _elements(tree, "meta"):
        name = element.get("name") or element.get("property") or element.get("itemprop")
        if name and element.get("content"):
            yield name.lower(), " ".join(element.get("content").split())


def _first_date(meta: Mapping[str, str], names: Sequence[str]) -> datetime | None:
    return next((found for name in names if (found := parse_datetime(meta.get(name)))), None)


def _time_of(tree: Any) -> datetime | None:
    """The date of the first `<time>` that is marked as that of publication, else of the first one."""
    times = list(_elements(tree, "time"))
    named = [(each, f"{each.get('itemprop')} {each.get('class')}".lower()) for each in times]
    marked = [each for each, names in named if "pubdate" in each.attrib or "publ" in names]
    return next((found for each in (*marked, *times) if (found := parse_datetime(each.get("datetime")))), None)


class _PageWalk:
    """Renders the elements below a root in order; no nesting makes it deep, but that of tables.

    Attributes:
        rendering: The blocks so far.
    """

    def __init__(self, skipped: frozenset[str], *, finds_headings: bool, skips_menus: bool, tables: int) -> None:
        self.rendering = Rendering()
        self._skipped, self._finds_headings, self._skips_menus = skipped, finds_headings, skips_menus
        self._tables = tables  # that may be nested from here on
        self._words: list[str] = []  # of the block under way
        self._images: list[str] = []  # their alternative texts
        self._level = 0  # of the heading under way
        self._is_caption = False
        self._lists: list[Iterator[str]] = []  # the marks of their further items
        self._items: list[str] = []  # the marks of open items, empty once written

    def walk(self, root: Any) -> Rendering:
        from lxml import etree

        events = etree.iterwalk(root, events=("start", "end"))
        for event, element in events:
            hidden = is_hidden(element)
            if event == "end":
                if not hidden:
                    self._end(element)
                self._words.append(_one_line(element.tail) if element is not root else "")
            elif not hidden and self._start(element):
                self._words.append(_one_line(element.text))
            else:
                events.skip_subtree()
        self._end_block()
        return self.rendering

    def _start(self, element: Any) -> bool:
        """Begin an element; False if what is inside is not to be walked."""
        tag = element.tag
        if tag in BLOCKS:
            self._end_block()
        match tag:
            case "br":
                self._words.append("\n")
            case "img":
                self._images.append(" ".join((element.get("alt") or "").split()))
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self._level = int(tag[1])
            case "figcaption" | "caption":
                self._is_caption = True
            case "ul" | "ol" | "dl":
                first = _number(element, "start", _SPAN_DIGITS)
                self._lists.append((f"{number}." for number in count(first)) if tag == "ol" else repeat("-"))
                return not (self._skips_menus and _is_menu(element))
            case "li" | "dt":
                self._items.append(next(self._lists[-1]) if self._lists else "-")
            case "dd":
                self._items += ["", "-"]
            case "pre":
                self.rendering.add_code(_lines(element).strip("\n"))
                return False
            case "table" if self._tables:
                self._table(element)
                return False
        return tag not in self._skipped

    def _end(self, element: Any) -> None:
        tag = element.tag
        if tag not in BLOCKS:
            return
        self._end_block()
        self._level, self._is_caption = 0, False
        if tag in ("ul", "ol", "dl"):
            del self._lists[-1:]
        elif tag in ("li", "dt", "dd"):
            del self._items[-2 if tag == "dd" else -1 :]

    def _end_block(self) -> None:
        """Add the block under way, then the alternative texts of its images."""
        lines = [line for part in "".join(self._words).split("\n") if (line := " ".join(part.split()))]
        self._words.clear()
        text = " ".join(lines)
        if self._level and len(text) <= MAX_TITLE:
            self._skips_menus = self._skips_menus and not text
            self.rendering.add(text, "heading", self._level)
        elif self._is_caption:
            self.rendering.add("\n".join(lines), "caption")
        elif self._items and lines:
            mark, self._items[-1] = self._items[-1], ""
            self.rendering.add(f"{mark} {text}", "list", indent="  " * (len(self._items) - 1))
        else:
            self.rendering.extend(line_parts("\n".join(lines), self._finds_headings))
        for image in self._images:
            self.rendering.add(image, "caption")
        self._images.clear()

    def _table(self, table: Any) -> None:
        """Add a table; a cell that spans several columns is in the first of them."""
        for caption in filterfalse(is_hidden, table.iterchildren("caption")):
            self.rendering.add(" ".join(_lines(caption).split()), "caption")
        rows = [
            row
            for row in filterfalse(is_hidden, table.iter("tr"))
            if next(row.iterancestors("table"), table) is table and not is_hidden(row.getparent())
        ]
        widest = max((len(row) for row in rows), default=0)  # no cell is wider than that, whatever it states
        cells: list[Cell] = []
        taken: dict[int, int] = {}  # by column, the first row that no cell from above spans
        for number, row in enumerate(rows):
            column = 0
            for cell in filterfalse(is_hidden, row.iterchildren("td", "th")):
                while taken.get(column, 0) > number:
                    column += 1
                wide = min(_number(cell, "colspan", _SPAN_DIGITS), widest)
                high = min(_number(cell, "rowspan", _SPAN_DIGITS), len(rows) - number)
                walk = _PageWalk(
                    self._skipped, finds_headings=self._finds_headings, skips_menus=False, tables=self._tables - 1
                )
                cells.append(Cell(number, column, high, tuple(walk.walk(cell).as_parts()), cell.tag == "th"))
                taken |= dict.fromkeys(range(column, column + wide), number + high)
                column += wide
        self.rendering.extend(table_parts(cells, len(rows), max(taken, default=0) + 1))


def render_page(tree: Any, *, skipped: Sequence[str] = (), skips_menus: bool = False) -> Rendering:
    """The headings, paragraphs, list items, tables, code and captions of an element tree, in order.

    Left out are `skipped` elements, beside those that no reader sees, and with `skips_menus` lists of links before the
    first heading.
    """
    if tree is None:
        return Rendering()
    has_headings = next(tree.iter(*_HEADINGS), None) is not None
    walk = _PageWalk(
        _UNSEEN | frozenset(skipped),
        finds_headings=not (has_headings or is_mostly_capitals(list(tree.itertext()), least=1)),
        skips_menus=skips_menus and has_headings,
        tables=_MAX_TABLES,
    )
    return walk.walk(tree)


def _is_menu(element: Any) -> bool:
    """True if all items of a list are links."""
    items = list(element.iterchildren("li"))
    linked = (("".join(_text(link) for link in item.iter("a")), _text(item)) for item in items)
    return len(items) > 1 and all(link and "".join(link.split()) == "".join(text.split()) for link, text in linked)


def is_hidden(element: Any) -> bool:
    """True if no reader sees an element; scripts show a whole page that is hidden, and the panel of a chosen tab."""
    if element.tag in ("html", "body") or element.get("role") == "tabpanel":
        return False
    is_marked = element.get("hidden", "until-found").lower() != "until-found"  # that is shown by a search in the page
    return is_marked or _HIDDEN.search(element.get("style", "")) is not None


def _text(element: Any) -> str:
    return "".join(element.itertext())


def _lines(element: Any) -> str:
    """The text that a reader sees of an element whose line breaks have a meaning, as of code."""
    from lxml import etree

    parts = [""]
    events = etree.iterwalk(element, events=("start", "end"))
    for event, inner in events:
        is_block = inner.tag in BLOCKS and inner is not element
        if is_block and not is_hidden(inner) and parts[-1][-1:] not in ("", "\n"):
            parts.append("\n")
        if event == "end":
            added = inner.tail if inner is not element else ""
        elif inner.tag in _UNSEEN or is_hidden(inner):
            events.skip_subtree()
            added = ""
        else:
            added = "\n" if inner.tag == "br" else inner.text
        if added:
            parts.append(added)
    return "".join(parts)


def _number(element: Any, name: str, digits: int) -> int:
    """The positive number in an attribute, of at most so many digits; 1 for anything else."""
    stated = element.get(name, "").strip()
    return max(int(stated), 1) if stated.isdecimal() and len(stated) <= digits else 1


def _one_line(text: str | None) -> str:
    """The text without the source's line breaks, which have no meaning."""
    return text.translate(_LINE_BREAKS) if text else ""
