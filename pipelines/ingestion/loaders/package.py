"""The parts of an office file, which is a ZIP container, after a look at how large they are unpacked."""

import html
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, Limits, first_heading
from pipelines.ingestion.loaders.front_matter import moment
from pipelines.ingestion.loaders.rendering import Rendering
from pipelines.text import canonical

CORE = "docProps/core.xml"
META = "meta.xml"

_UNPACKED_FACTOR = 10
_NUMBERS = re.compile(r"\d+")
_NO_TITLE = re.compile(
    r"(?:untitled|word document|powerpoint presentation|document\d*|presentation\d*|\W*)", re.IGNORECASE
)
_NO_AUTHOR = re.compile(r"(?:python-docx|python-pptx|openpyxl|un-named|unknown|\W*)", re.IGNORECASE)
_TITLE, _AUTHOR = ("dc:title",), ("dc:creator", "meta:initial-creator")
_MODIFIED = ("dcterms:modified", "dc:date")


def read_parts(data: bytes, name: str, wanted: Callable[[str], bool], limits: Limits) -> dict[str, str]:
    """The wanted parts as text, by name; numbers in the names sort as numbers.

    Raises:
        LoadError: If the container is damaged, or unpacks to more than ten times what a file may have.
    """
    allowed = _UNPACKED_FACTOR * limits.max_binary_bytes
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
            if unpacked > allowed:
                raise LoadError(
                    f"{name} unpacks to {unpacked:,} bytes, over the limit of {allowed:,}.",
                    hint="Split it, or raise FOOTNOTE_INGESTION__MAX_BINARY_BYTES.",
                )
            names = sorted(filter(wanted, archive.namelist()), key=_by_number)
            return {part: archive.read(part).decode("utf-8", "replace") for part in names}
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error, RuntimeError, NotImplementedError) as error:
        raise broken(name) from error


def broken(name: str) -> LoadError:
    """What is said of a file whose container or parts cannot be read."""
    return LoadError(
        f"{name} is broken: its parts are damaged or missing.", hint="Open it in an office program and save it again."
    )


def with_properties(rendering: Rendering, parts: Mapping[str, str], title: str = "") -> Content:
    """The rendering, with the author and the last change that the file's properties tell.

    The title is the one given, else the only heading of level 1, else the first heading, else that of the properties.
    """
    properties = parts.get(CORE) or parts.get(META) or ""
    author = _property(properties, _AUTHOR)
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        title=title or _heading(rendering) or stated_title(parts),
        author="" if _NO_AUTHOR.fullmatch(author) else author,
        modified_at=moment(_property(properties, _MODIFIED)),
        pages=rendering.pages,
    )


def _heading(rendering: Rendering) -> str:
    top = [block for block in rendering.blocks if block.kind == "heading" and block.level == 1]
    return first_heading(rendering.text, top if len(top) == 1 else rendering.blocks)


def stated_title(parts: Mapping[str, str]) -> str:
    """The title in the file's properties, unless a program made it up."""
    title = _property(parts.get(CORE) or parts.get(META) or "", _TITLE)
    return "" if _NO_TITLE.fullmatch(title) else title


def _property(xml: str, names: tuple[str, ...]) -> str:
    for name in names:
        match = re.search(rf"<{name}\b[^<>]*>([^<]*)</{name}>", xml)
        if match:
            return " ".join(canonical(html.unescape(match[1])).split())
    return ""


def _by_number(name: str) -> tuple[list[int], str]:
    return [int(digits[:9]) for digits in _NUMBERS.findall(name)], name
