"""The guard refuses the network and nothing else."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guard import NetworkForbidden, guarded_environment, loopback_only, read_log

ELSEWHERE = ("192.0.2.1", 9)  # reserved for documentation


def test_the_network_is_refused_and_recorded() -> None:
    with loopback_only() as tried, socket.socket() as stream, socket.socket(type=socket.SOCK_DGRAM) as datagram:
        for attempt in (
            lambda: stream.connect(ELSEWHERE),
            lambda: stream.connect_ex(ELSEWHERE),
            lambda: datagram.connect(ELSEWHERE),
            lambda: datagram.sendto(b"hello", ELSEWHERE),
            lambda: datagram.sendmsg([b"hello"], [], 0, ELSEWHERE),
            lambda: socket.getaddrinfo("example.com", 80),
            lambda: socket.gethostbyname("example.com"),
            lambda: socket.create_connection(("example.com", 80)),
        ):
            with pytest.raises(NetworkForbidden):
                attempt()
    assert tried[0] == "connect 192.0.2.1:9"
    assert len(tried) == 8


def test_loopback_and_unix_sockets_work_under_the_guard(tmp_path: Path) -> None:
    with loopback_only() as tried:
        with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
            client.connect(server.getsockname())
            server.accept()[0].close()
        with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
            server.bind(str(tmp_path / "s"))
            server.listen()
            client.connect(str(tmp_path / "s"))
        assert socket.getaddrinfo("localhost", 80)
    assert tried == []


def test_sockets_are_as_before_once_the_guard_is_gone() -> None:
    before = (socket.socket.connect, socket.getaddrinfo)
    with loopback_only():
        assert socket.socket.connect is not before[0]
    assert (socket.socket.connect, socket.getaddrinfo) == before


def test_another_process_is_guarded_through_its_environment(tmp_path: Path) -> None:
    log = tmp_path / "tried"
    code = (
        "import socket\ntry:\n    socket.create_connection(('example.com', 80))\nexcept RuntimeError: print('refused')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **guarded_environment(log)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "refused\n"
    assert read_log(log) == ["getaddrinfo 'example.com'"]


def test_a_process_that_gets_only_the_module_path_is_guarded_too(tmp_path: Path) -> None:
    log = tmp_path / "tried"
    inner = "import socket; socket.create_connection(('example.com', 80))"
    outer = (
        "import os, subprocess, sys\n"
        f"subprocess.run([sys.executable, '-c', {inner!r}], env={{'PYTHONPATH': os.pathsep.join(sys.path)}}, "
        "stderr=subprocess.DEVNULL)"
    )
    subprocess.run([sys.executable, "-c", outer], env={**os.environ, **guarded_environment(log)}, check=True)
    assert read_log(log) == ["getaddrinfo 'example.com'"]
