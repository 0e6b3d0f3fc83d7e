"""Runs reflexd with a guard on its loop: a call that blocks it fails, and so does the test that made it."""

from __future__ import annotations

import os
import sys

from blockbuster import BlockBuster

import reflexd.daemon.app
from tests.conftest import let_block

# Before and after serving nobody waits.
ENDS = (
    ("reflexd/daemon/serve.py", {"serve", "_harden", "_log_to", "_reload_on_change"}),
    ("logging/__init__.py", {"emit"}),
)


if __name__ == "__main__":
    guard = BlockBuster("reflexd")
    let_block(guard)
    for function in guard.functions.values():
        for file, names in ENDS:
            function.can_block_in(file, names)
    guard.activate()
    try:
        reflexd.daemon.app.main()
    except SystemExit as e:
        sys.stderr.flush()
        # The guard's patches of builtin types do not survive the interpreter's own end.
        os._exit(e.code if isinstance(e.code, int) else 1)
