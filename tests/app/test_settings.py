"""The errors of wrong settings."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from app.settings import read_settings
from config.settings import MisdirectedKey, Settings
from pipelines.errors import ConfigError


def refusal() -> str:
    with pytest.raises(ConfigError) as caught:
        read_settings()
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "FOOTNOTE_INGESTION__SOURCE_FILE", "x",
            "There is no setting FOOTNOTE_INGESTION__SOURCE_FILE. Did you mean FOOTNOTE_INGESTION__SOURCES_FILE?",
        ),
        ("FOOTNOTE_WEB__XYZ", "1", "There is no setting FOOTNOTE_WEB__XYZ. See .env.example."),
        ("FOOTNOTE_INGESTION__POLL_MINUTES", "soon", "POLL_MINUTES is wrong: it has to be a number. See"),
        ("FOOTNOTE_EMBEDDING__RETRIES", "1.5", "EMBEDDING__RETRIES is wrong: it has to be a whole number. See"),
        ("FOOTNOTE_EMBEDDING__RETRIES", "-1", "EMBEDDING__RETRIES is wrong: it has to be at least 0. See"),
        ("FOOTNOTE_WEB__ROBOTS", "perhaps", "FOOTNOTE_WEB__ROBOTS is wrong: it has to be true or false. See"),
        ("FOOTNOTE_LOG__LEVEL", "x", "is wrong: it has to be 'debug', 'info', 'warning' or 'error'. See"),
    ],
)  # fmt: skip
def test_a_setting_that_is_wrong_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(name, value)
    assert message in refusal()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("FOOTNOTE_INGESTION_SOURCES_FILE", "Did you mean FOOTNOTE_INGESTION__SOURCES_FILE?"),
        ("FOOTNOTE_GITUB__API_BASE", "Did you mean FOOTNOTE_GITHUB__API_BASE?"),
        ("FOOTNOTE_POLL_MINUTES", "Did you mean FOOTNOTE_INGESTION__POLL_MINUTES?"),
        ("FOOTNOTE_XYZ", "See .env.example."),
        ("FOOTNOTE_EMBEDDING__MODLE", "Did you mean FOOTNOTE_EMBEDDING__MODEL?"),
        ("FOOTNOTE_RETRIEVAL__MINIMUM_SIMILARITY", "See .env.example."),
        ("FOOTNOTE_RETRIEVAL__MAX_CHARACTERS", "See .env.example."),
        ("FOOTNOTE_ANSWER__MAX_TOKENS", "See .env.example."),
        ("FOOTNOTE_NOTION__DELAY_SECONDS", "See .env.example."),
        ("FOOTNOTE_PORT", "Did you mean FOOTNOTE_CHAT__PORT or FOOTNOTE_SERVE__PORT?"),
    ],
)
@pytest.mark.parametrize("where", ["environment", "file"])
def test_a_name_of_no_stage_is_refused_in_the_environment_and_in_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, where: str, name: str, meant: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if where == "environment":
        monkeypatch.setenv(name, "x")
    else:
        (tmp_path / ".env").write_text(f"{name}=x\n")
    assert refusal() == f"There is no setting {name}. {meant}"


def test_every_way_to_write_a_setting_that_there_is_goes_on_working(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text('GITHUB_TOKEN=x\nSOMETHING_ELSE=1\nfootnote_web={"max_bytes": 2}\n')
    monkeypatch.setenv("footnote_collection", "notes")
    monkeypatch.setenv("FOOTNOTE_INGESTION__SOURCES", '["github:ann"]')
    monkeypatch.setenv("FOOTNOTE_FAULT_SEEDS", "500")
    monkeypatch.setenv("FOOTNOTE_SERVICE_HOST", "10.0.0.1")  # a cluster says it of a service called footnote
    monkeypatch.setenv("FOOTNOTE_PORT", "tcp://10.0.0.1:8501")
    monkeypatch.setenv("FOOTNOTE_PORT_8501_TCP_ADDR", "10.0.0.1")
    settings = read_settings()
    assert (settings.collection, settings.ingestion.sources, settings.web.max_bytes) == ("notes", ("github:ann",), 2)


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("FOOTNOTE_INGESTION__SOURCES", "github:ann, ~/portfolio", '["github:ann", "~/portfolio"]'),
        ("FOOTNOTE_WEB__PRIVATE_HOSTS", "['wiki.local']", '["wiki.local"]'),
        ("FOOTNOTE_INGESTION__RULES", "cv/*", '[{"match": "*/cv/*", "category": "resume"}]'),
        ("FOOTNOTE_WEB", "slow", '{"delay_seconds": 1.0}'),
    ],
)
@pytest.mark.parametrize("where", ["environment", "file"])
def test_a_list_that_is_no_json_is_named_with_a_right_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, where: str, name: str, value: str, right: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if where == "environment":
        monkeypatch.setenv(name, value)
    else:
        (tmp_path / ".env").write_text(f'{name}="{value}"\n')
    assert refusal() == f"The setting {name} is not JSON. Write it like this: {name}={right}"


def test_settings_are_read_again_once_the_environment_or_the_file_has_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    first = read_settings()
    assert read_settings() is first
    monkeypatch.setenv("FOOTNOTE_PERSONA__NAME", "Ann Bell")
    assert read_settings().persona.name == "Ann Bell"
    (tmp_path / ".env").write_text("FOOTNOTE_PERSONA__BIO=organs\n")
    assert read_settings().persona.bio == "organs"
    (tmp_path / ".env").write_text("FOOTNOTE_PERSONA__BIO=reeds\n")
    assert read_settings().persona.bio == "reeds"


MOVED = [
    ("OPENAI_API_KEY", "OPENAI_API_BASE"),
    ("OPENAI_API_KEY", "FOOTNOTE_LLM__API_BASE"),
    ("OPENROUTER_API_KEY", "OPENROUTER_API_BASE"),
    ("GITHUB_TOKEN", "FOOTNOTE_GITHUB__API_BASE"),
    ("NOTION_TOKEN", "FOOTNOTE_NOTION__API_BASE"),
    ("FOOTNOTE_SERVER_TOKEN", "FOOTNOTE_SERVER"),
]


@pytest.mark.parametrize(("key", "address"), MOVED)
def test_a_file_of_the_folder_sends_no_key_elsewhere_that_is_set_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str, address: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(key, "sk-mine")
    (tmp_path / ".env").write_text(f"{address}=https://evil.example/v1\n{key}=\n")
    assert refusal().startswith(f"{address} in .env would send {key}, which is set elsewhere, to https://evil.example")
    given = {key.removeprefix("FOOTNOTE_").lower(): SecretStr("sk-mine")}
    monkeypatch.delenv(key)
    with pytest.raises(MisdirectedKey):
        Settings(**given)
    monkeypatch.setenv(address, "https://mine.example/v1")  # which outranks the file
    monkeypatch.setenv(key, "sk-mine")
    assert read_settings()
    monkeypatch.delenv(address)
    monkeypatch.delenv(key)
    (tmp_path / ".env").write_text(f"{address}=https://evil.example/v1\n{key}=sk-the-file's\n")
    assert read_settings()


def test_a_stage_as_json_in_the_file_moves_no_key_either(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    (tmp_path / ".env").write_text('footnote_llm={"api_base": "https://evil.example/v1"}\n')
    assert "would send OPENAI_API_KEY" in refusal()
    (tmp_path / ".env").write_text("OPENAI_API_BASE=https://api.openai.com/v1/\n")
    assert read_settings().openai_api_base == "https://api.openai.com/v1/"
