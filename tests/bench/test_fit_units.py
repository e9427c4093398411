"""The units of a judged question, and which of them are right."""

from pipelines.evaluation.datasets import Quote, Topic
from tests.bench.fit_units import right_units, scored_units
from tests.conftest import ReadOnly

TEXTS = {
    "crane.md": "# Crane\n\nThe harbour crane moved 40 containers an hour.\n",
    "garden.md": "# Garden\n\nTomatoes need sun every day.\n",
}


def test_the_units_of_a_question_are_scored_and_those_that_hold_its_quote_are_right(read_only: ReadOnly) -> None:
    quote = Quote("crane.md", "The harbour crane moved 40 containers an hour.")
    topic = Topic("t1", "How many containers did the harbour crane move?", True, "fact", (quote,), ())
    scored = scored_units(read_only(TEXTS), topic)
    assert scored is not None
    assert right_units(scored, topic)[scored.best]
    assert sum(right_units(scored, topic)) == 1
