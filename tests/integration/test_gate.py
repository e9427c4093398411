"""A significant fall of ranking fails here, with no key and no network; `make baseline` writes a meant one."""

from collections.abc import Iterator

import pytest

from config.settings import EmbeddingSettings, Settings
from pipelines.evaluation.answers import has_facts
from pipelines.evaluation.corpus import portfolio_engine
from pipelines.evaluation.datasets import load_topics
from pipelines.query.layout import blocks_of
from pipelines.store.embedded import EmbeddedServer
from tests.bench.gate import DATA, compare_gate, fell, measure_gate, read_baseline
from tests.conftest import drop_evaluations, making_settings


@pytest.fixture(scope="module")
def settings(server: EmbeddedServer, migrated: str) -> Iterator[Settings]:
    """Settings with the real local model; what is evaluated on is brought in once for all tests here."""
    with making_settings(server, migrated) as make:
        yield make(embedding=EmbeddingSettings(provider="local"))
    drop_evaluations(server)


def test_no_judged_set_of_the_project_fell_below_its_baseline(settings: Settings) -> None:
    changes = compare_gate(read_baseline(), measure_gate(settings))
    assert {name: str(change) for name, change in changes.items() if fell(change)} == {}


def test_quotations_answer_the_portfolio_topics_keep_silent_where_it_is_due_and_are_all_supported(
    settings: Settings,
) -> None:
    engine = portfolio_engine(settings, DATA / "sample")
    said = [(topic, engine.ask(topic.question, record=False)) for topic in load_topics(DATA / "eval" / "topics.jsonl")]
    assert {sentence.verdict for _, answer in said for sentence in answer.sentences} == {"supported"}
    for _, answer in said:
        texts = {source.document_id: [] for source in answer.sources}
        for source in answer.sources:
            texts[source.document_id].append(source)
        for citation in (citation for sentence in answer.sentences for citation in sentence.evidence):
            inside = [each for each in texts[citation.document_id] if each.start <= citation.start < each.end]
            assert any(
                each.snippet[citation.start - each.start : citation.end - each.start] == citation.quote
                for each in inside
            )
        blocks = blocks_of(answer.answer, [sentence.text for sentence in answer.sentences])
        prose = [sentence for block in blocks if block.kind == "paragraph" for line in block.lines for sentence in line]
        assert len(prose) <= engine.settings.answer.max_sentences
        assert answer.answered or (answer.searched and not answer.sources)
    answerable = [has_facts(topic, answer) for topic, answer in said if topic.answerable]
    silent = [not answer.answered for topic, answer in said if not topic.answerable]
    assert sum(answerable) / len(answerable) >= 0.75
    assert sum(silent) / len(silent) >= 0.75
