"""What the parsers remember of words that they judged."""

from pipelines.ingestion.parsers.career.remembered import LONGEST, remembered


def test_short_words_are_judged_once_and_long_ones_are_not_kept() -> None:
    judged: list[int] = []
    length = remembered(lambda words: judged.append(len(words)) or len(words))
    assert [length("a" * size) for size in (LONGEST, LONGEST, LONGEST + 1, LONGEST + 1)] == judged[:1] * 2 + judged[1:]
    assert judged == [LONGEST, LONGEST + 1, LONGEST + 1]
