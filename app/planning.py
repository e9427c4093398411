"""How a plan is shown: what would become of each document, and what the run would cost."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, get_args

from app import output
from app.tables import Entry, print_entries
from pipelines.store.originals import named_place
from pipelines.types import IngestItem, Outcome
from pipelines.wording import counted, unlabelled

if TYPE_CHECKING:
    from pipelines.ingestion.plan import Plan, Step
    from pipelines.ingestion.preview import Preview
    from pipelines.ingestion.watch import Round

_ROWS = 200  # of a table on a terminal
_NAMED = 10
_PLACES = 3
_VERBS = {"added": "add", "updated": "update", "metadata": "metadata", "removed": "remove", "failed": "fail"}
_TOTALS = {
    "added": "to add", "updated": "to update", "metadata": "to update in metadata only", "removed": "to remove",
    "failed": "would fail", "unchanged": "unchanged",
}  # fmt: skip


def plan_json(plan: "Plan", seen: "Preview") -> dict[str, Any]:
    """The plan with what would become of each document that is not unchanged, and what the run would cost."""
    actions = ("add", "update", "remove", "unchanged", "fail")
    steps = [
        _step_json(step, item, estimated=place in seen.estimated)
        for place, (step, item) in enumerate(zip(plan.steps, seen.items, strict=True))
        if step.action != "unchanged"
    ]
    return {
        "counts": {action: plan.count(action) for action in actions},  # type: ignore[arg-type]
        "outcomes": {outcome: seen.count(outcome) for outcome in get_args(Outcome)},
        "steps": steps,
        **noted_json(plan),
        "refused_removals": refused_json(plan),
        "settled": [{"document": item.name, "reason": why} for item, why in plan.settled.items()],
        "embeddings": seen.embeddings,
        "sentence_groups": seen.sentence_groups,
        "tokens": seen.tokens,
        "header_calls": seen.headers.calls,
        "header_tokens": seen.headers.tokens,
        "estimated": is_estimated(seen),
        "cost": {
            "currency": "USD", "embeddings": seen.embedding_cost, "headers": seen.header_cost, "total": seen.cost,
        },
    }  # fmt: skip


def _step_json(step: "Step", item: IngestItem, *, estimated: bool) -> dict[str, Any]:
    return {
        "action": step.action,
        "document": item.document,
        "reason": step.reason,
        "outcome": item.outcome,
        "stage": item.stage,
        "error_class": item.error,
        "message": item.message,
        "hint": item.hint,
        "nodes": item.nodes,
        "embeddings": item.embedded,
        "estimated": estimated,
    }


def is_estimated(seen: "Preview") -> bool:
    """Whether the embeddings are at most so many, because a model has to be asked before they show."""
    return bool(seen.estimated or seen.headers.calls)


def print_plan(plan: "Plan", seen: "Preview", model: str) -> None:
    """A table of what changes and what would fail, then the totals."""
    pairs = [(step, item) for step, item in zip(plan.steps, seen.items, strict=True) if item.outcome != "unchanged"]
    rows = [_entry(step, item) for step, item in pairs]
    print_entries(["action", "nodes", "embeddings", "document"], rows, most=_ROWS)
    counts = ", ".join(f"{count:,} {said}" for name, said in _TOTALS.items() if (count := seen.count(name)))  # type: ignore[arg-type]
    output.say(counts or "nothing to do", "bold")
    for line in cost_lines(seen, model):
        output.say(line)
    for item, why in plan.settled.items():
        output.say(f"{item.name} failed before, and does no longer: {why}", "dim")
    say_noted(plan)
    say_refused(plan)


def _entry(step: "Step", item: IngestItem) -> Entry:
    numbers = [item.nodes or "", item.embedded or ""]
    if item.outcome != "failed":
        return Entry([_VERBS[item.outcome], *numbers, f"{item.document} ({step.reason})"])
    why = f"{unlabelled(item.document, item.message)} {item.hint}".strip()
    return Entry([_VERBS[item.outcome], *numbers, item.document], why, "red")


def cost_lines(seen: "Preview", model: str) -> list[str]:
    """What would be embedded and asked, and for how much; nothing where nothing would."""
    lines = []
    if seen.embeddings:
        most = "at most " if is_estimated(seen) else ""
        groups = f", {seen.sentence_groups:,} of them groups of sentences" if seen.sentence_groups else ""
        lines.append(
            f"{most}{counted(seen.embeddings, 'text')} to embed{groups}: {counted(seen.tokens, 'token')}, "
            f"{_money(seen.embedding_cost, 'FOOTNOTE_EMBEDDING__PRICE')} with {model}"
        )
    if seen.headers.calls:
        lines.append(
            f"a language model would be asked for {seen.headers.calls:,} headers, reading {seen.headers.tokens:,} "
            f"tokens, at most {_money(seen.header_cost, 'FOOTNOTE_LLM__PRICE')}"
        )
    return lines


def _money(dollars: float | None, setting: str) -> str:
    if dollars is None:
        return f"a price that is not known (set {setting})"
    return "free" if not dollars else f"${dollars:.4f}" if dollars < 1 else f"${dollars:,.2f}"


def refused_json(plan: "Plan | Round") -> list[dict[str, Any]]:
    """The removals that a person has to allow, by source."""
    return [{"source": source, "documents": absent, "of": held} for source, absent, held in plan.refused]


def noted_json(plan: "Plan") -> dict[str, Any]:
    """What is passed over and what is stored in part, and why; `skipped` has the names of the first alone.

    `empty` are the sources in which there is nothing that is read.
    """
    return {
        "skipped": [each.name for each in plan.skipped],
        "passed_over": [{"name": each.name, "reason": each.said} for each in plan.skipped],
        "stored_in_part": [{"document": each.name, "reason": each.said} for each in plan.partial],
        "empty": list(plan.empty),
    }


def say_noted(plan: "Plan") -> None:
    """Say what is not taken, and what is taken in part: a line each with the reason."""
    for said, remarks in (("passed over", plan.skipped), ("stored in part", plan.partial)):
        if remarks:
            output.say(f"{len(remarks):,} {said}:", "dim")
        for each in remarks[:_NAMED]:
            output.say(f"          {each.name}: {each.said}", "dim")
        if len(remarks) > _NAMED:
            output.say(f"          and {len(remarks) - _NAMED:,} more: --json has all", "dim")
    for source in plan.empty:
        output.say(f"Nothing that is read is in {named_place(source)}.", "yellow")


def say_refused(plan: "Plan | Round") -> None:
    """Say on stderr what stays because too much would be removed."""
    for source, absent, held in plan.refused:
        output.warn(
            f"{absent} of {held} documents are no longer in {source}; that is more than a fifth, so they stay. "
            "Run again with --yes to remove them."
        )


def say_sources_stay(sources: Iterable[str]) -> None:
    """Say what a removal or a rollback does not do: anything where the documents come from."""
    places = list(dict.fromkeys(map(named_place, sources)))
    more = f" and {len(places) - _PLACES:,} more" if len(places) > _PLACES else ""
    if places:
        named = f"{', '.join(places[:_PLACES])}{more}"
        stay = "The sources stay as they are"
        output.say(f"{stay}: the next `footnote ingest` of {named} takes in again what is there.", "dim")
