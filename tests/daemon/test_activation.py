"""Sockets that a service manager passes, in systemd's way: descriptors from 3 on, and who they are for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflexd import paths
from tests.daemon.running import ROOT, Daemon

# Puts the descriptors in place, then becomes the daemon under the same pid, as a manager does.
PASS = """
import os, sys
fds, module = [int(fd) for fd in sys.argv[1].split(",")], sys.argv[2]
high = [os.dup2(fd, 50 + i) for i, fd in enumerate(fds)]
for i, fd in enumerate(high):
    os.dup2(fd, 3 + i)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(fds)), LISTEN_FDNAMES=":".join(["x"] * len(fds)))
os.execv(sys.executable, [sys.executable, "-m", module])
"""


class Activated(Daemon):
    def __init__(self, home: str, fds: list[int]) -> None:
        self.fds = fds
        super().__init__(home)

    def start(self) -> None:
        command = [sys.executable, "-c", PASS, ",".join(map(str, self.fds)), "tests.daemon.guarded"]
        self.process = subprocess.Popen(
            command,
            env=self._env,
            cwd=ROOT,
            pass_fds=self.fds,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def listening(short_home: str) -> Iterator[list[socket.socket]]:
    Path(paths.state_dir(short_home)).mkdir(parents=True, mode=0o700)
    Path(paths.run_dir(short_home)).mkdir(mode=0o700)
    socks = []
    for path in (paths.hook_socket(short_home), paths.control_socket(short_home)):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.bind(path)
        os.chmod(path, 0o600)
        sock.listen()
        socks.append(sock)
    yield socks
    for sock in socks:
        sock.close()


def test_passed_sockets_are_served_and_outlive_the_daemon(short_home: str, listening: list[socket.socket]) -> None:
    with Activated(short_home, [sock.fileno() for sock in listening]) as daemon:
        assert daemon.client.status().activated
        assert daemon.bash("git status").exit == 0
        assert daemon.end() == 0
        # Nobody serves now, and still a call waits instead of failing.
        with daemon.connect() as waiting:
            frame = b"RFX1 claude PreToolUse 5000 2\n{}"
            waiting.sendall(frame)
            daemon.start()
            assert waiting.recv(100).startswith(b"RFX1 2 ")


def test_one_passed_socket_is_enough(short_home: str, listening: list[socket.socket]) -> None:
    listening[1].close()  # its name is left over, as after a kill
    with Activated(short_home, [listening[0].fileno()]) as daemon:
        assert daemon.bash("git status").exit == 0
        assert daemon.end() == 0
        assert sorted(os.listdir(paths.run_dir(short_home))) == ["hook.sock", "lock"]


@pytest.mark.parametrize("kind", ["file", "pipe", "tcp", "datagram", "not listening", "elsewhere", "twice"])
def test_anything_else_is_refused(short_home: str, listening: list[socket.socket], kind: str) -> None:
    other = os.path.join(short_home, "other")
    held: list[socket.socket] = []
    match kind:
        case "file":
            fds = [os.open(other, os.O_CREAT | os.O_RDWR)]
        case "pipe":
            fds = [os.pipe()[0]]
        case "tcp":
            held = [socket.create_server(("127.0.0.1", 0))]
        case "datagram":
            held = [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)]
            held[0].bind(other)
        case "not listening":
            held = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)]
            os.unlink(paths.hook_socket(short_home))
            held[0].bind(paths.hook_socket(short_home))
        case "elsewhere":
            held = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)]
            held[0].bind(other)
            held[0].listen()
        case "twice":
            held = [listening[0], listening[0]]
    if held:
        fds = [sock.fileno() for sock in held]
    code, said = Activated(short_home, fds).refusal()
    assert code == 1
    assert "service manager passed" in said or "from the service manager" in said
    assert "Traceback" not in said
    if kind not in ("file", "pipe"):
        for sock in held:
            sock.close()
    else:
        os.close(fds[0])


def test_an_announcement_for_another_process_is_ignored(short_home: str) -> None:
    with Daemon(short_home, env={"LISTEN_PID": "1", "LISTEN_FDS": "2"}) as daemon:
        assert not daemon.client.status().activated
        assert daemon.bash("git status").exit == 0
