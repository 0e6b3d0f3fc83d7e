"""The plugins of opencode, pi and Hermes in stand-ins for their hosts, against the same kinds of server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib import resources

import pytest

from reflexd import wire
from reflexd.shims import OPENCODE_GUARD, render
from reflexd.types import Places, Reply
from tests.shims.listener import Answer, begin_and_die, hang, listening, nothing, reply, slowly

GO_ON = wire.encode_reply(Reply())
DENY = wire.encode_reply(Reply(2, b"", b"reflex: no"))
PLUGINS = ["opencode", "pi", "hermes"]
FILES = {"opencode": "opencode.js", "pi": "pi.ts", "hermes": "hermes/__init__.py"}


def install(agent: str, places: Places, deadline_ms: int = 400) -> str:
    """What the host loads: a file, for Hermes a directory."""
    top = os.path.join(places.home, "plugin")
    os.makedirs(top, exist_ok=True)
    text = render(FILES[agent], places)
    assert text.count(b"DEADLINE_MS = 5000") == 1
    path = os.path.join(top, os.path.basename(FILES[agent]))
    with open(path, "wb") as file:
        file.write(text.replace(b"DEADLINE_MS = 5000", b"DEADLINE_MS = %d" % deadline_ms))
    if agent == "hermes":
        with open(os.path.join(top, "plugin.yaml"), "wb") as file:
            file.write(render("hermes/plugin.yaml", places))
        return top
    return path


def judge(agent: str, plugin: str, *commands: str) -> list[str | None]:
    """What the plugin makes of each command: None where the call would run."""
    node = shutil.which("node")
    assert node, "these tests need node"
    with resources.as_file(resources.files("reflexd.setup.hosts")) as hosts:
        if agent == "hermes":
            command = [sys.executable, "-I", str(hosts / "hermes.py"), plugin, "session"]
        else:
            command = [node, str(hosts / f"{agent}.mjs"), plugin, "session"]
            if agent == "opencode":
                command.append(json.dumps(OPENCODE_GUARD))
        done = subprocess.run([*command, *commands], capture_output=True, timeout=60, check=True)
    answers: list[str | None] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("agent", PLUGINS)
def test_runs_exactly_what_the_daemon_lets_through(places: Places, agent: str) -> None:
    plugin = install(agent, places)
    received: list[bytes] = []

    def answer(peer, request: bytes) -> None:  # type: ignore[no-untyped-def]
        peer.sendall(DENY if b"rm -rf" in request else GO_ON)

    with listening(places, answer, received):
        assert judge(agent, plugin, "git status", "rm -rf ~") == [None, "reflex: no"]
    head, _, body = received[0].partition(b"\n")
    assert head.startswith(b"RFX1 " + agent.encode() + b" ")
    assert b"git status" in body
    json.loads(body)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(nothing, id="closed"),
        pytest.param(hang, id="hung"),
        pytest.param(begin_and_die(DENY), id="killed in a reply"),
        pytest.param(reply(GO_ON + b"x"), id="trailing byte"),
        pytest.param(reply(b"RFX1 0 0 0"), id="no newline"),
        pytest.param(reply(b"RFX1 00 0 0\n"), id="second spelling of a number"),
        pytest.param(reply(b"RFX1 1 0 0\n"), id="exit 1"),
        pytest.param(reply(b"RFX1 0 3 0\nhi!"), id="go on with words that mean nothing"),
        pytest.param(reply(b"RFX1 0 99999999 0\n" + b"x" * 64), id="a count that is not there"),
        pytest.param(reply(b"x" * (9 << 20)), id="oversize"),
        pytest.param(reply(b"\n"), id="an empty line"),
    ],
)
@pytest.mark.parametrize("agent", PLUGINS)
def test_anything_but_a_whole_answer_blocks(places: Places, agent: str, answer: Answer) -> None:
    plugin = install(agent, places)
    with listening(places, answer):
        (said,) = judge(agent, plugin, "git status")
    assert said
    assert "reflexctl" in said


@pytest.mark.parametrize("agent", PLUGINS)
def test_an_answer_byte_by_byte_is_whole(places: Places, agent: str) -> None:
    plugin = install(agent, places, 5000)
    with listening(places, slowly(GO_ON)):
        assert judge(agent, plugin, "git status") == [None]


@pytest.mark.parametrize("agent", PLUGINS)
def test_a_deny_without_a_reason_gets_one(places: Places, agent: str) -> None:
    """Hermes runs the tool on a block without a message."""
    plugin = install(agent, places)
    with listening(places, reply(b"RFX1 2 0 0\n")):
        assert judge(agent, plugin, "git status")[0]


@pytest.mark.parametrize("agent", PLUGINS)
def test_without_a_daemon_the_reason_says_how_to_start_it(places: Places, agent: str) -> None:
    (said,) = judge(agent, install(agent, places), "git status")
    assert said
    assert "not running" in said
    assert " start" in said


@pytest.mark.parametrize("agent", PLUGINS)
def test_a_socket_that_is_not_private_blocks(places: Places, agent: str) -> None:
    plugin = install(agent, places)
    run_dir = os.path.dirname(places.socket)
    with listening(places, reply(GO_ON)):
        os.chmod(places.socket, 0o666)
        assert judge(agent, plugin, "git status")[0]
        os.chmod(places.socket, 0o600)
        os.chmod(run_dir, 0o750)
        assert judge(agent, plugin, "git status")[0]
        os.chmod(run_dir, 0o700)
        os.rename(run_dir, run_dir + ".real")
        os.symlink(run_dir + ".real", run_dir)
        assert judge(agent, plugin, "git status")[0]
        os.unlink(run_dir)
        os.rename(run_dir + ".real", run_dir)
        assert judge(agent, plugin, "git status") == [None]


@pytest.mark.parametrize("agent", PLUGINS)
def test_a_file_in_the_socket_s_place_blocks(places: Places, agent: str) -> None:
    plugin = install(agent, places)
    os.makedirs(os.path.dirname(places.socket), 0o700)
    with open(places.socket, "wb") as file:
        file.write(GO_ON)
    os.chmod(places.socket, 0o600)
    assert judge(agent, plugin, "git status")[0]


@pytest.mark.root
@pytest.mark.parametrize("agent", PLUGINS)
def test_another_owner_s_socket_blocks(places: Places, agent: str) -> None:
    plugin = install(agent, places)
    with listening(places, reply(GO_ON)):
        os.chown(places.socket, 12345, 12345)
        assert judge(agent, plugin, "git status")[0]


@pytest.mark.parametrize("agent", PLUGINS)
def test_a_call_over_the_cap_blocks(places: Places, agent: str) -> None:
    """Too long for a command line of the stand-in, so the cap is made small instead."""
    plugin = install(agent, places)
    path = os.path.join(plugin, "__init__.py") if agent == "hermes" else plugin
    with open(path, "rb") as file:
        text = file.read()
    small = text.replace(b"CAP = 8388608", b"CAP = 300").replace(b"CAP = 8 * 1024 * 1024", b"CAP = 300")
    assert small != text
    with open(path, "wb") as file:
        file.write(small)
    with listening(places, reply(GO_ON)):
        (said,) = judge(agent, plugin, "echo " + "x" * 400)
    assert said
    assert "8 MiB" in said


def test_pi_asks_a_person_only_as_the_daemon_says(places: Places) -> None:
    plugin = install("pi", places)
    question = json.dumps({"confirm": {"title": "reflex", "message": "really?"}}).encode()
    host = """
      import fs from "node:fs";
      const text = fs.readFileSync(process.argv[1]).toString("base64");
      const { default: reflex } = await import("data:text/javascript;base64," + text);
      const handlers = {}; reflex({ on: (name, handler) => (handlers[name] = handler) });
      const out = [];
      for (const yes of [true, false, undefined, "yes"]) {
        const ui = { confirm: async (title, message) => (out.push(message), yes) };
        const ctx = { cwd: "/", hasUI: true, sessionManager: {}, ui };
        out.push(await handlers.tool_call({ type: "tool_call", toolName: "bash", input: { command: "x" } }, ctx));
      }
      fs.writeSync(1, JSON.stringify(out)); process.exit(0);
    """
    with listening(places, reply(wire.encode_reply(Reply(0, question)))):
        done = subprocess.run(
            ["node", "--input-type=module", "-e", host, plugin], capture_output=True, timeout=60, check=True
        )
    said = json.loads(done.stdout)
    assert said[0::2] == ["really?"] * 4
    assert said[1] is None
    assert all(answer["block"] and answer["reason"] for answer in said[3::2])


def hermes(places: Places) -> dict[str, object]:
    """The plugin's module namespace, loaded here."""
    install("hermes", places)
    space: dict[str, object] = {"__name__": "reflex_plugin"}
    exec(compile(render("hermes/__init__.py", places), "plugin", "exec"), space)
    return space


