"""`.env` is written line by line: what else stands in it stays, and nothing can be smuggled in."""

from pathlib import Path

import pytest

from config.env_file import write_env
from config.settings import Settings


def test_lines_are_replaced_and_others_stay_and_only_the_owner_reads_the_file(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("# mine\nFOOTNOTE_LLM__MODEL=old\nexport OPENAI_API_KEY=a\nGITHUB_TOKEN='x y'\n")
    write_env(path, {"FOOTNOTE_LLM__MODEL": "qwen2.5:1.5b", "OPENAI_API_KEY": "sk-1_2"})
    lines = ["# mine", "GITHUB_TOKEN='x y'", "FOOTNOTE_LLM__MODEL=qwen2.5:1.5b", "OPENAI_API_KEY=sk-1_2"]
    assert path.read_text().splitlines() == lines
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == [".env"]
    read = Settings(_env_file=path)
    assert read.llm.model == "qwen2.5:1.5b"
    assert read.openai_api_key
    assert read.openai_api_key.get_secret_value() == "sk-1_2"


@pytest.mark.parametrize("value", ["", "a\nFOOTNOTE_HOME=/tmp", "a b", "${HOME}", "a#b", "'", "é"])
def test_a_value_with_a_sign_that_means_something_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(ValueError, match="FOOTNOTE_LLM__MODEL"):
        write_env(tmp_path / ".env", {"FOOTNOTE_LLM__MODEL": value})
    assert not (tmp_path / ".env").exists()
