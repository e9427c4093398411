"""A language model that reads perfectly: how many answers the passages that it is shown allow.

    python -m tests.bench.perfect_reader TOPICS.jsonl DOCUMENTS

It answers with the sentences of the shown sources that hold the facts of a topic, and refuses where a fact stands in
none. Prints the share of answerable topics that are answered with all facts, and of those whose facts were shown.
"""

import json
import sys
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from config.prompts import NO_ANSWER
from config.settings import EmbeddingSettings, EscalationSettings, LLMSettings, Settings
from pipelines.ingestion.run import ingest
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.structure import sentences
from tests.bench import arguments
from tests.fake_openai import FakeOpenAI

_OPENED = "<<source "
_HEADS = ("[Source: ", "[Repository: ", "[Nearly the same in: ")


def plain(text: str) -> str:
    """Letters and digits of a text, without case and accents."""
    folded = unicodedata.normalize("NFKD", text.lower().replace("%", " percent "))
    return "".join(char for char in folded if char.isalnum())


def shown_sources(prompt: str) -> Iterator[tuple[int, str]]:
    """(number, text without the heads) of each source of a prompt."""
    for part in prompt.split(_OPENED)[1:]:
        head, _, body = part.partition(">>\n")
        lines = body.partition("\n<</source")[0].split("\n")
        yield int(head.split()[0]), "\n".join(line for line in lines if not line.startswith(_HEADS))


def perfect_reply(prompt: str, wanted: Sequence[Sequence[str]]) -> str:
    """The sentences of the sources that hold all facts of the first list that stands there whole; else a refusal."""
    sources = list(shown_sources(prompt))
    for facts in wanted:
        quoted: list[str] = []
        for fact in facts:
            found = [(fact in text, n, text) for n, text in sources if plain(fact) in plain(text)]
            if not found:
                break
            _, n, text = max(found, key=lambda each: each[0])  # `C++` rather than any word with a c
            spans = [" ".join(text[start:end].split()) for start, end in sentences(text)]
            holding = [said for said in spans if fact in said] or [said for said in spans if plain(fact) in plain(said)]
            quoted.append(f"{(holding or [fact])[0].rstrip('.')} [{n}].")
        else:
            return " ".join(dict.fromkeys(quoted))
    return NO_ANSWER


def answered_right(topic: Mapping[str, Any], engine: QueryEngine, openai: FakeOpenAI) -> tuple[bool, bool]:
    """(whether the answer holds the facts, whether they were shown to the model, or no model was needed)."""
    wanted = [facts for facts in (topic["facts"], *topic.get("facts_or", ())) if facts]
    replies: list[str] = []

    def reply(body: Any) -> str:
        replies.append(perfect_reply(body["messages"][1]["content"], wanted))
        return replies[-1]

    openai.reply = reply
    answer = engine.ask(topic["question"], record=False)
    said = plain(answer.answer)
    right = answer.answered and any(all(plain(fact) in said for fact in facts) for facts in wanted)
    return right, not replies or replies[0] != NO_ANSWER


def main() -> None:
    """Print the shares."""
    parser = arguments("perfect_reader", __doc__)
    parser.add_argument("topics", type=Path)
    parser.add_argument("documents", type=Path)
    parser.add_argument("--show", action="store_true", help="print the topics that are not answered")
    options = parser.parse_args()
    topics = [json.loads(line) for line in options.topics.read_text(encoding="utf-8").splitlines()]
    topics = [topic for topic in topics if topic.get("answerable", True) and not topic.get("history")]
    outcomes: list[tuple[bool, bool]] = []
    with tempfile.TemporaryDirectory() as home, FakeOpenAI() as openai:
        Path(home).chmod(0o755)  # the account of the database server must enter it
        settings = Settings(
            home=Path(home),
            embedding=EmbeddingSettings(provider="local"),
            escalation=EscalationSettings(mode="off"),
            llm=LLMSettings(provider="openai", model="fake", api_base=openai.url, retries=0),
            _env_file=None,
        )
        ingest(settings, [str(options.documents)])
        engine = build_query_engine(settings)
        for topic in topics:
            outcomes.append(answered_right(topic, engine, openai))
            if options.show and not outcomes[-1][0]:  # with what the model was shown to say
                sys.stdout.write(f"{topic['id']} {outcomes[-1]} {topic['question']} {topic['facts']}\n")
    shown = [right for right, was_shown in outcomes if was_shown]
    sys.stdout.write(f"facts {sum(right for right, _ in outcomes) / len(outcomes):.3f} of {len(outcomes)}\n")
    sys.stdout.write(f"of those whose facts were shown: {sum(shown) / len(shown):.3f} of {len(shown)}\n")


if __name__ == "__main__":
    main()
