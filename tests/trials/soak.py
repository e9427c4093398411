"""A long mixed load: askers of a running `footnote serve`, while documents are added, changed and removed beside it.

    python -m tests.trials.soak [--minutes 40] [--askers 2] [--every 3] [FOLDER]

The Markdown files of FOLDER (data/sample without it) are copied and taken in first. Every few seconds some of the
copies change, come or go and the folder is taken in again, by a process of its own; the text that only one of them has
must then be found by the server. It prints a JSON report: for each tenth of the time the questions, the percentiles of
their time, what each cost of a core, and the memory of the server and of Postgres; all errors; how long a change took
to be seen; and whether the documents at the end are those of the folder and `footnote audit` finds nothing.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx
import psutil

from tests.served import footnote_served

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
TOPICS = Path(__file__).parents[2] / "data" / "eval" / "topics.jsonl"
_SLICES = 10
_SEEN = 3.0  # seconds from the end of an ingest until the server must find what it brought


@dataclass
class Seen:
    """What a soak saw: (when, seconds) of each question, errors, and the seconds until each change was found."""

    asked: list[tuple[float, float]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    visible: list[float] = field(default_factory=list)
    ingests: int = 0


def ask(url: str, seen: Seen, until: float, order: list[str]) -> None:
    """Ask again and again."""
    with httpx.Client(base_url=url, timeout=120) as client:
        while time.monotonic() < until:
            for question in order:
                began = time.monotonic()
                try:
                    client.post("/v1/ask", json={"question": question}).raise_for_status()
                except Exception as error:  # noqa: BLE001 - a thread must report what it met
                    seen.errors.append(f"ask: {error!r}")
                seen.asked.append((began, time.monotonic() - began))
                if time.monotonic() > until:
                    return
                time.sleep(0.5)


def change(folder: Path, number: int) -> str:
    """Add a file, change two and remove one; returns the word that only the added one holds."""
    files = sorted(folder.rglob("*.md"))
    added = folder / f"soak{number:05}.md"
    word = f"zq{number:05}x"
    added.write_text(f"# Lamp {word}\n\nThe lamp {word} was mended in {1900 + number % 120} by Ruth Aldous.\n")
    for path in random.sample(files, 2):
        path.write_text(f"{path.read_text('utf-8').rstrip()}\n\nChecked again, note {number}.\n", "utf-8")
    own = [path for path in files if path.name.startswith("soak")]
    if len(own) > 20:
        random.choice(own).unlink()
    return word


def disturb(url: str, folder: Path, environment: dict[str, str], seen: Seen, until: float, every: float) -> None:
    """Change the folder and take it in, again and again, and see that the server finds what came."""
    number = 0
    with httpx.Client(base_url=url, timeout=60) as client:
        while time.monotonic() < until:
            number, began = number + 1, time.monotonic()
            word = change(folder, number)
            try:
                seen.errors += ingest(folder, environment)
                seen.ingests += 1
                done = time.monotonic()
                while not finds(client, word):
                    if time.monotonic() - done > _SEEN:
                        seen.errors.append(f"{word} was not found within {_SEEN:g} s")
                        break
                    time.sleep(0.02)
                seen.visible.append(time.monotonic() - done)
            except Exception as error:  # noqa: BLE001 - a thread must report what it met
                seen.errors.append(f"change: {error!r}")
            time.sleep(max(0.0, began + every - time.monotonic()))


def finds(client: httpx.Client, word: str) -> bool:
    """True if a search for a word finds a passage that holds it."""
    found = client.post("/v1/search", json={"question": f"lamp {word}"})
    found.raise_for_status()
    return any(word in result["text"] for result in found.json()["results"])


def listed(url: str) -> dict[str, Any]:
    """The stored documents by name."""
    found = httpx.get(f"{url}/v1/documents", params={"limit": 10_000}, timeout=60)
    return {row["name"]: row for row in found.json()["documents"]}


def ingest(folder: Path, environment: dict[str, str]) -> list[str]:
    """Take the folder in by a process of its own; returns its errors."""
    command = [sys.executable, "-m", "footnote", "ingest", str(folder)]
    done = subprocess.run(command, env=environment, text=True, capture_output=True, timeout=300, check=False)
    return [] if done.returncode == 0 else [f"ingest ended with {done.returncode}: {done.stderr[-300:]}"]


def measured(process: psutil.Process, data: Path) -> dict[str, float]:
    """The memory of the server, and of Postgres beside shared pages, in MB; the seconds that the server computed."""
    postgres = 0
    first = psutil.Process(int((data / "postmaster.pid").read_text().split()[0]))
    for each in (first, *first.children(recursive=True)):
        with suppress(psutil.Error):  # the server of a connection that was closed
            postgres += each.memory_full_info().uss
    server = process.memory_info().rss / 2**20
    return {"server": server, "postgres": postgres / 2**20, "cpu": sum(process.cpu_times()[:2])}


def report(seen: Seen, held: list[tuple[float, dict[str, float]]], began: float, until: float) -> dict[str, Any]:
    """What was seen, by tenths of the time."""
    width = (until - began) / _SLICES
    slices = []
    for place in range(_SLICES):
        first, last = began + place * width, began + (place + 1) * width
        times = [seconds for when, seconds in seen.asked if first <= when < last]
        cuts = quantiles(times, n=20) if len(times) > 1 else [0.0] * 19
        levels = [each for when, each in held if first <= when < last]
        slices.append({
            "questions": len(times), "p50_ms": round(cuts[9] * 1000), "p95_ms": round(cuts[18] * 1000),
            "cpu_ms_a_question": round((levels[-1]["cpu"] - levels[0]["cpu"]) * 1000 / max(len(times), 1)) if levels
            else 0,
            **{f"{name}_mb": round(max((each[name] for each in levels), default=0)) for name in ("server", "postgres")},
        })  # fmt: skip
    return {
        "minutes": (until - began) / 60,
        "questions": len(seen.asked),
        "ingests": seen.ingests,
        "errors": seen.errors,
        "visible_ms": {"median": round(median(seen.visible or [0.0]) * 1000),
                       "worst": round(max(seen.visible, default=0.0) * 1000)},
        "tenths": slices,
    }  # fmt: skip


def soak(source: Path, minutes: float, askers: int, every: float) -> dict[str, Any]:
    """The report of a soak."""
    questions = [json.loads(line)["question"] for line in TOPICS.read_text("utf-8").splitlines()]
    with tempfile.TemporaryDirectory(prefix="footnote-soak-") as scratch:
        Path(scratch).chmod(0o755)
        folder = Path(scratch) / "documents"
        for path in source.rglob("*.md"):
            target = folder / re.sub(r"\W+", "-", str(path.relative_to(source).with_suffix("")))
            folder.mkdir(exist_ok=True)
            shutil.copyfile(path, target.with_suffix(".md"))
        environment = {"PATH": os.environ["PATH"], "HOME": scratch, "FOOTNOTE_HOME": f"{scratch}/var"}
        seen, held = Seen(), list[tuple[float, dict[str, float]]]()
        seen.errors += ingest(folder, environment)
        data = Path(scratch) / "var" / "postgres" / "data"
        with footnote_served(environment) as (url, number):
            process = psutil.Process(number)
            left_out = {path.name for path in folder.glob("*.md")} - listed(url).keys()  # a licence
            began = time.monotonic()
            until = began + 60 * minutes
            work = [
                threading.Thread(target=ask, args=(url, seen, until, random.sample(questions, len(questions))))
                for _ in range(askers)
            ]
            work.append(threading.Thread(target=disturb, args=(url, folder, environment, seen, until, every)))
            for each in work:
                each.start()
            while time.monotonic() < until:
                held.append((time.monotonic(), measured(process, data)))
                time.sleep(2)
            for each in work:
                each.join()
            stored = listed(url)
        made = report(seen, held, began, until)
        command = [sys.executable, "-m", "footnote", "audit", "--json"]
        audit = subprocess.run(command, env=environment, text=True, capture_output=True, timeout=300, check=False)
        names = {path.name for path in folder.glob("*.md")} - left_out
    if other := sorted(names ^ stored.keys()):
        made["errors"].append(f"{len(names)} files are {len(stored)} documents; {other[:5]} differ")
    return made | {"documents": len(stored), "violations": json.loads(audit.stdout)["violations"]}


def main() -> int:
    """Soak, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--askers", type=int, default=2)
    parser.add_argument("--every", type=float, default=3.0)
    given = parser.parse_args()
    made = soak(given.folder, given.minutes, given.askers, given.every)
    sys.stdout.write(json.dumps(made, indent=1) + "\n")
    return 1 if made["errors"] or made["violations"] else 0


if __name__ == "__main__":
    sys.exit(main())
