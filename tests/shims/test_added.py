"""What the daemon has put before a model with a prompt, in stand-ins for the hosts; no failure holds a prompt back."""

from __future__ import annotations

import json
import subprocess

import pytest

from reflexd import wire
from reflexd.types import Places, Reply
from tests.shims.listener import Answer, hang, listening, nothing, reply
from tests.shims.test_plugins import hermes, install

TEXT = "[from a.md]\nüse ruff"
LOAD = """
  import fs from "node:fs";
  const text = fs.readFileSync(process.argv[1]).toString("base64");
  const module = await import("data:text/javascript;base64," + text);
"""
OPENCODE = """
  const hooks = await module.ReflexPlugin({ directory: "/", worktree: "/" });
  const part = { id: "prt_1", sessionID: "ses", messageID: "msg", type: "text", text: "go" };
  const output = { message: {}, parts: [part] };
  await hooks["chat.message"]({ sessionID: "ses" }, output);
  await hooks["chat.message"]({ sessionID: "ses" }, { message: {}, parts: [] });
  fs.writeSync(1, JSON.stringify(output.parts.slice(1))); process.exit(0);
"""
PI = """
  const handlers = {}; module.default({ on: (name, handler) => (handlers[name] = handler) });
  const ctx = { cwd: "/", hasUI: true, sessionManager: {} };
  const went = await handlers.input({ type: "input", text: "go" }, ctx);
  const said = [await handlers.before_agent_start({ prompt: "go" }, ctx), await handlers.before_agent_start({}, ctx)];
  fs.writeSync(1, JSON.stringify([went, ...said].map((it) => it === undefined ? null : it))); process.exit(0);
"""
WHOLE = wire.encode_reply(Reply(0, json.dumps({"context": TEXT}).encode()))
ODD = [
    pytest.param(nothing, id="closed"),
    pytest.param(hang, id="hung"),
    pytest.param(reply(wire.encode_reply(Reply())), id="nothing to add"),
    pytest.param(reply(wire.encode_reply(Reply(0, b"", b"reflex: a warning"))), id="a warning"),
    pytest.param(reply(wire.encode_reply(Reply(2, json.dumps({"context": TEXT}).encode()))), id="exit 2"),
    *(
        pytest.param(reply(wire.encode_reply(Reply(0, odd))), id=odd.decode())
        for odd in (b"{", b"7", b"null", b"[]", b'{"context": 7}', b'{"other": "x"}')
    ),
]


def in_node(places: Places, agent: str, host: str) -> object:
    command = ["node", "--input-type=module", "-e", LOAD + host, install(agent, places)]
    return json.loads(subprocess.run(command, capture_output=True, timeout=60, check=True).stdout)


def in_hermes(places: Places) -> object:
    prompted = hermes(places)["prompted"]
    assert callable(prompted)
    return prompted(user_message="go", session_id="s")


def test_opencode_puts_it_behind_the_prompt_s_parts(places: Places) -> None:
    with listening(places, reply(WHOLE)):
        (part,) = in_node(places, "opencode", OPENCODE)  # type: ignore[misc]
    assert part == {
        "id": "prt_1z",
        "sessionID": "ses",
        "messageID": "msg",
        "type": "text",
        "text": TEXT,
        "synthetic": True,
    }


def test_pi_puts_it_before_the_agent_once(places: Places) -> None:
    with listening(places, reply(WHOLE)):
        said = in_node(places, "pi", PI)
    assert said == [None, {"message": {"customType": "reflex", "content": TEXT, "display": True}}, None]


def test_hermes_gets_it_as_context(places: Places) -> None:
    with listening(places, reply(WHOLE)):
        assert in_hermes(places) == {"context": TEXT}


@pytest.mark.parametrize("answer", ODD)
def test_anything_else_adds_nothing_and_the_prompt_goes_on(places: Places, answer: Answer) -> None:
    with listening(places, answer):
        assert in_node(places, "opencode", OPENCODE) == []
        assert in_node(places, "pi", PI) == [None, None, None]


@pytest.mark.parametrize("answer", [param for param in ODD if param.id != "hung"])
def test_nor_in_hermes(places: Places, answer: Answer) -> None:
    with listening(places, answer):
        assert in_hermes(places) is None


def test_without_a_daemon_too(places: Places) -> None:
    assert in_hermes(places) is None
    assert in_node(places, "opencode", OPENCODE) == []
