import io
import zipfile
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.answer_markdown import pack_archive, pack_markdown
from app.cli.pack_files import files_of, load_pack, write_pack
from pipelines.answers import Conflict
from pipelines.errors import PackError
from pipelines.query.pack import PackedRequest, pack_json
from pipelines.types import Filters, Turn
from tests.unit.query.packs import pack, sentence, source, trace

FORTY = sentence("The crane moved forty containers.", quote="moved forty containers")
WHOLE = pack(FORTY)


def rendered(markdown: str) -> list[Token]:
    tokens = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table").parse(markdown)
    return [child for token in tokens for child in (token, *(token.children or ()))]


def shown(markdown: str) -> str:
    """What a reader sees of it."""
    return " ".join(token.content for token in rendered(markdown) if token.type in ("text", "code_inline"))


@pytest.mark.parametrize(
    ("named", "written"),
    [
        ("crane", ["crane.json", "crane.md"]),
        ("crane.json", ["crane.json", "crane.md"]),
        ("crane.MD", ["crane.json", "crane.md"]),
        ("crane v1.2", ["crane v1.2.json", "crane v1.2.md"]),
        ("crane.zip", ["crane.zip"]),
    ],
)
def test_a_pack_is_a_pair_of_files_or_one_archive_and_any_of_its_names_reads_it(
    tmp_path: Path, named: str, written: list[str]
) -> None:
    write_pack(WHOLE, files_of(str(tmp_path / named)))
    assert sorted(path.name for path in tmp_path.iterdir()) == written
    for name in {named, *written}:
        assert load_pack(str(tmp_path / name)) == WHOLE


def test_what_cannot_be_written_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "taken.md").mkdir()
    for named in (tmp_path / "missing" / "x", tmp_path / "taken", tmp_path / ".zip" / "x"):
        with pytest.raises(PackError, match="No answer pack can be written"):
            files_of(str(named))


def test_a_file_that_is_missing_or_no_pack_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "words.json").write_text("words")
    (tmp_path / "broken.zip").write_bytes(pack_archive(WHOLE)[:200])
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("else.txt", "x")
    (tmp_path / "else.zip").write_bytes(other.getvalue())
    for name in ("missing", "words.json", "broken.zip", "else.zip"):
        with pytest.raises(PackError, match=name):
            load_pack(str(tmp_path / name))


def test_an_archive_that_unpacks_to_more_than_a_pack_can_be_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("answer.json", " " * 30_000_000)
    with pytest.raises(PackError, match="larger"):
        load_pack(str(tmp_path / "bomb.zip"))


def test_the_markdown_shows_the_answer_its_footnotes_with_their_words_and_verdicts_and_what_it_was_made_of() -> None:
    markdown = shown(pack_markdown(pack(FORTY, sentence("It is red.", verdict="unsupported", n=2), sources=(
        source(1), source(2), source(3)))))  # fmt: skip
    for part in (
        "How many containers did the crane move?", "The crane moved forty containers. [1]", "moved forty containers",
        "Supported by its source.", "It is red. [2]", "not supported by its source", "Also read, not cited",
        "Crane (crane.md, lines 3–4 · Speed)", "crane-file-1", "hashed/hashed@256", "abc",
    ):  # fmt: skip
        assert part in markdown, part


def test_the_markdown_of_an_abstention_shows_what_was_searched_and_what_came_nearest() -> None:
    nothing = {"answered": False, "answer": "I don't know.", "nearest": (source(1),), "searched": ("cranes (hybrid)",)}
    markdown = shown(pack_markdown(pack(sources=(), told=nothing)))
    for part in (
        "I don't know.",
        "No answer was found",
        "Searched for: cranes (hybrid)",
        "Only near, not an answer",
        "lines 3–4 · Speed)",
        source(1).words,
    ):
        assert part in markdown, part


def test_the_markdown_says_for_whom_after_what_and_in_what_it_was_asked() -> None:
    asked = PackedRequest(
        question="And then?", audience="visitor", mode="sparse",
        history=(Turn(question="What is a crane?", answer="A machine."),),
        filters=Filters(year=(2014, 2015)),
    )  # fmt: skip
    markdown = shown(pack_markdown(pack(FORTY, asked=asked, trace=trace(searched_for="And then? crane"))))
    for part in ("visitor", "What is a crane?", "year: 2014, 2015", "And then? crane", "sparse"):
        assert part in markdown, part


def test_each_side_of_a_conflict_is_a_footnote_with_its_words() -> None:
    sides = tuple(sentence(words, n=n).evidence[0] for n, words in ((1, "40 an hour"), (2, "46 an hour")))
    told = {"conflicts": (Conflict("value", "Speed: 40 [1], 46 [2]", sides),)}
    markdown = shown(pack_markdown(pack(sentence("40 an hour"), sources=(source(1), source(2)), told=told)))
    assert "Also read" not in markdown
    assert "46 an hour" in markdown
    assert "One side of what the sources disagree about" in markdown


HOSTILE = [
    "<script>alert(1)</script>",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/p.png)",
    "<img src=x onerror=alert(1)>",
    "# a heading\n\n---\n\n- item",
    "| a | b |\n| --- | --- |",
    "```\ncode\n```",
    "> quoted\n\n1. one",
    "&lt;b&gt; &#60;",
    "*bold* __bold__ ~~gone~~ `code`",
    "[1]: https://evil.example",
    "<https://evil.example>",
    "\\<b>\\",
]


def everywhere(text: str) -> str:
    """The Markdown of a pack in which every text is this one."""
    return pack_markdown(
        pack(
            sentence(text, quote=text),
            sources=tuple(source(n, snippet=text, documentName=text, title=text) for n in (1, 2)),
            asked=PackedRequest(question=text, history=(Turn(question=text, answer=text),)),
            trace=trace(searched_for=f"{text}!"),
            told={"notes": (text,), "conflicts": (Conflict("value", text, sentence(text).evidence),)},
            language_model=text,
        )
    )


def shape(markdown: str) -> list[str]:
    """What a document is made of, but for its words."""
    return [token.type for token in rendered(markdown) if not token.type.startswith("text")]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_questions_answers_and_documents_is_shown_and_never_acts(text: str) -> None:
    markdown = everywhere(text)
    assert shape(markdown) == shape(everywhere("plain words"))
    assert " ".join(text.split()) in "".join(token.content for token in rendered(markdown) if token.type == "text")


def test_the_json_of_an_archive_is_that_of_the_file() -> None:
    with zipfile.ZipFile(io.BytesIO(pack_archive(WHOLE))) as archive:
        assert sorted(archive.namelist()) == ["answer.json", "answer.md"]
        assert archive.read("answer.json").decode() == pack_json(WHOLE)
