"""Replies of a language model as a server sends them, against the answers that a careful reader expects."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from config.settings import AnswerSettings, EmbeddingSettings, EscalationSettings, LLMSettings, Settings
from pipelines.answers import Answer, Sentence
from pipelines.ingestion.run import ingest
from pipelines.query.engine import QueryEngine, build_query_engine
from tests.bench.recorded_replies import build_engine, judged, read_rows, sent_again
from tests.conftest import MakeSettings
from tests.fake_openai import FakeOpenAI, Fault

DATA = Path(__file__).parents[2] / "data"
ROWS = [json.loads(line) for line in (DATA / "eval/replies.jsonl").read_text().splitlines()]
CASES = [row for row in ROWS if row["kind"] != "recorded"]
POSTS = [
    "2014-07-15-hot-off-the-press-18fs-api-standards.md",
    "2015-03-19-18f-by-the-numbers.md",
    "2015-06-08-the-us-government-is-moving-to-https-everywhere.md",
    "2015-08-06-communicart-tool-will-streamline-purchase-card-process.md",
    "2016-03-28-interesting-things-we-learned-from-examining-traffic-patterns-on-analytics-usa-gov.md",
    "2016-08-09-the-role-of-bot-bidding-in-micro-purchase-auctions.md",
    "2016-09-27-usa-gov-updates-vote-gov-now-leaner-faster-multilingual.md",
]
_PLACE = re.compile(r"§([!^]?)(\w+)")
_SOURCE = re.compile(r"<<source (\d+) (\d+)>>\n(.*?)\n<</source \1 \2>>", re.DOTALL)
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass
class Numbers:
    """The numbers of the places of a case among the sources of the prompt that the server got."""

    places: Mapping[str, str]
    shown: dict[int, str] = field(default_factory=dict)

    def read(self, prompt: str) -> None:
        self.shown = {int(n): " ".join(text.split()) for n, _, text in _SOURCE.findall(prompt)}

    def of(self, place: str) -> int:
        """The source that holds a place; of `!place`, the first source that does not."""
        words = self.places[place.strip("!")]
        return next((n for n, text in self.shown.items() if (words in text) != place.startswith("!")), 0)

    def fill(self, text: str) -> str:
        """The text with numbers for its places: `§place`, `§!place` for another source, `§^place` in superscript."""

        def number(match: re.Match[str]) -> str:
            n = str(self.of(match[1].strip("^") + match[2]))
            return n.translate(_RAISED) if match[1] == "^" else n

        return _PLACE.sub(number, text)


@pytest.fixture(scope="module")
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture(scope="module")
def engine(stock: MakeSettings, openai: FakeOpenAI) -> QueryEngine:
    model = LLMSettings(provider="openai", model="fake", api_base=openai.url, retries=0)
    plain = {"escalation": EscalationSettings(mode="off"), "answer": AnswerSettings(unsupported="mark")}
    settings = stock(llm=model, embedding=EmbeddingSettings(provider="local"), **plain)
    sample = [str(DATA / "sample" / name) for name in ("blog", "github", "notes-on-mentoring.txt")]
    ingest(settings, [*sample, *(str(DATA / "eval/qa/documents" / name) for name in POSTS)])
    return build_query_engine(settings)


def replied(case: Mapping[str, Any], engine: QueryEngine, openai: FakeOpenAI) -> tuple[Answer, Numbers]:
    """The answer to the question of a case when the model says its reply.

    A reply of which nothing is supported is replaced by quotation; here it stands with its sentences as unsupported.
    """
    numbers = Numbers(case["places"])

    def reply(body: Any) -> str:
        numbers.read(body["messages"][1]["content"])
        return numbers.fill(case["reply"])

    openai.reply, openai.letters = reply, case["id"] % 2 == 0
    openai.finish_reason = case.get("finish", "stop")
    openai.faults.clear()
    if "cut" in case:
        openai.letters = False
        openai.fail(Fault("drop", after=case["cut"]))
    answer, trace = engine.finished(engine._request(case["question"], top_n=engine.passages))
    if any(reading.outcome == "unsupported" for reading in trace.readings):
        written = tuple(Sentence(text, (), "unsupported") for text in trace.readings[0].left_out)
        answer = replace(answer, mode="llm", answered=True, sentences=written, confidence="low", answer="")
    return answer, numbers


def differences(case: Mapping[str, Any], answer: Answer, numbers: Numbers) -> Iterator[str]:
    """What of an answer is not as the case expects; nothing if it is."""
    for name, default in (("mode", "llm"), ("answered", True), ("truncated", False)):
        if (found := getattr(answer, name)) != case.get(name, default):
            yield f"{name} is {found}"
    if lacking := [place for place in case["places"] if not numbers.of(place)]:
        yield f"the prompt lacks {lacking}"
    if answer.confidence not in case.get("confidence", "high|medium|low").split("|"):
        yield f"confidence is {answer.confidence}"
    if "sentences" in case:
        expected, found = case["sentences"], answer.sentences
        if [numbers.fill(text) for text, *_ in expected] != [sentence.text for sentence in found]:
            yield f"sentences are {[sentence.text for sentence in found]}"
        else:
            for one, sentence in zip(expected, found, strict=True):
                yield from _sentence_differences(one, sentence, numbers)
    if "answer" in case and answer.answer and answer.answer != numbers.fill(case["answer"]):
        yield f"text is {answer.answer!r}"
    yield from (
        f"{part!r} missing in {answer.answer!r}"
        for part in map(numbers.fill, case.get("holds", ()))
        if answer.answer and part not in answer.answer
    )
    for part in case.get("flagged", ()):
        if any(s.verdict == "supported" for s in answer.sentences if part in s.text):
            yield f"{part!r} is supported"


def _sentence_differences(expected: list[Any], sentence: Sentence, numbers: Numbers) -> Iterator[str]:
    text, verdicts, *cited = expected
    accepted = verdicts.replace("uncited", "uncited|unsupported").split("|")
    if sentence.verdict not in accepted:
        yield f"{text!r} is {sentence.verdict}"
    if cited and sentence.verdict != "unsupported" and sentence.citations != tuple(map(numbers.of, cited[0])):
        yield f"{text!r} cites {sentence.citations}"


@pytest.mark.parametrize(("every", "most"), [(3, 1), pytest.param(1, 12, marks=pytest.mark.trial)])
def test_replies_become_the_answers_that_a_reader_expects(
    every: int, most: int, engine: QueryEngine, openai: FakeOpenAI
) -> None:
    outcomes = {case["id"]: list(differences(case, *replied(case, engine, openai))) for case in CASES[::every]}
    missed = {number: found for number, found in outcomes.items() if found}
    assert len(missed) <= most, "\n".join(
        f"{number} {CASES[number - 1]['kind']}: {found}" for number, found in missed.items()
    )


def test_replies_of_real_models_become_the_sentences_that_a_reader_expects(
    settings: Settings, openai: FakeOpenAI
) -> None:
    rows = [row for row in read_rows(DATA / "eval/replies.jsonl") if row["id"] % 6 == 1]
    real = build_engine(
        settings.model_copy(update={"embedding": EmbeddingSettings(provider="local")}), openai.url, rows
    )
    outcomes = [right for row in rows for right, _ in judged(row, sent_again(row, real, openai))]
    assert sum(outcomes) / len(outcomes) >= 0.85
