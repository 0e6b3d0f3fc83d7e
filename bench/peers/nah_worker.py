"""nah in its own interpreter: a JSON line {command, cwd} in, a line {decision, seconds} out."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
import time

from nah import bash, paths  # type: ignore[import-not-found]

DECISIONS = {"allow": "pass", "block": "deny"}


def main() -> None:
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        call = json.loads(line)
        if call["cwd"] != os.getcwd():
            os.chdir(call["cwd"])
            paths.reset_project_root()
        decision = "ask"
        since = time.perf_counter()
        with contextlib.suppress(Exception):  # what raises in a gate's hook asks
            decision = bash.classify_command(call["command"]).final_decision
        seconds = time.perf_counter() - since
        answer = {"decision": DECISIONS.get(decision, "ask"), "seconds": seconds}
        print(json.dumps(answer), flush=True)


main()
