"""Footnote under its own name: `import footnote` in a notebook, `python -m footnote` in a shell.

`footnote.ingest`, `footnote.build_query_engine` and the other public names of `pipelines`, loaded when first used.
"""

import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
if __name__ == "__main__" and sys.path and Path(sys.path[0] or ".").resolve() != _HERE:
    del sys.path[0]  # the working directory: its app.py, config.py or pipelines/ are not ours

for _name in ("app", "config", "pipelines"):
    _loaded = sys.modules.get(_name)
    _spec = _loaded.__spec__ if _loaded is not None else PathFinder.find_spec(_name)
    if _spec is not None and Path(_spec.origin or "").resolve() != _HERE / _name / "__init__.py":
        _hides = _spec.origin or next(iter(_spec.submodule_search_locations or ()), _name)
        raise ImportError(f"Footnote's package {_name!r} is hidden by {_hides}. Rename it, or run from another folder.")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("footnote")
    import pipelines

    return getattr(pipelines, name)


def __dir__() -> list[str]:
    import pipelines

    return [*pipelines.__all__, "__version__"]


if __name__ == "__main__":
    from app.cli import main

    main()
