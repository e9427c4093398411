"""Uploaded files get names that stay in their folder."""

from pathlib import Path

import pytest

from app.uploads import keep_uploads, safe_name
from pipelines.errors import SourceError


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("resume.pdf", "resume.pdf"),
        ("../../etc/passwd", "passwd"),
        (r"C:\Users\ann\cv.docx", "cv.docx"),
        (".bashrc", "bashrc"),
        ("a\x00b\nc.md", "abc.md"),
        ("  spaced .txt  ", "spaced .txt"),
        ("..", "document"),
        ("", "document"),
        ("Re\u0301sume\u0301.pdf", "Résumé.pdf"),
        ("half\ud800.md", "half.md"),
    ],
)
def test_a_name_keeps_its_suffix_and_loses_what_could_lead_elsewhere(given: str, kept: str) -> None:
    assert safe_name(given) == kept


def test_a_long_name_is_cut_to_whole_characters_before_its_suffix() -> None:
    name = safe_name("é" * 200 + ".pdf")
    assert name.endswith("é.pdf")
    assert len(name.encode()) <= 120


def test_files_are_written_whole_and_an_earlier_upload_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "uploads"
    keep_uploads(folder, [("cv.md", b"old")])
    assert keep_uploads(folder, [("x/cv.md", b"new"), ("y/cv.md", b"other")]) == [
        folder / "cv.md",
        folder / "cv (2).md",
    ]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"cv.md": b"new", "cv (2).md": b"other"}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "uploads").write_text("a file")
    with pytest.raises(SourceError, match=r"cv\.md cannot be kept"):
        keep_uploads(tmp_path / "uploads", [("cv.md", b"")])
