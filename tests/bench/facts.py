"""Precision and recall of the facts of READMEs and resumes over hand-checked samples.

python -m tests.bench.facts readmes FOLDER [--show]
python -m tests.bench.facts resumes FOLDER [--show]
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.facts import PersonFacts, SummaryFacts, TalkFacts, records_of
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders import load
from pipelines.ingestion.parsers import parse
from pipelines.ingestion.parsers.projects import project_of
from pipelines.text import fold
from pipelines.types import Document, NodeMetadata, SourceItem
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


def score_resumes(folder: Path, truth: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str, str, bool]]:
    """(file, field, value that was found, True if it is right) of each value of a person that is stated or found."""
    for name, stated in truth.items():
        document = stored_file(folder / name)
        facts = [NodeMetadata.model_validate(node.metadata).facts for node in parse(document)]
        records = [record for each in facts for record in records_of(each)]
        people = [record for record in records if isinstance(record, PersonFacts)]
        named = next((person.name for person in people if person.name), "")
        place = next((person.location for person in people if person.location), "")
        summary = next((record.text for record in records if isinstance(record, SummaryFacts)), "")
        yield name, "name", named, fold(named) == stated["name"]
        yield name, "place", place, bool(stated["place"]) and stated["place"] in place
        yield name, "summary", summary, bool(stated["summary"]) and summary.startswith(stated["summary"])
        talks = [record.title for record in records if isinstance(record, TalkFacts)]
        for title in dict.fromkeys([*talks, *stated["talks"]]):
            yield name, "talks", title if title in talks else "", title in talks and title in stated["talks"]


def show_readmes(folder: Path, truth: Mapping[str, Mapping[str, Any]], *, every: bool) -> Iterator[str]:
    """The scores of READMEs as lines, before them what is wrong if `every` is True."""
    purposes, languages = Score(), Score()
    for name, purpose, right, wrong, missing in score_readmes(folder, truth):
        purposes.right += right and bool(purpose)
        purposes.found += bool(purpose)
        purposes.stated += bool(truth[name]["purpose"])
        count = len(truth[name]["languages"])
        languages.right += count - len(missing)
        languages.found += count - len(missing) + len(wrong)
        languages.stated += count
        if every and not (right and not wrong and not missing):
            yield f"{name}: {'' if right else repr(purpose)} wrong {sorted(wrong)} missing {sorted(missing)}"
    yield f"purpose    {purposes}"
    yield f"languages  {languages}"


def show_resumes(folder: Path, truth: Mapping[str, Mapping[str, Any]], *, every: bool) -> Iterator[str]:
    """The scores of resumes as lines, before them what is wrong if `every` is True."""
    scores: dict[str, Score] = defaultdict(Score)
    for name, field, found, right in score_resumes(folder, truth):
        scores[field].right += right
        scores[field].found += bool(found)
        scores[field].stated += field != "talks" and bool(truth[name][field])
        if every and not right and (found or (field != "talks" and truth[name][field])):
            yield f"{name}: {field} {found!r}"
    scores["talks"].stated = sum(len(stated["talks"]) for stated in truth.values())
    yield from (f"{field:10} {score}" for field, score in scores.items())


def main() -> None:
    """Print the scores of a sample."""
    options = arguments("facts", __doc__)
    options.add_argument("kind", choices=("readmes", "resumes"), help="the sample, tests/bench/KIND.json")
    options.add_argument("folder", type=Path, help="where its files are")
    options.add_argument("--show", action="store_true", help="print each file that is not wholly right")
    given = options.parse_args()
    truth = json.loads((_HERE / f"{given.kind}.json").read_text(encoding="utf-8"))
    truth.pop("about")
    show = show_readmes if given.kind == "readmes" else show_resumes
    sys.stdout.write("\n".join(show(given.folder, truth, every=given.show)) + f"\n{len(truth)} documents\n")


if __name__ == "__main__":
    main()
