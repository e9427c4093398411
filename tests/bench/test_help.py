"""Every measurement says what it measures and what it needs."""

import runpy
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py") if not path.stem.startswith("test_"))


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_measurement_describes_itself(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [script, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"tests.bench.{script}", run_name="__main__")
    assert ended.value.code == 0
    assert len(capsys.readouterr().out.split()) > 15
