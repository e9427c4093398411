"""Measurements behind figures of the README that no user needs; each runs by `python -m tests.bench.NAME`."""

import json
import sys
from typing import Any


def show(report: Any) -> None:
    """Print a report as JSON."""
    json.dump(report, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")


def silent(*_: object) -> None:
    """Report no progress."""
