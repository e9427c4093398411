"""The source of a page made sound: what never ends is text, and what need not be ended is."""

import re
from collections import Counter

TAG = re.compile(r"<[/!?]?([a-zA-Z][a-zA-Z0-9:]*)?[^<>]{0,10000}>")

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
# What begins where the innermost open element is one of these ends it.
_ENDS = {
    "p": ("p",),
    "li": ("li", "p"),
    **dict.fromkeys(("dt", "dd"), ("dt", "dd", "p")),
    **dict.fromkeys(("td", "th"), ("td", "th", "p")),
    "tr": ("tr", "td", "th", "p"),
    "option": ("option",),
}


def sound(source: str) -> str:
    """The page with `&lt;` for what opens and never ends, and with the end tags that a paragraph or item may lack.

    Without the one, the parser searches all that follows for the end of each, and after `&#` takes every tag for text;
    without the other, it puts each paragraph into the one before. Sections such as `<![if !IE]>` go: browsers take
    them for comments, and unknown ones break the parser. Takes time linear in the page.
    """
    page = _NO_CHARACTER.sub("&amp;#", _SECTION.sub("", source))
    last = {"<!--": page.rfind("-->"), "<![cdata[": page.rfind("]]>"), "<![": -1, "<": page.rfind(">")}
    return _with_end_tags(_OPENING.sub(lambda opened: _told(opened, last[opened[0].lower()]), page))


def _told(opened: re.Match[str], last: int) -> str:
    return opened[0] if opened.start() < last else f"&lt;{opened[0][1:]}"


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
    """Whether more elements than `most` lie in each other, those apart that need no end tag."""
    depth = 0
    for tag in TAG.finditer(page):
        if (tag[1] or "").lower() in _MAY_STAY_OPEN or tag[0].endswith("/>") or tag[0][1] in "!?":
            continue
        depth = depth + 1 if tag[0][1] != "/" else max(depth - 1, 0)
        if depth > most:
            return True
    return False
