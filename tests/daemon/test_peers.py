"""Who is at the other end: namespaces, users, and what a process was started with."""

from __future__ import annotations

import contextlib
import os
import pty
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import psutil
import pytest

from reflexd.daemon import peers
from tests.daemon.running import ROOT, Daemon, bash, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

CALL = """
import sys
from reflexd.client import exchange
print(*exchange(sys.argv[1], "claude", "PreToolUse", sys.argv[2].encode()))
"""


def call(daemon: Daemon, command: str, *before: str, env: dict[str, str] | None = None) -> str:
    argv = [*before, sys.executable, "-c", CALL, daemon.hook, bash(command).decode()]
    given = {"PATH": os.environ["PATH"], "HOME": daemon.home, "PYTHONPATH": ROOT, **(env or {})}
    return subprocess.run(argv, env=given, capture_output=True, text=True, check=True).stdout


@cache
def unshare(*flags: str) -> list[str]:
    """A command line that runs the rest in namespaces of its own; skips where that is not allowed."""
    tool = shutil.which("unshare")
    # Our uid stays the same in a user namespace, so that this works without being root where it is allowed.
    argv = [tool or "unshare", *([] if os.geteuid() == 0 else ["--user", "--map-current-user"]), *flags]
    if tool is None or subprocess.run([*argv, "true"], capture_output=True, check=False).returncode:
        pytest.skip("cannot make namespaces here")
    return argv


def test_a_caller_among_our_own_passes(daemon: Daemon) -> None:
    assert call(daemon, "touch /tmp/x").startswith("0 ")


@pytest.mark.parametrize("flags", [("--mount",), ("--pid", "--fork")])
def test_a_caller_in_another_namespace_asks(daemon: Daemon, flags: tuple[str, ...]) -> None:
    for command in ("touch /tmp/x", "git status"):
        said = call(daemon, command, *unshare(*flags))
        assert said.startswith("2 ")
        assert "namespace" in said
        assert (daemon.rows()[0].decision, daemon.rows()[0].decided_by) == ("ask", "namespace")
    assert call(daemon, "rm -rf ~", *unshare(*flags)).startswith("2 ")
    assert daemon.rows()[0].decision == "deny"


def test_a_process_that_is_not_there_is_foreign() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert peers.foreign_namespace(gone.pid)
    assert peers.foreign_namespace(0)
    assert not peers.foreign_namespace(os.getpid())
    assert peers.environment(gone.pid) == peers.Environment()


def test_the_callers_home_is_the_one_that_counts(daemon: Daemon) -> None:
    other = os.path.join(daemon.home, "other")
    os.mkdir(other)
    said = call(daemon, "rm -rf ~", env={"HOME": other})
    assert said.startswith("2 ")
    assert other in said


def test_the_callers_variables_are_seen(daemon: Daemon) -> None:
    assert call(daemon, 'rm -rf "$WHERE"', env={"WHERE": "/"}).startswith("2 ")
    assert daemon.rows()[0].decision == "deny"
    moved = os.path.join(daemon.home, "elsewhere")
    call(daemon, f"echo x > {moved}/settings.json", env={"CLAUDE_CONFIG_DIR": moved})
    assert daemon.rows()[0].decision in ("ask", "deny")
    call(daemon, f"echo x > {moved}/settings.json")
    assert daemon.rows()[0].decision == "pass"


@contextlib.contextmanager
def sleeper(env: dict[str, str]) -> Iterator[int]:
    with subprocess.Popen(["sleep", "60"], env=env) as process:
        try:
            until(lambda: os.path.exists(f"/proc/{process.pid}/environ"), "its environment")
            yield process.pid
        finally:
            process.kill()


@pytest.mark.parametrize("size", [100, peers.ENV_USUAL + 100, peers.ENV_USUAL * 3])
def test_an_environment_is_read_whole(size: int) -> None:
    env = {f"V{i}": "x" * 90 for i in range(size // 100)} | {"LAST": "\udcff="}
    with sleeper(env) as pid:
        assert dict(until(lambda: peers.environment(pid).pairs, "its environment")) == env


def test_an_environment_that_is_too_large_is_unknown() -> None:
    with sleeper({f"V{i}": "x" * 100_000 for i in range(4)}) as pid:
        until(lambda: Path(f"/proc/{pid}/environ").read_bytes(), "its environment")
        assert peers.environment(pid).pairs == ()


@contextlib.contextmanager
def child_in_terminal() -> Iterator[int]:
    pid, master = pty.fork()
    if pid == 0:
        os.execvp("sleep", ["sleep", "60"])
    try:
        until(lambda: peers.why_no_person(pid, {}) != "it has no terminal", "its terminal")
        yield pid
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(master)


def test_a_child_of_reflexd_is_no_person() -> None:
    """This process stands in for the daemon: its child has a terminal and still may not change anything."""
    with child_in_terminal() as pid:
        assert peers.why_no_person(pid, {}) == "reflexd itself started it"


def test_a_terminal_opened_later_is_seen_too() -> None:
    with child_in_terminal() as first, child_in_terminal() as second:
        for pid in (first, second):
            assert "terminal" not in peers.why_no_person(pid, {})


def test_a_pid_that_was_used_again_is_another_process() -> None:
    with child_in_terminal() as pid:
        born = psutil.Process(pid).create_time()
        assert "reflex answers" not in peers.why_no_person(pid, {pid: born - 1})
        assert "reflex answers" in peers.why_no_person(pid, {pid: born + 1})


@pytest.mark.root
def test_another_user_is_refused(daemon: Daemon) -> None:
    for path, mode in ((daemon.home, 0o711), (os.path.dirname(daemon.hook), 0o711), (daemon.hook, 0o666)):
        os.chmod(path, mode)
    for at in (".local", ".local/state", ".local/state/reflex"):
        os.chmod(os.path.join(daemon.home, at), 0o711)
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        os.setgid(65534)
        os.setuid(65534)
        with daemon.connect() as sock:
            sock.sendall(b"RFX1 claude PreToolUse 5000 2\n{}")
            theirs.sendall(sock.recv(1000))
        os._exit(0)
    os.wait()
    assert b"another user" in ours.recv(1000)
    assert [row.call for row in daemon.rows()] == ["start"]
