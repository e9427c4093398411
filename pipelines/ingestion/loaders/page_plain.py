"""The words of a page of very many elements, in time that grows with it and no faster."""

import re
from typing import Any

from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.ingestion.structure import MAX_TITLE
from pipelines.markup import INLINE_TAGS

_MANY = 20_000  # elements: trafilatura takes seconds for so many, and ever longer for each that comes on top
_MANY_IN_LINE = 2_000  # elements in line in one block: the time for them grows with their cube
_DEEPEST = 200  # elements in each other: below 255 libxml2 drops what stands there, unless it is asked not to
_ELEMENT = re.compile(r"<[a-zA-Z]")
# What ends a line for trafilatura, too: it takes other elements away, and leaves a piece of text for each.
_BLOCKS = frozenset(
    "html head body article aside blockquote caption center dd details dialog div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header li main menu nav ol p section summary table td th tr ul".split()
)
_QUICK = frozenset({"pre", "svg", "math", "select"})  # however much stands in them
_UNREAD = frozenset({"title", "nav", "footer", "script", "style", "noscript", "template", "svg", "iframe", "select"})
_HEADING = re.compile(r"h([1-6])")


def is_vast(page: str) -> bool:
    """Whether a page, or one line of it, has more elements than its article is looked for among, or deeper ones."""
    count = sum(1 for _ in _ELEMENT.finditer(page))
    if not _DEEPEST < count <= _MANY:
        return count > _MANY
    tree = tree_of(page)
    if tree is None:
        return False
    return is_deeper(tree, _DEEPEST) or (count > _MANY_IN_LINE and _most_in_line(tree) > _MANY_IN_LINE)


def plain_of(page: str) -> tuple[Rendering, str]:
    """(all that a page says outside menus and footers, its title): headings, list items and paragraphs, in order."""
    from lxml import etree

    tree = tree_of(page)
    if tree is None:
        return Rendering(), ""
    walk = _Walk()
    events = etree.iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, element in events:
        if event == "start":
            walk.enter(element)
            if element.tag in _UNREAD:
                events.skip_subtree()
        elif event == "end":
            walk.leave(element)
        else:
            walk.say(element.tail)
    walk.flush()
    return walk.rendering, next((one.text_content() for one in tree.iter("title")), "")


def tree_of(page: str) -> Any:
    """The elements of a page; None where it has none."""
    from lxml import etree, html

    try:
        return html.document_fromstring(page.encode(), parser=html.HTMLParser(encoding="utf-8", huge_tree=True))
    except (etree.LxmlError, ValueError):
        return None


def is_deeper(tree: Any, most: int) -> bool:
    """Whether more elements than `most` lie in each other."""
    from lxml import etree

    depth = 0
    for event, _ in etree.iterwalk(tree, events=("start", "end")) if tree is not None else ():
        depth += 1 if event == "start" else -1
        if depth > most:
            return True
    return False


def _most_in_line(tree: Any) -> int:
    """The most elements (line breaks apart), and words that follow a block, in one block and in no block within it."""
    from lxml import etree

    most, counts = 0, [0]
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        is_quick = element.tag in _QUICK
        if not is_quick and element.tag not in _BLOCKS:
            counts[-1] += event == "start" and element.tag != "br"
        elif event == "start":
            counts.append(0)
        else:
            count = counts.pop()
            most = most if is_quick else max(most, count)
            counts[-1] += bool(element.tail and element.tail.strip())
    return max(most, *counts)


class _Walk:
    def __init__(self) -> None:
        self.rendering = Rendering()
        self._said: list[str] = []
        self._kind = "p"

    def enter(self, element: Any) -> None:
        """Begin a block, unless the element is one of the line."""
        self._break(element)
        if element.tag not in _UNREAD:
            self.say(element.text)

    def leave(self, element: Any) -> None:
        """End it, and say what follows it."""
        self._break(element)
        self._kind = "p" if element.tag not in INLINE_TAGS else self._kind
        self.say(element.tail)

    def say(self, text: str | None) -> None:
        """Take in words of the block."""
        if text:
            self._said.append(text)

    def flush(self) -> None:
        """Render the block so far."""
        text = " ".join("".join(self._said).split())
        self._said.clear()
        heading = _HEADING.fullmatch(self._kind)
        if heading and len(text) <= MAX_TITLE:
            self.rendering.add(text, "heading", int(heading[1]))
        elif self._kind == "li" and text:
            self.rendering.add(f"- {text}", "list")
        else:
            self.rendering.add(text, "paragraph")

    def _break(self, element: Any) -> None:
        if element.tag not in INLINE_TAGS:
            self.flush()
            self._kind = str(element.tag)
