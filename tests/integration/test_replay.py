"""`footnote ask --pack` and `footnote replay`, as a shell sees them."""

import json
from pathlib import Path

import pytest

from tests.fake_openai import FakeOpenAI
from tests.integration.test_cli import QUESTION, folder, shell
from tests.shell import Shell

__all__ = ["folder", "shell"]


@pytest.fixture
def ingested(shell: Shell, folder: Path) -> Path:
    shell.json("ingest", str(folder))
    return folder


def test_a_pack_is_written_beside_the_printed_answer_and_replays_as_the_same(shell: Shell, ingested: Path) -> None:
    answer = shell.json("ask", QUESTION, "--pack", "crane.json")
    pack = json.loads(Path("crane.json").read_text())
    assert (pack["asked"]["question"], pack["answer"]["trace_id"]) == (QUESTION, answer["trace_id"])
    assert Path("crane.md").read_text().startswith(f"# {QUESTION}\n")
    told = shell.json("replay", "crane.json")
    assert (told["same"], told["question"], told["causes"]) == (True, QUESTION, [])
    assert [one["stands"] for one in told["quotations"]] == ["now"]
    code, said = shell("replay", "crane")
    assert code == 0
    assert "The answer is the same." in said
    assert "1 still in the documents" in said


def test_replay_says_what_changed_and_why_and_ends_well(shell: Shell, ingested: Path) -> None:
    shell.json("ask", QUESTION, "--pack", "crane.zip")
    (ingested / "crane.md").write_text("# Crane\n\nThe crane moved 55 containers an hour.\n")
    shell.json("ingest", str(ingested))
    told = shell.json("replay", "crane.zip")
    assert told["same"] is False
    assert {"sentence", "source"} <= {each["of"] for each in told["changes"]}
    code, said = shell("replay", "crane.zip")
    assert code == 0
    for part in (
        "The answer changed.", "crane.md has another text now.", "- The crane moved 40", "+ The crane moved 55",
        "only in an older version that is kept",
    ):  # fmt: skip
        assert part in said, part


def test_replay_names_the_setting_that_changed(shell: Shell, ingested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.json("ask", QUESTION, "--pack", "crane")
    monkeypatch.setenv("FOOTNOTE_RETRIEVAL__TOP_N", "2")
    told = shell.json("replay", "crane")
    settings = [each for each in told["changes"] if each["of"] == "setting"]
    assert [(each["what"], each["before"], each["after"]) for each in settings] == [("retrieval.top_n", 5, 2)]
    assert told["fingerprints"]["before"] != told["fingerprints"]["after"]


def test_a_pack_that_cannot_be_written_is_told_before_the_question_is_asked(shell: Shell, ingested: Path) -> None:
    code, said = shell("ask", QUESTION, "--pack", "nowhere/crane")
    assert (code, "No answer pack can be written" in said) == (2, True)
    assert shell.json("trace")["queries"] == []


def test_a_file_that_is_no_pack_is_told_with_exit_code_2(shell: Shell, ingested: Path) -> None:
    Path("notes.json").write_text("{}")
    for named in ("notes.json", "missing.json"):
        code, said = shell("replay", named)
        assert (code, named in said) == (2, True)


def test_ask_prints_what_may_be_asked_next(shell: Shell, ingested: Path) -> None:
    (ingested / "crane.md").write_text(
        "# Harbour crane\n\nThe crane moved 40 containers an hour.\n\n"
        "## Brakes of the jib\n\nThe brakes of the jib were changed in 2016, after the storm had bent two of them.\n"
    )
    shell.json("ingest", str(ingested))
    answer = shell.json("ask", QUESTION)
    assert answer["follow_ups"] == ["Tell me about “Brakes of the jib” in “Harbour crane”"]
    _, said = shell("ask", QUESTION)
    assert said.index("40 containers") < said.index("You could ask next:") < said.index(answer["follow_ups"][0])


def test_what_a_program_asked_a_language_model_is_replayed_as_a_program_asks(
    shell: Shell, ingested: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"answer": "The crane moved 40 containers an hour [1].", "sources": []}
    with FakeOpenAI(reply=json.dumps(said)) as fake:
        for name, value in {"PROVIDER": "openai", "MODEL": "fake", "API_BASE": fake.url}.items():
            monkeypatch.setenv(f"FOOTNOTE_LLM__{name}", value)
        shell.json("ask", QUESTION, "--pack", "crane")
        told = shell.json("replay", "crane")
    assert (told["changes"], told["same"]) == ([], True)
