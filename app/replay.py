"""What `ask --pack` and `replay` do: keep an answer, ask it again, and say what changed and why."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import output
from app.pack import load_pack, write_pack
from config.settings import Settings
from pipelines.types import Answer, Filters

if TYPE_CHECKING:
    from pipelines.query.engine import Engine
    from pipelines.query.packs.again import Again

_SENTENCE = {"same": " ", "changed": "~", "gone": "-", "new": "+"}
_STANDS = {
    "now": "still in the documents",
    "older": "only in an older version that is kept",
    "no": "not in the version that was quoted",
    "unknown": "cannot be checked: that version is no longer kept",
}
_CLIP = 100


def keep_answer(engine: "Engine", question: str, filters: Filters, answer: Answer, paths: tuple[Path, ...]) -> None:
    """Write the pack of an answer that the owner was given on the command line, and say where."""
    from pipelines.query.packs.packing import pack_answer
    from pipelines.query.searching.find import Request

    request = Request(question, filters, "owner", engine.settings.retrieval.mode, engine.passages)
    write_pack(pack_answer(engine, request, answer), paths)
    output.warn(f"Kept in {' and '.join(map(str, paths))}", "dim")


def show_replay(settings: Settings, named: str, *, as_json: bool) -> None:
    """Ask a pack's question again and print what changed and why."""
    pack = load_pack(named)
    from pipelines.query.engine import build_query_engine
    from pipelines.query.packs.again import ask_again

    engine = build_query_engine(settings)
    if engine.llm is not None and (settings.answer.output, pack.settings.values.get("answer.output")) == (
        "auto",
        "json",
    ):
        engine = engine.with_changes({"answer.output": "json"})  # as `ask --json` asked
    again = ask_again(engine, pack)
    output.print_json(replay_json(again)) if as_json else _print(again)


def replay_json(again: "Again") -> dict[str, Any]:
    """What changed, as plain data; `answer` is today's."""
    from pipelines.store.queries import jsonable

    told: dict[str, Any] = jsonable(again.changes)
    return {
        "question": again.before.asked.question,
        "asked_at": again.before.made_at,
        **told,
        "quotations": jsonable(again.quotations),
        "fingerprints": {"before": again.before.settings.fingerprint, "after": again.after.settings.fingerprint},
        "answer": again.after.answer.model_dump(mode="json"),
    }


def _print(again: "Again") -> None:
    changes = again.changes
    output.say(again.before.asked.question, "bold")
    output.say(f"asked at {again.before.made_at[:19]} UTC, and again now", "dim")
    output.say(
        "The answer is the same." if changes.same else "The answer changed.", "green" if changes.same else "yellow"
    )
    for difference in changes.outcome:
        output.say(f"  {difference.what}: {_value(difference.before)} -> {_value(difference.after)}")
    _block("Why", (f"  {cause}" for cause in changes.causes))
    _block("Sentences", _sentences(again))
    _block("Sources, by rank", _sources(again))
    _block("Quotations", _quotations(again))


def _block(heading: str, lines: Iterable[str]) -> None:
    held = list(lines)
    if held:
        output.say(f"\n{heading}", "bold")
    for line in held:
        output.say(line, "dim" if line.startswith("   ") else "")


def _sentences(again: "Again") -> Iterable[str]:
    for one in again.changes.sentences:
        mark = _SENTENCE[one.change]
        if one.before and one.change != "same":
            yield f"  {'-' if mark == '~' else mark} {output.clip(one.before, _CLIP)}"
        if one.after:
            yield f"  {'+' if mark == '~' else mark} {output.clip(one.after, _CLIP)}"
        if one.before and one.after and one.verdict_before != one.verdict_after:
            yield f"    verdict: {one.verdict_before} -> {one.verdict_after}"
        if one.change == "same" and one.cites:
            yield "    stands on other words than before"


def _sources(again: "Again") -> Iterable[str]:
    for one in again.changes.sources:
        before, after = (str(rank) if rank else "-" for rank in (one.rank_before, one.rank_after))
        why = f" ({one.why})" if one.why else ""
        yield f"  {one.change:>7}  {before:>2} -> {after:<2}  {one.document}, {one.place}{why}"


def _quotations(again: "Again") -> Iterable[str]:
    for stands, said in _STANDS.items():
        own = [one for one in again.quotations if one.stands == stands]
        if own:
            yield f"  {len(own)} {said}"
            if stands != "now":
                yield from (f"    [{one.n}] {one.document}: {output.clip(one.quote, _CLIP)}" for one in own)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) or "none" if isinstance(value, (list, tuple)) else str(value) or "none"
