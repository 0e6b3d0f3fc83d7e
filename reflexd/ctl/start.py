from __future__ import annotations

import argparse

from reflexd import paths
from reflexd.client import Client
from reflexd.ctl import service
from reflexd.ctl.terminal import say

EXAMPLE = "reflexctl start"


def arguments(parser: argparse.ArgumentParser) -> None:
    """None of its own."""


def run(args: argparse.Namespace) -> int:
    base = paths.home()
    if service.is_running(base):
        found = Client(base).status()
        say(f"the daemon is running already (process {found.pid})")
        return 0
    started = service.start(base)
    say(f"the daemon runs (process {started.pid}, mode {started.mode})")
    return 0
