"""Measurements behind figures of the README that no user needs; each runs by `python -m tests.bench.NAME`."""

import argparse
import json
import sys
from dataclasses import asdict, is_dataclass
from typing import Any


def show(report: Any) -> None:
    """Print a report as JSON."""
    json.dump(report, sys.stdout, indent=1, ensure_ascii=False, default=_plain)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def silent(*_: object) -> None:
    """Report no progress."""


def arguments(name: str, description: str | None) -> argparse.ArgumentParser:
    """A parser for `python -m tests.bench.NAME`; the description is shown as it is written."""
    return argparse.ArgumentParser(
        prog=f"python -m tests.bench.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
