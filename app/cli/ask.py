"""`footnote ask` and `footnote replay`: answer, keep the answer as a pack, ask again and print what changed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli import output
from app.cli.options import Json, argument, filtered, option, settings_now
from app.cli.output import clip, emit, print_documents, render, say, warn
from pipelines.errors import ConfigError
from pipelines.loading import loading

if TYPE_CHECKING:
    from config.settings import Settings
    from pipelines.answers import Answer
    from pipelines.query.engine import Event
    from pipelines.query.replay import AnswerChange, Replay
    from pipelines.types import Filters

verbs = typer.Typer()
_STANDS = {
    "now": "still in the documents",
    "older": "only in an older version that is kept",
    "no": "not in the version that was quoted",
    "unknown": "cannot be checked: that version is no longer kept",
}
_CHANGED = {"outcome": "Outcome", "sentence": "Sentences", "source": "Sources"}
_CLIP = 100


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer as JSON; `streamed` if its words are on the terminal already."""

    answer: Mapping[str, Any]
    streamed: bool = False


@verbs.command()
@filtered
def ask(
    question: str,
    after: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUESTION",
            help="A question before this one, which may go on from its answer; may be repeated, the earliest first.",
        ),
    ] = None,
    no_stream: Annotated[bool, option("Print the answer only when it is complete.", "--no-stream")] = False,
    pack: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Save the answer with its evidence, as FILE.md for people and FILE.json for "
            "programs and `footnote replay`; a FILE that ends with .zip holds both.",
        ),
    ] = "",
    *,
    filters: "Filters",
    as_json: Json = False,
) -> None:
    """Answer a question with a checked footnote under every sentence; exit code 0 also where nothing answers it.

    Example: footnote ask "What caused the 2021 outage?"

    Example: footnote ask "And who found it?" --after "What caused the 2021 outage?"
    """
    settings = settings_now()
    if settings.server:
        if pack:
            raise ConfigError("A pack is made from the database, not from a server.", hint="Unset FOOTNOTE_SERVER.")
        asked = _asked(settings, question, filters, after or ())
        _ask_server(settings, asked, stream=not no_stream, as_json=as_json)
        return
    with loading():
        from app.cli.pack_files import files_of, write_pack
        from app.door import Door
        from pipelines.query.engine import build_query_engine
    paths = files_of(pack) if pack else ()
    door = Door(build_query_engine(settings))
    history = door.turns(after or (), filters)
    stream = not (no_stream or as_json) and output.console.is_terminal
    if as_json:
        answer, shown = door.whole_answer(question, history=history, filters=filters), ""
    else:
        answer, shown = _followed(
            door.answer(question, history=history, filters=filters), door.model_name, stream=stream
        )
    _emit_followed(door.answer_data(answer), shown, as_json=as_json)
    if paths:
        write_pack(door.pack(answer, history, filters, streamed=not as_json), paths)
        warn(f"Saved in {' and '.join(map(str, paths))}", "dim")
    if not as_json:
        _say_offers(door.suggest(answer, history, filters), answer.model, answered=answer.answered)


def _say_offers(offered: Iterable[str], model: str, *, answered: bool) -> None:
    from app.wording import offers

    for number, text in enumerate(offered):
        if not number:
            say(f"\n{offers(model, answered=answered)}:", "dim")
        say(f"  {text}", "dim")


def _asked(settings: "Settings", question: str, filters: "Filters", after: Sequence[str]) -> dict[str, Any]:
    """The question, the filters, and the turns before it, which the server answers first."""
    from app.cli.remote import ask_server

    narrowed = filters.given
    turns: list[dict[str, str]] = []
    for earlier in after:
        turn = {"question": earlier, "filters": narrowed, "history": turns, "follow_ups": False}
        *_, (_, answer) = ask_server(settings, turn)
        turns = [*turns, {"question": earlier, "answer": answer["answer"]}]
    return {"question": question, "filters": narrowed, "history": turns}


