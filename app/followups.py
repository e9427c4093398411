"""What `eval followups` does: ask follow-up questions with and without their conversation, and print what is found."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app import output
from config.settings import Settings


def run_follow_ups(settings: Settings, path: Path, *, as_json: bool) -> None:
    """Search for the later questions of judged conversations; print the measures with the last turn and condensed."""
    from pipelines.evaluation.answerability import load_collection
    from pipelines.evaluation.followups import measure_follow_ups
    from pipelines.models.identity import llm_identity

    llm = None
    if llm_identity(settings) is not None and settings.answer.condense == "auto":
        from pipelines.models.llm import build_llm

        llm = build_llm(settings)
    collection = load_collection(path)
    with output.progress(quiet=as_json) as advance:
        report = measure_follow_ups(settings, collection, advance, llm)
    if as_json:
        output.print_json({"dataset": collection.dataset.name, **report})
        return
    made = ", ".join(f"{count} {how}" for how, count in report["by"].items())
    output.table(f"{collection.dataset.name}, {report['questions']} later questions ({made})", *_table(report))
    for name, group in report["groups"].items():
        found = group["difference"]
        output.say(
            f"{name}: nDCG@10 {found['difference']:+.4f} ({found['low']:+.3f}..{found['high']:+.3f}), "
            f"p {found['p']:.3f}, {found['wins']} better, {found['ties']} alike, {found['losses']} worse"
        )


def _table(report: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    from pipelines.evaluation.followups import CONDENSED, LAST, MEASURES

    rows = [
        [f"{name} ({group['questions']})", searched, *(f"{group[searched][measure]:.4f}" for measure in MEASURES)]
        for name, group in report["groups"].items()
        for searched in (LAST, CONDENSED)
    ]
    return ["questions", "searched for", *MEASURES], rows
