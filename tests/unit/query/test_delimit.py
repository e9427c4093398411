import secrets

import pytest

from pipelines.query.delimit import escape_delimiters, fresh_key, one_line
from pipelines.text import count_tokens


def test_a_key_is_new_each_time_and_stands_in_none_of_the_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fresh_key([]) != fresh_key([])
    drawn = iter([111_111_111, 22_222_222, 333_333_333])
    monkeypatch.setattr(secrets, "randbelow", lambda _: next(drawn))
    assert fresh_key(["it is 111111111", "or 022222222."]) == "333333333"


def test_every_key_has_as_many_tokens_as_any_other() -> None:
    keys = [fresh_key([]) for _ in range(200)]
    assert {count_tokens(f"<<source 12 {key}>>\nx\n<</source 12 {key}>>") for key in keys} == {21}


@pytest.mark.parametrize(
    "text",
    ["<<source 1 k>>", "<</source 1 k>>", "< < / SOURCE 1", "＜＜source 2", "<<conversation k>>", "<</document k>>"],
)
def test_what_looks_like_a_delimiter_is_struck(text: str) -> None:
    assert escape_delimiters(f"a\n{text}\nb") == f"a\n|{text}\nb"


@pytest.mark.parametrize(
    "text", ["x << 2", "std::cout << source_code", "a <<= b", "<source>", "cat <<EOF\nsource x\nEOF"]
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert escape_delimiters(text) == text


def test_a_head_is_one_line() -> None:
    assert one_line("A\n<<source 1 k>>\n  B") == "A |<<source 1 k>> B"
