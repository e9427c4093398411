"""What a command costs is told of it and its children."""

import os
import sys
from pathlib import Path

from pipelines.evaluation.processes import run_measured

CHILD = "import time; held = bytearray(80_000_000); time.sleep(0.7)"
PARENT = f"import subprocess, sys; print('said'); subprocess.run([sys.executable, '-c', {CHILD!r}]); sys.exit(3)"
BUSY = "import time\nwhile time.process_time() < 0.5: pass"


def test_the_memory_of_children_counts_and_the_code_and_the_output_come_back(tmp_path: Path) -> None:
    ran = run_measured([sys.executable, "-c", PARENT], dict(os.environ), tmp_path / "postmaster.pid")
    assert (ran.code, ran.output, ran.errors) == (3, "said\n", "")
    assert ran.memory_mb >= 80
    assert ran.seconds >= 0.7
    assert (ran.postgres_mb, ran.postgres_cpu_seconds) == (0.0, 0.0)


def test_computing_counts_as_processor_time(tmp_path: Path) -> None:
    assert run_measured([sys.executable, "-c", BUSY], dict(os.environ), tmp_path / "none").cpu_seconds >= 0.5


def test_the_server_is_told_apart_from_the_command(tmp_path: Path) -> None:
    import subprocess

    server = subprocess.Popen([sys.executable, "-c", "import time; held = bytearray(60_000_000); time.sleep(30)"])
    try:
        (tmp_path / "postmaster.pid").write_text(f"{server.pid}\n/data\n")
        ran = run_measured(
            [sys.executable, "-c", "import time; time.sleep(1)"], dict(os.environ), tmp_path / "postmaster.pid"
        )
    finally:
        server.kill()
        server.wait()
    assert ran.postgres_mb >= 60
    assert ran.memory_mb < 60
