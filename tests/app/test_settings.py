"""What is said of settings that are wrong."""

import pytest

from app.settings import read_settings
from pipelines.errors import ConfigError


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "FOOTNOTE_INGESTION__SOURCE_FILE", "x",
            "There is no setting FOOTNOTE_INGESTION__SOURCE_FILE. Did you mean FOOTNOTE_INGESTION__SOURCES_FILE?",
        ),
        ("FOOTNOTE_WEB__XYZ", "1", "There is no setting FOOTNOTE_WEB__XYZ. See .env.example."),
        ("FOOTNOTE_INGESTION__SOURCES", "github:ann", 'Write it as JSON, such as ["github:ann", "~/portfolio"]'),
        ("FOOTNOTE_INGESTION__POLL_MINUTES", "soon", "The setting FOOTNOTE_INGESTION__POLL_MINUTES is wrong: "),
    ],
)  # fmt: skip
def test_a_setting_that_is_wrong_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        read_settings()
    assert said in str(caught.value)
