"""Scans and images: what tesseract reads, and what is stderr where it cannot."""

import io
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import ExifTags, Image, ImageDraw, ImageFont, ImageOps
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from config.settings import Limits
from pipelines.errors import LoadError
from pipelines.ingestion.loaders.image import _frame
from pipelines.ingestion.loaders.pdf.ocr import DPI

LINES = ("Harbour books", "Nine boats were counted today.")
Install = Callable[..., None]


def tsv(*lines: str, confidence: float = 90.0) -> str:
    """Tesseract's table of these lines: words of 20 pixels a letter, 30 high, a line every 60 pixels from 100."""
    rows = ["level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"]
    for number, line in enumerate(lines, start=1):
        rows.append(f"4\t1\t1\t1\t{number}\t0\t100\t{100 + 60 * number}\t900\t30\t-1\t")
        left = 100
        for place, word in enumerate(line.split(), start=1):
            box = f"{left}\t{100 + 60 * number}\t{20 * len(word)}\t30"
            rows.append(f"5\t1\t1\t1\t{number}\t{place}\t{box}\t{confidence}\t{word}")
            left += 20 * (len(word) + 1)
    return "\n".join(rows) + "\n"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """`install(table)`: a `tesseract` on PATH that prints this table; `install()`: none at all."""

    def installed(table: str | None = None, *, code: int = 0, stderr: str = "", pause: float = 0) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        if table is not None:
            program = tmp_path / "tesseract"
            program.write_text(
                f"#!{sys.executable} -S\nimport sys, time\ntime.sleep({pause})\nsys.stdin.buffer.read()\n"
                f"open({str(tmp_path / 'asked')!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n"
                f"sys.stderr.write({stderr!r})\nsys.stdout.write({table!r})\nsys.exit({code})\n",
                encoding="utf-8",
            )
            program.chmod(0o755)

    return installed


