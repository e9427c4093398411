"""The measured speed of language models."""

import logging
from pathlib import Path

import pytest

from pipelines.models.speed import Speed, SpeedLog


def test_a_model_that_was_not_measured_has_no_speed(tmp_path: Path) -> None:
    assert SpeedLog(tmp_path / "speeds.json").of("m at http://h") is None


def test_a_speed_is_kept_in_the_file_and_follows_new_measurements(tmp_path: Path) -> None:
    log = SpeedLog(tmp_path / "speeds.json")
    log.record("m", prompt_tokens=600, first=10.0, reply_tokens=41, whole=14.0)
    assert SpeedLog(log.path).of("m") == Speed(read=600 / 10, written=40 / 4)
    log.record("m", prompt_tokens=600, first=5.0, reply_tokens=3, whole=5.1)  # too short to tell how fast it writes
    assert log.of("m") == Speed(read=2 / (1 / 60 + 1 / 120), written=10.0)  # by the time that each takes


def test_the_expected_time_is_that_of_reading_and_writing() -> None:
    assert Speed(read=60, written=10).seconds(600, 40) == pytest.approx(600 / 60 + 40 / 10)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"m": 3}', '{"m": {"read": "fast"}}'])
def test_a_damaged_file_is_no_measurement(tmp_path: Path, text: str) -> None:
    path = tmp_path / "speeds.json"
    path.write_text(text)
    assert SpeedLog(path).of("m") is None


def test_a_file_that_cannot_be_written_is_only_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("footnote")
    logger.addHandler(caplog.handler)
    try:
        SpeedLog(tmp_path / "gone" / "speeds.json").record("m", prompt_tokens=6, first=1, reply_tokens=9, whole=2)
    finally:
        logger.removeHandler(caplog.handler)
    assert "the speed of a language model is not kept" in caplog.text
