"""A stand-in for the codex program: `--version`, and an `app-server` that keeps trust the way Codex does.

It behaves as the file `behaviour` beside it says; see BEHAVIOURS. Written into a world's `bin` as `codex`.
"""

from __future__ import annotations

import os
import sys

from tests.ctl.world import World

BEHAVIOURS = ("good", "silent", "dies", "garbage", "refuses", "forgets", "other form", "lists nothing", "stubborn")

_SOURCE = r"""#!@PYTHON@
import hashlib, json, os, signal, sys, time
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "behaviour")) as file:
    behaviour = file.read()
if sys.argv[1:] == ["--version"]:
    print("codex-cli 0.171.0")
    sys.exit(0)
if behaviour == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if behaviour in ("silent", "stubborn"):
    time.sleep(3600)
if behaviour == "dies":
    sys.exit(3)
home = os.environ["CODEX_HOME"]
hooks_file, config = os.path.join(home, "hooks.json"), os.path.join(home, "config.toml")

def state():
    text = open(config).read() if os.path.exists(config) else ""
    return text

def hooks():
    found = []
    for event, groups in json.load(open(hooks_file))["hooks"].items():
        for g, group in enumerate(groups):
            for h, handler in enumerate(group["hooks"]):
                key = "%s:%s:%d:%d" % (hooks_file, event.lower(), g, h)
                digest = "sha256:" + hashlib.sha256(json.dumps(handler).encode()).hexdigest()
                trusted = '[hooks.state."%s"]\ntrusted_hash = "%s"' % (key, digest) in state()
                found.append({"key": key, "currentHash": digest, "trustStatus": "trusted" if trusted else "untrusted",
                              "enabled": True, "command": handler["command"], "sourcePath": hooks_file, "new": 1})
    return found

for line in sys.stdin:
    said = json.loads(line)
    if "id" not in said:
        continue
    if behaviour == "garbage":
        print("{nonsense")
    print(json.dumps({"method": "some/notification", "params": {}}))
    answer = {"id": said["id"], "result": {}}
    if said["method"] == "hooks/list":
        answer["result"] = {"data": [{"cwd": home, "hooks": [] if behaviour == "lists nothing" else hooks()}]}
        if behaviour == "other form":
            answer["result"] = {"data": [{"hooks": [{"id": 1}]}]}
    if said["method"] == "config/batchWrite":
        if behaviour == "refuses":
            answer = {"id": said["id"], "error": {"code": -1, "message": "not today"}}
        elif behaviour != "forgets":
            text = state()
            for key, value in said["params"]["edits"][0]["value"].items():
                text += '\n[hooks.state."%s"]\ntrusted_hash = "%s"\n' % (key, value["trusted_hash"])
            with open(config + ".new", "w") as file:
                file.write(text)
            os.rename(config + ".new", config)
    print(json.dumps(answer), flush=True)
"""


def install(world: World, behaviour: str) -> None:
    path = os.path.join(world.bin, "codex")
    with open(path, "w", encoding="utf-8") as file:
        file.write(_SOURCE.replace("@PYTHON@", os.path.realpath(sys.executable)))
    os.chmod(path, 0o755)
    behave(world, behaviour)


def behave(world: World, behaviour: str) -> None:
    with open(os.path.join(world.bin, "behaviour"), "w", encoding="utf-8") as file:
        file.write(behaviour)
