"""What an agent itself writes down of a session, as far as it says what the agent is about to do.

Claude Code, Codex and pi append JSON lines to a file that their hooks name. A reader turns one row into turns; rows
that it does not know are nothing. Observed on Claude Code 2.1.332, Codex 0.171.0 and pi 0.73.1. opencode and Hermes
keep databases of their own; what their models say our plugins hear, and send with the call (ToolCall.intent).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from reflexd.types import Agent

Who = Literal["person", "agent", "call", "result"]


class Turn(Struct, frozen=True):
    """`text`: words of the person or the agent, or the id of a call, for its result too.

    A result without an id is anything that was put before the model in the middle of its work.
    """

    who: Who
    text: str = ""


def place(agent: Agent, transcript: str, subagent: str) -> str:
    """The file in which a conversation is written down, empty where that is not known. `transcript` is what the hook
    names: Claude Code names the session's own file for a subagent's calls as well, Codex the subagent's."""
    if not subagent or not transcript:
        return transcript
    if agent == "claude" and subagent.isalnum():
        return f"{transcript.removesuffix('.jsonl')}/subagents/agent-{subagent}.jsonl"
    return transcript if agent == "codex" and transcript.endswith(f"{subagent}.jsonl") else ""


def intent(agent: Agent, data: bytes, call: str) -> str:
    """What the agent said in the turn that makes the call with this id; empty where its records do not show it.

    `data`: the end of the file; its first line may be cut, its last one torn. Never raises. Words count from the
    person's last prompt on, and only if the call is on record without its result, or the agent has spoken since the
    last result it got: otherwise the records lag behind the call, and what they hold was said about another one.
    """
    read = READERS.get(agent)
    if read is None:
        return ""
    said, current, made = "", False, False
    for turn in _turns(read, data):
        match turn.who:
            case "person":
                said, current, made = "", False, False
            case "result":
                current, made = False, made and turn.text not in ("", call)
            case "agent" if not made:
                said, current = turn.text, True
            case "call":
                made = made or (call != "" and turn.text == call)
    return said if current or made else ""


def lag(agent: Agent, data: bytes, call: str) -> bool:
    """Whether the records do not show the call with this id yet, though they will. Never raises."""
    read = READERS.get(agent)
    return read is not None and call != "" and Turn("call", call) not in _turns(read, data)


def _turns(read: Callable[[dict[str, Any]], Iterator[Turn]], data: bytes) -> Iterator[Turn]:
    for line in data.split(b"\n"):
        if not line.startswith(b"{"):
            continue
        try:
            row = msgspec.json.decode(line)
            if isinstance(row, dict):
                yield from read(row)
        except (msgspec.MsgspecError, UnicodeError, RecursionError, LookupError, TypeError, AttributeError, ValueError):
            continue


_REMINDER = "<system-reminder>"


def _claude(row: dict[str, Any]) -> Iterator[Turn]:
    if row["type"] not in ("user", "assistant"):
        return
    if row.get("isMeta") or row.get("isCompactSummary"):
        yield Turn("result")
        return
    content = row["message"]["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    who: Who = "person" if row["type"] == "user" else "agent"
    for block in blocks:
        match block["type"]:
            case "text" if block["text"].strip() and not (who == "person" and block["text"].startswith(_REMINDER)):
                yield Turn(who, block["text"])
            case "tool_use":
                yield Turn("call", block["id"])
            case "tool_result":
                yield Turn("result", block["tool_use_id"])


def _codex(row: dict[str, Any]) -> Iterator[Turn]:
    item = row["payload"]
    if row["type"] == "event_msg" and item["type"] == "user_message":
        yield Turn("person", item["message"])
    elif row["type"] != "response_item":
        return
    elif item["type"] == "message" and item["role"] == "assistant":
        yield from (Turn("agent", part["text"]) for part in item["content"] if part.get("text", "").strip())
    elif item["type"].endswith("_call_output"):
        yield Turn("result", item.get("call_id", ""))
    elif item["type"].endswith("_call"):
        yield Turn("call", item.get("call_id", ""))


def _pi(row: dict[str, Any]) -> Iterator[Turn]:
    message = row["message"]
    if row["type"] != "message":
        return
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    match message["role"]:
        case "toolResult":
            yield Turn("result", message.get("toolCallId", ""))
        case "user" | "assistant" as role:
            for block in blocks:
                if block["type"] == "text" and block["text"].strip():
                    yield Turn("person" if role == "user" else "agent", block["text"])
                elif block["type"] == "toolCall":
                    yield Turn("call", block["id"])


READERS: Mapping[Agent, Callable[[dict[str, Any]], Iterator[Turn]]] = {"claude": _claude, "codex": _codex, "pi": _pi}
