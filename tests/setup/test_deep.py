"""doctor --deep: what it makes of an agent that obeys its hook, one that does not, and of the real ones."""

from __future__ import annotations

import os
import stat
import sys

import pytest

from reflexd.setup.deep import drive
from tests.agents.drivers import DRIVERS
from tests.agents.drivers.base import agents_dir
from tests.agents.install import missing
from tests.ctl.test_journal import call
from tests.ctl.world import World

# A Claude Code in twenty lines. BEHAVIOUR: obey | ignore (the hook) | refuse (everything by itself) | quit | hang
AGENT = r"""#!@PYTHON@
import json, os, subprocess, sys, time, urllib.request
behaviour = "@BEHAVIOUR@"
if sys.argv[1:] == ["--version"]:
    print("9.9.9"); sys.exit(0)
if behaviour == "hang":
    subprocess.Popen(["sleep", "3599.@PID@"]); time.sleep(3600)
settings = json.load(open(os.path.join(os.environ["HOME"], ".claude", "settings.json")))
line = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
messages = [{"role": "user", "content": "go"}]
while True:
    body = json.dumps({"model": "m", "tools": [{"name": "Bash"}], "messages": messages}).encode()
    stream = urllib.request.urlopen(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true", body).read().decode()
    events = [json.loads(part.split("data: ")[1]) for part in stream.split("\n\n") if "data: " in part]
    blocks = [e["content_block"] for e in events if e["type"] == "content_block_start"]
    if blocks[0]["type"] == "text":
        break
    given = json.loads(next(e["delta"]["partial_json"] for e in events if e["type"] == "content_block_delta"))
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": given, "cwd": os.getcwd()}
    hook = subprocess.run(["/bin/sh", "-c", line], input=json.dumps(payload).encode(), capture_output=True)
    if behaviour == "refuse" and "push" in given["command"]:
        text = "my own permissions say no"
    elif hook.returncode == 2 and behaviour != "ignore":
        text = hook.stderr.decode()
    else:
        text = str(subprocess.run(["/bin/sh", "-c", given["command"]], capture_output=True).returncode)
    if behaviour == "quit":
        sys.exit("I quit")
    messages += [{"role": "assistant", "content": blocks},
                 {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": text}]}]
"""


def fake(world: World, behaviour: str) -> str:
    path = os.path.join(world.bin, "claude")
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            AGENT.replace("@PYTHON@", sys.executable)
            .replace("@BEHAVIOUR@", behaviour)
            .replace("@PID@", str(os.getpid()))
        )
    os.chmod(path, stat.S_IRWXU)
    return path


@pytest.mark.parametrize(
    ("behaviour", "says", "code"),
    [
        ("obey", "ok     Claude Code: driven itself, it ran the harmless call, and was refused the other one", 0),
        ("ignore", "wrong  Claude Code: driven itself, it ran a call that reflex refuses", 1),
        ("refuse", "something else than reflex refused the call: my own permissions say no", 1),
        ("quit", "it ended before its second call: I quit", 1),
    ],
)
def test_what_an_agent_does_is_told_apart(world: World, behaviour: str, says: str, code: int) -> None:
    fake(world, behaviour)
    setup = world.ctl("setup", "--agents", "claude", "--yes")
    assert setup.returncode == 0, setup.stderr
    call(world, "rm -rf ~", session="mine")
    done = world.ctl("doctor", "--deep")
    assert says in done.stdout, done.stdout
    assert done.returncode == code
    assert " mine\n" in world.ctl("why").stdout, "what doctor provoked is nobody's question"


def test_an_agent_that_hangs_is_ended_with_what_it_started(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drive, "TIMEOUT_S", 0.5)
    outcome = drive.drive("claude", fake(world, "hang"), world.path(".claude"))
    assert "no end after 0.5 s" in outcome.trouble
    assert not [pid for pid in os.listdir("/proc") if pid.isdigit() and _is_its_child(pid)]


def _is_its_child(pid: str) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read() == f"sleep\0003599.{os.getpid()}\0".encode()
    except OSError:
        return False


def test_an_agent_that_is_no_program_is_said(world: World) -> None:
    outcome = drive.drive("claude", world.path("nothing"), world.path(".claude"))
    assert "cannot be started" in outcome.trouble


@pytest.mark.agents
@pytest.mark.slow
@pytest.mark.parametrize("name", ["claude", "codex", "opencode", "pi", "hermes"])
def test_the_real_ones(world: World, name: str) -> None:
    driver = DRIVERS[name]
    if why := missing(driver):
        pytest.skip(why)
    program = os.path.join(agents_dir(), driver.PROGRAM)
    path = f"{os.path.dirname(program)}:{world.env()['PATH']}"
    setup = world.ctl("setup", "--agents", name, "--yes", env={"PATH": path})
    assert setup.returncode == 0, setup.stderr
    plugin = os.path.join(agents_dir(), "opencode-plugin", "node_modules")
    if name == "opencode" and os.path.isdir(plugin):  # else it fetches that, which takes a minute
        os.symlink(plugin, world.path(".config/opencode/node_modules"))
    done = world.ctl("doctor", "--deep", env={"PATH": path}, patience_s=300)
    assert "driven itself, it ran the harmless call, and was refused the other one" in done.stdout, done.stdout
    assert done.returncode == 0, done.stdout
    if name == "hermes":
        return  # it asks about a forced push by itself, and waits a minute for somebody
    # With the gate off the same call runs: it was the gate that stopped it.
    world.ctl_tty("mode", "off")
    done = world.ctl("doctor", "--deep", env={"PATH": path}, patience_s=300)
    assert "it ran a call that reflex refuses" in done.stdout, done.stdout
