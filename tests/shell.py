"""`footnote` in the process of a test: the exit code and the output that a shell would see."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app import cli
from config.settings import Settings, get_settings
from pipelines.errors import FootnoteError


class Shell:
    """Calls verbs in a folder, on the database and the home of some settings; more settings come by their names."""

    def __init__(self, settings: Settings, monkeypatch: pytest.MonkeyPatch, folder: Path, **given: str) -> None:
        assert settings.database_url is not None
        here = {"FOOTNOTE_HOME": str(settings.home), "DATABASE_URL": settings.database_url.get_secret_value()}
        hashed = {"FOOTNOTE_EMBEDDING__PROVIDER": "hashed", "FOOTNOTE_INGESTION__EXECUTOR": "here"}
        for name, value in (here | hashed | given).items():
            if value:
                monkeypatch.setenv(name, value)
        monkeypatch.chdir(folder)
        self.monkeypatch = monkeypatch
        self.out = self.err = ""  # of the last command

    def __call__(self, *words: str, typed: str | None = None) -> tuple[int, str]:
        """(exit code, stdout, or the message of an error)."""
        get_settings.cache_clear()
        self.monkeypatch.setattr(sys, "argv", ["footnote", *words])
        result = CliRunner().invoke(cli.app, list(words), input=typed)
        self.out, self.err = result.stdout, result.stderr
        error = result.exception
        if isinstance(error, FootnoteError):
            return cli.exit_code(error), str(error)
        if error is not None and not isinstance(error, SystemExit):
            raise error
        return result.exit_code, result.stdout

    def json(self, *words: str, code: int = 0) -> Any:
        """What a verb prints with --json."""
        status, out = self(*words, "--json")
        assert status == code, (out, self.err)
        return json.loads(out)
