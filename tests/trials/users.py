"""Many readers at once: websocket clients that ask a running chat a question each every few seconds.

    python -m tests.trials.users [--users 25] [--minutes 10] [--every 10] [--home DIR]

It serves a visitor's chat over `data/sample` (in DIR, else in a new folder), and prints a JSON report: questions,
errors, the percentiles of the time from a question to its answer, what a question costs of a core, and the server's
memory at the end of each tenth of the time.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from tests.browser.conftest import read_address, stop

TOPICS = Path(__file__).parents[2] / "data" / "eval" / "topics.jsonl"
_PATIENCE = 60.0  # seconds for an answer
_KEPT = 8  # questions, after which a reader begins a new conversation


@dataclass
class Reader:
    """One reader: a session of the chat, and the times of its answers in seconds."""

    socket: ClientConnection
    box: str = ""  # the id of the question box
    place: str = ""  # the query string of the page
    answers: int = 0
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    async def open(self) -> None:
        """Open the page, and wait until it stands."""
        await self._run("")
        await self._until(lambda message: message.WhichOneof("type") == "script_finished" and self.box)

    async def ask(self, question: str) -> None:
        """Send a question, and wait until its answer is on the page and the page stands."""
        begun, before = time.monotonic(), self.answers
        await self._run(question)
        await self._until(lambda _: self.answers > before)
        self.seconds.append(time.monotonic() - begun)
        await self._until(lambda message: message.WhichOneof("type") == "script_finished")

    async def _run(self, question: str) -> None:
        message = BackMsg()
        message.rerun_script.query_string = self.place
        message.rerun_script.context_info.timezone = "UTC"
        if question:
            state = message.rerun_script.widget_states.widgets.add(id=self.box)
            state.chat_input_value.data = question
        await self.socket.send(message.SerializeToString())

    async def _until(self, is_over: Any) -> None:
        async with asyncio.timeout(_PATIENCE):
            while True:
                message = ForwardMsg()
                message.ParseFromString(await self.socket.recv(decode=False))
                self._keep(message)
                if is_over(message):
                    return

    def _keep(self, message: ForwardMsg) -> None:
        match message.WhichOneof("type"):
            case "page_info_changed":
                self.place = message.page_info_changed.query_string
            case "delta":
                element = message.delta.new_element
                if element.HasField("chat_input"):
                    self.box = element.chat_input.id
                if element.HasField("bidi_component") and element.bidi_component.component_name == "footnote_answer":
                    self.answers = max(self.answers, int(element.bidi_component.id.rpartition("answer_")[2]) + 1)
                if element.HasField("exception"):
                    self.errors.append(element.exception.message)
                if 'class="fn-problem"' in element.html.body:
                    self.errors.append(element.html.body)


async def read(url: str, questions: list[str], until: float, every: float) -> Reader:
    """Ask one question after the other until the time is over; each conversation has a page of its own."""
    await asyncio.sleep(random.uniform(0, every))
    order, seconds, errors = itertools.cycle(questions), list[float](), list[str]()
    while True:
        async with connect(url, subprotocols=["streamlit"], max_size=None, ping_timeout=None) as socket:  # type: ignore[list-item]
            reader = Reader(socket, seconds=seconds, errors=errors)
            for question in itertools.islice(order, _KEPT):
                begun = time.monotonic()
                if begun > until:
                    return reader
                try:
                    if not reader.box:
                        await reader.open()
                    await reader.ask(question)
                except TimeoutError:
                    errors.append(f"no answer in {_PATIENCE:.0f} s: {question}")
                await asyncio.sleep(max(0.0, begun + every - time.monotonic()))


async def watch(process: psutil.Process, until: float) -> list[float]:
    """The memory of the server itself in MB, once every five seconds."""
    held = []
    while time.monotonic() < until:
        held.append(process.memory_info().rss / 2**20)
        await asyncio.sleep(5)
    return held


async def trial(url: str, process: psutil.Process, users: int, minutes: float, every: float) -> dict[str, Any]:
    """The report of a trial."""
    topics = [json.loads(line)["question"] for line in TOPICS.read_text("utf-8").splitlines()]
    until = time.monotonic() + 60 * minutes
    socket = url.replace("http", "ws", 1) + "/_stcore/stream"
    orders = (random.sample(topics, len(topics)) for _ in range(users))
    reading = [read(socket, order, until, every) for order in orders]
    before = sum(process.cpu_times()[:2])
    *readers, held = await asyncio.gather(*reading, watch(process, until))
    busy = sum(process.cpu_times()[:2]) - before
    seconds = [each for reader in readers for each in reader.seconds]
    cuts = quantiles(seconds, n=100)
    tenths = [held[len(held) * tenth // 10 - 1] for tenth in range(1, 11)]
    return {
        "users": users, "minutes": minutes, "questions": len(seconds),
        "errors": [error for reader in readers for error in reader.errors],
        "cpu_seconds_a_question": busy / len(seconds),
        "seconds": {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "worst": max(seconds)},
        "memory_mb": {"at the end of each tenth": tenths, "most": max(held)},
    }  # fmt: skip


def main() -> None:
    """Serve, ask, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=25)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--every", type=float, default=10.0)
    parser.add_argument("--home", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footnote-users-") as folder:
        home = given.home or folder
        environment = {"PATH": os.environ["PATH"], "HOME": home, "FOOTNOTE_HOME": f"{home}/var"}
        log = Path(home) / "chat.log"
        with log.open("w") as errors:
            command = [sys.executable, "-m", "footnote", "chat", "--headless", "--sample", "--visitor", "--port", "0"]
            process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=errors)
        try:
            assert process.stdout
            url = read_address(process.stdout, log)
            report = asyncio.run(trial(url, psutil.Process(process.pid), given.users, given.minutes, given.every))
            sys.stdout.write(json.dumps(report, indent=1) + "\n")
        finally:
            stop(process)


if __name__ == "__main__":
    main()
