"""Times the Hermes plugin inside a Python: plugin.py PLUGIN ECHO DAEMON REQUEST COMMAND ROUNDS. Standard library only.

Prints what plugin.mjs prints; `bare` and `daemon` are exchanges by a blocking socket.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

BLOCK = 100
WARM = 5


def main(plugin: str, echo: str, daemon: str, request_file: str, command: str, rounds: str) -> None:
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("reflex_plugin", plugin)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    hooks: dict[str, Callable[..., Any]] = {}

    class Host:
        def register_hook(self, name: str, callback: Callable[..., Any]) -> None:
            hooks[name] = callback

    module.register(Host())
    with open(request_file, "rb") as file:
        request = file.read()

    numbers = itertools.count()

    def ask() -> None:
        said = hooks["pre_tool_call"](
            tool_name="terminal", args={"command": command.format(next(numbers))}, session_id="bench", tool_call_id="1"
        )
        if said is not None:
            raise RuntimeError(said)

    def bare(path: str) -> None:
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(path)
            peer.sendall(request)
            while peer.recv(65536):
                pass

    out: dict[str, list[float]] = {"plugin": [], "bare": [], "daemon": []}
    calls = {"plugin": ask, "bare": partial(bare, echo), "daemon": partial(bare, daemon)}
    for turn in range(-WARM, int(rounds)):
        for name, call in calls.items():
            took = [timed(call) for _ in range(BLOCK)]
            if turn >= 0:
                out[name] += took
    print(json.dumps(out))


def timed(call: Callable[[], None]) -> float:
    since = time.perf_counter()
    call()
    return time.perf_counter() - since


main(*sys.argv[1:])