def test_hermes_approve_needs_a_message(places: Places) -> None:
    before = hermes(places)["before"]
    assert callable(before)
    asked = json.dumps({"action": "approve", "message": "really?", "rule_key": "reflex:x"}).encode()
    with listening(places, reply(wire.encode_reply(Reply(0, asked)))):
        assert before(tool_name="terminal", args={})["action"] == "approve"
    for odd in (b'{"action":"approve"}', b'{"action":"approve","message":""}', b"[]", b'"x"', b"{"):
        with listening(places, reply(wire.encode_reply(Reply(0, odd)))):
            said = before(tool_name="terminal", args={})
        assert said["action"] == "block"
        assert said["message"]


def test_hermes_blocks_on_facts_that_json_does_not_know(places: Places) -> None:
    before = hermes(places)["before"]
    assert callable(before)
    loop: dict[str, object] = {}
    loop["self"] = loop
    with listening(places, reply(GO_ON)):
        assert before(tool_name="terminal", args={"x": object(), "y": {1, 2}, "z": b"\xff", "s": "\ud800"}) is None
        assert before(tool_name="terminal", args=loop)["action"] == "block"


def test_hermes_sends_what_the_model_said_with_the_calls_of_that_answer(places: Places) -> None:
    space = hermes(places)
    heard, before = space["heard"], space["before"]
    assert callable(heard)
    assert callable(before)

    class Message:
        content: object = None

    received: list[bytes] = []
    with listening(places, reply(GO_ON), received):
        for number in range(200):
            message = Message()
            message.content = f"answer {number} " + "x" * 100_000
            heard(api_request_id=str(number), assistant_message=message)
        heard(api_request_id="none", assistant_message=Message())
        heard(api_request_id=[], assistant_message=message)
        heard()
        for request in ("199", "0", "none", [], None):
            assert before(tool_name="terminal", args={}, api_request_id=request) is None
    intents = [json.loads(body.partition(b"\n")[2])["intent"] for body in received]
    assert intents[0].startswith("answer 199 x")
    assert len(intents[0]) == 10_000
    assert intents[1:] == [""] * 4


