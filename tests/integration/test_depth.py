"""From `footnote search` to SQL it is at most eight calls of our own."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from config.settings import Settings
from tests.shell import Shell

ROOT = Path(__file__).parents[2]
OURS = tuple(f"{ROOT / package}/" for package in ("app", "pipelines", "config"))
MOST = 8
COMMAND = "app/cli/search.py:search"


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames from the first call to this one."""
    if frame is not None:
        yield from _frames(frame.f_back)
        yield frame


def _calls() -> list[str]:
    """Our own calls on the way to here, without comprehensions; of the thread that began this one those down to there,
    as it runs a retriever itself meanwhile.
    """
    frames = list(_frames(sys._getframe()))
    if threading.current_thread() is not threading.main_thread():
        ident = threading.main_thread().ident
        assert ident is not None
        above = list(_frames(sys._current_frames()[ident]))
        began = next(place for place, frame in enumerate(above, start=1) if frame.f_code.co_name == "fused")
        frames = [*above[:began], *frames]
    return [
        f"{Path(frame.f_code.co_filename).relative_to(ROOT)}:{frame.f_code.co_name}"
        for frame in frames
        if frame.f_code.co_filename.startswith(OURS) and not frame.f_code.co_name.startswith("<")
    ]


@pytest.fixture
def paths(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """For each statement of a second search, the calls from the command's function to it, that function first."""
    for n in range(12):
        text = f"# Crane {n}\n\nThe crane {'moved' if n % 2 else 'lost'} {n} containers{' of corn' * n}.\n"
        (tmp_path / f"crane{n}.md").write_text(text)
    shell = Shell(settings, monkeypatch, tmp_path)
    assert shell("ingest", ".")[0] == 0
    search = ("search", "How many containers of crane3 did the crane move?", "--top-n", "1")
    assert shell(*search)[0] == 0
    made: list[list[str]] = []

    def note(*_: object) -> None:
        calls = _calls()
        if COMMAND in calls:
            made.append(calls[calls.index(COMMAND) :])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        assert shell(*search)[0] == 0
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return made


def test_from_the_command_to_sql_it_is_at_most_eight_calls(paths: list[list[str]]) -> None:
    modules = {path[-1].split(":")[0] for path in paths} | {path[-2].split(":")[0] for path in paths}
    assert modules >= {f"pipelines/store/{name}.py" for name in ("node_reader", "read_snapshot")}
    assert "pipelines/query/retrieve.py:nodes" in {path[-2] for path in paths}  # what was found is read
    assert [" > ".join(path) for path in paths if len(path) > MOST] == []
