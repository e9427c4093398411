"""Replies that real models wrote, sent again by a server on the loopback, against the sentences a reader expects.

    python -m tests.bench.recorded_replies FILE [--show] [--thirds 1,2]

prints the share of sentences with the text, verdict and footnote that are expected, by model. `--thirds` takes the rows
whose id leaves these remainders when 3 divides it.
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import select

from config.settings import EmbeddingSettings, LLMSettings, Settings
from pipelines.answers import Sentence, Source
from pipelines.errors import ModelError
from pipelines.ingestion.run import ingest
from pipelines.query.answer import WriterInput
from pipelines.query.delimit import Context, draw_delimiter
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.query.model_writer import ModelDraft, read_from, write_by_model
from pipelines.query.prompt import WritingOptions
from pipelines.query.verify import build_judge, cached_embedding
from pipelines.store.schema import documents
from tests.bench import arguments
from tests.fake_openai import FakeOpenAI

DATA = Path(__file__).parents[2] / "data"
Row = Mapping[str, Any]


def read_rows(path: Path) -> list[Row]:
    """The recorded replies of a file."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["kind"] == "recorded"]


def build_engine(settings: Settings, url: str, rows: Sequence[Row]) -> QueryEngine:
    """An engine whose database holds the documents of the rows, with a model at `url`."""
    names = sorted({name for row in rows for name, _, _ in row["sources"]})
    ingest(settings, [str(DATA / name) for name in names])
    model = LLMSettings(provider="openai", model="fake", api_base=url, retries=0)
    return build_query_engine(settings.model_copy(update={"llm": model}))


def context_of(row: Row, engine: QueryEngine) -> Context:
    """The sources that the model was shown."""
    with engine.database.engine.connect() as connection:
        stored = {each.source_uri: each for each in connection.execute(select(documents))}
    sources: list[Source] = []
    for n, (name, start, end) in enumerate(row["sources"], start=1):
        found = stored[(DATA / name).as_uri()]
        shown = {
            "document_id": found.id,
            "documentName": Path(name).name,
            "title": found.title,
            "uri": found.source_uri,
        }
        lines = found.text.count("\n", 0, start) + 1, found.text.count("\n", 0, end) + 1
        sources.append(
            Source(n, **shown, content_sha=found.content_sha, category=found.category, page=None, line_start=lines[0],
                   line_end=lines[1], section_path=(), snippet=found.text[start:end], start=start, end=end, node_ids=())
        )  # fmt: skip
    return Context(tuple(sources), draw_delimiter(sources))


def sent_again(row: Row, engine: QueryEngine, openai: FakeOpenAI) -> ModelDraft:
    """What becomes of a recorded reply."""
    openai.reply, openai.finish_reason = row["reply"], row["finish"]
    assert engine.llm is not None
    found = engine.examine(row["question"])
    judge = build_judge(engine.identity.model, cached_embedding(engine.embed_model))
    task = WriterInput(found.intent, context_of(row, engine), found.evidence, (), judge=judge)
    options = WritingOptions(engine.settings.persona, unsupported="mark")
    events = write_by_model(task, engine.llm, (), options)
    while True:
        try:
            next(events)
        except StopIteration as done:
            draft: ModelDraft = done.value
            return draft
        except ModelError:  # it holds no sentence
            return ModelDraft(None, read_from("fake", task.context, outcome="unsupported"))


def judged(row: Row, draft: ModelDraft) -> Iterator[tuple[bool, str]]:
    """For each expected sentence, and each that was not expected, whether it is right, and what is not."""
    if draft.reading.outcome == "unsupported":
        found = [Sentence(text, (), "unsupported") for text in draft.reading.left_out]
    else:
        found = list(draft.answer.sentences) if draft.answer else []
    left = {_plain(sentence.text): sentence for sentence in found}
    for text, verdicts, *cited in row["sentences"]:
        sentence = left.pop(_plain(text), None)
        if sentence is None:
            yield False, f"missing: {text!r}"
            continue
        accepted = {*verdicts.split("|"), *(("unsupported",) if "uncited" in verdicts else ())}
        right = sentence.verdict in accepted
        if right and sentence.verdict == "supported" and cited and cited[0]:
            right = bool({*cited[0]} & {*sentence.citations})
        yield right, "" if right else f"{sentence.verdict} {list(sentence.citations)} for {verdicts} {cited}: {text!r}"
    yield from ((False, f"not expected: {text!r}") for text in left)
    if not row["sentences"]:
        right = draft.reading.outcome == row["outcome"]
        yield right, "" if right else f"{draft.reading.outcome} for {row['outcome']}"


def _plain(text: str) -> str:
    return "".join(text.split())


def main() -> None:
    """Print the shares of a file."""
    parser = arguments("recorded_replies", __doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", action="store_true", help="print what is not as expected")
    parser.add_argument("--thirds", default="0,1,2", help="remainders of the ids by 3")
    options = parser.parse_args()
    thirds = {int(third) for third in options.thirds.split(",")}
    rows = [row for row in read_rows(options.file) if row["id"] % 3 in thirds]
    counts: dict[str, list[bool]] = {}
    with tempfile.TemporaryDirectory() as home, FakeOpenAI() as openai:
        Path(home).chmod(0o755)  # the account of the database server must enter it
        settings = Settings(home=Path(home), embedding=EmbeddingSettings(provider="local"), _env_file=None)
        engine = build_engine(settings, openai.url, rows)
        for row in rows:
            for right, why in judged(row, sent_again(row, engine, openai)):
                counts.setdefault(row["model"], []).append(right)
                if why and options.show:
                    sys.stdout.write(f"{row['id']} {why}\n")
    for model, outcomes in sorted(counts.items()):
        sys.stdout.write(f"{model}: {sum(outcomes)} of {len(outcomes)}\n")
    every = [right for outcomes in counts.values() for right in outcomes]
    sys.stdout.write(f"share of sentences as expected: {sum(every) / len(every):.3f} of {len(every)}\n")


if __name__ == "__main__":
    main()
