"""Rewrite the PDF and DOCX files of data/sample from the text in data/sample_text.

Run `python data/make_sample.py` (needs reportlab and python-docx). A second run writes identical bytes.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

from docx import Document
from docx.shared import Cm, Pt
from reportlab.lib.colors import HexColor, white
from reportlab.lib.enums import TA_CENTER
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    HRFlowable,
    NextPageTemplate,
    PageTemplate,
    Paragraph,
    Spacer,
)

HERE = Path(__file__).parent
TEXT = HERE / "sample_text"
SAMPLE = HERE / "sample"
AUTHOR = "Marit Ogundele"
MADE = datetime(2025, 9, 15, 9, 0, 0)
WIDTH, HEIGHT = A4
INK, GREY, ACCENT, SIDEBAR = (HexColor(c) for c in ("#1d2226", "#5f6b73", "#1f5673", "#293e49"))

Draw = Callable[[Any, Any], None]


@dataclass(frozen=True)
class Block:
    """One block of a source text: `kind` is title, section, entry, bullet, rule or paragraph."""

    kind: str
    lines: tuple[str, ...]


def read_blocks(path: Path) -> Iterator[Block]:
    """Yield the blocks of a Markdown file that uses headings, bullets, rules and paragraphs only."""
    kinds = {"# ": "title", "## ": "section", "### ": "entry", "- ": "bullet"}
    for chunk in re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip()):
        lines = chunk.splitlines()
        if chunk == "---":
            yield Block("rule", ())
        elif lines[0].startswith(tuple(kinds)):
            for line in lines:
                mark, text = line.split(" ", 1)
                yield Block(kinds[mark + " "], (text,))
        else:
            yield Block("paragraph", tuple(lines))


def markup(text: str) -> str:
    """Escape `text` for reportlab and turn **bold** into its tag."""
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text, quote=False))


def style(font: str, size: float, *, after: float = 0, **more: Any) -> ParagraphStyle:
    settings = {"leading": size * 1.36, "textColor": INK, "spaceAfter": after} | more
    return ParagraphStyle(f"{font} {size}", fontName=font, fontSize=size, **settings)


def write_pdf(
    path: Path, title: str, story: Callable[[], list[Flowable]], frames: Callable[[], list[PageTemplate]], foot: Draw
) -> None:
    """Lay out `story` twice: once to count the pages, once with the count at hand for `foot`."""

    def lay_out(target: io.BytesIO, pages: int) -> int:
        document = BaseDocTemplate(target, pagesize=A4, title=title, author=AUTHOR, invariant=1, pageCompression=0)
        document.pages = pages
        templates = frames()
        for template in templates:
            template.onPageEnd = foot
        document.addPageTemplates(templates)
        document.build(story())
        return int(document.page)

    count = lay_out(io.BytesIO(), 0)
    final = io.BytesIO()
    lay_out(final, count)
    path.write_bytes(final.getvalue())


def one_column(margin: float) -> list[PageTemplate]:
    frame = Frame(margin, margin, WIDTH - 2 * margin, HEIGHT - 2 * margin, 0, 0, 0, 0)
    return [PageTemplate("page", [frame])]


def resume_story(blocks: list[Block]) -> list[Flowable]:
    styles = {
        "title": style("Helvetica-Bold", 20, after=2),
        "section": style("Helvetica-Bold", 11, after=1, textColor=ACCENT, spaceBefore=8, keepWithNext=1),
        "entry": style("Helvetica-Bold", 9.2, after=2, spaceBefore=5, keepWithNext=1),
        "bullet": style("Helvetica", 9.2, after=1.5, leftIndent=11, bulletIndent=2),
        "paragraph": style("Helvetica", 9.2, after=2),
    }
    story: list[Flowable] = []
    for block in blocks:
        text = "<br/>".join(markup(line) for line in block.lines)
        bullet = "\u2022" if block.kind == "bullet" else None
        story.append(Paragraph(text, styles[block.kind], bulletText=bullet))
        if block.kind == "section":
            rule = HRFlowable(width="100%", thickness=0.6, color=ACCENT, spaceBefore=0, spaceAfter=3)
            rule.keepWithNext = 1
            story.append(rule)
    return story


def write_resume_pdf(blocks: list[Block]) -> None:
    def foot(canvas: Any, document: Any) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.setFillColor(GREY)
        canvas.drawCentredString(WIDTH / 2, 9 * mm, f"{AUTHOR}, resume, page {document.page} of {document.pages}")

    title = f"{AUTHOR}, resume"
    write_pdf(SAMPLE / "resume.pdf", title, lambda: resume_story(blocks), lambda: one_column(17 * mm), foot)


def journey_story(blocks: list[Block]) -> list[Flowable]:
    styles = {
        "title": style("Times-Bold", 21, after=4, alignment=TA_CENTER),
        "section": style("Times-Bold", 14, after=4, textColor=ACCENT, spaceBefore=12, keepWithNext=1),
        "bullet": style("Times-Roman", 11.5, after=3, leftIndent=14, bulletIndent=3),
        "paragraph": style("Times-Roman", 11.5, after=7),
        "subtitle": style("Times-Italic", 11.5, after=6, alignment=TA_CENTER),
    }
    story: list[Flowable] = []
    for number, block in enumerate(blocks):
        kind = "subtitle" if number == 1 else block.kind
        bullet = "\u2022" if kind == "bullet" else None
        story.append(Paragraph(markup(" ".join(block.lines)), styles[kind], bulletText=bullet))
    return story


def write_journey(name: str) -> None:
    blocks = list(read_blocks(TEXT / f"{name}.md"))
    title = blocks[0].lines[0]

    def foot(canvas: Any, document: Any) -> None:
        canvas.setFont("Times-Italic", 9)
        canvas.setFillColor(GREY)
        canvas.drawString(28 * mm, HEIGHT - 17 * mm, title)
        canvas.drawRightString(WIDTH - 28 * mm, HEIGHT - 17 * mm, AUTHOR)
        canvas.drawCentredString(WIDTH / 2, 15 * mm, str(document.page))

    write_pdf(SAMPLE / f"{name}.pdf", title, lambda: journey_story(blocks), lambda: one_column(28 * mm), foot)


def linkedin_story(blocks: list[Block]) -> list[Flowable]:
    side = {
        "section": style("Helvetica-Bold", 11.5, after=3, textColor=white, spaceBefore=12),
        "paragraph": style("Helvetica", 8.6, after=2, textColor=HexColor("#e1e7ea")),
    }
    main = {
        "title": style("Helvetica", 23, after=3),
        "section": style("Helvetica", 15, after=5, spaceBefore=13, keepWithNext=1),
        "paragraph": style("Helvetica", 10.5, after=6),
    }
    entry = [
        style("Helvetica-Bold", 11.5, keepWithNext=1),
        style("Helvetica", 11, keepWithNext=1),
        style("Helvetica", 10, textColor=GREY, keepWithNext=1),
        style("Helvetica", 10, after=3, textColor=GREY, keepWithNext=1),
    ]
    story: list[Flowable] = [NextPageTemplate("later")]
    styles, section = side, ""
    for block in blocks:
        if block.kind == "rule":
            story.append(FrameBreak())
            styles = main
            continue
        if block.kind == "section":
            section = block.lines[0]
        in_entry = block.kind == "paragraph" and section in ("Experience", "Education")
        looks = entry if in_entry else []
        for number, line in enumerate(block.lines):
            look = looks[number] if number < len(looks) else styles[block.kind]
            story.append(Paragraph(markup(line), look))
        if in_entry:
            story.append(Spacer(0, 7))
    return story


def write_linkedin() -> None:
    blocks = list(read_blocks(TEXT / "linkedin.md"))
    left = 70 * mm

    def paint_sidebar(canvas: Any, document: Any) -> None:
        canvas.setFillColor(SIDEBAR)
        canvas.rect(0, 0, left, HEIGHT, stroke=0, fill=1)

    def foot(canvas: Any, document: Any) -> None:
        canvas.setFont("Helvetica", 9)
        canvas.setFillColor(GREY)
        canvas.drawRightString(WIDTH - 15 * mm, 9 * mm, f"Page {document.page} of {document.pages}")

    def frames() -> list[PageTemplate]:
        narrow = Frame(8 * mm, 16 * mm, left - 14 * mm, HEIGHT - 32 * mm, 0, 0, 0, 0)
        wide = Frame(left + 9 * mm, 16 * mm, WIDTH - left - 24 * mm, HEIGHT - 32 * mm, 0, 0, 0, 0)
        first = PageTemplate("first", [narrow, wide], onPage=paint_sidebar)
        return [first, PageTemplate("later", [wide], onPage=paint_sidebar)]

    write_pdf(SAMPLE / "linkedin.pdf", f"{AUTHOR}, profile", lambda: linkedin_story(blocks), frames, foot)


def write_resume_docx(blocks: list[Block]) -> None:
    document = Document()
    document.styles["Normal"].font.size = Pt(10)
    for page in document.sections:
        page.left_margin = page.right_margin = page.top_margin = page.bottom_margin = Cm(2)
    looks = {"title": "Title", "section": "Heading 1", "entry": "Heading 2", "bullet": "List Bullet"}
    for block in blocks:
        for line in block.lines:
            paragraph = document.add_paragraph(style=looks.get(block.kind, "Normal"))
            for number, part in enumerate(line.split("**")):
                paragraph.add_run(part).bold = True if number % 2 else None
    core = document.core_properties
    core.author = core.last_modified_by = AUTHOR
    core.title, core.comments = f"{AUTHOR}, resume", ""
    core.created = core.modified = MADE
    written, target = io.BytesIO(), SAMPLE / "resume.docx"
    document.save(written)
    with zipfile.ZipFile(written) as before, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            entry = zipfile.ZipInfo(name, MADE.timetuple()[:6])
            entry.create_system = 3
            after.writestr(entry, before.read(name), zipfile.ZIP_DEFLATED)


def main() -> None:
    resume = list(read_blocks(TEXT / "resume.md"))
    write_resume_pdf(resume)
    write_resume_docx(resume)
    write_linkedin()
    for name in ("journey_fy-2023-2024", "journey_fy-2024-2025"):
        write_journey(name)


if __name__ == "__main__":
    main()
