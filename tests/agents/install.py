"""Which agents are here, and reflex hooked into one of them the way a person does it."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.agents.drivers import Driver
from tests.agents.drivers.base import agents_dir
from tests.agents.gate import ROOT, end_daemon
from tests.agents.world import World, run


def missing(driver: Driver) -> str:
    """Why an agent cannot be driven here; empty if it can."""
    program = os.path.join(agents_dir(), driver.PROGRAM)
    if not os.access(program, os.X_OK):
        return f"{program} is not there; setup/agents.sh installs it"
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return f"{program} --version does not end"
    if driver.VERSION not in said.stdout + said.stderr:
        return f"{program} is not version {driver.VERSION}: {said.stdout.strip() or said.stderr.strip()}"
    return ""


def hook_in(world: World, driver: Driver) -> None:
    """`reflexctl setup` for one agent, then no daemon: the tests start and stop their own."""
    programs = os.pathsep.join((os.path.dirname(os.path.join(agents_dir(), driver.PROGRAM)), os.environ["PATH"]))
    env = world.environment({"PYTHONPATH": ROOT, "PATH": programs})
    argv = [sys.executable, "-m", "reflexd.ctl.main", "setup", "--agents", driver.AGENT, "--yes"]
    try:
        finished = run(argv, world.base, env)
        assert finished.code == 0, finished.output
    finally:
        end_daemon(world)
