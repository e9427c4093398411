"""`footnote init`: what a folder is, the file of sources, and the documents."""

import json
from pathlib import Path

import pytest

from app.cli.init import folder_kind
from config.settings import Settings
from tests.shell import Shell
from tests.unit.ingestion.test_load_career_data import FILES

POST = "# A post\n\nThe crane moved 40 containers an hour.\n"


def folder_of(place: Path, *files: str) -> Path:
    for name in files:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(FILES.get(name, POST.encode()))
    return place


@pytest.mark.parametrize(
    ("files", "kind", "locations"),
    [
        (["_config.yml", "_posts/2021-01-01-a.md", "README.md"], "Jekyll site", ["_posts"]),
        (["hugo.toml", "content/a.md", "themes/x.md"], "Hugo site", ["content"]),
        (["astro.config.mjs", "src/content/a.md", "src/pages/b.md"], "Astro site", ["src/content", "src/pages"]),
        ([".obsidian/app.json", "a.md"], "Obsidian vault", ["."]),
        (["linkedin.pdf", "summary.txt"], "career chat", ["."]),
        (["resume.json"], "JSON Resume", [".", "resume.json"]),
        (["ines_cv.yaml", "data.zip"], "LinkedIn archive and rendercv", [".", "data.zip", "ines_cv.yaml"]),
        (["a.md", "package.json"], "folder of documents", ["."]),
    ],
)
def test_a_folder_is_told_by_what_is_in_it(tmp_path: Path, files: list[str], kind: str, locations: list[str]) -> None:
    found = folder_kind(folder_of(tmp_path, *files))
    assert found.name == kind
    assert list(found.locations) == [tmp_path / place for place in locations]


def test_a_folder_is_declared_ingested_and_found_under_its_owners_name(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = folder_of(tmp_path / "me", "resume.json", "about.md")
    shell = Shell(settings, monkeypatch, tmp_path)
    begun = shell.json("init", str(place))
    assert (begun["kind"], begun["name"]) == ("JSON Resume", "Ines Varga")
    file = Path(begun["file"])
    declared = file.read_text()
    assert json.dumps(str(place)) in declared
    assert "Northmere" in shell.json("ask", "Where does Ines Varga work?")["answer"]
    (place / "new.md").write_text("# New\n\nAnother one.\n")
    assert shell.json("ingest")["added"] == 1  # the file of sources is that of the home
    code, said = shell("init", str(place), "--no-chat", "--name", "Dr Varga")
    assert (code, file.read_text()) == (0, declared)
    assert "The chat is called after Dr Varga." in said
    assert shell("init", str(place / "nowhere")) == (
        2,
        f"{place / 'nowhere'} is not a folder. Name the folder that holds your documents.",
    )
