from __future__ import annotations

import argparse

from reflexd import paths
from reflexd.ctl import service
from reflexd.ctl.terminal import say

EXAMPLE = "reflexctl stop"


def arguments(parser: argparse.ArgumentParser) -> None:
    """None of its own."""


def run(args: argparse.Namespace) -> int:
    base = paths.home()
    if not service.is_running(base):
        say("the daemon is not running")
        return 0
    service.stop(base)
    say("the daemon has stopped; from now on every tool call of a hooked agent is refused (reflexctl start)")
    return 0
