"""start, stop, restart, mode, status: a person's commands, at a terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.ctl.world import PATIENCE_S, World


def status(world: World) -> dict[str, object]:
    daemon = json.loads(world.ctl("status", "--json").stdout)["daemon"]
    assert isinstance(daemon, dict)
    return daemon


def test_a_life(world: World) -> None:
    assert world.ctl("status").returncode == 1
    assert world.ctl("start").returncode == 0
    pid = world.daemon_pid()
    assert pid
    again = world.ctl("start")
    assert again.returncode == 0
    assert f"running already (process {pid})" in again.stderr
    assert world.ctl("status").returncode == 0
    code, said = world.ctl_tty("restart")
    assert code == 0, said
    assert world.daemon_pid() not in (0, pid)
    code, said = world.ctl_tty("stop")
    assert code == 0, said
    assert not world.daemon_pid()
    assert not world.exists(".local/state/reflex/run/hook.sock")
    assert world.ctl_tty("stop")[0] == 0


def test_its_process_is_no_child_of_the_terminal_s(world: World) -> None:
    code, said = world.ctl_tty("start")
    assert code == 0, said
    pid = world.daemon_pid()
    assert pid, "it outlives the terminal that started it"
    assert os.getsid(pid) == pid


@pytest.mark.parametrize("command", [["stop"], ["restart"], ["mode", "off"]])
def test_nobody_without_a_terminal_changes_anything(world: World, command: list[str]) -> None:
    assert world.ctl("start").returncode == 0
    done = world.ctl(*command)
    assert done.returncode == 1
    assert "only a person" in done.stderr
    assert status(world)["mode"] == "enforce"


@pytest.mark.parametrize("command", ["stop", "restart", "mode off"])
def test_nor_does_an_agent_at_a_terminal(world: World, command: str) -> None:
    assert world.ctl("start").returncode == 0
    pid = world.daemon_pid()
    script = f"#!/bin/sh\n{sys.executable} -m reflexd.ctl.main {command}\ntrue\n"
    _, said = world.tty([world.write("bin/claude", script, 0o755)])
    assert "only a person" in said, said
    assert world.daemon_pid() == pid


def test_an_agent_does_not_end_a_daemon_that_hangs_either(world: World) -> None:
    assert world.ctl("start").returncode == 0
    pid = world.daemon_pid()
    os.kill(pid, signal.SIGSTOP)
    script = f"#!/bin/sh\n{sys.executable} -m reflexd.ctl.main stop\ntrue\n"
    try:
        _, said = world.tty([world.write("bin/claude", script, 0o755)])
        assert "only a person stops the daemon" in said
    finally:
        os.kill(pid, signal.SIGCONT)
    assert world.daemon_pid() == pid


@pytest.mark.slow
def test_a_daemon_that_hangs_can_be_restarted_by_a_person(world: World) -> None:
    assert world.ctl("start").returncode == 0
    pid = world.daemon_pid()
    os.kill(pid, signal.SIGSTOP)
    code, said = world.ctl_tty("restart")
    assert code == 0, said
    assert world.daemon_pid() not in (0, pid)


def test_a_mode_is_set_for_a_while_and_for_a_place(world: World) -> None:
    assert world.ctl("start").returncode == 0
    os.makedirs(world.path("repo"))
    code, said = world.ctl_tty("mode", "shadow", "--for", "2h")
    assert code == 0, said
    assert status(world)["mode"] == "shadow"
    code, said = world.ctl_tty("mode", "off", "--cwd", world.path("repo"))
    assert code == 0, said
    said = world.ctl("status").stdout
    assert "mode      off in " + world.path("repo") in said
    assert "mode      shadow everywhere until " in said
    assert world.ctl_tty("mode", "enforce")[0] == 0
    assert status(world)["mode"] == "enforce"


@pytest.mark.parametrize("args", [["frob"], [], ["off", "--for", "2"], ["off", "--for", "0h"], ["off", "--for", "-1h"]])
def test_a_mode_that_is_none_is_wrong_usage(world: World, args: list[str]) -> None:
    assert world.ctl("mode", *args).returncode == 2


def test_a_daemon_that_cannot_start_says_why(world: World) -> None:
    os.makedirs(world.path(".local/state/reflex"), 0o755)
    os.chmod(world.path(".local/state/reflex"), 0o755)
    done = world.ctl("start")
    assert done.returncode == 1
    assert "open to others" in done.stderr
    assert "chmod 700" in done.stderr


def test_two_starts_at_once_give_one_daemon(world: World) -> None:
    argv = [sys.executable, "-m", "reflexd.ctl.main", "start"]
    both = [subprocess.Popen(argv, env=world.env(), cwd=world.home, stderr=subprocess.PIPE) for _ in range(2)]
    for process in both:
        process.communicate(timeout=PATIENCE_S)
    assert [process.returncode for process in both] == [0, 0]
    assert world.daemon_pid()