def picture(*lines: str, kind: str = "PNG", size: tuple[int, int] = (1240, 500), **options: object) -> bytes:
    """An image of these lines, as a page scanned at 150 dpi."""
    image = Image.new("L", size, 255)
    font = ImageFont.load_default(size=44)
    for number, line in enumerate(lines):
        ImageDraw.Draw(image).text((80, 80 + 90 * number), line, fill=0, font=font)
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def scan(*pages: bytes | str) -> bytes:
    """A PDF: pages that are only an image, or a line of text."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842), invariant=True)
    for page in pages:
        if isinstance(page, str):
            canvas.drawString(72, 700, page)
        else:
            canvas.drawImage(ImageReader(io.BytesIO(page)), 0, 500, 595, 240)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def test_pages_that_are_images_are_read_and_marked_with_their_confidence(load_bytes, install) -> None:
    install(tsv(*LINES))
    document = load_bytes(scan("A page of text.", picture(*LINES)), "a.pdf")
    assert document.text == "A page of text.\n\nHarbour books\n\nNine boats were counted today."
    assert document.metadata["ocr"] == {"2": 90.0}
    assert document.pages_without_text == ()
    assert document.text[document.pages[1] :].startswith("Harbour books")


def test_the_boxes_of_recognised_words_are_points_of_the_page(load_bytes, install) -> None:
    install(tsv("Harbour"))
    box = load_bytes(scan(picture("Harbour")), "a.pdf").boxes[0]
    inch = 72 / DPI
    assert (box.x0, box.x1) == (round(100 * inch, 1), round((100 + 20 * len("Harbour")) * inch, 1))
    assert box.y1 == pytest.approx(842 - 160 * inch, abs=0.3)


def test_words_of_low_confidence_are_left_out(load_bytes, install) -> None:
    install(tsv("Harbour") + tsv("smudge", confidence=3).partition("\n")[2])
    assert load_bytes(scan(picture("Harbour")), "a.pdf").text == "Harbour"


def test_a_lone_character_before_a_gap_is_a_bullet(load_bytes, install) -> None:
    header = tsv().strip()
    words = [("«", 100, 20), ("Counted", 170, 140), ("boats", 330, 100)]
    rows = [f"5\t1\t1\t1\t1\t{n}\t{x}\t160\t{wide}\t30\t91\t{word}" for n, (word, x, wide) in enumerate(words)]
    install("\n".join([header, *rows]) + "\n")
    document = load_bytes(scan(picture("Counted boats")), "a.pdf")
    assert [(block.kind, document.text) for block in document.blocks] == [("list", "• Counted boats")]


def test_the_configured_languages_are_passed_to_tesseract(load_bytes, install, tmp_path) -> None:
    install(tsv("Hafen"))
    load_bytes(scan(picture("Hafen")), "a.pdf", Limits(ocr_languages="deu+eng"))
    assert "-l deu+eng" in (tmp_path / "asked").read_text()


def test_without_tesseract_the_pages_are_reported(load_bytes, install) -> None:
    install()
    document = load_bytes(scan("A page of text.", picture(*LINES)), "a.pdf")
    assert document.text == "A page of text."
    assert document.pages_without_text == (2,)
    assert "ocr" not in document.metadata


@pytest.mark.parametrize(
    ("table", "failure", "limits", "message", "hint"),
    [
        (None, {}, Limits(), r"no text layer on its 1 page\(s\), and tesseract is not installed", "tesseract-ocr"),
        (tsv(*LINES), {}, Limits(ocr="off"), "text recognition is off", "install tesseract"),
        ("", {"code": 1, "stderr": "Failed: 'xyz'"}, Limits(), "tesseract failed: Failed: 'xyz'", "ocrmypdf"),
        (tsv(), {}, Limits(), "no text is to be read in its images", "scan it again"),
    ],
    ids=["not installed", "off", "failure", "nothing read"],
)
def test_a_scan_that_cannot_be_read_is_refused_with_the_reason(
    load_bytes, install, table: str | None, failure: dict, limits: Limits, message: str, hint: str
) -> None:
    install(table, **failure)
    with pytest.raises(LoadError, match=message) as caught:
        load_bytes(scan(picture(*LINES)), "scan.pdf", limits)
    assert hint in caught.value.hint


def test_tesseract_is_stopped_after_the_seconds_of_a_page(load_bytes, install, monkeypatch) -> None:
    install(tsv(*LINES), pause=20)
    monkeypatch.setattr("pipelines.ingestion.loaders.pdf.ocr.PAGE_SECONDS", 1.5)
    with pytest.raises(LoadError, match=r"a page took longer than 1\.5 seconds") as caught:
        load_bytes(scan(picture(*LINES)), "scan.pdf")
    assert "install" not in caught.value.hint


def test_pages_after_the_ocr_seconds_have_no_text_and_a_reason(load_bytes, install, caplog) -> None:
    install(tsv("Harbour"), pause=0.5)
    document = load_bytes(scan("A page of text.", *[picture("Harbour")] * 4), "long.pdf", Limits(ocr_seconds=0.8))
    unread = document.pages_without_text
    assert unread == tuple(range(6 - len(unread), 6)) != ()
    assert "longer than 0.8 seconds in all (FOOTNOTE_INGESTION__OCR_SECONDS)" in document.metadata["unread"]
    assert [record.fields["pages"] for record in caplog.records] == [len(unread)]


def test_frames_after_the_ocr_seconds_have_no_text(load_bytes, install) -> None:
    install(tsv("Harbour"), pause=0.3)
    frames = [Image.open(io.BytesIO(picture("Two")))] * 5
    data = picture("One", kind="TIFF", save_all=True, append_images=frames)
    document = load_bytes(data, "a.tiff", Limits(ocr_seconds=0.8))
    assert document.pages_without_text[-1:] == (6,)
    assert len(document.pages) == 6
    assert "in all" in document.metadata["unread"]


def test_a_page_that_renders_too_slowly_is_refused(load_bytes, install, monkeypatch) -> None:
    install(tsv("Harbour"))
    monkeypatch.setattr("pipelines.ingestion.loaders.pdf.ocr.PAGE_SECONDS", 0.05)
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842), invariant=True)
    for number in range(20_000):
        canvas.line(number % 595, number * 7 % 842, number * 13 % 595, number * 29 % 842)
    canvas.save()
    with pytest.raises(LoadError, match="its drawings take too long to be drawn"):
        load_bytes(buffer.getvalue(), "map.pdf")


@pytest.mark.parametrize(("kind", "name"), [("PNG", "a.png"), ("JPEG", "a.jpg"), ("TIFF", "a.tif"), ("WEBP", "a.webp")])
def test_an_image_file_is_read(load_bytes, install, kind: str, name: str) -> None:
    install(tsv(*LINES))
    document = load_bytes(picture(*LINES, kind=kind), name)
    assert document.text == "Harbour books\n\nNine boats were counted today."
    assert document.mime == f"image/{kind.lower()}"
    assert document.metadata["ocr"] == {"1": 90.0}


def test_an_image_without_text_is_refused(load_bytes, install) -> None:
    install(tsv())
    with pytest.raises(LoadError, match=r"No text could be read in the image cat\.jpg") as caught:
        load_bytes(picture(kind="JPEG"), "cat.jpg")
    assert "leave it out of the folder" in caught.value.hint


def test_an_image_is_detected_by_its_bytes(load_bytes, install) -> None:
    install(tsv("Harbour"))
    assert load_bytes(picture("Harbour"), "scan.txt").mime == "image/png"


def test_every_frame_of_a_tiff_is_a_page(load_bytes, install) -> None:
    install(tsv("Harbour"))
    second = Image.open(io.BytesIO(picture("Two")))
    document = load_bytes(picture("One", kind="TIFF", save_all=True, append_images=[second]), "a.tiff")
    assert [box.page for box in document.boxes] == [1, 2]
    assert document.pages == (0, document.text.rindex("Harbour"))


def test_an_image_without_tesseract_fails_with_that_reason(load_bytes, install) -> None:
    install()
    with pytest.raises(LoadError, match=r"a\.png is an image, and tesseract is not installed"):
        load_bytes(picture("Harbour"), "a.png")


@pytest.mark.parametrize("held", range(1, 9))
def test_exif_orientation_is_undone(held: int) -> None:
    image, exif = Image.new("L", (3, 2)), Image.Exif()
    image.putpixel((2, 0), 255)
    exif[ExifTags.Base.Orientation] = held
    buffer = io.BytesIO()
    image.save(buffer, "PNG", exif=exif)
    upright, _ = _frame(Image.open(buffer), 0, "a.png")
    assert upright.tobytes() == ImageOps.exif_transpose(Image.open(buffer)).tobytes()
    assert upright.size == ((3, 2) if held < 5 else (2, 3))


def test_a_turned_picture_with_a_mistyped_tag_is_read() -> None:
    exif = b"MM\0*\0\0\0\x08\0\x02\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\x01\x31\0\x0b\0\0\0\x01\x3f\x80\0\0\0\0\0\0"
    buffer = io.BytesIO()
    Image.new("RGB", (3, 2)).save(buffer, "JPEG", exif=b"Exif\0\0" + exif)
    assert _frame(Image.open(buffer), 0, "a.jpg")[0].size == (2, 3)


def test_an_image_with_too_many_pixels_is_refused(load_bytes, install, monkeypatch) -> None:
    install(tsv("Harbour"))
    data = picture("Harbour")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(LoadError, match="too many pixels"):
        load_bytes(data, "a.png")


def test_a_later_frame_with_too_many_pixels_is_refused(load_bytes, install, monkeypatch) -> None:
    install(tsv("Harbour"))
    larger = Image.open(io.BytesIO(picture("Two", size=(900, 900))))
    data = picture("One", kind="TIFF", size=(300, 300), save_all=True, append_images=[larger])
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 300 * 300)
    with pytest.raises(LoadError, match="too many pixels"):
        load_bytes(data, "a.tiff")


def test_colour_images_become_greyscale() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (3, 2), (255, 0, 0)).save(buffer, "PNG")
    upright, _ = _frame(Image.open(buffer), 0, "a.png")
    assert upright.mode == "L"


def test_a_broken_image_is_refused(load_bytes, install) -> None:
    install(tsv("Harbour"))
    with pytest.raises(LoadError, match="is a broken image"):
        load_bytes(picture("Harbour")[:200], "a.png")


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_the_real_tesseract_reads_a_scan(load_bytes) -> None:
    document = load_bytes(scan(picture(*LINES)), "scan.pdf")
    assert " ".join(document.text.split()) == " ".join(LINES)
    assert document.metadata["ocr"]["1"] > 60