def _ask_server(settings: "Settings", asked: Mapping[str, Any], *, stream: bool, as_json: bool) -> None:
    """Ask a running server, and print what it answers as if it had been asked here."""
    from app.cli.remote import ask_server

    stream = stream and not as_json and output.console.is_terminal
    shown, answer = "", dict[str, Any]()
    for name, data in ask_server(settings, {**asked, "stream": stream}):
        if name in ("Token", "Footnote"):
            text = data["text"] if name == "Token" else f" [{data['n']}]"
            output.console.out(text, end="", highlight=False)
            shown += data.get("text", "")
        elif name == "Answer":
            answer = data
    _emit_followed(answer, shown, as_json=as_json)
    if not as_json:
        _say_offers(answer["follow_ups"], answer["model"], answered=answer["answered"])


def _emit_followed(answer: Mapping[str, Any], shown: str, *, as_json: bool) -> None:
    """Print an answer, whose text without markers was printed as far as `shown`."""
    from pipelines.query.citation_markers import split_markers

    is_whole = "".join(shown.split()) == "".join(split_markers(answer["answer"])[0].split())
    if shown and not is_whole:
        say("\n\nThe answer is:", "dim")
    emit(Answered(answer, is_whole), as_json)


def _followed(events: "Iterator[Event]", model: str, *, stream: bool) -> "tuple[Answer, str]":
    """(the Answer of these events, its text without markers as far as it was printed as it came).

    With `stream` the text is printed as it comes, and a quotation before it if there is one. On a terminal a line
    on stderr says that the language model reads.
    """
    from pipelines.answers import Answer, Footnote, Preview, Token
    from pipelines.query.answer import answer_json

    shown = ""
    with output.waiting(f"{model} reads the documents", quiet=not model) as stop:
        for event in events:
            if isinstance(event, Answer):
                return event, shown
            if stream and isinstance(event, Preview):
                output.console.print()
                say(f"While {model} reads, in the words of the documents:", "dim")
                say(marked(answer_json(event.answer)), "dim")
                say("")
            if stream and isinstance(event, Token | Footnote):
                stop()
                text = event.text if isinstance(event, Token) else f" [{event.n}]"
                output.console.out(text, end="", highlight=False)
                shown += event.text if isinstance(event, Token) else ""
    raise AssertionError("the last event is the Answer")


@render.register(Answered)
def _render_answer(result: Answered) -> None:
    from app.wording import FINDING

    answer = result.answer
    say("" if result.streamed else marked(answer))
    for index, sentence in enumerate(answer["sentences"] if result.streamed else (), start=1):
        if sentence["verdict"] != "supported":
            say(f"Sentence {index} is {FINDING[sentence['verdict']]}: {clip(sentence['text'], 100)}", "yellow")
    say_sources(answer)


def marked(answer: Mapping[str, Any]) -> str:
    """The answer's text with a remark after each sentence that its sources do not support."""
    from app.wording import FINDING
    from pipelines.query.layout import spans_in

    text, made, done = str(answer["answer"]), "", 0
    spans = spans_in(text, [sentence["text"] for sentence in answer["sentences"]])
    for sentence, (_, end) in zip(answer["sentences"], spans, strict=True):
        if end >= 0 and sentence["verdict"] != "supported":
            made += f"{text[done:end]} ({FINDING[sentence['verdict']]})"
            done = end
    return made + text[done:]


