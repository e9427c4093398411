import time
from collections.abc import Mapping, Sequence

import pytest
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from pipelines.query.proposals import Proposal
from pipelines.query.retrieve import QueryEmbedder
from pipelines.query.search import SearchOutcome
from pipelines.query.suggest import Conversation, answerable, without_repeats
from pipelines.query.trace import Ledger
from pipelines.types import Band, Evidence, QueryIntent

NOTHING_SAID = Conversation(())
LATER = float("inf")


def found(*hits: str, band: Band = "high", sufficient: bool = True) -> SearchOutcome:
    """What a search brings: nodes written `document/node`, the best first."""
    evidence = Evidence(0.9, band, None, 1.0, {}, len(hits), (), sufficient=sufficient)
    ranking = [
        NodeWithScore(
            node=TextNode(id_=hit, text=hit, metadata={"document_id": hit.split("/")[0], "start": 0, "end": 9}),
            score=1.0,
        )
        for hit in hits
    ]
    return SearchOutcome(QueryIntent("q", "q"), QueryBundle("q"), ranking, ranking, evidence, Ledger())


def chosen(
    finds: Mapping[str, SearchOutcome],
    said: Conversation = NOTHING_SAID,
    *,
    aim: str = "",
    limit: int = 3,
    until: float = LATER,
) -> tuple[str, ...]:
    proposed = [Proposal(question, aim) for question in finds]
    return answerable(proposed, said, finds.__getitem__, lambda _: True, limit=limit, until=until)


def test_only_what_is_found_with_sufficient_evidence_of_medium_strength_is_suggested() -> None:
    finds = {
        "weak?": found("a/1", band="low"),
        "insufficient?": found("b/1", sufficient=False),
        "nothing?": found(),
        "medium?": found("c/1", band="medium"),
        "strong?": found("d/1"),
    }
    assert chosen(finds) == ("medium?", "strong?")


def test_what_finds_first_what_the_answer_cites_is_only_suggested_for_something_that_was_not_said() -> None:
    said = Conversation(("Who tuned it?",), (("a", 2, 5),), "Ann tuned the reed [1].")
    finds = {
        "Did Ann tune the reed?": found("a/burnisher", "b/2"),
        "What do the documents say about brass?": found("a/burnisher", "b/2"),
        "Was there a burnisher?": found("a/burnisher"),
        "Is there anything else?": found("b/2", "a/burnisher"),
    }
    assert chosen(finds, said) == ("Was there a burnisher?", "Is there anything else?")


def test_two_suggestions_never_begin_with_the_same_passage() -> None:
    assert chosen({"one?": found("a/1"), "same?": found("a/1", "b/1"), "other?": found("b/1")}) == ("one?", "other?")


def test_the_document_that_should_answer_must_be_among_the_first_three_hits() -> None:
    finds = {"no?": found("a/1", "b/1", "c/1", "aim/1"), "yes?": found("d/1", "e/1", "aim/1")}
    assert chosen(finds, aim="aim") == ("yes?",)


def test_no_more_than_the_limit_are_searched_for() -> None:
    finds = {f"{n}?": found(f"{n}/1") for n in range(3)} | {"never?": found("x/1")}
    del finds["never?"]
    assert answerable([*map(Proposal, finds), Proposal("never?")], NOTHING_SAID, finds.__getitem__, lambda _: True,
                      limit=3, until=LATER) == ("0?", "1?", "2?")  # fmt: skip


def test_when_the_time_is_over_nothing_is_searched_for() -> None:
    assert chosen({"late?": found("a/1")}, until=0.0) == ()


def test_what_the_writer_would_not_answer_is_not_suggested() -> None:
    finds = {"told?": found("a/1"), "untold?": found("b/1")}
    is_told = [finds["told?"]].__contains__
    assert answerable([*map(Proposal, finds)], NOTHING_SAID, finds.__getitem__, is_told, limit=3, until=LATER) == (
        "told?",
    )


def test_what_was_not_checked_in_time_is_not_suggested() -> None:
    finds = {f"{n}?": found(f"{n}/1") for n in range(3)}
    until = time.perf_counter() + 0.5

    def slow(checked: SearchOutcome) -> bool:
        while checked is finds["1?"] and time.perf_counter() < until:
            time.sleep(0.01)
        return True

    assert answerable([*map(Proposal, finds)], NOTHING_SAID, finds.__getitem__, slow, limit=3, until=until) == ("0?",)


def test_no_check_is_begun_that_would_take_longer_than_is_left() -> None:
    finds = {f"{n}?": found(f"{n}/1") for n in range(3)}
    asked: list[str] = []

    def find(question: str) -> SearchOutcome:
        asked.append(question)
        time.sleep(0.5)
        return finds[question]

    until = time.perf_counter() + 0.9
    assert answerable([*map(Proposal, finds)], NOTHING_SAID, find, lambda _: True, limit=3, until=until) == ("0?",)
    assert asked == ["0?"]


def test_the_place_that_should_answer_must_be_among_the_first_three_hits() -> None:
    hits = found("a/1", "b/1")  # each stands at the characters 0 to 9
    for place, expected in (((5, 20), ("q?",)), ((9, 20), ())):
        proposed = [Proposal("q?", "b", place)]
        assert answerable(proposed, NOTHING_SAID, lambda _: hits, lambda _: True, limit=3, until=LATER) == expected


@pytest.mark.parametrize(
    "asked",
    ["What does REEDS say about tuning brass?", "reeds: tuning the brass, what do they say about it",
     "Tuning of the brass reed, please?", "Tell me about tuning brass reeds"],
)  # fmt: skip
def test_a_question_that_was_asked_is_not_proposed_in_whatever_words(asked: str) -> None:
    proposed = [Proposal("What does Reeds say about ‘Tuning the brass’?"), Proposal("What is Bellows?")]
    assert [one.question for one in without_repeats(proposed, Conversation((asked,)))] == ["What is Bellows?"]


def test_proposals_that_ask_the_same_are_one() -> None:
    same = ["What is Whistle?", "What is the whistle?", "What do the documents say about whistle?",
            "What is the project whistle about?"]  # fmt: skip
    assert without_repeats([*map(Proposal, same)], NOTHING_SAID) == [Proposal("What is Whistle?")]


class CountingEmbedding(BaseEmbedding):
    """Counts how often it is asked for how many texts."""

    batches: list[int]

    def _get_text_embeddings(self, texts: Sequence[str]) -> list[list[float]]:
        self.batches.append(len(texts))
        return [[float(len(text)), 1.0] for text in texts]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def test_proposals_are_embedded_in_one_batch_and_other_texts_by_themselves() -> None:
    model = CountingEmbedding(batches=[])
    embedder = QueryEmbedder(model)
    embedder.embed(["a", "bbb", "a"])
    assert model.batches == [2]
    assert embedder.vector(QueryBundle("bbb")) == [3.0, 1.0]
    assert model.batches == [2]
    assert embedder.vector(QueryBundle("cc")) == [2.0, 1.0]
    assert model.batches == [2, 1]
