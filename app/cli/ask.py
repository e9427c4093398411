"""`footnote ask` and `footnote replay`: answer, keep the answer as a pack, ask again and print what changed."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli import output
from app.pack import load_pack, write_pack
from config.settings import Settings
from pipelines.types import Answer, Filters, Footnote, Token

if TYPE_CHECKING:
    from pipelines.query.engine import QueryEngine
    from pipelines.query.replay import Replay


_SENTENCE = {"same": " ", "changed": "~", "gone": "-", "new": "+"}
_STANDS = {
    "now": "still in the documents",
    "older": "only in an older version that is kept",
    "no": "not in the version that was quoted",
    "unknown": "cannot be checked: that version is no longer kept",
}
_CLIP = 100


def keep_answer(
    engine: "QueryEngine", question: str, filters: Filters, answer: Answer, paths: tuple[Path, ...]
) -> None:
    """Write the pack of an answer that the owner was given on the command line, and say where."""
    from pipelines.query.pack import pack_answer
    from pipelines.query.search import Request

    request = Request(question, filters, "owner", engine.settings.retrieval.mode, engine.passages)
    write_pack(pack_answer(engine, request, answer), paths)
    output.warn(f"Kept in {' and '.join(map(str, paths))}", "dim")


def show_replay(settings: Settings, named: str, *, as_json: bool) -> None:
    """Ask a pack's question again and print what changed and why."""
    pack = load_pack(named)
    from pipelines.query.engine import build_query_engine
    from pipelines.query.replay import replay_pack

    engine = build_query_engine(settings)
    if engine.llm is not None and (settings.answer.output, pack.settings.values.get("answer.output")) == (
        "auto",
        "json",
    ):
        engine = engine.with_changes({"answer.output": "json"})  # as `ask --json` asked
    again = replay_pack(engine, pack)
    output.print_json(replay_json(again)) if as_json else _print(again)


def replay_json(again: "Replay") -> dict[str, Any]:
    """What changed, as plain data; `answer` is today's."""
    from pipelines.store.query_log import jsonable

    told: dict[str, Any] = jsonable(again.changes)
    return {
        "question": again.before.asked.question,
        "asked_at": again.before.made_at,
        **told,
        "quotations": jsonable(again.quotations),
        "fingerprints": {"before": again.before.settings.fingerprint, "after": again.after.settings.fingerprint},
        "answer": again.after.answer.model_dump(mode="json"),
    }


def _print(again: "Replay") -> None:
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


def _sentences(again: "Replay") -> Iterable[str]:
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


def _sources(again: "Replay") -> Iterable[str]:
    for one in again.changes.sources:
        before, after = (str(rank) if rank else "-" for rank in (one.rank_before, one.rank_after))
        why = f" ({one.why})" if one.why else ""
        yield f"  {one.change:>7}  {before:>2} -> {after:<2}  {one.document}, {one.place}{why}"


def _quotations(again: "Replay") -> Iterable[str]:
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


def run_ask(settings: Settings, question: str, filters: Filters, *, stream: bool, pack: str, as_json: bool) -> None:
    """Answer and print; on a terminal the words appear as they are written. A pack of it is kept where one is named."""
    from app.cli.ask import keep_answer
    from app.pack import files_of
    from pipelines.query.answer import answer_json
    from pipelines.query.engine import build_query_engine

    paths = files_of(pack) if pack else ()
    engine = build_query_engine(settings)
    if as_json and engine.llm is not None and settings.answer.output == "auto":
        engine = engine.with_changes({"answer.output": "json"})
    # What is kept in a file or handed to a program is checked first, and what may be changed is not printed before.
    stream = stream and output.console.is_terminal and settings.answer.unsupported == "mark"
    answer: Answer | None = None
    for event in engine.answer(question, filters=filters):
        if isinstance(event, Answer):
            answer = event
        elif stream and not as_json and isinstance(event, Token):
            output.console.out(event.text, end="", highlight=False)
        elif stream and not as_json and isinstance(event, Footnote):
            output.console.out(f" [{event.n}]", end="", highlight=False)
    assert answer is not None
    shown = answer_json(answer)
    if as_json:
        output.print_json(shown)
    else:
        output.say("" if stream else output.marked(shown))
        if stream:
            output.print_verdicts(shown)
        output.print_sources(shown)
        output.print_follow_ups(shown)
    if paths:
        keep_answer(engine, question, filters, answer, paths)