def say_sources(answer: Mapping[str, Any]) -> None:
    """The footnotes by document and what they disagree about; of an abstention what came nearest."""
    from app.cli.rows import cited_numbers, conflict_of, options_of, source_of
    from app.wording import how_it_ended, near_heading, read_as
    from config.prompts import COURTESIES

    cited = cited_numbers(answer["sentences"], answer["conflicts"])
    sources = [source_of(row) for row in answer["sources"]]
    if cited:
        output.console.print()
    disputed = [{"evidence": conflict["sides"]} for conflict in answer["conflicts"] if isinstance(conflict, Mapping)]
    print_documents((source for source in sources if source.n in cited), [*answer["sentences"], *disputed])
    for conflict in answer["conflicts"]:
        say(f"Sources disagree: {conflict_of(conflict)[0]}", "yellow")
    if not answer["answered"]:
        if answer["nearest"]:
            say(f"\n{near_heading(answer['model'])}:", "dim")
        print_documents(map(source_of, answer["nearest"]), quoted=True)
        if narrowed := options_of(answer["filters"]):
            say(f"Only a part of the documents was searched. To search all of them, leave out: {narrowed}", "yellow")
    if meant := read_as(answer["condensed"], answer["condensed_by"], answer["added"]):
        say(meant, "dim")
    failed, truncated = answer["fallback_reason"], answer["truncated"]
    for text in how_it_ended(answer["mode"], failed, truncated=truncated, answered=answer["answered"]):
        warn(text)
    output.say_notes(answer["notes"])
    if answer["answer"] in COURTESIES:
        return
    cost = f", ${answer['cost']:.6f}" if answer["cost"] else ""
    model = f" {answer['model']}" if answer["model"] else ""
    say(f"{answer['mode']}{model}, confidence {answer['confidence']}{cost}", "dim")


@dataclass(frozen=True, slots=True)
class Replayed:
    """A question that was asked again, and what changed."""

    replay: "Replay"


@verbs.command()
def replay(
    pack: Annotated[
        str, argument("The JSON file or archive of `footnote ask --pack FILE` or of the chat.", metavar="FILE")
    ],
    as_json: Json = False,
) -> None:
    """Ask the question of an answer pack again and show what changed and why; not logged.

    Example: footnote replay outage.json
    """
    from app.cli.pack_files import load_pack
    from pipelines.query.engine import build_query_engine
    from pipelines.query.replay import replay_pack

    settings, kept = settings_now(), load_pack(pack)
    streamed = kept.settings.get("answer.output") != "json"  # as `ask --json` asked
    engine = build_query_engine(settings)
    emit(Replayed(replay_pack((engine if streamed else engine.unstreamed).speaking(), kept)), as_json)


@render.register(Replayed)
def _render_replay(replayed: Replayed) -> None:
    again = replayed.replay
    say(again.before.asked.question, "bold")
    say(f"asked at {again.before.made_at[:19]} UTC, and again now", "dim")
    say("The answer is the same." if again.same else "The answer changed.", "green" if again.same else "yellow")
    _say_block("Why", (f"  {cause}" for cause in again.causes))
    for of, heading in _CHANGED.items():
        _say_block(heading, (_changed(change) for change in again.changes if change.of == of))
    _say_block("Quotations", _quotations(again))


def _changed(change: "AnswerChange") -> str:
    """A line on a change: what is new or gone, or both of its values."""
    missing = change.before is None or change.after is None
    values = "" if missing else f": {_value(change.before)} -> {_value(change.after)}"
    sign = " " if not missing else "+" if change.before is None else "-"
    return f"  {sign} {clip(change.what, _CLIP)}{values}{f' ({change.why})' if change.why else ''}"


def _say_block(heading: str, lines: Iterable[str]) -> None:
    for number, line in enumerate(lines):
        if not number:
            say(f"\n{heading}", "bold")
        say(line, "dim" if line.startswith("   ") else "")


def _quotations(again: "Replay") -> Iterator[str]:
    for stands, text in _STANDS.items():
        found = [each for each in again.quotations if each.stands == stands]
        if found:
            yield f"  {len(found)} {text}"
            if stands != "now":
                yield from (f"    [{each.n}] {each.document}: {clip(each.quote, _CLIP)}" for each in found)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) or "none" if isinstance(value, (list, tuple)) else str(value) or "none"
