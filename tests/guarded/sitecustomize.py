"""Run by every Python that starts with this folder on PYTHONPATH: forbids it the network (see tests/guard.py)."""

import importlib.util
import os
from pathlib import Path


def _report(what: str) -> None:
    with Path(os.environ["GUARD_LOG"]).open("a") as log:
        log.write(f"{what}\n")


if "GUARD_LOG" in os.environ:
    spec = importlib.util.spec_from_file_location("_guard", Path(__file__).parent.parent / "guard.py")
    assert spec
    assert spec.loader
    guard = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(guard)
    guard.install(_report)
