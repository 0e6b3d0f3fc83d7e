"""What every command has in common: help with an example, one-line errors, exits, no traceback."""

from __future__ import annotations

import glob
import subprocess
import sys

import pytest

from reflexd.ctl.main import COMMANDS
from tests.ctl.world import World


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_that_ends_with_an_example(world: World, name: str) -> None:
    done = world.ctl(name, "--help")
    assert done.returncode == 0
    assert done.stdout.strip().splitlines()[-1].startswith(f"example: reflexctl {name}")


def test_the_overview_lists_every_command(world: World) -> None:
    done = world.ctl("--help")
    assert done.returncode == 0
    for name, what in COMMANDS.items():
        assert name in done.stdout
        assert what in done.stdout
    assert world.ctl().returncode == 2
    assert world.ctl("--version").stdout.startswith("reflexctl 0.")


@pytest.mark.parametrize("name", ["frob", "main", "terminal", "../ctl", "", "check\n", "__init__"])
def test_what_is_no_command_is_not_imported(world: World, name: str) -> None:
    done = world.ctl(name)
    assert done.returncode == 2
    assert done.stderr.startswith("reflexctl: error: there is no command")


def test_a_command_imports_no_other(world: World) -> None:
    code = (
        "import sys; from reflexd.ctl.main import main; main(['status']); print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=world.env(), cwd=world.home, capture_output=True, text=True)
    loaded = set(done.stderr.split())
    assert "reflexd.ctl.status" in loaded
    assert not {"reflexd.ctl.setup", "reflexd.ctl.check", "tree_sitter", "psutil", "watchfiles", "uvloop"} & loaded


BUG = "import reflexd.ctl.log as log\ndef broken(args): raise KeyError('s3cret')\nlog.run = broken\n"


def run_with_a_bug(world: World, *args: str) -> subprocess.CompletedProcess[str]:
    code = f"{BUG}import sys\nfrom reflexd.ctl.main import main\nsys.exit(main({['log', *args]!r}))"
    return subprocess.run([sys.executable, "-c", code], env=world.env(), cwd=world.home, capture_output=True, text=True)


def test_a_bug_is_three_and_leaves_a_log_to_attach(world: World) -> None:
    done = run_with_a_bug(world)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    (log,) = glob.glob(world.path(".local/state/reflex/bug-*.log"))
    assert log in done.stderr
    with open(log, encoding="utf-8") as file:
        assert "KeyError" in file.read()
    assert "Traceback" in run_with_a_bug(world, "--debug").stderr


def test_a_reader_that_has_gone_is_no_error(world: World) -> None:
    lines = [f'{{"t": "2026-01-01T00:00:00+00:00", "id": "{n}", "decision": "deny"}}' for n in range(20_000)]
    world.write(".local/state/reflex/journal/journal.jsonl", "\n".join(lines) + "\n", 0o600)
    command = f"{sys.executable} -m reflexd.ctl.main log -n 20000 | head -1"
    done = subprocess.run(["/bin/sh", "-c", command], env=world.env(), cwd=world.home, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
