"""Load HTML files: docling reads the page, without navigation, after its source is repaired."""

import codecs
import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, Limits, parse_datetime
from pipelines.ingestion.loaders.docling_reader import HTML_SUFFIX, read_with_docling
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.ingestion.loaders.text import decode
from pipelines.ingestion.loaders.titles import heading_title
from pipelines.markup import INLINE_TAGS, without_comments
from pipelines.text import canonical
from pipelines.types import SourceItem

TAG = re.compile(r"<[/!?]?([a-zA-Z][a-zA-Z0-9:]*)?[^<>]{0,10000}>")

_SKIPPED = ("script", "style", "template", "noscript")
_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)\b[^<>]{0,300}?(?:charset|encoding)\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE
)
_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)
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
_MAX_DEPTH = 500
_PUBLISHED = (
    "article:published_time", "date", "dc.date", "dcterms.date", "dcterms.created", "dc.date.issued", "pubdate",
    "publish_date", "publish-date", "datepublished",
)  # fmt: skip
_MODIFIED = ("article:modified_time", "og:updated_time", "last-modified", "dcterms.modified", "datemodified")
_BOM = b"\xef\xbb\xbf"
_SECTION = re.compile(r"<!\[(?!CDATA\[)[^<>]*>", re.IGNORECASE)
_OPENING = re.compile(r"<!--|<!\[CDATA\[|<!\[|<", re.IGNORECASE)
_NO_CHARACTER = re.compile(r"&#(?!(?:[0-9]++|[xX][0-9a-fA-F]++)[^0-9a-fA-F])")
_VOID = frozenset(
    "area base basefont bgsound br col command embed frame hr image img input isindex keygen link menuitem meta nextid"
    " param source spacer track wbr".split()
)
_MAY_STAY_OPEN = _VOID | frozenset(
    "p li dt dd td th tr tbody thead tfoot option optgroup colgroup rt rp body head html".split()
)
# An opening tag closes the innermost open element if it is one of these.
_ENDS = {
    "p": ("p",),
    "li": ("li", "p"),
    **dict.fromkeys(("dt", "dd"), ("dt", "dd", "p")),
    **dict.fromkeys(("td", "th"), ("td", "th", "p")),
    "tr": ("tr", "td", "th", "p"),
    "option": ("option",),
}


def load_html(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The page's text; its only `<h1>` or its `<title>` is its title, `<meta>` gives author, date and description."""
    source = _with_alternatives(without_consent(without_comments(decode_page(data, item.name))))
    tree = parse_html(source)
    meta = dict(_meta(tree))
    rendering = _render(_without(source, "nav", *_SKIPPED), item.name)
    if not rendering.text:
        rendering = _render(_without(source, *_SKIPPED), item.name)
    stated = next((element.text_content() for element in _elements(tree, "title")), "")
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        title=_only_heading(rendering) or " ".join(canonical(stated).split()),
        author=meta.get("author", ""),
        published_at=_first_date(meta, _PUBLISHED) or _time_of(tree),
        modified_at=_first_date(meta, _MODIFIED),
        metadata={"description": meta["description"]} if meta.get("description") else {},
    )


def _only_heading(rendering: Rendering) -> str:
    """The words of the only heading of level 1; empty if there are several, or none."""
    first = [block for block in rendering.blocks if block.kind == "heading" and block.level == 1]
    return heading_title(rendering.text, first) if len(first) == 1 else ""


