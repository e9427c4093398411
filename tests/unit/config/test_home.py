"""Where data lives without FOOTNOTE_HOME."""

import os
from pathlib import Path

import pytest

from app.cli.options import settings_now
from config.settings import Settings, default_home


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("FOOTNOTE_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_database(folder: Path) -> None:
    data = folder / "var" / "postgres" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("18\n")


def test_the_folder_of_the_environment_comes_first(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_database(empty_folder)
    monkeypatch.setenv("FOOTNOTE_HOME", "elsewhere")
    assert Settings(_env_file=None).home == Path("elsewhere")


def test_a_local_var_is_used_if_it_holds_a_database(empty_folder: Path) -> None:
    (empty_folder / "var").mkdir()
    assert default_home() != Path("var")
    make_database(empty_folder)
    assert default_home() == Path("var")


def test_a_clone_keeps_its_data_in_var(empty_folder: Path) -> None:
    (empty_folder / "pipelines").mkdir()
    (empty_folder / "pipelines" / "__init__.py").touch()
    (empty_folder / "footnote.py").touch()
    assert default_home() == Path("var")


def test_elsewhere_it_is_the_folder_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert default_home() == tmp_path / "share" / "footnote"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_home() == Path("/var/lib/footnote")


def test_a_blank_setting_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_HOME", "")
    assert Settings(_env_file=None).home == default_home()


def test_a_local_database_is_announced_once(empty_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_database(empty_folder)
    settings_now()
    assert str(empty_folder / "var") in capsys.readouterr().err
    settings_now()
    assert capsys.readouterr().err == ""
