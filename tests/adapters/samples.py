"""Payloads as real agents sent them, each in the envelope that our shim of that agent puts around it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from reflexd.types import AGENTS, Agent, Places

RECORDED = Path(__file__).parent.parent / "recorded"


class Sample(NamedTuple):
    agent: Agent
    name: str
    event: str
    message: dict[str, Any]

    @property
    def payload(self) -> bytes:
        return json.dumps(self.message).encode()

    def __str__(self) -> str:
        return f"{self.agent}/{self.name}"


def load(agent: Agent, name: str) -> Sample:
    said = json.loads((RECORDED / agent / f"{name}.json").read_text())
    match agent:
        case "claude" | "codex":
            return Sample(agent, name, said["hook_event_name"], said)
        case "opencode":
            place = {"directory": "/home/user/proj", "worktree": "/home/user/proj"}
            if name.startswith("event."):
                return Sample(agent, name, said["type"], {"event": said["type"], **place, **said})
            event = next(e for e in OPENCODE_HOOKS if name.startswith(e))
            return Sample(agent, name, event, {"event": event, **place, **said})
        case "pi":
            around = {"event": said["type"], "cwd": "/home/user/proj", "hasUI": False, "session": "/s/1.jsonl"}
            return Sample(agent, name, said["type"], {**around, "payload": said})
        case "hermes":
            event = name.partition(".")[0]
            return Sample(agent, name, event, {"event": event, "cwd": "/home/user/proj", "payload": said})


OPENCODE_HOOKS = (
    "chat.headers",
    "chat.message",
    "chat.params",
    "experimental.chat.messages.transform",
    "experimental.chat.system.transform",
    "experimental.text.complete",
    "shell.env",
    "tool.definition",
    "tool.execute.after",
    "tool.execute.before",
)
NO_EVENTS = ("init", "config", "mw_", "shell_")
"""Recorded beside the events: opencode's start-up values, Hermes's middleware and shell hooks, which we do not use."""


def recorded() -> list[Sample]:
    names = [(agent, path.stem) for agent in AGENTS for path in sorted((RECORDED / agent).glob("*.json"))]
    return [load(agent, name) for agent, name in names if not (agent in ("opencode", "hermes") and _no_event(name))]


def _no_event(name: str) -> bool:
    return name.startswith(NO_EVENTS) and not name.startswith("shell.env")


def places(home: str = "/home/user") -> Places:
    return Places(
        home=home,
        share=f"{home}/.local/share/reflex",
        state=f"{home}/.local/state/reflex",
        config=f"{home}/.config/reflex",
        socket=f"{home}/.local/state/reflex/run/hook.sock",
        python="/usr/bin/python3",
        uid=1000,
        agent_homes=(
            ("claude", f"{home}/.claude"),
            ("codex", f"{home}/.codex"),
            ("opencode", f"{home}/.config/opencode"),
            ("pi", f"{home}/.pi/agent"),
            ("hermes", f"{home}/.hermes"),
        ),
    )
