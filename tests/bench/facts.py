"""Precision and recall of the facts of READMEs and resumes over hand-checked samples.

python -m tests.bench.facts readmes FOLDER [--show]
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders import load
from pipelines.ingestion.parsers.projects import project_of
from pipelines.types import Document, SourceItem
from tests.bench import arguments

_HERE = Path(__file__).parent


@dataclass(slots=True)
class Score:
    """Counts of a field: right values, values found, values stated."""

    right: int = 0
    found: int = 0
    stated: int = 0

    def __str__(self) -> str:
        precision, recall = self.right / (self.found or 1), self.right / (self.stated or 1)
        return f"precision {precision:.3f} ({self.right} of {self.found}), recall {recall:.3f} (of {self.stated})"


def stored_file(path: Path) -> Document:
    """The classified document of a file, named with its folder."""
    item = SourceItem(path.absolute().as_uri(), f"{path.parent.name}/{path.name}", path.parent.as_uri(), "file")
    return classify(load(path.read_bytes(), item))


def score_readmes(
    folder: Path, truth: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, str, bool, set[str], set[str]]]:
    """(file, purpose, True if it is right, languages that are wrong, languages that are missing) of each README."""
    for name, stated in truth.items():
        project = project_of(stored_file(folder / name))
        purpose, languages = (project.purpose, set(project.languages)) if project else ("", set())
        phrases = [stated["purpose"]] if isinstance(stated["purpose"], str) else stated["purpose"]
        right = any(phrase in purpose for phrase in phrases) if any(phrases) else not purpose
        yield (
            name,
            purpose,
            right,
            languages - {*stated["languages"], *stated["may"]},
            {*stated["languages"]} - languages,
        )


def main() -> None:
    """Print the scores of a sample."""
    options = arguments("facts", __doc__)
    options.add_argument("kind", choices=("readmes",), help="the sample, tests/bench/KIND.json")
    options.add_argument("folder", type=Path, help="where its files are")
    options.add_argument("--show", action="store_true", help="print each file that is not wholly right")
    given = options.parse_args()
    truth = json.loads((_HERE / f"{given.kind}.json").read_text(encoding="utf-8"))
    truth.pop("about")
    purposes, languages = Score(), Score()
    for name, purpose, right, wrong, missing in score_readmes(given.folder, truth):
        purposes.right += right and bool(purpose)
        purposes.found += bool(purpose)
        purposes.stated += bool(truth[name]["purpose"])
        count = len(truth[name]["languages"])
        languages.right += count - len(missing)
        languages.found += count - len(missing) + len(wrong)
        languages.stated += count
        if given.show and not (right and not wrong and not missing):
            sys.stdout.write(
                f"{name}: {'' if right else repr(purpose)} wrong {sorted(wrong)} missing {sorted(missing)}\n"
            )
    sys.stdout.write(f"{len(truth)} READMEs\n  purpose    {purposes}\n  languages  {languages}\n")


if __name__ == "__main__":
    main()
