from pipelines.query.writing.write import joined
from pipelines.types import Sentence


def test_markers_follow_their_sentence_in_the_joined_answer() -> None:
    assert joined([Sentence("A.", (1, 2), "supported"), Sentence("B.", (), "uncited")]) == "A. [1] [2] B."


def test_what_reads_as_a_marker_in_a_sentence_is_none_in_the_joined_answer() -> None:
    assert joined([Sentence("Shown before [12].", (1,), "supported")]) == "Shown before (12). [1]"