def test_opencode_sends_what_the_model_says_in_the_step_that_calls(places: Places) -> None:
    plugin = install("opencode", places)
    host = """
      import fs from "node:fs";
      const text = fs.readFileSync(process.argv[1]).toString("base64");
      const module = await import("data:text/javascript;base64," + text);
      const hooks = await module.ReflexPlugin({ directory: "/", worktree: "/" });
      const s = "ses", updated = "message.part.updated", delta = "message.part.delta";
      const hear = (type, properties) => hooks.event({ event: { type, properties } });
      const call = () => hooks["tool.execute.before"]({ tool: "bash", sessionID: s, callID: "1" }, { args: {} });
      const part = (id, type, text) => hear(updated, { part: { id, sessionID: s, type, text } });
      const says = (partID, delta_) => hear(delta, { sessionID: s, partID, field: "text", delta: delta_ });
      await part("p0", "text", "the person's");
      await call();
      await part("p1", "step-start");
      await part("p2", "reasoning", "");
      await says("p2", "thought");
      await part("p3", "text", "");
      await says("p3", "I will ");
      await says("p3", "push");
      await says("p2", "another thought");
      await call();
      await part("p3", "text", "I will push");
      await call();
      await part("p4", "step-start");
      await call();
      await part("p5", "text", "");
      for (let i = 0; i < 100; i++) await says("p5", "x".repeat(1000));
      await call();
      await hooks["chat.message"]({ sessionID: s }, { message: {}, parts: [] });
      await call();
      for (const odd of [null, {}, { part: null }, { part: {} }, { delta: 1 }]) {
        for (const type of [updated, delta]) await hear(type, odd).catch(() => {});
      }
      await call();
      process.exit(0);
    """
    received: list[bytes] = []
    with listening(places, reply(GO_ON), received):
        subprocess.run(["node", "--input-type=module", "-e", host, plugin], capture_output=True, timeout=60, check=True)
    bodies = [json.loads(request.partition(b"\n")[2]) for request in received]
    intents = [body["intent"] for body in bodies if body["event"] == "tool.execute.before"]
    assert intents == ["", "I will push", "I will push", "", "x" * 10_000, "", ""]


def test_hermes_observers_never_raise(places: Places) -> None:
    space = hermes(places)
    hooks: dict[str, object] = {}

    class Context:
        def register_hook(self, name: str, callback: object) -> None:
            hooks[name] = callback

    register = space["register"]
    assert callable(register)
    register(Context())
    assert "post_tool_call" in hooks
    for name, callback in hooks.items():
        if name != "pre_tool_call":
            assert callable(callback)
            assert callback(tool_name="x", args={}) is None
