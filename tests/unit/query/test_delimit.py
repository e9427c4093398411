import secrets

import pytest

from pipelines.query.delimit import escape_delimiters, fresh_key, one_line


def test_a_key_is_new_each_time_and_stands_in_none_of_the_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fresh_key([]) != fresh_key([])
    drawn = iter(["aaaa1111", "bbbb2222", "cccc3333"])
    monkeypatch.setattr(secrets, "token_hex", lambda _: next(drawn))
    assert fresh_key(["it is AAAA1111", "or bbbb2222."]) == "cccc3333"


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
