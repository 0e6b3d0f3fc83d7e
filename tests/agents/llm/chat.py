"""The Chat Completions dialect (opencode, pi, Hermes), streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.agents.llm.script import Conversation, Result, Turn, text_of

PREFIX = "call"
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def read(body: dict[str, object]) -> Conversation:
    task: list[str] = []
    ids: list[str] = []
    results: list[Result] = []
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else []:
        match message.get("role"):
            case "user" if not ids:
                task.append(text_of(message.get("content")))
            case "assistant":
                ids += [call["id"] for call in message.get("tool_calls") or ()]
            case "tool":
                results.append(Result(message["tool_call_id"], text_of(message.get("content"))))
    tools = body.get("tools")
    names = [tool["function"]["name"] for tool in tools] if isinstance(tools, list) else []
    return Conversation("\n".join(task), tuple(ids), tuple(results), tuple(names))


def write(turn: Turn, model: str) -> Iterator[bytes]:
    base = {"id": f"chatcmpl-{turn.step}", "object": "chat.completion.chunk", "created": 1, "model": model}

    def chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
        return _data({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield chunk({"role": "assistant", "content": turn.text})
    for index, (id, call) in enumerate(turn.calls):
        function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
        yield chunk({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})
    yield chunk({}, "tool_calls" if turn.calls else "stop")
    yield _data({**base, "choices": [], "usage": USAGE})
    yield b"data: [DONE]\n\n"


def _data(value: dict[str, object]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()
