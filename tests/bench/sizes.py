"""Installed sizes in MB (10^6 bytes) of Footnote without extras, and what each extra adds, as installed here.

    python -m tests.bench.sizes

Every package that Footnote or an extra requires must be installed, as `make test` does. Counted are the files that the
packages brought, without the bytecode that Python makes of them.
"""

import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.bench import arguments, show

_BYTECODE = (".pyc", ".pyo")


def required(lines: Sequence[str]) -> frozenset[str]:
    """The names of all installed packages that these requirements bring."""
    waiting = list(_named(lines, frozenset()))
    seen: set[tuple[str, frozenset[str]]] = set()
    found: set[str] = set()
    while waiting:
        name, extras = wanted = waiting.pop()
        if wanted in seen:
            continue
        seen.add(wanted)
        try:
            waiting += _named(distribution(name).requires or (), extras)
        except PackageNotFoundError:
            continue  # what another platform needs
        found.add(name)
    return frozenset(found)


def _named(lines: Sequence[str], extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for needed in map(Requirement, lines):
        if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield canonicalize_name(needed.name), frozenset(needed.extras)


def megabytes(names: frozenset[str]) -> float:
    """The size of the files of these packages."""
    packages = map(distribution, names)
    files = [Path(str(each.locate_file(file))) for each in packages for file in each.files or ()]
    return round(sum(path.stat().st_size for path in files if path.is_file() and path.suffix not in _BYTECODE) / 1e6, 1)


if __name__ == "__main__":
    arguments("sizes", __doc__).parse_args()
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plain = required(project["dependencies"])
    extras = {name: required(lines) - plain for name, lines in project["optional-dependencies"].items()}
    show({"footnote": megabytes(plain), **{name: megabytes(more) for name, more in extras.items()}})
