"""A real language model on this machine over the first sample topics, beside quotation alone.

    python -m tests.trials.model DIR [--first 30 10] [--window 4096] [--reply 200]

DIR holds `qwen2.5-coder-1.5b-instruct.gguf` (or another model that --model names) and `venv`, an environment with
xllamacpp, which is llama.cpp with its server. On two cores a question takes half a minute.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from config.settings import LLMSettings, Settings
from pipelines.evaluation.answers import evaluate_answers
from pipelines.evaluation.corpus import portfolio_engine
from pipelines.evaluation.datasets import Topic, load_topics

DATA = Path(__file__).parents[2] / "data"
MODEL = "qwen2.5-coder-1.5b-instruct"
_STARTS = 180  # seconds in which a server loads its model
_MEASURES = {"facts": "facts", "declined": "abstention_recall", "answer precision": "precision"}
_SERVE = """
import sys, time, xllamacpp
path, port, window = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel, params.use_jinja = path, int(window), 1, True
params.hostnames, params.port, params.ui = ["127.0.0.1"], int(port), False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
server = xllamacpp.Server(params)
while True:
    time.sleep(3600)
"""


@contextmanager
def serving(folder: Path, model: str, window: int) -> Iterator[str]:
    """The address of llama.cpp's server with a model, which ends with the block."""
    port, environment = _free_port(), os.environ | {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
    command = [folder / "venv/bin/python", "-c", _SERVE, folder / f"{model}.gguf", str(port), str(window)]
    with subprocess.Popen(list(map(str, command)), env=environment, stderr=subprocess.DEVNULL) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            until = time.monotonic() + _STARTS
            while not _is_ready(f"{url}/health"):
                if server.poll() is not None or time.monotonic() > until:
                    sys.exit("The server did not start: is xllamacpp installed in its venv, and the model whole?")
                time.sleep(0.5)
            yield f"{url}/v1"
        finally:
            server.kill()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def first_topics(answerable: int, unanswerable: int) -> list[Topic]:
    """The first topics of the sample, so many of each."""
    topics = load_topics(DATA / "eval" / "topics.jsonl")
    good, none = ([topic for topic in topics if topic.answerable is wanted] for wanted in (True, False))
    return [*good[:answerable], *none[:unanswerable]]


def main() -> None:
    """Run the trial and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.trials.model", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--first", type=int, nargs=2, default=(30, 10), metavar=("ANSWERABLE", "UNANSWERABLE"))
    parser.add_argument("--window", type=int, default=4096)
    parser.add_argument("--reply", type=int, default=200, help="most tokens of a reply")
    given = parser.parse_args()
    missing = [
        str(each)
        for each in (given.folder / f"{given.model}.gguf", given.folder / "venv/bin/python")
        if not each.is_file()
    ]
    if missing:
        sys.exit(
            f"The real model was not tried: {' and '.join(missing)} missing. Name the folder that holds them: "
            "make trial-model MODEL_DIR=FOLDER (see CONTRIBUTING.md)."
        )
    topics = first_topics(*given.first)
    with tempfile.TemporaryDirectory() as home, serving(given.folder, given.model, given.window) as url:
        Path(home).chmod(0o755)  # the account of the database server must enter it
        model = LLMSettings(
            provider="openai", model=given.model, api_base=url, max_tokens=given.reply, timeout_seconds=900
        )
        rows = {}
        for name, llm in (("quotation", LLMSettings(provider="none")), (given.model, model)):
            settings = Settings(_env_file=None, home=Path(home), llm=llm)
            engine = portfolio_engine(settings, DATA / "sample")
            report = evaluate_answers(engine, topics, {name: {}}, on_progress=_told)
            rows[name] = report.systems[name]
    sys.stdout.write(f"{'':32}" + "".join(f"{measure:>18}" for measure in _MEASURES) + "\n")
    for name, found in rows.items():
        values = "".join(f"{found[measure]:18.3f}" for measure in _MEASURES.values())
        sys.stdout.write(f"{name:32}{values}\n")


def _told(name: str, done: int, of: int) -> None:
    sys.stderr.write(f"{name}: {done} of {of}{chr(10) if done == of else chr(13)}")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
