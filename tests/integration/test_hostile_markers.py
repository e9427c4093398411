"""Hundreds of answers of a model that marks its sentences in every wrong way, one letter at a time."""

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata

from config.settings import LLMSettings, Settings
from pipelines.answers import Answer, Footnote, Token
from pipelines.ingestion.run import ingest
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.documents import load_document
from tests.fake_openai import FakeOpenAI

DOCUMENTS = {
    "crane.md": "# Crane\n\nMarit built the harbour crane in 2014. It moved 40 containers an hour [12].\n\n"
    "The crane ran for six years, see `log[3]` and [1].\n",
    "ship.md": "# Ships\n\nMarit leads the ship search of the harbour. Five people work with her.\n",
    "port.md": "# Port\n\nThe harbour crane stands at the north pier of the port. Marit painted it.\n",
}
QUESTIONS = ("Who built the harbour crane?", "What did Marit do in the harbour?", "Where does the crane stand?")
SAID = (
    "Marit built the harbour crane in 2014", "It moved 40 containers an hour", "The crane ran on steam",
    "Five people work with her", "The code is `a[0] = b[1]`", "```\nx[2] = y[99]\n```", "She left in [2019",
    "Naïve café — 東京の港", "See [here](http://x.example)", "It holds {braces}", "",
)  # fmt: skip
MARKS = (
    "[0]", "[1]", "[2]", "[3]", "[99]", "[1,2]", "[1][2]", "[1, 99; 2]", "【1】", "【2†source】", "[[1]]", "[1[2]]",
    "[1", "1]", "[", "]", "[]", "[ 1 ]", "[１]", "［2］", "[-1]", "[1-3]", "[source 1]", "[^2]", "[1](http://x.example)",
    "[٣]", "[1.5]", "[00001]", "[1]]", "[[[[1]]]]", "`[1]`", "", "",
)  # fmt: skip
ENDS = (". ", ".", " . ", "? ", "\n\n", " ")
# A block of code, where nothing is a marker, with the footnotes below it.
CODE = re.compile(r"^[ \t]*```\w*\n(?:.*\n)*?[ \t]*```(?:\n(?:\[\d+\] ?)+$)?", re.MULTILINE)
MARKER = re.compile(r"[\[［【]\s*(\d+)\s*[\]］】]")


class Letters(CustomLLM):
    """A model that says one thing, a letter at a time."""

    reply: str

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="letters")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self.reply)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        for letter in self.reply:
            yield CompletionResponse(text="", delta=letter)


def hostile(random_: random.Random) -> str:
    parts = [
        random_.choice(MARKS) * (random_.random() < 0.1) + random_.choice(SAID) + random_.choice(("", " "))
        + random_.choice(MARKS) + random_.choice(ENDS) + random_.choice(MARKS) * (random_.random() < 0.3)
        for _ in range(random_.randint(1, 4))
    ]  # fmt: skip
    return "Marit built it. " + "".join(parts)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for name, text in DOCUMENTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def engine(corpus: Path, settings: Settings) -> QueryEngine:
    ingest(settings, [str(corpus)])
    return build_query_engine(settings)


def assert_resolves(answer: Answer, stored: Callable[[str], str]) -> None:
    """Every marker is a source, and every snippet and quote is the stored text at its offsets."""
    numbers = {source.n for source in answer.sources}
    code = {line.strip() for block in CODE.findall(answer.answer) for line in block.split("\n")}
    prose = CODE.sub("\n", answer.answer)
    assert {int(n) for n in MARKER.findall(prose)} <= numbers
    assert [list(s.citations) for s in answer.sentences if s.citations and s.text not in code] == [
        [int(n) for n in MARKER.findall(run)] for run in re.findall(r"(?<=\S)(?: \[\d+\])+", prose)
    ]
    for source in answer.sources:
        assert source.snippet == stored(source.document_id)[source.start : source.end]
    for sentence in answer.sentences:
        assert not MARKER.search(sentence.text) or answer.mode == "extractive" or sentence.text in code
        assert set(sentence.citations) <= numbers
        for citation in sentence.evidence:
            assert citation.n in numbers
            assert citation.quote == stored(citation.document_id)[citation.start : citation.end]


def read(engine: QueryEngine) -> Callable[[str], str]:
    @cache
    def text_of(document_id: str) -> str:
        with engine.database.engine.connect() as connection:
            document = load_document(connection, document_id, "owner")
        assert document is not None
        return document.text

    return text_of


@pytest.mark.parametrize("answers", [100, pytest.param(500, marks=pytest.mark.trial)])
def test_every_marker_of_hostile_answers_resolves_and_every_quote_stands(engine: QueryEngine, answers: int) -> None:
    random_, stored, cited = random.Random(7), read(engine), 0
    as_json = engine.with_changes({"answer.output": "json"})
    for number in range(answers):
        reply = hostile(random_)
        if wants_json := number % 5 == 0:
            reply = json.dumps({"answer": reply, "sources": [0, 1, 99, "ship.md"]})
        writer = replace(as_json if wants_json else engine, llm=Letters(reply=reply))
        events = list(writer.answer(QUESTIONS[number % len(QUESTIONS)], record=False))
        answer = events[-1]
        assert isinstance(answer, Answer)
        assert not answer.fallback_reason, (reply, answer.fallback_reason)
        streamed = "".join(event.text for event in events if isinstance(event, Token))
        assert not MARKER.search(CODE.sub("", streamed)), reply
        if answer.mode == "llm" and answer.answered:  # else the reply was left out
            assert all(event.source in answer.sources for event in events if isinstance(event, Footnote))
        assert_resolves(answer, stored)
        cited += sum(len(sentence.citations) for sentence in answer.sentences)
    assert cited > answers


def test_quotations_that_hold_brackets_with_numbers_make_no_footnotes_of_them(engine: QueryEngine) -> None:
    answer = engine.ask("How many containers an hour did the crane move?")
    assert "[12]" not in answer.answer
    assert "40 containers an hour" in answer.answer
    assert_resolves(answer, read(engine))


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(letters=True) as fake:
        yield fake


def test_a_stream_of_single_letters_over_the_wire_shows_no_marker(
    corpus: Path, make_settings: Callable[..., Settings], openai: FakeOpenAI
) -> None:
    settings = make_settings(llm=LLMSettings(provider="openai", model="fake", api_base=openai.url))
    ingest(settings, [str(corpus)])
    openai.reply = "Marit built the crane [1][2], [[3]] in 2014【1】. It moved [0] 40 containers [99] an hour [1, 2]."
    events = list(build_query_engine(settings).answer("Who built the harbour crane?"))
    assert "".join(event.text for event in events if isinstance(event, Token)) == (
        "Marit built the crane, in 2014. It moved 40 containers an hour."
    )
    assert isinstance(events[-1], Answer)
    assert_resolves(events[-1], read(build_query_engine(settings)))