def without_consent(source: str) -> str:
    """The page without its notices of cookies; as it is if it has none.

    A notice is an element that is named so, or a short one outside the main part that speaks of cookies and has a word
    to press.
    """
    if not any(word in source.lower() for word in _CONSENT) or (tree := parse_html(source)) is None:
        return source
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    named = [element for element in elements if _is_named_consent(element)]
    speaking = [element for element in elements if "cookie" in f"{element.text} {element.tail}".lower()]
    most = min(_LONGEST_NOTICE, len(" ".join(tree.text_content().split())) // 2)
    notices = {
        notice: None
        for element in (*named, *speaking[:_MOST_SPEAKING])
        for notice in (element, *islice(element.iterancestors(), _NOTICE_DEPTH))
        if notice.tag in _NOTICES and _is_notice(notice, most)
    }
    for notice in notices:
        if notice.getparent() is not None:
            notice.drop_tree()
    from lxml import etree

    return str(etree.tostring(tree, encoding="unicode", method="html")) if notices else source


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
        parser = lxml_html.HTMLParser(encoding="utf-8", huge_tree=True)
        return lxml_html.document_fromstring(page.encode(), parser=parser)
    except (etree.LxmlError, ValueError):
        return None


def decode_page(data: bytes, name: str, charset: str = "") -> str:
    """Decode a page's source to canonical text.

    By its byte order mark, or as UTF-16 that has none; else as UTF-8, unless a 7-bit encoding is stated or it is
    invalid; else in the charset that the server or the page states; else like plain text.

    Args:
        data: The bytes of the page.
        name: The name of the page, for errors.
        charset: As stated by the server; empty if it states none.

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


def _spans_of(source: str, *names: str) -> Iterator[tuple[int, int]]:
    """The spans of the elements of these names, in order and apart; an unclosed one has none."""
    page, at = source.translate(_SMALL), 0
    unclosed = {""}
    while (at := page.find("<", at)) >= 0:
        name = next((name for name in names if page.startswith(name, at + 1)), "")
        behind, opened = page[at + 1 + len(name) : at + 2 + len(name)], -1
        if name not in unclosed and not behind.isalnum():
            opened = page.find(">", at)
        closed = page.find(f"</{name}", opened) if opened >= 0 and "<" not in page[at + 1 : opened] else -1
        end = page.find(">", closed) + 1 if closed >= 0 else 0
        if end:
            yield at, end
        elif opened >= 0:
            unclosed.add(name)
        at = end or at + 1


def _without(source: str, *names: str) -> str:
    """The page without these elements; an unclosed one stays."""
    kept, start = [], 0
    for opened, closed in _spans_of(source, *names):
        kept.append(source[start:opened])
        start = closed
    return "".join([*kept, source[start:]])


def _with_alternatives(source: str) -> str:
    """The page with the alternative text of a figure's images before it; docling reads only the caption."""
    kept, start = [], 0
    for opened, closed in _spans_of(source, "figure"):
        figure = source[opened:closed]
        if "<figcaption" in figure.lower():
            shown = (image.get("alt", "").strip() for image in _elements(parse_html(figure), "img"))
            added = [alt for alt in shown if alt and figure.count(alt) == 1]
            kept += [source[start:opened], *(f"<p>{html.escape(alt)}</p>" for alt in added), figure]
            start = closed
    return "".join([*kept, source[start:]])


def _render(source: str, name: str) -> Rendering:
    page = repair_html(source)
    if is_too_deep(page, _MAX_DEPTH):
        raise LoadError(
            f"{name} nests more than {_MAX_DEPTH} elements, or leaves them open.", hint="Save it again from a browser."
        )
    return read_with_docling(_BOM + page.encode(), name, HTML_SUFFIX, _bare_text(page))


def _bare_text(source: str) -> str:
    """The bare text: inline tags vanish, `<br>` becomes a line break, any other tag a space."""
    return html.unescape(TAG.sub(_space, " ".join(source.split())))


def _space(tag: re.Match[str]) -> str:
    name = (tag[1] or "").lower()
    return "" if name in INLINE_TAGS else "\n" if name == "br" else " "


def repair_html(source: str) -> str:
    """The page with `&lt;` for whatever is never closed, and with the end tags that paragraphs and items may omit.

    Without the first, the parser searches the rest of the page for each missing end, and after `&#` takes tags for
    text; without the second, it nests each paragraph in the one before. Conditional sections such as `<![if !IE]>` are
    removed: browsers treat them as comments, and unknown ones break the parser. Takes time linear in the page.
    """
    page = _NO_CHARACTER.sub("&amp;#", _SECTION.sub("", source))
    last = {"<!--": page.rfind("-->"), "<![cdata[": page.rfind("]]>"), "<![": -1, "<": page.rfind(">")}
    return _with_end_tags(
        _OPENING.sub(
            lambda opened: opened[0] if opened.start() < last[opened[0].lower()] else f"&lt;{opened[0][1:]}", page
        )
    )


def _with_end_tags(page: str) -> str:
    kept: list[str] = []
    done = 0
    opened: list[str] = []
    count: Counter[str] = Counter()
    for tag in TAG.finditer(page):
        name = (tag[1] or "").lower()
        if not name or name in _VOID or tag[0][1] in "!?" or tag[0].endswith("/>"):
            continue
        if tag[0][1] == "/":
            while count[name]:
                count[opened[-1]] -= 1
                if opened.pop() == name:
                    break
            continue
        while opened and opened[-1] in _ENDS.get(name, ()):
            kept += [page[done : tag.start()], f"</{opened[-1]}>"]
            done = tag.start()
            count[opened.pop()] -= 1
        opened.append(name)
        count[name] += 1
    return "".join([*kept, page[done:]])


def is_too_deep(page: str, most: int) -> bool:
    """True if more than `most` elements are nested, not counting those that need no end tag."""
    depth = 0
    for tag in TAG.finditer(page):
        if (tag[1] or "").lower() in _MAY_STAY_OPEN or tag[0].endswith("/>") or tag[0][1] in "!?":
            continue
        depth = depth + 1 if tag[0][1] != "/" else max(depth - 1, 0)
        if depth > most:
            return True
    return False
